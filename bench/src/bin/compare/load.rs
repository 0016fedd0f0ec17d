//! Speed of filling a table. Assay generates its rows while it loads; the databases' own clients
//! read similar rows from prepared files.

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::cells::Database;
use crate::child;
use crate::figures::Spread;
use crate::options::Options;
use crate::output::{Failure, print_to_stderr};
use crate::publish::{Extent, Publication};
use crate::runner::Runner;
use crate::servers::{Server, Servers};

/// Numbers of connections that fill a table at the same time.
pub(crate) const WRITERS: [u32; 2] = [1, 4];

/// Longest time to fill the table.
const PATIENCE: Duration = Duration::from_secs(1_800);

/// Number of rows that Assay commits together by default.
const BATCH: u32 = 1_000;

/// A program that fills the table, with the size of its commits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Loader {
    /// The database's own client with one file, and so one commit, for each writer.
    Own,
    /// The database's own client with a file for every thousand rows.
    OwnInBatches,
    /// Assay with its default of one commit per thousand rows.
    Assay,
    /// Assay with one commit for each writer.
    AssayAtOnce,
}

impl Loader {
    const ALL: [Loader; 4] =
        [Loader::Own, Loader::AssayAtOnce, Loader::OwnInBatches, Loader::Assay];

    fn word(self, database: Database) -> &'static str {
        match (self, database) {
            (Loader::Own, Database::Postgres) => "psql \\copy",
            (Loader::Own, Database::Mariadb) => "LOAD DATA LOCAL",
            (Loader::OwnInBatches, Database::Postgres) => "psql \\copy, 1,000 rows at a time",
            (Loader::OwnInBatches, Database::Mariadb) => "LOAD DATA LOCAL, 1,000 rows at a time",
            (Loader::Assay, _) => "assay load",
            (Loader::AssayAtOnce, _) => "assay load, one commit per writer",
        }
    }

    /// Returns the variant of the database's own client with the same number of commits.
    pub(crate) fn rival(self) -> Loader {
        match self {
            Loader::Own | Loader::AssayAtOnce => Loader::Own,
            Loader::OwnInBatches | Loader::Assay => Loader::OwnInBatches,
        }
    }
}

/// One load of the table.
#[derive(Serialize, Deserialize)]
pub(crate) struct LoadRun {
    database: Database,
    #[serde(rename = "filler")]
    loader: Loader,
    writers: u32,
    round: usize,
    rows: u32,
    elapsed_s: f64,
    processor_s: f64,
}

/// The key of the loads that are reported in one row of the table.
#[derive(Clone, Copy)]
pub(crate) struct LoadKey {
    pub(crate) database: Database,
    pub(crate) writers: u32,
    pub(crate) loader: Loader,
}

impl LoadKey {
    fn of(self, runs: &[LoadRun]) -> impl Iterator<Item = &LoadRun> {
        let LoadKey { database, writers, loader } = self;
        runs.iter().filter(move |run| {
            run.database == database && run.writers == writers && run.loader == loader
        })
    }

    /// Returns the rows per second.
    fn rows_per_s(self, runs: &[LoadRun]) -> Option<Spread> {
        Spread::of(self.of(runs).map(|run| f64::from(run.rows) / run.elapsed_s))
    }

    /// Returns the processor time per row in microseconds.
    fn us_per_row(self, runs: &[LoadRun]) -> Option<Spread> {
        Spread::of(self.of(runs).map(|run| run.processor_s * 1e6 / f64::from(run.rows)))
    }

    /// Returns the rate as a fraction of the rate of `other` with the same number of writers.
    pub(crate) fn relative_to(self, other: Loader, runs: &[LoadRun]) -> Option<f64> {
        let other = LoadKey { loader: other, ..self }.rows_per_s(runs)?;
        Some(self.rows_per_s(runs)?.median / other.median)
    }
}

/// Measures all loaders in turn.
pub(crate) fn measure(options: &Options, servers: &Servers) -> Result<(), Failure> {
    let publication = Publication::begin(options)?;
    let (mut raws, mut text) = (Vec::new(), String::from(HEAD));
    for database in options.databases() {
        for writers in WRITERS {
            let task = Task { database, writers, options, servers };
            text.push_str(&task.rows(&mut raws)?);
        }
    }
    let extent = Extent::Loads { rounds: options.rounds, rows: options.rows };
    publication.publish(&extent, text.trim_end(), &raws)
}

const HEAD: &str = "| database | writers | filled by | rows/s | lowest | highest | CPU µs/row | x \
                    own client | x own client that commits as often |\n\
                    | --- | --: | --- | --: | --: | --: | --: | --: | --: |\n";

