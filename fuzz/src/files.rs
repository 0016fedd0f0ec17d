//! Fuzz targets of input files: workloads, experiments, scripts, expressions and argument files.

use std::collections::BTreeMap;
use std::io::Read;

use base::{Dialect, SourceText, Target};
use workload::feed::{self, Format};
use workload::question::{Experiment, Outline, experiment_in};
use workload::{Arrival, NoFiles, Overrides, Rates};

/// Parses and checks a workload file. If it is accepted, prints the plan and parses it again.
///
/// # Panics
/// Panics if the printed plan parses as a different plan.
pub fn workload(data: &[u8]) {
    let Ok(text) = workload::decode(data) else { return };
    let (plan, diagnostics) = workload::plan(&text, &Overrides::default());
    let source = SourceText { name: "fuzz.ini".to_owned(), text };
    for diagnostic in &diagnostics {
        let _ = diagnostic.render(&source, false);
    }
    if let Some(plan) = plan {
        let (again, _) = workload::plan(&plan.to_text(), &Overrides::default());
        let again = again.map(|again| again.as_printed());
        assert_eq!(again, Some(plan.as_printed()), "a printed plan is the same plan");
    }
}

/// Parses a workload with options and the files that it names, encoded as a [`Case`]. If it is
/// accepted, prints the plan and parses it again as a record does: without options and without
/// files.
///
/// # Panics
/// Panics if the printed plan parses as a different plan.
pub fn plan(data: &[u8]) {
    let Some(case) = Case::of(data) else { return };
    let (plan, _) = workload::plan_in(&case.text, &case.overrides, &case.files);
    let Some(plan) = plan else { return };
    let printed = plan.to_text();
    let (again, found) = workload::plan_in(&printed, &Overrides::default(), &NoFiles);
    let again = again.map(|again| (again.as_printed(), again.to_text()));
    let same = again == Some((plan.as_printed(), printed.clone()));
    assert!(same, "not the same plan:\n{printed}\n{found:?}");
}

/// A workload file, the options of the command line, and the files next to the workload.
struct Case {
    text: String,
    overrides: Overrides,
    files: BTreeMap<String, Vec<u8>>,
}

