//! Storage of the results of A/A experiments, which compare an arm with itself, for each machine.
//!
//! The file of a machine is next to its calibration and, like the calibration, is only used on the
//! machine on which it was made.

use std::io;
use std::path::PathBuf;

use analyze::compare::FalsePositives;
use serde_json::{Map, Value, json};

use super::machine::Machine;
use super::store::{Store, UnusableFile};

/// The name and version of the document.
const SCHEMA: &str = "assay.false-positives/1";

/// Maximum number of experiments that are stored; the oldest are dropped.
const MAX_EXPERIMENTS: usize = 200;

/// The result of an experiment that compares an arm with itself.
#[derive(Clone, Debug, PartialEq)]
pub struct AaResult {
    /// UTC time of the experiment's end, as in RFC 3339.
    pub taken: String,
    /// Name of the workload file.
    pub workload: String,
    /// Kind of the target, such as `postgres` or `testbed:mariadb`.
    pub target: String,
    /// Metric that was compared.
    pub metric: String,
    /// Standard deviation of the changes between the two runs of a pair: of the logarithms of their
    /// ratios or, for a metric that is compared by differences, of the differences.
    pub spread: f64,
    /// Numbers of comparisons and of false alarms.
    pub counted: FalsePositives,
}

/// The number of false alarms in experiments on one machine, with targets of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MachineRate {
    /// Number of experiments that compared an arm with itself.
    pub experiments: u32,
    /// UTC time of the end of the latest experiment, as in RFC 3339.
    pub latest: String,
    /// Kind of the targets.
    pub target: String,
    /// Numbers of comparisons and of false alarms in all experiments.
    pub counted: FalsePositives,
}

impl MachineRate {
    /// Adds up the results with targets of this kind; `None` if there are none.
    pub fn of(results: &[AaResult], target: &str) -> Option<MachineRate> {
        let results: Vec<&AaResult> = results.iter().filter(|it| it.target == target).collect();
        let latest = results.iter().map(|result| result.taken.as_str()).max()?;
        let none = FalsePositives::default();
        Some(MachineRate {
            experiments: results.len() as u32,
            latest: latest.to_owned(),
            target: target.to_owned(),
            counted: results.iter().fold(none, |sum, result| sum.plus(result.counted)),
        })
    }

    /// Returns the rate as text, for a record.
    pub fn to_text(&self) -> String {
        let fields = json!({
            "experiments": self.experiments,
            "latest": self.latest,
            "target": self.target,
            "comparisons": self.counted.comparisons,
            "rejections": self.counted.rejections,
        });
        fields.to_string()
    }

    /// Reads the text of a record; `None` if it is damaged.
    pub fn of_text(text: &str) -> Option<MachineRate> {
        let fields: Value = serde_json::from_str(text).ok()?;
        Some(MachineRate {
            experiments: number(&fields, "experiments")?,
            latest: fields["latest"].as_str()?.to_owned(),
            target: fields["target"].as_str()?.to_owned(),
            counted: parse_false_positives(&fields)?,
        })
    }
}

impl Store {
    /// Reads the results of a machine, the oldest first; empty if there is no file.
    ///
    /// # Errors
    /// The file exists and cannot be used.
    pub fn aa_results(&self, machine: &Machine) -> Result<Vec<AaResult>, UnusableFile> {
        let path = self.aa_file(machine);
        let Some(document) = self.document(&path)? else { return Ok(Vec::new()) };
        let odd = |reason: &str| UnusableFile { path: path.clone(), reason: reason.to_owned() };
        if document["machine"] != facts(machine) {
            return Err(odd("it was made on another machine"));
        }
        let results = document["experiments"].as_array().map(|all| all.iter().map(result));
        let results = results.and_then(|all| all.collect::<Option<Vec<AaResult>>>());
        let is_known = document["schema"] == SCHEMA;
        let damaged = "it is damaged, or was made by another version of assay";
        results.filter(|_| is_known).ok_or_else(|| odd(damaged))
    }

