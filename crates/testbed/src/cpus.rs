//! Processors to which a server is bound.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fmt;
use std::path::Path;
use std::process::Command;

use nix::sched::{CpuSet, sched_setaffinity};
use nix::unistd::Pid;

use crate::programs::clean_command;

/// Largest accepted number of a processor.
const HIGHEST_NUMBER: u32 = 8_191;

/// The file with the numbers of the processors that exist and are online.
const ONLINE_FILE: &str = "/sys/devices/system/cpu/online";

/// A set of processors, such as `0-1,3`; it is not empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cpus(BTreeSet<u32>);

impl Cpus {
    /// Parses numbers and ranges, separated by commas.
    ///
    /// # Errors
    /// Returns the reason why the text is not such a list, as a phrase that follows the option's
    /// name.
    pub fn parse(text: &str) -> Result<Cpus, String> {
        let mut numbers = BTreeSet::new();
        for part in text.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let range = parse_number(first).zip(parse_number(last));
            let range = range.filter(|(first, last)| first <= last);
            let Some((first, last)) = range else {
                return Err(format!(
                    "has `{part}`, not a processor or a range; write for example `0-1,3`"
                ));
            };
            numbers.extend(first..=last);
        }
        Ok(Cpus(numbers))
    }

    /// Returns the reason why a server cannot be bound to these processors of this machine; `None`
    /// if it can.
    pub(crate) fn objection(&self) -> Option<String> {
        let online = std::fs::read_to_string(ONLINE_FILE).ok();
        let online = online.and_then(|text| Cpus::parse(text.trim()).ok());
        let absent = online.as_ref().and_then(|online| self.first_outside(online));
        if let (Some(absent), Some(online)) = (absent, &online) {
            return Some(format!("there is no processor {absent}: this machine has {online}"));
        }
        let refused = self.0.iter().find(|number| !may_run_on(**number))?;
        let usable = online.into_iter().flat_map(|online| online.0);
        let usable = Cpus(usable.filter(|number| may_run_on(*number)).collect());
        Some(format!("processor {refused} must not be used here; allowed are {usable}"))
    }

    fn first_outside(&self, others: &Cpus) -> Option<u32> {
        self.0.difference(&others.0).next().copied()
    }

    /// Returns a command that runs `command` on these processors. The returned command is
    /// taskset(1), which replaces itself by `command`, so the process id stays the same.
    pub(crate) fn bind(&self, command: &Command) -> Command {
        let mut bound = clean_command(Path::new("taskset"));
        bound.arg("-c").arg(self.to_string());
        bound.arg(command.get_program()).args(command.get_args());
        let set =
            |(name, value): (&OsStr, Option<&OsStr>)| Some((name.to_owned(), value?.to_owned()));
        bound.envs(command.get_envs().filter_map(set));
        if let Some(folder) = command.get_current_dir() {
            bound.current_dir(folder);
        }
        bound
    }
}

fn parse_number(text: &str) -> Option<u32> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok()).flatten().filter(|number| *number <= HIGHEST_NUMBER)
}

/// Returns true if the kernel lets a thread of this process run on a processor. Control groups may
/// forbid it. The binding of this process does not matter, because servers are bound separately.
fn may_run_on(number: u32) -> bool {
    let bind = move || {
        let mut set = CpuSet::new();
        let is_possible = set.set(number as usize).is_ok();
        is_possible && sched_setaffinity(Pid::from_raw(0), &set).is_ok()
    };
    // The binding is made on a separate thread, and ends with it.
    std::thread::spawn(bind).join().unwrap_or(false)
}

impl fmt::Display for Cpus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers: Vec<u32> = self.0.iter().copied().collect();
        let ranges = numbers.chunk_by(|one, next| one + 1 == *next).map(|range| match range {
            [only] => only.to_string(),
            range => format!("{}-{}", range[0], range[range.len() - 1]),
        });
        f.write_str(&ranges.collect::<Vec<_>>().join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn list_of_processors_is_printed_in_order() {
        for (text, printed) in
            [("1", "1"), ("0-1,3", "0-1,3"), ("3,1,2,2", "1-3"), ("0,2,4-5", "0,2,4-5")]
        {
            assert_eq!(Cpus::parse(text).unwrap().to_string(), printed);
        }
    }

    #[test]
    fn other_texts_are_refused_with_the_part() {
        for (text, part) in
            [("", ""), ("1,", ""), ("x", "x"), ("0,2-1", "2-1"), ("-1", "-1"), ("9999", "9999")]
        {
            let why = Cpus::parse(text).unwrap_err();
            assert!(why.starts_with(&format!("has `{part}`, not a processor")), "{why}");
        }
    }

    #[test]
    fn processor_that_does_not_exist_is_named() {
        let objection = Cpus::parse("0,8191").unwrap().objection().unwrap();
        assert!(objection.starts_with("there is no processor 8191: this machine has 0"));
        assert_eq!(Cpus::parse("0").unwrap().objection(), None);
    }

    /// The kernel decides, not the binding of the calling thread.
    #[test]
    fn binding_of_the_calling_thread_does_not_matter() {
        let online = Cpus::parse(std::fs::read_to_string(ONLINE_FILE).unwrap().trim()).unwrap();
        let usable: Vec<u32> = online.0.into_iter().filter(|it| may_run_on(*it)).collect();
        let [first, .., last] = [usable[0], usable[usable.len() - 1]];
        let objection = std::thread::spawn(move || {
            let mut set = CpuSet::new();
            set.set(first as usize).unwrap();
            sched_setaffinity(Pid::from_raw(0), &set).unwrap();
            Cpus::parse(&last.to_string()).unwrap().objection()
        });
        assert_eq!(objection.join().unwrap(), None);
    }
}
