//! The operating system: its kernel, its distribution, and the limits of open files.

use record::environment::host;

use super::fact::Fact;
use super::root::Root;

pub(super) fn facts(root: &Root) -> [Fact; 6] {
    let limits = root.text("proc/self/limits").unwrap_or_default();
    let [soft, hard] = open_files(&limits);
    [
        (host::KERNEL, kernel(root)),
        (host::KERNEL_BUILD, root.line("proc/sys/kernel/version")),
        (host::DISTRIBUTION, distribution(root)),
        (host::ARCHITECTURE, Some(std::env::consts::ARCH.to_owned())),
        (host::OPEN_FILES_SOFT, soft),
        (host::OPEN_FILES_HARD, hard),
    ]
}

fn kernel(root: &Root) -> Option<String> {
    let release = root.line("proc/sys/kernel/osrelease")?;
    let system = root.line("proc/sys/kernel/ostype").unwrap_or_default();
    Some(format!("{system} {release}").trim().to_owned())
}

/// Returns the name of the distribution: `PRETTY_NAME` of `os-release(5)`.
fn distribution(root: &Root) -> Option<String> {
    let text = root.text("etc/os-release").or_else(|| root.text("usr/lib/os-release"))?;
    let name = text.lines().find_map(|line| line.trim().strip_prefix("PRETTY_NAME="))?;
    Some(name.trim().trim_matches(['"', '\'']).to_owned())
}

/// Returns the soft limit, and the hard limit to which a process may raise it.
fn open_files(limits: &str) -> [Option<String>; 2] {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"));
    let mut words = line.unwrap_or_default().split_whitespace();
    let is_limit = |word: &&str| *word == "unlimited" || word.parse::<u64>().is_ok();
    [words.next(), words.next()].map(|word| word.filter(is_limit).map(str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::tests::{TestRoot, value};

    #[test]
    fn kernel_and_distribution_are_read_from_their_files() {
        let planted = TestRoot::new()
            .with("proc/sys/kernel/ostype", "Linux\n")
            .with("proc/sys/kernel/osrelease", "6.1.0-18-amd64\n")
            .with("proc/sys/kernel/version", "#1 SMP PREEMPT_DYNAMIC Debian 6.1.76-1\n")
            .with("etc/os-release", "ID=debian\nPRETTY_NAME=\"Debian GNU/Linux 12\"\n");
        let facts = facts(&planted.root);
        for (name, expected) in [
            ("host.kernel", "Linux 6.1.0-18-amd64"),
            ("host.kernel.build", "#1 SMP PREEMPT_DYNAMIC Debian 6.1.76-1"),
            ("host.distribution", "Debian GNU/Linux 12"),
        ] {
            assert_eq!(value(&facts, name).as_deref(), Some(expected));
        }
    }

    #[test]
    fn a_distribution_without_a_name_is_unknown() {
        for text in ["ID=debian\n", "PRETTY_NAME", ""] {
            assert_eq!(distribution(&TestRoot::new().with("etc/os-release", text).root), None);
        }
        let elsewhere = TestRoot::new().with("usr/lib/os-release", "PRETTY_NAME=Alpine\n");
        assert_eq!(distribution(&elsewhere.root).as_deref(), Some("Alpine"));
    }

    #[test]
    fn both_limits_of_open_files_are_read() {
        let check = |line: &str, expected: [Option<&str>; 2]| {
            let limits = format!("Limit   Soft Limit  Hard Limit  Units\n{line}\nMax x  1  2  y\n");
            assert_eq!(open_files(&limits), expected.map(|limit| limit.map(str::to_owned)));
        };
        check("Max open files   1024   524288   files", [Some("1024"), Some("524288")]);
        check("Max open files   1024   unlimited   files", [Some("1024"), Some("unlimited")]);
        check("Max open files   many   files", [None, None]);
        check("", [None, None]);
    }
}
