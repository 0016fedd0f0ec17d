//! Gates of the instructions per request, which depend little on the load of the machine.
//!
//! Each case of `bench/gates.txt` runs twice under callgrind, once with twice as many requests; the
//! difference is the cost of the requests alone. A cost above the limit fails. A cost far below it
//! fails too, because the limit would be too generous to detect the next regression. A case with
//! another unit than a request, such as a whole run, states the number of units in its shorter run.
//!
//! Open loops in real time execute more instructions while other programs delay them. A cost above
//! the limit is therefore counted again.

use std::path::Path;
use std::process::Command;

use super::attempts::least;

/// Number of requests of the shorter run, unless the case states another number.
const REQUESTS: u64 = 50_000;

/// Largest fraction by which a case may be below its limit. Results of different compilers and C
/// libraries differ by a few percent.
const SLACK: f64 = 0.25;

/// Maximum number of times that the cost of a case is counted.
const ATTEMPTS: u32 = 3;

/// One line of `bench/gates.txt`.
#[derive(Debug, PartialEq)]
struct Gate {
    case: String,
    /// Maximum number of instructions per request, or per unit of the case.
    limit: u64,
    /// Number of requests, or of the case's own unit, in the shorter run.
    requests: u64,
}

pub(crate) fn check(root: &Path) -> Result<String, Vec<String>> {
    let path = root.join("bench/gates.txt");
    let text = std::fs::read_to_string(&path)
        .map_err(|error| vec![format!("bench/gates.txt: {error}")])?;
    let mut complaints = Vec::new();
    let mut report = String::from("gate: instructions per request");
    for gate in parse(&text)? {
        let count = |requests| instructions(root, &gate.case, requests);
        let per_request = least(ATTEMPTS, gate.limit, || {
            let (few, many) = (count(gate.requests)?, count(2 * gate.requests)?);
            Ok(many.saturating_sub(few) / gate.requests)
        });
        let per_request = per_request.map_err(|error| vec![error])?;
        report.push_str(&format!("\n  {}: {per_request} (limit {})", gate.case, gate.limit));
        complaints.extend(judge(&gate, per_request));
    }
    if complaints.is_empty() { Ok(report) } else { Err(complaints) }
}

/// Reads lines of the form `case limit [requests]`.
fn parse(text: &str) -> Result<Vec<Gate>, Vec<String>> {
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
    lines
        .filter(|line| !line.is_empty())
        .map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let number = |word: &str| word.parse().ok().filter(|number| *number > 0);
            let gate = match words[..] {
                [case, limit] => number(limit).map(|limit| (case, limit, REQUESTS)),
                [case, limit, requests] => number(limit)
                    .zip(number(requests))
                    .map(|(limit, requests)| (case, limit, requests)),
                _ => None,
            };
            let gate =
                gate.map(|(case, limit, requests)| Gate { case: case.to_owned(), limit, requests });
            let form = "`case limit` or `case limit requests`";
            gate.ok_or_else(|| vec![format!("bench/gates.txt: `{line}` is not {form}")])
        })
        .collect()
}

/// Counts the instructions of one run of a case.
fn instructions(root: &Path, case: &str, requests: u64) -> Result<u64, String> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(super::program::program(root))
        .args(["gate", case, &requests.to_string()])
        .output()
        .map_err(|error| format!("cannot run valgrind: {error}"))?;
    let text = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(format!("bench gate {case} failed under valgrind:\n{text}"));
    }
    collected(&text).ok_or_else(|| format!("valgrind counted nothing:\n{text}"))
}

/// Parses the count in callgrind's summary: `==123== Collected : 456`.
fn collected(text: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.contains("Collected :"))?;
    line.split_whitespace().last()?.parse().ok()
}

fn judge(gate: &Gate, per_request: u64) -> Option<String> {
    let Gate { case, limit, .. } = gate;
    if per_request > *limit {
        let more = format!("{per_request} instructions per request are more than {limit}");
        return Some(format!("{case}: {more}: find out why, or raise the limit and say why"));
    }
    let floor = (*limit as f64 * (1.0 - SLACK)) as u64;
    (per_request < floor).then(|| {
        format!("{case}: {per_request} instructions per request: lower the limit of {limit}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gate(limit: u64) -> Gate {
        Gate { case: "closed".to_owned(), limit, requests: REQUESTS }
    }

    #[test]
    fn count_above_or_far_below_the_limit_is_noticed() {
        assert_eq!(judge(&gate(1_000), 1_000), None);
        assert_eq!(judge(&gate(1_000), 750), None);
        assert!(judge(&gate(1_000), 1_001).is_some_and(|text| text.contains("more than 1000")));
        assert!(judge(&gate(1_000), 749).is_some_and(|text| text.contains("lower the limit")));
    }

    #[test]
    fn the_file_and_the_count_are_read() {
        assert_eq!(parse("# c\nclosed 1000 # why\n"), Ok(vec![gate(1_000)]));
        let moves = Gate { case: "merge".to_owned(), limit: 7, requests: 4 };
        assert_eq!(parse("merge 7 4\n"), Ok(vec![moves]));
        assert!(parse("closed\n").is_err() && parse("closed 7 0\n").is_err());
        assert_eq!(collected("==1== Events : Ir\n==1== Collected : 29464771\n"), Some(29_464_771));
        assert_eq!(collected("nothing"), None);
    }
}
