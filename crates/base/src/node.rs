//! Servers of a target.

/// A server of a target, by its index in the target's list of servers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u16);

impl NodeId {
    /// Returns the index in the target's list.
    pub fn index(self) -> usize {
        self.0.into()
    }
}