impl Case {
    /// Names of the files next to the workload, in order.
    const FILES: [&'static str; 4] = ["a.sql", "b.csv", "c.log", "d.txt"];

    /// Decodes a case: two bytes of options, then texts separated by zero bytes. The texts are the
    /// workload, the contents of [`Case::FILES`], and settings `NAME=VALUE`.
    fn of(data: &[u8]) -> Option<Case> {
        let (&[target, options], rest) = data.split_first_chunk()?;
        let mut texts = rest.split(|byte| *byte == 0);
        let text = workload::decode(texts.next()?).ok()?;
        let files = Case::FILES.iter().zip(&mut texts);
        let files = files.map(|(name, text)| ((*name).to_owned(), text.to_vec())).collect();
        let set = texts.filter_map(|setting| {
            let (name, value) = std::str::from_utf8(setting).ok()?.split_once('=')?;
            Some((name.to_owned(), value.to_owned()))
        });
        let urls = ["sqlite:x.db", "mysql://h/d", "postgres://u:pw@h/d", "sim:mm1?service=1ms"];
        let url = urls.get(usize::from(target)).map(|url| Target::parse(url).expect("a URL"));
        let has = |bit: u8| options & 1 << bit != 0;
        let overrides = Overrides {
            keys: Vec::new(),
            arrival: has(2).then_some(Arrival::Uniform),
            target: url,
            rates: if has(4) { Rates::AsDbbench } else { Rates::AsTraffic },
            ..Overrides::default()
        };
        let globals = [
            (0, "duration", "90s"),
            (1, "warmup", "3s"),
            (3, "seed", "7"),
            (5, "max-connections", "50"),
        ];
        let globals = globals.into_iter().filter(|(bit, _, _)| has(*bit));
        let overrides = globals.fold(overrides, |all, (_, key, value)| all.with_global(key, value));
        // A name with a bracket sets the key of a section: `rate(read)`.
        let overrides = set.fold(overrides, |all, (name, value)| match name.split_once('(') {
            Some((key, section)) => all.with(section.trim_end_matches(')'), key, value),
            None => all.with_param(&name, value),
        });
        Some(Case { text, overrides, files })
    }
}

/// Parses an experiment file, which ends at the first zero byte; the rest is its workload `w.ini`.
/// If the experiment is accepted, prints it and parses it again, in the form that `check` prints
/// and in the form that its record stores.
///
/// # Panics
/// Panics if the printed experiment has a different question, or an arm with a different plan.
pub fn question(data: &[u8]) {
    let (file, beside) =
        data.split_at(data.iter().position(|byte| *byte == 0).unwrap_or(data.len()));
    let Ok(text) = workload::decode(file) else { return };
    let files = BTreeMap::from([("w.ini".to_owned(), beside.get(1..).unwrap_or(b"").to_vec())]);
    let (experiment, diagnostics) = experiment_in(&text, &Overrides::default(), &files);
    let source = SourceText { name: "fuzz.ini".to_owned(), text };
    for diagnostic in &diagnostics {
        let _ = diagnostic.render(&source, false);
    }
    let Some(experiment) = experiment else { return };
    let none = Overrides::default();
    let printed = experiment.to_whole_text(&none, &files);
    let (again, found) = experiment_in(&printed, &none, &files);
    // Only a text with parameters may lack something, and then it begins with a comment.
    let lacks_something = source.text.contains("${") && printed.starts_with("; Checking");
    if !lacks_something {
        let content = |of: &Experiment| -> Vec<String> {
            let plans = of.arm_points().iter().map(|arm| arm.plan.to_text());
            plans.chain([of.to_text()]).collect()
        };
        let (again, given) = (again.as_ref().map(content), content(&experiment));
        assert_eq!(again, Some(given), "not the same experiment: {printed} {found:?}");
    }
    let recorded = experiment.to_text();
    assert_eq!(Outline::of_text(&recorded), Ok(experiment.outline()), "{recorded}");
}

/// Parses a script of statements in every dialect. If it is accepted, prints the statements and
/// parses them again.
///
/// # Panics
/// Panics if the printed statements parse as different ones.
pub fn script(data: &[u8]) {
    for url in ["sqlite:x.db", "mysql://h/d", "postgres://h/d"] {
        let overrides = Overrides { target: Target::parse(url).ok(), ..Overrides::default() };
        let files = BTreeMap::from([("s.sql".to_owned(), data.to_vec())]);
        for job in ["", "query-args-file = a.csv\n", "prepare = no\n"] {
            let text = format!("[a]\nquery-file = s.sql\n{job}");
            let (plan, _) = workload::plan_in(&text, &overrides, &files);
            let Some(plan) = plan else { continue };
            let printed = plan.to_text();
            let (again, found) = workload::plan(&printed, &Overrides::default());
            let again = again.map(|again| again.as_printed());
            let same = again == Some(plan.as_printed());
            assert!(same, "not the same statements on {url}:\n{printed}\n{found:?}");
        }
    }
}

/// Parses an expression in every position where one is allowed.
///
/// # Panics
/// Panics as [`workload()`] does.
pub fn expression(data: &[u8]) {
    let text = String::from_utf8_lossy(data).replace(['\n', '\r'], " ");
    for file in [
        format!("[a]\nquery = select ${{{text}}}, ${{raw({text})}}\n"),
        format!("[a]\nlet = v: {text}\nquery = select ${{v}}\nthink = {text}\n"),
        format!("[params]\np = {text}\n[load t]\nrows = ${{{text}}}\ncolumn = c: {text}\n"),
        format!("[a]\nquery = x\nrate = {text}\nmix = {text}\nslo = {text}\n"),
    ] {
        workload(file.as_bytes());
    }
}

/// Reads a file of CSV rows or log lines, as a whole and byte by byte.
///
/// # Panics
/// Panics if the results differ.
pub fn records(data: &[u8]) {
    for format in [Format::Csv { delimiter: b',' }, Format::Csv { delimiter: b'\t' }, Format::Log] {
        for per_group in [1, 3] {
            let whole = feed::examine(data, format, per_group, Dialect::Sqlite)
                .map_err(|fault| fault.to_string());
            let bytewise = feed::examine(Bytewise(data), format, per_group, Dialect::Sqlite);
            assert_eq!(bytewise.map_err(|fault| fault.to_string()), whole);
        }
    }
}

/// A reader that returns one byte at a time.
struct Bytewise<'d>(&'d [u8]);

impl Read for Bytewise<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let (Some((first, rest)), false) = (self.0.split_first(), into.is_empty()) else {
            return Ok(0);
        };
        into[0] = *first;
        self.0 = rest;
        Ok(1)
    }
}
