//! The sockets that a program holds, from the links in `/proc/PID/fd` of its processes
//! (`proc_pid_fd(5)`).

use std::collections::{BTreeSet, HashSet};

use super::files::Files;
use super::process_tree::ProcessTree;
use crate::environment::Root;

/// Maximum number of open files of all processes together that are read.
const MAX_OPEN_FILES: usize = 65_536;

/// A program whose sockets are read.
#[derive(Debug)]
pub(crate) struct SocketHolder {
    program: u32,
    process_tree: ProcessTree,
}

impl SocketHolder {
    /// Creates a holder for the program whose root process has this id.
    pub(crate) fn of(program: u32) -> SocketHolder {
        SocketHolder { program, process_tree: ProcessTree::default() }
    }

    /// Returns the inodes of the sockets that the program holds; `None` if they cannot be read, for
    /// example because the program runs as a different user.
    pub(crate) fn sockets(&mut self, root: &Root) -> Option<HashSet<u32>> {
        self.process_tree.update(&mut Files::of(root));
        let first = BTreeSet::from([self.program]);
        let mut family = self.process_tree.descendants(&first);
        family.insert(self.program);
        sockets_of(root, &family)
    }
}

/// Returns the inodes of the sockets that the given processes hold; `None` if they cannot be read,
/// for example because the processes run as a different user.
pub(super) fn sockets_of(root: &Root, processes: &BTreeSet<u32>) -> Option<HashSet<u32>> {
    let open = |number: &u32| {
        let folder = format!("proc/{number}/fd");
        root.numbers(&folder).into_iter().map(move |fd| format!("{folder}/{fd}"))
    };
    let mut open = processes.iter().flat_map(open).take(MAX_OPEN_FILES).peekable();
    open.peek()?;
    let links = open.filter_map(|path| root.link(&path));
    Some(links.filter_map(|link| socket_inode(&link)).collect())
}

/// Parses the inode of a link such as `socket:[4711]`.
fn socket_inode(link: &str) -> Option<u32> {
    link.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::os::fd::AsRawFd;

    use super::*;
    use crate::environment::tests::TestRoot;

    #[test]
    fn sockets_of_a_program_are_its_own() {
        let socket_of_ours = TcpListener::bind("127.0.0.1:0").expect("a port");
        let fd = socket_of_ours.as_raw_fd();
        let link = std::fs::read_link(format!("/proc/self/fd/{fd}")).expect("a link");
        let inode = socket_inode(link.to_str().expect("a name")).expect("an inode");
        let held =
            SocketHolder::of(std::process::id()).sockets(&Root::system()).expect("its files");
        assert!(held.contains(&inode), "{held:?}");
        let nobody = SocketHolder::of(u32::MAX).sockets(&Root::system());
        assert_eq!(nobody, None, "there is no such process");
        assert_eq!(SocketHolder::of(1).sockets(&TestRoot::new().root), None);
        assert_eq!(
            (socket_inode("pipe:[3]"), socket_inode("socket:[x]"), socket_inode("/tmp/a")),
            (None, None, None)
        );
    }
}
