//! How fast is a table filled? Assay makes its rows on the way; the databases' own clients read
//! them from files that are ready.

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::cells::Database;
use crate::child;
use crate::figures::Spread;
use crate::options::Options;
use crate::publish::{Extent, Publication};
use crate::runners::Runner;
use crate::servers::{Server, Servers};
use crate::{Failure, complain};

/// How many connections fill a table at the same time.
pub(crate) const WRITERS: [u32; 2] = [1, 4];

/// How long filling may take.
const PATIENCE: Duration = Duration::from_secs(1_800);

/// Who fills.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Filler {
    /// The database's own client.
    Own,
    /// As it comes: it commits every thousand rows.
    Assay,
    /// Each writer commits once, as the databases' own clients do.
    AssayAtOnce,
}

impl Filler {
    const ALL: [Filler; 3] = [Filler::Own, Filler::Assay, Filler::AssayAtOnce];

    fn word(self, database: Database) -> &'static str {
        match (self, database) {
            (Filler::Own, Database::Postgres) => "psql \\copy",
            (Filler::Own, Database::Mariadb) => "LOAD DATA LOCAL",
            (Filler::Assay, _) => "assay load",
            (Filler::AssayAtOnce, _) => "assay load, one commit per writer",
        }
    }
}

/// One filling of the table.
#[derive(Serialize, Deserialize)]
pub(crate) struct Filled {
    database: Database,
    filler: Filler,
    writers: u32,
    round: usize,
    rows: u32,
    elapsed_s: f64,
    processor_s: f64,
}

/// Which fillings are compared with each other.
#[derive(Clone, Copy)]
pub(crate) struct Filling {
    pub(crate) database: Database,
    pub(crate) writers: u32,
    pub(crate) filler: Filler,
}

impl Filling {
    fn of(self, runs: &[Filled]) -> impl Iterator<Item = &Filled> {
        let Filling { database, writers, filler } = self;
        runs.iter().filter(move |run| {
            run.database == database && run.writers == writers && run.filler == filler
        })
    }

    /// Rows per second.
    fn rate(self, runs: &[Filled]) -> Option<Spread> {
        Spread::of(self.of(runs).map(|run| f64::from(run.rows) / run.elapsed_s))
    }

    /// Processor time per row in microseconds.
    fn cost(self, runs: &[Filled]) -> Option<Spread> {
        Spread::of(self.of(runs).map(|run| run.processor_s * 1e6 / f64::from(run.rows)))
    }

    /// Its rate as a part of that of the database's own client.
    pub(crate) fn of_own(self, runs: &[Filled]) -> Option<f64> {
        let own = Filling { filler: Filler::Own, ..self }.rate(runs)?;
        Some(self.rate(runs)?.median / own.median)
    }
}

/// Fills the table in turns.
pub(crate) fn measure(options: &Options, servers: &Servers) -> Result<(), Failure> {
    let publication = Publication::begin(options)?;
    let (mut raws, mut text) = (Vec::new(), String::from(HEAD));
    for database in options.databases() {
        for writers in WRITERS {
            let task = Task { database, writers, options, servers };
            text.push_str(&task.rows(&mut raws)?);
        }
    }
    let extent = Extent::Fillings { rounds: options.rounds, rows: options.rows };
    publication.publish(&extent, text.trim_end(), &raws)
}

const HEAD: &str = "| database | writers | filled by | rows/s | lowest | highest | CPU µs/row | x \
                    own client |\n| --- | --: | --- | --: | --: | --: | --: | --: |\n";

/// One database and one number of writers.
struct Task<'t> {
    database: Database,
    writers: u32,
    options: &'t Options,
    servers: &'t Servers,
}

