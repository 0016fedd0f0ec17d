//! Publication of results: the tables between marks of `docs/performance.md`, and the raw numbers
//! in `bench/results`.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::json;

use crate::machine::{self, Processors};
use crate::options::{Measure, Options};
use crate::output::{Failure, print_line};

/// The document with the tables, relative to the project's folder.
pub(crate) const DOCUMENT: &str = "docs/performance.md";
/// The folder of the raw numbers, relative to the project's folder.
pub(crate) const RESULTS: &str = "bench/results";

/// The folder of intermediate results, and of final ones if nothing is published.
const DRAFTS: &str = "target/compare";

/// The extent of a measurement, as printed with the numbers.
pub(crate) enum Extent {
    /// Every load generator in turn, round by round, each for `seconds`.
    Rounds { rounds: usize, seconds: u32 },
    /// Open loops in turn, round by round, each for `seconds`, and `searches` searches for the
    /// highest rate, each of `runs` runs.
    Open { rounds: usize, seconds: u32, searches: usize, runs: usize },
    /// Every load generator once, for `seconds`.
    Once { seconds: u32 },
    /// Every loader in turn, round by round, with `rows` rows.
    Loads { rounds: usize, rows: u32 },
}

impl fmt::Display for Extent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Extent::Rounds { rounds, seconds } => write!(f, "{rounds} rounds of {seconds} s"),
            Extent::Open { rounds, seconds, searches, runs } => {
                write!(f, "{rounds} rounds of {seconds} s, {searches} searches of {runs} such runs")
            }
            Extent::Once { seconds } => write!(f, "each once, for {seconds} s"),
            Extent::Loads { rounds, rows } => write!(f, "{rounds} rounds of {rows} rows"),
        }
    }
}

/// A measurement in progress that will be published.
pub(crate) struct Publication {
    measure: Measure,
    writes: bool,
    machine: String,
    processors: Processors,
    load: f64,
}

impl Publication {
    /// Records the conditions before the first run.
    ///
    /// # Errors
    /// Fails if the document is to be written and does not exist.
    pub(crate) fn begin(options: &Options) -> Result<Publication, Failure> {
        if options.write && !Path::new(DOCUMENT).is_file() {
            return Err(format!("{DOCUMENT} is not here: run it in the project's folder").into());
        }
        Ok(Publication {
            measure: options.measure,
            writes: options.write,
            machine: bench::describe(),
            processors: Processors::now()?,
            load: machine::load(),
        })
    }

    /// Stores the results so far, in case the measurement is interrupted.
    pub(crate) fn store_draft<R: Serialize>(
        &self,
        extent: &Extent,
        raws: &[R],
    ) -> Result<(), Failure> {
        self.put(Path::new(DRAFTS), extent, raws).map(|_| ())
    }

    /// Prints the tables. If requested, writes them into the document, and the raw numbers into
    /// `bench/results`; otherwise stores the raw numbers as a draft.
    pub(crate) fn publish<R: Serialize>(
        &self,
        extent: &Extent,
        tables: &str,
        raws: &[R],
    ) -> Result<(), Failure> {
        print_line(format!("{tables}\n\n{extent}"));
        if !self.writes {
            return self.store_draft(extent, raws);
        }
        let path = self.put(Path::new(RESULTS), extent, raws)?;
        let stolen = Processors::now()?.stolen_since(&self.processors) * 100.0;
        let conditions = format!(
            "    {}\n    {extent}; stolen time {stolen:.1} %, load {:.1} before\n",
            self.machine.replace('\n', "\n    "),
            self.load
        );
        let body =
            format!("{conditions}\n{tables}\n\nRaw numbers: [`{0}`](../{0}).", path.display());
        replace(self.measure, &body)
    }

    fn put<R: Serialize>(
        &self,
        folder: &Path,
        extent: &Extent,
        raws: &[R],
    ) -> Result<PathBuf, Failure> {
        fs::create_dir_all(folder)?;
        let path = folder.join(format!("{}.json", self.measure.word()));
        let mut text = String::from("{\n");
        for (name, value) in [
            ("machine", json!(self.machine)),
            ("settings", json!(extent.to_string())),
            ("load_average_before", json!(self.load)),
            ("stolen", json!(Processors::now()?.stolen_since(&self.processors))),
        ] {
            text.push_str(&format!("\"{name}\": {value},\n"));
        }
        let lines: Vec<String> =
            raws.iter().map(serde_json::to_string).collect::<Result<_, _>>()?;
        text.push_str(&format!("\"runs\": [\n{}\n]\n}}\n", lines.join(",\n")));
        fs::write(&path, text)?;
        Ok(path)
    }
}

/// Replaces the text between the marks of a measure in the document.
pub(crate) fn replace(measure: Measure, body: &str) -> Result<(), Failure> {
    let document = fs::read_to_string(DOCUMENT)?;
    let changed = bench::between_marks(&document, measure.word(), body);
    Ok(fs::write(DOCUMENT, changed.map_err(|missing| format!("{DOCUMENT}: {missing}"))?)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extent_lists_the_completed_work() {
        let check = |extent: Extent, expected: &str| assert_eq!(extent.to_string(), expected);
        check(Extent::Rounds { rounds: 5, seconds: 15 }, "5 rounds of 15 s");
        let open = Extent::Open { rounds: 5, seconds: 15, searches: 3, runs: 6 };
        check(open, "5 rounds of 15 s, 3 searches of 6 such runs");
        check(Extent::Once { seconds: 3 }, "each once, for 3 s");
        check(Extent::Loads { rounds: 2, rows: 1_000 }, "2 rounds of 1000 rows");
    }
}
