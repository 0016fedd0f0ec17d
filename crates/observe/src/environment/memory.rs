//! Memory, swap in use, and huge pages.

use record::environment::host;

use super::fact::Fact;
use super::root::Root;

pub(super) fn facts(root: &Root) -> [Fact; 8] {
    let text = root.text("proc/meminfo").unwrap_or_default();
    let info = Info(&text);
    let swap = info.bytes("SwapTotal");
    let used = swap.zip(info.bytes("SwapFree")).and_then(|(all, free)| all.checked_sub(free));
    let huge_pages = "sys/kernel/mm/transparent_hugepage/enabled";
    let number = |number: Option<u64>| number.map(|number| number.to_string());
    [
        (host::MEMORY_TOTAL, number(info.bytes("MemTotal"))),
        (host::MEMORY_AVAILABLE, number(info.bytes("MemAvailable"))),
        (host::SWAP_TOTAL, number(swap)),
        (host::SWAP_USED, number(used)),
        (host::SWAP_SWAPPINESS, number(root.number("proc/sys/vm/swappiness"))),
        (host::HUGE_PAGES_TRANSPARENT, root.line(huge_pages).as_deref().and_then(bracketed_word)),
        (host::HUGE_PAGES_RESERVED, number(info.number("HugePages_Total"))),
        (host::HUGE_PAGES_SIZE, number(info.bytes("Hugepagesize"))),
    ]
}

/// Content of `/proc/meminfo`. A line has the form `MemTotal:   1024 kB`, or a count without a
/// unit.
struct Info<'a>(&'a str);

impl Info<'_> {
    fn words(&self, name: &str) -> Option<(u64, Option<&str>)> {
        let rest = |line: &'_ str| -> Option<usize> {
            let (key, _) = line.split_once(':')?;
            (key == name).then_some(key.len() + 1)
        };
        let line = self.0.lines().find_map(|line| Some(&line[rest(line)?..]))?;
        let mut words = line.split_whitespace();
        Some((words.next()?.parse().ok()?, words.next()))
    }

    fn bytes(&self, name: &str) -> Option<u64> {
        match self.words(name)? {
            // The kernel writes `kB`, but means units of 1,024 bytes.
            (number, Some("kB")) => number.checked_mul(1_024),
            (_, _) => None,
        }
    }

    fn number(&self, name: &str) -> Option<u64> {
        self.words(name).filter(|(_, unit)| unit.is_none()).map(|(number, _)| number)
    }
}

/// Returns the word in brackets of `always [madvise] never`.
pub(super) fn bracketed_word(line: &str) -> Option<String> {
    let (_, rest) = line.split_once('[')?;
    let (word, _) = rest.split_once(']')?;
    Some(word.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::tests::{TestRoot, value};

    #[test]
    fn memory_swap_and_huge_pages_are_in_bytes() {
        let planted = TestRoot::new()
            .with(
                "proc/meminfo",
                "MemTotal:       16384 kB\nMemAvailable:    8192 kB\nSwapTotal:  2048 kB\n\
                 SwapFree:       1024 kB\nHugePages_Total:       7\nHugepagesize:    2048 kB\n",
            )
            .with("proc/sys/vm/swappiness", "60\n")
            .with("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
        let facts = facts(&planted.root);
        for (name, expected) in [
            ("host.memory.total_bytes", "16777216"),
            ("host.memory.available_bytes", "8388608"),
            ("host.swap.total_bytes", "2097152"),
            ("host.swap.used_bytes", "1048576"),
            ("host.swap.swappiness", "60"),
            ("host.huge_pages.transparent", "madvise"),
            ("host.huge_pages.reserved", "7"),
            ("host.huge_pages.size_bytes", "2097152"),
        ] {
            assert_eq!(value(&facts, name).as_deref(), Some(expected), "{name}");
        }
    }

    #[test]
    fn malformed_content_is_unknown() {
        let text = "MemTotal: 18446744073709551615 kB\nSwapTotal: 1 kB\nSwapFree: 2 kB\n\
                    HugePages_Total: 1 kB\nMemAvailable: 7\nHugepagesize kB\n";
        let planted = TestRoot::new()
            .with("proc/meminfo", text)
            .with("sys/kernel/mm/transparent_hugepage/enabled", "always madvise\n");
        for (name, found) in facts(&planted.root) {
            let expected = (name == "host.swap.total_bytes").then_some("1024");
            assert_eq!(found.as_deref(), expected, "{name}");
        }
    }
}