impl Task<'_> {
    /// The rows of the table.
    fn rows(&self, raws: &mut Vec<Filled>) -> Result<String, Failure> {
        let files = self.files()?;
        let mut gap = None;
        let first = raws.len();
        for round in 1..=self.options.rounds {
            raws.push(self.fill(Filler::Own, &files, round)?);
            for filler in [Filler::Assay, Filler::AssayAtOnce] {
                if gap.is_none() {
                    match self.fill(filler, &files, round) {
                        Ok(filled) => raws.push(filled),
                        Err(failure) => gap = Some(failure.to_string()),
                    }
                }
            }
            complain(format!("{}: round {round}", self.database.word()));
        }
        for file in files {
            fs::remove_file(file)?;
        }
        let runs = &raws[first..];
        let mut text = String::new();
        for filler in Filler::ALL {
            let (name, word) = (self.database.name(), filler.word(self.database));
            text.push_str(&format!("| {name} | {} | {word} ", self.writers));
            let filling = Filling { database: self.database, writers: self.writers, filler };
            text.push_str(&match filling.rate(runs) {
                Some(Spread { median, lowest, highest }) => {
                    let cost = filling.cost(runs).map_or(0.0, |cost| cost.median);
                    let of_own = filling.of_own(runs).unwrap_or(0.0);
                    format!(
                        "| {median:.0} | {lowest:.0} | {highest:.0} | {cost:.2} | {of_own:.2} |\n"
                    )
                }
                None => {
                    let reason = gap.as_deref().unwrap_or("no round");
                    format!("| not measured: {reason} | | | | |\n")
                }
            });
        }
        Ok(text)
    }

    /// One ready file for each writer: the rows that Assay makes, in text of tabs and lines.
    fn files(&self) -> Result<Vec<PathBuf>, Failure> {
        let (rows, writers) = (self.options.rows, self.writers);
        let file = |writer: u32| -> Result<PathBuf, Failure> {
            let path = self.servers.folder().join(format!("rows-{writer}.txt"));
            let mut file = BufWriter::new(File::create(&path)?);
            for id in (1..=rows).filter(|id| id % writers == writer) {
                // 120 and 60 letters, as Assay's `text(120)` and `text(60)`.
                writeln!(file, "{id}\t{}\t{:0>120}\t{:0>60}", id % 1_000, id, id)?;
            }
            file.flush()?;
            Ok(path)
        };
        (0..writers).map(file).collect()
    }

    fn fill(&self, filler: Filler, files: &[PathBuf], round: usize) -> Result<Filled, Failure> {
        let server = self.servers.of(self.database)?;
        let table = "drop table if exists filled; create table filled (id int primary key, k int \
                     not null, c char(120) not null, pad char(60) not null)";
        server.execute(self.database, table)?;
        let command = match filler {
            Filler::Own => self.own(server, files),
            Filler::Assay => self.assay(server, None)?,
            Filler::AssayAtOnce => {
                self.assay(server, Some(self.options.rows.div_ceil(self.writers)))?
            }
        };
        let ran = child::run(command, PATIENCE)?;
        if !ran.status.success() {
            let line = ran.stderr.lines().find(|line| !line.trim().is_empty());
            return Err(line.unwrap_or("no message").trim().to_owned().into());
        }
        Ok(Filled {
            database: self.database,
            filler,
            writers: self.writers,
            round,
            rows: self.options.rows,
            elapsed_s: ran.elapsed.as_secs_f64(),
            processor_s: (ran.user + ran.system).as_secs_f64(),
        })
    }

    /// The database's own client, once for each file, all at the same time below one shell.
    fn own(&self, server: &Server, files: &[PathBuf]) -> Command {
        let mut shell = Command::new("sh");
        // Each client has as many words as the first argument says; the shell waits for all.
        let script = "n=$1; shift; pids=; while [ $# -gt 0 ]; do line=; i=0; \
                      while [ $i -lt $n ]; do line=\"$line '$1'\"; shift; i=$((i+1)); done; \
                      eval \"$line\" & pids=\"$pids $!\"; done; \
                      for pid in $pids; do wait $pid || exit 1; done";
        shell.args(["-c", script, "sh"]);
        for (number, file) in files.iter().enumerate() {
            let path = file.display();
            let sql = match self.database {
                Database::Postgres => format!("\\copy filled from {path}"),
                Database::Mariadb => format!("load data local infile \"{path}\" into table filled"),
            };
            let client = server.client(self.database, &sql);
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

    /// A filling of a thousand rows.
    pub(crate) fn filled(filling: Filling, round: usize, elapsed_s: f64) -> Filled {
        let Filling { database, writers, filler } = filling;
        Filled { database, filler, writers, round, rows: 1_000, elapsed_s, processor_s: 0.01 }
    }

    #[test]
    fn a_filling_is_compared_with_the_own_client_of_as_many_writers() {
        let filling = |writers, filler| Filling { database: Database::Postgres, writers, filler };
        let (assay, own) = (filling(4, Filler::Assay), filling(4, Filler::Own));
        let mut runs = vec![filled(own, 1, 2.0), filled(filling(1, Filler::Own), 1, 9.0)];
        assert_eq!(assay.of_own(&runs), None);
        runs.extend([filled(assay, 1, 4.0), filled(assay, 2, 2.5), filled(assay, 3, 1.0)]);
        assert!((assay.of_own(&runs).expect("both") - 0.8).abs() < 1e-9);
        assert!((assay.cost(&runs).expect("rounds").median - 10.0).abs() < 1e-9);
        assert_eq!(filling(1, Filler::Assay).of_own(&runs), None);
    }
}
