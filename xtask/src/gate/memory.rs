//! Gates of resident memory: the memory of a run must not grow with the number of its requests, the
//! memory of a replay must not grow with the length of its log, and the memory of a check must stay
//! below a multiple of the file size.

use std::path::Path;
use std::process::Command;

use super::attempts::least;

/// Numbers of virtual requests in the two runs whose memory is compared.
const FEW: u64 = 1_000_000;
const MANY: u64 = 10_000_000;

/// Largest growth of memory from [`FEW`] to [`MANY`] requests, in bytes.
const GROWTH: u64 = 1_000_000;

/// Numbers of lines in the two logs whose replays are compared.
const FEW_LINES: u64 = 100_000;
const MANY_LINES: u64 = 1_000_000;

/// Largest growth of memory from [`FEW_LINES`] to [`MANY_LINES`], in bytes: a twentieth of the size
/// of the lines. Unused space in the heap, which varies from run to run, makes up half of this
/// growth.
const GROWTH_OF_A_REPLAY: u64 = 2_000_000;

/// Maximum number of times that the longer run is executed. The peak of the same run varies by 1.5
/// MB, because the threads of lane and recorder take turns in different ways; memory that grows
/// with the number of requests shows in every run.
const ATTEMPTS: u32 = 10;

/// Largest memory of the check of a workload file, as a multiple of its size.
const FACTOR: f64 = 10.0;

pub(crate) fn check(root: &Path) -> Result<String, Vec<String>> {
    let measured = measure(root).map_err(|error| vec![error])?;
    let complaints = judge(&measured);
    if !complaints.is_empty() {
        return Err(complaints);
    }
    let MemoryUse { few, many, few_lines, many_lines, factor } = measured;
    Ok(format!(
        "gate: resident memory\n  {few} bytes after {FEW} virtual requests, {many} after {MANY} \
         (limit {GROWTH} more)\n  {few_lines} bytes after the replay of {FEW_LINES} lines, \
         {many_lines} of {MANY_LINES} (limit {GROWTH_OF_A_REPLAY} more)\n  \
         check of a 10 MB file: {factor} times its size (limit {FACTOR})"
    ))
}

#[derive(Clone, Copy)]
struct MemoryUse {
    few: u64,
    many: u64,
    few_lines: u64,
    many_lines: u64,
    factor: f64,
}

fn measure(root: &Path) -> Result<MemoryUse, String> {
    let after = |case: &str, requests: u64| {
        let text = output_of(root, &[case, &requests.to_string()])?;
        let peak = text.split_whitespace().nth(1).and_then(|peak| peak.parse().ok());
        peak.ok_or_else(|| format!("bench {case} said `{text}`"))
    };
    let input = output_of(root, &["input"])?;
    let factor = input.trim().parse().map_err(|_| format!("bench input said `{input}`"))?;
    let (few, few_lines) = (after("memory", FEW)?, after("replay", FEW_LINES)?);
    let many = least(ATTEMPTS, few + GROWTH, || after("memory", MANY))?;
    let many_lines =
        least(ATTEMPTS, few_lines + GROWTH_OF_A_REPLAY, || after("replay", MANY_LINES))?;
    Ok(MemoryUse { few, many, few_lines, many_lines, factor })
}

fn output_of(root: &Path, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new(super::program::program(root))
        .args(arguments)
        .output()
        .map_err(|error| format!("cannot run bench: {error}"))?;
    if !output.status.success() {
        return Err(format!("bench failed: {}", String::from_utf8_lossy(&output.stderr)));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn judge(measured: &MemoryUse) -> Vec<String> {
    let MemoryUse { few, many, few_lines, many_lines, factor } = *measured;
    let mut complaints = Vec::new();
    if many > few + GROWTH {
        complaints.push(format!(
            "a run's memory grows: {few} bytes after {FEW} requests, {many} after {MANY}"
        ));
    }
    if many_lines > few_lines + GROWTH_OF_A_REPLAY {
        complaints.push(format!(
            "a replay's memory grows: {few_lines} bytes after {FEW_LINES} lines, {many_lines} \
             after {MANY_LINES}"
        ));
    }
    if factor > FACTOR {
        complaints.push(format!("the check of a file takes {factor} times its size of memory"));
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_grows_is_noticed() {
        let good = MemoryUse {
            few: 30_000_000,
            many: 31_000_000,
            few_lines: 10_000_000,
            many_lines: 12_000_000,
            factor: 10.0,
        };
        assert_eq!(judge(&good), [""; 0]);
        assert_eq!(judge(&MemoryUse { many: 31_000_001, ..good }).len(), 1);
        assert_eq!(judge(&MemoryUse { many_lines: 12_000_001, ..good }).len(), 1);
        assert_eq!(judge(&MemoryUse { factor: 10.01, ..good }).len(), 1);
    }
}