/// The files that the databases' own clients read.
struct Files {
    /// One file of rows for each writer.
    whole: Vec<PathBuf>,
    /// For each writer, a script that loads its rows one batch at a time.
    in_batches: Vec<PathBuf>,
}

/// Splits the ids from 1 to `rows` into ranges of at most `size`.
fn chunks(rows: u32, size: u32) -> impl Iterator<Item = Range<u32>> {
    (1..=rows)
        .step_by(size as usize)
        .map(move |first| first..first.saturating_add(size).min(rows.saturating_add(1)))
}

/// The measurement of one database with one number of writers.
struct Task<'t> {
    database: Database,
    writers: u32,
    options: &'t Options,
    servers: &'t Servers,
}

impl Task<'_> {
    /// Measures all rounds and returns the rows of the table.
    fn rows(&self, raws: &mut Vec<LoadRun>) -> Result<String, Failure> {
        let folder = tempfile::tempdir_in(self.servers.folder())?;
        let files = self.files(folder.path())?;
        let first = raws.len();
        for round in 1..=self.options.rounds {
            for loader in Loader::ALL {
                raws.push(self.fill(loader, &files, round)?);
            }
            print_to_stderr(format!("{}: round {round}", self.database.word()));
        }
        let (name, writers, runs) = (self.database.name(), self.writers, &raws[first..]);
        let mut text = String::new();
        for loader in Loader::ALL {
            let key = LoadKey { database: self.database, writers, loader };
            let Some(Spread { median, lowest, highest }) = key.rows_per_s(runs) else { continue };
            let cost = key.us_per_row(runs).map_or(0.0, |cost| cost.median);
            let [own, rival] = [Loader::Own, loader.rival()]
                .map(|other| key.relative_to(other, runs).unwrap_or(f64::NAN));
            text.push_str(&format!(
                "| {name} | {writers} | {} | {median:.0} | {lowest:.0} | {highest:.0} | {cost:.2} \
                 | {own:.2} | {rival:.2} |\n",
                loader.word(self.database)
            ));
        }
        Ok(text)
    }

    /// Writes, for each writer, a file of rows, and a script that loads batches of rows from other
    /// files. The rows are like those that Assay generates, in tab-separated lines.
    fn files(&self, folder: &Path) -> Result<Files, Failure> {
        let (rows, writers) = (self.options.rows, self.writers);
        let write = |name: String, ids: Range<u32>| -> Result<PathBuf, Failure> {
            let path = folder.join(name);
            let mut file = BufWriter::new(File::create(&path)?);
            for id in ids {
                // 120 and 60 characters, as Assay's `text(120)` and `text(60)`.
                writeln!(file, "{id}\t{}\t{:0>120}\t{:0>60}", id % 1_000, id, id)?;
            }
            file.flush()?;
            Ok(path)
        };
        let mut files = Files { whole: Vec::new(), in_batches: Vec::new() };
        for (number, ids) in chunks(rows, rows.div_ceil(writers)).enumerate() {
            files.whole.push(write(format!("rows-{number}.txt"), ids)?);
        }
        let mut scripts = vec![String::new(); writers as usize];
        for (number, ids) in chunks(rows, BATCH).enumerate() {
            let path = write(format!("batch-{number}.txt"), ids)?;
            // Distribute the batches over the writers in turn, as Assay does.
            let script = &mut scripts[number % writers as usize];
            script.push_str(&self.statement(&path));
            script.push('\n');
        }
        for (number, script) in scripts.iter().enumerate() {
            let path = folder.join(format!("script-{number}.sql"));
            fs::write(&path, script)?;
            files.in_batches.push(path);
        }
        Ok(files)
    }

    /// Returns the statement with which the database's own client loads a file.
    fn statement(&self, path: &Path) -> String {
        let path = path.display();
        match self.database {
            Database::Postgres => format!("\\copy filled from {path}"),
            Database::Mariadb => format!("load data local infile \"{path}\" into table filled;"),
        }
    }

    fn fill(&self, loader: Loader, files: &Files, round: usize) -> Result<LoadRun, Failure> {
        let server = self.servers.of(self.database)?;
        let table = "drop table if exists filled; create table filled (id int primary key, k int \
                     not null, c char(120) not null, pad char(60) not null)";
        server.execute(self.database, table)?;
        let command = match loader {
            Loader::Own => {
                self.own_client(server, files.whole.iter().map(|path| self.statement(path)))
            }
            Loader::OwnInBatches => {
                let word = match self.database {
                    Database::Postgres => "\\i",
                    Database::Mariadb => "source",
                };
                let scripts = files.in_batches.iter();
                self.own_client(server, scripts.map(|path| format!("{word} {}", path.display())))
            }
            Loader::Assay => self.assay(server, None)?,
            Loader::AssayAtOnce => {
                self.assay(server, Some(self.options.rows.div_ceil(self.writers)))?
            }
        };
        let ran = child::run(command, PATIENCE)?;
        if !ran.status.success() {
            let line = ran.stderr.lines().find(|line| !line.trim().is_empty());
            return Err(line.unwrap_or("no message").trim().to_owned().into());
        }
        Ok(LoadRun {
            database: self.database,
            loader,
            writers: self.writers,
            round,
            rows: self.options.rows,
            elapsed_s: ran.elapsed.as_secs_f64(),
            processor_s: (ran.user + ran.system).as_secs_f64(),
        })
    }

    /// Returns a shell command that runs one instance of the database's own client for each of
    /// `orders`, all at the same time.
    fn own_client(&self, server: &Server, orders: impl Iterator<Item = String>) -> Command {
        let mut shell = Command::new("sh");
        // The first argument is the number of words of each client's command; the shell waits for
        // all clients.
        let script = "n=$1; shift; pids=; while [ $# -gt 0 ]; do line=; i=0; \
                      while [ $i -lt $n ]; do line=\"$line '$1'\"; shift; i=$((i+1)); done; \
                      eval \"$line\" & pids=\"$pids $!\"; done; \
                      for pid in $pids; do wait $pid || exit 1; done";
        shell.args(["-c", script, "sh"]);
        for (number, order) in orders.enumerate() {
            let client = server.client(self.database, &order);
            if number == 0 {
                shell.arg((client.get_args().count() + 1).to_string());
            }
            shell.arg(client.get_program()).args(client.get_args());
        }
        shell
    }

    fn assay(&self, server: &Server, batch: Option<u32>) -> Result<Command, Failure> {
        let batch = batch.map_or(String::new(), |rows| format!("batch = {rows}\n"));
        let file = format!(
            "[load filled]\nrows = {}\nwriters = {}\n{batch}\
             columns = id: row(), k: uniform(0, 999), c: text(120), pad: text(60)\n",
            self.options.rows, self.writers
        );
        let folder = self.servers.folder();
        let (path, record) = (folder.join("load.ini"), folder.join("load.assay"));
        fs::write(&path, file)?;
        if record.exists() {
            fs::remove_file(&record)?;
        }
        let mut command = Command::new(Runner::Assay.program()?);
        command.arg("load").arg(path).arg("--out").arg(record).arg("--quiet");
        command.args(["--url", &server.url(self.database, false)]);
        Ok(command)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Returns a load of a thousand rows.
    pub(crate) fn filled(key: LoadKey, round: usize, elapsed_s: f64) -> LoadRun {
        let LoadKey { database, writers, loader } = key;
        LoadRun { database, loader, writers, round, rows: 1_000, elapsed_s, processor_s: 0.01 }
    }

    #[test]
    fn loads_are_compared_with_loads_of_equally_many_writers() {
        let key = |writers, loader| LoadKey { database: Database::Postgres, writers, loader };
        let (assay, own) = (key(4, Loader::Assay), key(4, Loader::Own));
        let mut runs = vec![filled(own, 1, 2.0), filled(key(1, Loader::Own), 1, 9.0)];
        assert_eq!(assay.relative_to(Loader::Own, &runs), None);
        runs.extend([filled(assay, 1, 4.0), filled(assay, 2, 2.5), filled(assay, 3, 1.0)]);
        assert!((assay.relative_to(Loader::Own, &runs).expect("both") - 0.8).abs() < 1e-9);
        assert!((assay.us_per_row(&runs).expect("rounds").median - 10.0).abs() < 1e-9);
        assert_eq!(assay.relative_to(Loader::OwnInBatches, &runs), None);
        assert_eq!(key(1, Loader::Assay).relative_to(Loader::Own, &runs), None);
    }

    #[test]
    fn chunks_cover_each_id_once() {
        for (rows, size) in [(10, 3), (9, 3), (1, 5), (4_000, 1_000)] {
            let ids: Vec<u32> = chunks(rows, size).flatten().collect();
            assert_eq!(ids, (1..=rows).collect::<Vec<u32>>());
            assert!(chunks(rows, size).all(|chunk| chunk.len() <= size as usize));
        }
    }
}
