//! The parent of each process of the machine: the fourth field of `/proc/*/stat`
//! (`proc_pid_stat(5)`).

use std::collections::{BTreeMap, BTreeSet};

use super::files::Files;
use super::stat::Stat;

/// Number of samples after which a process's parent is read again, because another process may have
/// got its number.
const REREAD_EVERY: u32 = 16;

/// Processes of the machine with their parents.
#[derive(Debug, Default)]
pub(super) struct ProcessTree {
    parents: BTreeMap<u32, u32>,
    sample_count: u32,
}

impl ProcessTree {
    /// Updates the list of processes. Reads only new processes, and processes that are due to be
    /// read again.
    pub(super) fn update(&mut self, files: &mut Files<'_>) {
        self.sample_count = self.sample_count.wrapping_add(1);
        let turn = self.sample_count;
        let is_due = |number: u32| number.wrapping_add(turn).is_multiple_of(REREAD_EVERY);
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

    /// Returns the descendants of the given processes, without these processes themselves.
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
    use crate::environment::tests::TestRoot;

    fn plant(planted: TestRoot, number: u32, parent: u32) -> TestRoot {
        let stat = line(&Stat { parent, threads: 1, ..Stat::default() });
        planted.with(&format!("proc/{number}/stat"), stat)
    }

    #[test]
    fn children_and_their_children_are_found() {
        let family = [(1, 0), (10, 1), (11, 10), (12, 11), (13, 10), (20, 1), (21, 20)];
        let planted = family.iter().fold(TestRoot::new(), |p, (n, parent)| plant(p, *n, *parent));
        let planted = planted.with("proc/30/stat", "odd").with("proc/uptime", "1");
        let mut process_tree = ProcessTree::default();
        process_tree.update(&mut Files::of(&planted.root));
        assert_eq!(process_tree.descendants(&[10].into()), [11, 12, 13].into());
        assert_eq!(process_tree.descendants(&[10, 11].into()), [12, 13].into());
        assert_eq!(process_tree.descendants(&[99].into()), BTreeSet::new());
    }

    #[test]
    fn reused_process_id_is_noticed() {
        let planted = plant(TestRoot::new(), 10, 1);
        let mut process_tree = ProcessTree::default();
        process_tree.update(&mut Files::of(&planted.root));
        let planted = plant(planted, 10, 5);
        for _ in 0..REREAD_EVERY {
            process_tree.update(&mut Files::of(&planted.root));
        }
        assert_eq!(process_tree.descendants(&[5].into()), [10].into());
    }

    #[test]
    fn cycle_of_parents_is_survived() {
        let planted = plant(plant(plant(TestRoot::new(), 1, 2), 2, 1), 3, 3);
        let mut process_tree = ProcessTree::default();
        process_tree.update(&mut Files::of(&planted.root));
        assert_eq!(process_tree.descendants(&[1].into()), [2].into());
        assert_eq!(process_tree.descendants(&[3].into()), BTreeSet::new());
    }
}
