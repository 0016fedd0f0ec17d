//! Capacity searches over loopback, in real time, in the protocols of PostgreSQL and MySQL.
//!
//! The server is an M/M/1 queue in a process of its own. The search is made by the program `assay`
//! in the folder of this program, with a question file, as users run it.

use std::error::Error;
use std::process::{Command, Stdio};

use serde_json::Value;

use bench::SimulatedServer;

/// The server: exponential service times with a mean of 1 ms.
const SERVER: &str = "sim:mm1?service=1ms";

/// The largest rate with a p99 of at most 20 ms, in requests per second: μ − ln 100 / 20 ms.
pub const TRUTH_PER_S: f64 = 769.741_5;

/// The range in which the confirmed rate must lie, in requests per second.
pub const ACCEPTED_PER_S: [f64; 2] = [690.0, 785.0];

/// The question, with its workload.
const QUESTION: &str = "\
[question]
ask = How many requests per second does an M/M/1 queue answer?
[capacity]
slo = p99(read) < 20ms
vary = rate(read)
budget = 25m
[read]
query = select 1
";

/// A protocol: its name, the word for its simulated server, and the scheme of its URLs.
#[derive(Clone, Copy, Debug)]
pub struct Protocol {
    /// Name of the protocol in a table.
    pub name: &'static str,
    server: &'static str,
    scheme: &'static str,
}

/// The protocols in which the capacity of the server is searched for.
pub const PROTOCOLS: [Protocol; 2] = [
    Protocol { name: "PostgreSQL", server: "postgres", scheme: "postgres" },
    Protocol { name: "MySQL", server: "mariadb", scheme: "mysql" },
];

/// The result of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct LoopbackSearch {
    /// Confirmed rate, in requests per second; `None` if none was confirmed.
    pub sustained_per_s: Option<f64>,
    /// Estimate, in requests per second.
    pub estimate_per_s: Option<f64>,
    /// Number of trials.
    pub trials: u64,
    /// Length of all trials, in seconds.
    pub took_s: f64,
    /// The irregularities, in words.
    pub irregular: String,
    /// Verdict of the answer.
    pub verdict: String,
}

impl LoopbackSearch {
    /// Returns true if the confirmed rate is in the accepted range.
    pub fn is_good(&self) -> bool {
        let [low, high] = ACCEPTED_PER_S;
        self.sustained_per_s.is_some_and(|rate| (low..=high).contains(&rate))
    }

    fn of(document: &Value) -> LoopbackSearch {
        let found = &document["capacity"];
        let words = found["irregularities"].as_array().into_iter().flatten();
        let words: Vec<&str> = words.filter_map(Value::as_str).collect();
        LoopbackSearch {
            sustained_per_s: found["sustained_per_s"].as_f64(),
            estimate_per_s: found["estimate_per_s"].as_f64(),
            trials: found["trials"].as_u64().unwrap_or(0),
            took_s: found["took_s"].as_f64().unwrap_or(0.0),
            irregular: words.join(", "),
            verdict: document["verdict"].as_str().unwrap_or_default().to_owned(),
        }
    }
}

/// Searches for the capacity of the server in one protocol, with the `assay` in this program's
/// folder, in up to 25 minutes.
///
/// # Errors
/// Fails if `bench` or `assay` is missing, or `assay` prints no answer.
pub fn search(protocol: Protocol) -> Result<LoopbackSearch, Box<dyn Error>> {
    let server = SimulatedServer::start(SERVER, protocol.server)?;
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("search.ini");
    std::fs::write(&file, QUESTION)?;
    let SimulatedServer { host, port, .. } = &server;
    let url = format!("{}://assay@{host}:{port}/oracle", protocol.scheme);
    let mut command = Command::new(std::env::current_exe()?.with_file_name("assay"));
    command.arg("run").arg(&file).args(["--url", &url, "--json", "--quiet", "--out"]);
    command.arg(folder.path().join("r.assay")).stderr(Stdio::inherit());
    let output = command.output()?;
    Ok(LoopbackSearch::of(&serde_json::from_slice(&output.stdout)?))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn confirmed_rate_must_be_near_the_closed_form() {
        let at = |sustained: Value| {
            LoopbackSearch::of(&json!({
                "verdict": "VALID",
                "capacity": {
                    "sustained_per_s": sustained, "estimate_per_s": 768.2, "trials": 40,
                    "took_s": 1_300.5, "irregularities": []
                }
            }))
        };
        assert!(at(json!(745.1)).is_good() && at(json!(TRUTH_PER_S)).is_good());
        assert!(!at(json!(689.0)).is_good() && !at(json!(786.0)).is_good());
        assert!(!at(Value::Null).is_good());
        assert_eq!((at(json!(1)).trials, at(json!(1)).took_s), (40, 1_300.5));
    }
}
