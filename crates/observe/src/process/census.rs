//! Parents of the machine's processes: the fourth field of `/proc/*/stat` (`proc_pid_stat(5)`).

use std::collections::{BTreeMap, BTreeSet};

use super::files::Files;
use super::stat::Stat;

/// Number of samples after which a process's parent is read again, because its number may have been
/// reused.
const FORGET_EVERY: u32 = 16;

/// Processes of the machine with their parents.
#[derive(Debug, Default)]
pub(super) struct ProcessTree {
    parents: BTreeMap<u32, u32>,
    looks: u32,
}

impl ProcessTree {
    /// Updates the list of processes. Only new processes, and processes whose entry is due to
    /// expire, are read.
    pub(super) fn take(&mut self, files: &mut Files<'_>) {
        self.looks = self.looks.wrapping_add(1);
        let turn = self.looks;
        let is_due = |number: u32| number.wrapping_add(turn).is_multiple_of(FORGET_EVERY);
        let before = std::mem::take(&mut self.parents);
        for number in files.root.numbers("proc") {
            let known = before.get(&number).copied().filter(|_| !is_due(number));
            let parent = known.or_else(|| {
                let line = files.read(format_args!("proc/{number}/stat"))?;
                Some(Stat::parse(&line)?.parent)
            });
            if let Some(parent) = parent {
                self.parents.insert(number, parent);
            }
        }
    }

    /// Returns the descendants of the given processes, without the given processes themselves.
    pub(super) fn descendants(&self, of: &BTreeSet<u32>) -> BTreeSet<u32> {
        let mut children: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for (child, parent) in &self.parents {
            children.entry(*parent).or_default().push(*child);
        }
        let mut found = BTreeSet::new();
        let mut next: Vec<u32> = of.iter().copied().collect();
        while let Some(parent) = next.pop() {
            for child in children.get(&parent).into_iter().flatten() {
                if !of.contains(child) && found.insert(*child) {
                    next.push(*child);
                }
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::super::stat::tests::line;
    use super::*;
    use crate::environment::tests::Planted;

    fn plant(planted: Planted, number: u32, parent: u32) -> Planted {
        let stat = line(&Stat { parent, threads: 1, ..Stat::default() });
        planted.with(&format!("proc/{number}/stat"), stat)
    }

    #[test]
    fn children_and_their_children_are_found() {
        let family = [(1, 0), (10, 1), (11, 10), (12, 11), (13, 10), (20, 1), (21, 20)];
        let planted = family.iter().fold(Planted::new(), |p, (n, parent)| plant(p, *n, *parent));
        let planted = planted.with("proc/30/stat", "odd").with("proc/uptime", "1");
        let mut census = ProcessTree::default();
        census.take(&mut Files::of(&planted.root));
        assert_eq!(census.descendants(&[10].into()), [11, 12, 13].into());
        assert_eq!(census.descendants(&[10, 11].into()), [12, 13].into());
        assert_eq!(census.descendants(&[99].into()), BTreeSet::new());
    }

    #[test]
    fn reused_process_id_is_noticed() {
        let planted = plant(Planted::new(), 10, 1);
        let mut census = ProcessTree::default();
        census.take(&mut Files::of(&planted.root));
        let planted = plant(planted, 10, 5);
        for _ in 0..FORGET_EVERY {
            census.take(&mut Files::of(&planted.root));
        }
        assert_eq!(census.descendants(&[5].into()), [10].into());
    }

    #[test]
    fn cycle_of_parents_is_survived() {
        let planted = plant(plant(plant(Planted::new(), 1, 2), 2, 1), 3, 3);
        let mut census = ProcessTree::default();
        census.take(&mut Files::of(&planted.root));
        assert_eq!(census.descendants(&[1].into()), [2].into());
        assert_eq!(census.descendants(&[3].into()), BTreeSet::new());
    }
}