    /// Adds a result to the stored results of a machine and returns the path of the file. A file
    /// that cannot be used is replaced.
    ///
    /// # Errors
    /// The file cannot be written; the previous one is then still in place.
    pub fn add_aa_result(&self, machine: &Machine, added: AaResult) -> io::Result<PathBuf> {
        let mut results = self.aa_results(machine).unwrap_or_default();
        results.push(added);
        let spare = results.len().saturating_sub(MAX_EXPERIMENTS);
        let experiments: Vec<Value> = results[spare..].iter().map(fields).collect();
        let document = json!({
            "schema": SCHEMA,
            "machine": facts(machine),
            "experiments": experiments,
        });
        self.replace(self.aa_file(machine), &document)
    }

    fn aa_file(&self, machine: &Machine) -> PathBuf {
        self.path_of(&format!("false-positives-{}.json", machine.fingerprint()))
    }
}

fn facts(machine: &Machine) -> Value {
    let facts = machine.facts().iter().map(|(name, value)| (name.clone(), json!(value)));
    Value::Object(facts.collect::<Map<String, Value>>())
}

fn fields(result: &AaResult) -> Value {
    json!({
        "taken": result.taken,
        "workload": result.workload,
        "target": result.target,
        "metric": result.metric,
        "spread": result.spread,
        "comparisons": result.counted.comparisons,
        "rejections": result.counted.rejections,
    })
}

fn result(fields: &Value) -> Option<AaResult> {
    let text = |name: &str| fields[name].as_str().map(str::to_owned);
    Some(AaResult {
        taken: text("taken")?,
        workload: text("workload")?,
        target: text("target")?,
        metric: text("metric")?,
        spread: fields["spread"].as_f64()?,
        counted: parse_false_positives(fields)?,
    })
}

fn parse_false_positives(fields: &Value) -> Option<FalsePositives> {
    let comparisons = number(fields, "comparisons")?;
    let rejections = number(fields, "rejections").filter(|number| *number <= comparisons)?;
    Some(FalsePositives { comparisons, rejections })
}

fn number(fields: &Value, name: &str) -> Option<u32> {
    fields[name].as_u64().and_then(|number| u32::try_from(number).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(target: &str, taken: &str, rejections: u32) -> AaResult {
        AaResult {
            taken: taken.to_owned(),
            workload: "read.ini".to_owned(),
            target: target.to_owned(),
            metric: "throughput(read)".to_owned(),
            spread: 0.014,
            counted: FalsePositives { comparisons: 3, rejections },
        }
    }

    fn machine(model: &str) -> Machine {
        Machine::of(&[("host.cpu.model".to_owned(), model.to_owned())])
    }

    #[test]
    fn results_of_a_machine_are_added_up_by_kind_of_target() {
        let folder = std::env::temp_dir().join(format!("assay-rates-{}", std::process::id()));
        let store = Store::new(&folder);
        let here = machine("A");
        assert_eq!(store.aa_results(&here), Ok(Vec::new()));
        let all = [
            result("postgres", "2026-11-24T08:00:00Z", 1),
            result("postgres", "2026-11-25T08:00:00Z", 0),
            result("mysql", "2026-11-26T08:00:00Z", 0),
        ];
        for one in &all {
            store.add_aa_result(&here, one.clone()).unwrap();
        }
        assert_eq!(store.aa_results(&here), Ok(all.to_vec()));
        assert_eq!(store.aa_results(&machine("B")), Ok(Vec::new()));
        let rate = MachineRate::of(&all, "postgres").unwrap();
        assert_eq!((rate.experiments, rate.latest.as_str()), (2, "2026-11-25T08:00:00Z"));
        assert_eq!(rate.counted, FalsePositives { comparisons: 6, rejections: 1 });
        assert_eq!(MachineRate::of_text(&rate.to_text()), Some(rate));
        assert_eq!(MachineRate::of(&all, "sqlite"), None);
        let path = store.aa_file(&here);
        std::fs::copy(&path, store.aa_file(&machine("B"))).unwrap();
        let moved = store.aa_results(&machine("B")).unwrap_err();
        assert!(moved.to_string().contains("another machine"), "{moved}");
        std::fs::write(&path, "{\"schema\": 1}").unwrap();
        assert!(store.aa_results(&here).is_err());
        store.add_aa_result(&here, all[0].clone()).unwrap();
        assert_eq!(store.aa_results(&here), Ok(vec![all[0].clone()]));
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn damaged_text_of_a_record_is_not_a_rate() {
        for text in ["", "{}", "{\"experiments\": -1}", "[1]"] {
            assert_eq!(MachineRate::of_text(text), None, "{text}");
        }
    }
}
