//! Parsers of the counts that load generators and counting tools print.

use serde_json::Value;

use crate::output::Failure;

/// Parses the number of requests in the output of `limit`, which is one line of JSON.
pub(crate) fn limit(stdout: &str) -> Result<u64, Failure> {
    let value: Value = serde_json::from_str(stdout.trim())?;
    value["requests"].as_u64().ok_or_else(|| "limit reports no requests".into())
}

/// Parses the completed requests of all jobs in the output of `assay run --json`.
pub(crate) fn assay(stdout: &str) -> Result<u64, Failure> {
    let value: Value = serde_json::from_str(stdout)?;
    let jobs = value["jobs"].as_array().ok_or("the summary has no jobs")?;
    let completed = |job: &Value| job["completed"].as_u64().ok_or("a job without `completed`");
    Ok(jobs.iter().map(completed).sum::<Result<u64, &str>>()?)
}

/// Parses the output of `pgbench`: "number of transactions actually processed: 97974".
pub(crate) fn pgbench(stdout: &str) -> Result<u64, Failure> {
    number_after(stdout, "number of transactions actually processed: ")
}

/// Parses the output of `sysbench`: "read:    119542", below "queries performed:".
pub(crate) fn sysbench(stdout: &str) -> Result<u64, Failure> {
    number_after(stdout, "read:")
}

/// Parses the output of `dbbench`: the last "30967 queries (15476.803 QPS)".
pub(crate) fn dbbench(stderr: &str) -> Result<u64, Failure> {
    let (before, _) = stderr.rsplit_once(" queries (").ok_or("dbbench reports no queries")?;
    let number = before.rsplit(' ').next().unwrap_or_default();
    number.parse().map_err(|_| format!("dbbench reports `{number}` queries").into())
}

/// Parses the number of system calls in the last line of `strace -c`.
pub(crate) fn strace(summary: &str) -> Result<u64, Failure> {
    let is_total = |line: &&str| line.split_whitespace().next_back() == Some("total");
    let line = summary.lines().find(is_total).ok_or("strace reports no total")?;
    // % time, seconds, usecs/call, calls, perhaps errors, total.
    let calls = line.split_whitespace().nth(3).unwrap_or_default();
    calls.parse().map_err(|_| format!("strace reports `{calls}` calls").into())
}

/// Parses the count in a line of `perf stat -x,`.
///
/// # Errors
/// Counting is not permitted: perf then prints no such line. Or it is not supported, or nothing was
/// counted, which the line says in place of the count.
pub(crate) fn perf(stderr: &str, event: &str) -> Result<u64, Failure> {
    let line = stderr.lines().find(|line| line.split(',').any(|field| field == event));
    let count = line.ok_or("not permitted here")?.split(',').next().unwrap_or_default();
    count.parse().map_err(|_| format!("{} here", count.trim_matches(['<', '>'])).into())
}

/// Parses and adds the counts of callgrind in all processes: "==1== Collected : 123".
pub(crate) fn callgrind(stderr: &str) -> Result<u64, Failure> {
    let words = "Collected :";
    let lines: Vec<&str> = stderr.lines().filter(|line| line.contains(words)).collect();
    match lines.is_empty() {
        true => number_after(stderr, words),
        false => lines.into_iter().map(|line| number_after(line, words)).sum(),
    }
}

/// Returns the number after the first occurrence of `words`.
fn number_after(text: &str, words: &str) -> Result<u64, Failure> {
    let missing = || format!("the output has no number after `{words}`");
    let (_, after) = text.split_once(words).ok_or_else(missing)?;
    let digits: String = after.trim_start().chars().take_while(char::is_ascii_digit).collect();
    digits.parse().map_err(|_| missing().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_of_each_program_is_parsed() {
        assert_eq!(limit("{\"requests\":17,\"elapsed_us\":1}\n").ok(), Some(17));
        assert_eq!(assay(r#"{"jobs":[{"completed":3},{"completed":4}]}"#).ok(), Some(7));
        let text = "number of clients: 16\nnumber of transactions actually processed: 97974\n";
        assert_eq!(pgbench(text).ok(), Some(97_974));
        let text = "SQL statistics:\n    queries performed:\n        read:                 42\n";
        assert_eq!(sysbench(text).ok(), Some(42));
        let text = "point: 9 transactions (9.1 TPS), latency 1ms±0s; 9 rows (9.1 RPS), 9 queries \
                    (9.1 QPS); 0 aborts\npoint: 30 transactions (15.0 TPS), latency 1ms±0s; 30 \
                    rows (15.0 RPS), 30 queries (15.0 QPS); 0 aborts (0.000%)\n";
        assert_eq!(dbbench(text).ok(), Some(30));
        let text = "% time     seconds  usecs/call     calls    errors syscall\n\
                    100.00    0.631   8     76084        17 total\n";
        assert_eq!(strace(text).ok(), Some(76_084));
        let text = "said before\n29,,raw_syscalls:sys_enter,8,100.00,,\n";
        assert_eq!(perf(text, "raw_syscalls:sys_enter").ok(), Some(29));
        assert_eq!(callgrind("==7== Events    : Ir\n==7== Collected : 55\n").ok(), Some(55));
        let text = "==7== Collected : 55\nsaid between\n==8== Collected : 45\n";
        assert_eq!(callgrind(text).ok(), Some(100));
        assert!(callgrind("==7== Collected : no\n").is_err() && callgrind("").is_err());
    }

    #[test]
    fn reason_for_a_missing_count_of_perf_is_kept() {
        let check = |text: &str, expected: &str| {
            let error = perf(text, "instructions:u").expect_err("no count");
            assert_eq!(error.to_string(), expected);
        };
        check("Access to performance monitoring is limited.\n", "not permitted here");
        check("<not supported>,,instructions:u,0,100.00,,\n", "not supported here");
        check("<not counted>,,instructions:u,0,0.00,,\n", "not counted here");
    }

    #[test]
    fn missing_count_is_an_error() {
        let error = pgbench("connection refused").expect_err("no number").to_string();
        assert!(error.contains("number of transactions"), "{error}");
        assert!(assay("{}").is_err() && limit("").is_err() && dbbench("").is_err());
        assert!(sysbench("read: many").is_err() && strace("").is_err());
    }
}
