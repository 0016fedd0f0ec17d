//! Values of a process or a thread in one line: `/proc/PID/stat` (`proc_pid_stat(5)`).

/// Fields read from the line. Times are in kernel ticks, memory in pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Stat {
    /// Process id of the parent.
    pub(super) parent: u32,
    /// Page faults that waited for a disk.
    pub(super) major_faults: u64,
    /// Processor time in user mode, including threads that have ended.
    pub(super) user: u64,
    /// Processor time in the kernel.
    pub(super) system: u64,
    /// User-mode time of the process's ended children, and of the children's own ended children.
    pub(super) reaped_user: u64,
    /// Kernel time of the process's ended children, and of the children's own ended children.
    pub(super) reaped_system: u64,
    /// Number of threads.
    pub(super) threads: u32,
    /// Start of the process in ticks since boot. Together with its id, it identifies the process.
    pub(super) started: u64,
    /// Resident memory in pages.
    pub(super) resident: u64,
}

impl Stat {
    /// Parses the fields after the name. The name is in parentheses and may contain any character.
    pub(super) fn parse(line: &str) -> Option<Stat> {
        let (_, fields) = line.rsplit_once(") ")?;
        let mut words = fields.split_ascii_whitespace();
        // Fields of the line are counted from 1, and the first field after the name is the third.
        // Fields are read in ascending order.
        let mut next = 3;
        let mut field = |number: usize| -> Option<u64> {
            let word = words.nth(number.checked_sub(next)?)?;
            next = number + 1;
            word.parse().ok()
        };
        Some(Stat {
            parent: field(4)?.try_into().ok()?,
            major_faults: field(12)?,
            user: field(14)?,
            system: field(15)?,
            reaped_user: field(16)?,
            reaped_system: field(17)?,
            threads: field(20)?.try_into().ok()?,
            started: field(22)?,
            resident: field(24)?,
        })
    }
}

/// Returns the name of the process in a line, without the parentheses around it.
pub(super) fn name(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once('(')?;
    Some(rest.rsplit_once(") ")?.0)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Formats the line of a process.
    pub(in crate::process) fn line(stat: &Stat) -> String {
        let Stat { parent, major_faults, user, system, reaped_user, reaped_system, .. } = stat;
        let Stat { threads, started, resident, .. } = stat;
        format!(
            "7 (a) b) S {parent} 1 1 0 -1 0 9 9 {major_faults} 9 {user} {system} {reaped_user} \
             {reaped_system} 20 0 {threads} 0 {started} 999 {resident} 1 1\n"
        )
    }

    #[test]
    fn a_name_may_hold_any_character() {
        let stat = Stat {
            parent: 1,
            major_faults: 2,
            user: 3,
            system: 4,
            reaped_user: 5,
            reaped_system: 6,
            threads: 7,
            started: 8,
            resident: 9,
        };
        assert_eq!(Stat::parse(&line(&stat)), Some(stat));
        assert_eq!(Stat::parse(&line(&stat).replace("(a) b)", "(")), None);
        assert_eq!(name(&line(&stat)), Some("a) b"));
        assert_eq!((name("7 (a"), name("a) b")), (None, None));
    }

    #[test]
    fn malformed_stat_line_is_refused() {
        for odd in ["", "7 (a) S", "7 (a) S x", ") ", "7 (a) S 1 1 1 0 -1 0 9 9 9 9 1 2 3"] {
            assert_eq!(Stat::parse(odd), None, "{odd}");
        }
    }
}
