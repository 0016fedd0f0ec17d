//! The command line of `compare`.

use std::path::PathBuf;

use limit::arguments::{CliOption, KnownOptions};

use crate::cells::{CONNECTIONS, Cell, Database, Statement};
use crate::output::Failure;
use crate::runner::Runner;

/// A measure of `compare`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Measure {
    Rounds,
    Syscalls,
    Instructions,
    Open,
    Memory,
    Load,
    /// Prints which goals the stored results meet; measures nothing.
    Goals,
}

impl Measure {
    const ALL: [Measure; 7] = [
        Measure::Rounds,
        Measure::Syscalls,
        Measure::Instructions,
        Measure::Open,
        Measure::Memory,
        Measure::Load,
        Measure::Goals,
    ];

    /// Returns the name of the measure on the command line, in the names of result files and in the
    /// marks of the document.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Measure::Rounds => "rounds",
            Measure::Syscalls => "syscalls",
            Measure::Instructions => "instructions",
            Measure::Open => "open",
            Measure::Memory => "memory",
            Measure::Load => "load",
            Measure::Goals => "goals",
        }
    }

    /// Returns true if the measure selects from the table that all load generators share.
    pub(crate) fn needs_table(self) -> bool {
        match self {
            Measure::Rounds | Measure::Syscalls | Measure::Instructions | Measure::Memory => true,
            Measure::Open | Measure::Load | Measure::Goals => false,
        }
    }
}

/// The parsed command line.
#[derive(Clone)]
pub(crate) struct Options {
    pub(crate) measure: Measure,
    pub(crate) rounds: usize,
    /// Length of a run, in seconds.
    pub(crate) seconds: u32,
    only: Vec<String>,
    /// Existing PostgreSQL server, as HOST:PORT; without one, a private or a simulated one is
    /// started.
    pub(crate) postgres: Option<String>,
    /// Existing MariaDB server, as HOST:PORT; without one, a private or a simulated one is started.
    pub(crate) mariadb: Option<String>,
    /// A folder with `cacert.pem`, `client-cert.pem` and `client-key.pem`.
    pub(crate) certificates: Option<PathBuf>,
    /// Number of rows that `load` loads.
    pub(crate) rows: u32,
    /// True if the document and the results are to be written.
    pub(crate) write: bool,
}

const USAGE: &str = "usage: compare [rounds|syscalls|instructions|open|memory|load|goals] \
    [--rounds N] [--seconds N] [--only WORD,WORD]... [--rows N] [--write] \
    [--postgres HOST:PORT] [--mariadb HOST:PORT] [--certificates FOLDER]\n\
    syscalls and instructions count once for a fixed time, memory runs once, load takes --rows in \
    place of --seconds, goals measures nothing\n\
    words: postgres mariadb, prepared text, plain tls, 1 16 64 256, limit assay pgbench sysbench \
    mariadb-slap dbbench; words of one kind add up, kinds narrow each other down";

const KNOWN: KnownOptions<'_> = KnownOptions { flags: &["--write"], usage: USAGE };

impl Options {
    /// Returns the options without the servers that the command line names.
    pub(crate) fn without_servers(&self) -> Options {
        Options { postgres: None, mariadb: None, ..self.clone() }
    }

    /// Parses the command line.
    pub(crate) fn parse(arguments: &[String]) -> Result<Options, Failure> {
        let mut options = Options {
            measure: Measure::Rounds,
            rounds: 5,
            seconds: 15,
            only: Vec::new(),
            postgres: None,
            mariadb: None,
            certificates: None,
            rows: 1_000_000,
            write: false,
        };
        let mut rest = arguments;
        if let [word, after @ ..] = rest
            && let Some(measure) = Measure::ALL.into_iter().find(|known| known.word() == word)
        {
            options.measure = measure;
            rest = after;
        }
        KNOWN.read(rest, |given| options.set(given))?;
        Ok(options)
    }

    fn set(&mut self, given: CliOption<'_>) -> Result<(), Failure> {
        let value = given.value;
        match given.name {
            "--write" => self.write = true,
            "--rounds" => self.rounds = given.positive()? as usize,
            "--seconds" => self.seconds = given.positive()?,
            "--rows" => self.rows = given.positive()?,
            "--postgres" => self.postgres = Some(value.to_owned()),
            "--mariadb" => self.mariadb = Some(value.to_owned()),
            "--certificates" => self.certificates = Some(PathBuf::from(value).canonicalize()?),
            "--only" => {
                let words: Vec<String> = value.split(',').map(str::to_owned).collect();
                if let Some(word) = words.iter().find(|word| !is_known(word)) {
                    return Err(format!("--only {word}: no such word\n{USAGE}").into());
                }
                self.only.extend(words);
            }
            _ => return Err(KNOWN.unknown(given)),
        }
        Ok(())
    }

    /// Returns the selected cells.
    pub(crate) fn cells(&self) -> Vec<Cell> {
        let mut cells = Cell::all();
        cells.retain(|cell| {
            self.wants(&DATABASES, cell.database.word())
                && self.wants(&STATEMENTS, cell.statement.word())
                && self.wants(&ENCRYPTIONS, cell.tls_word())
                && self.wants(&connections(), &cell.connections.to_string())
        });
        cells
    }

    /// Returns the selected databases.
    pub(crate) fn databases(&self) -> impl Iterator<Item = Database> {
        Database::ALL.into_iter().filter(|database| self.wants_database(*database))
    }

    /// Returns true if a database is selected.
    fn wants_database(&self, database: Database) -> bool {
        self.wants(&DATABASES, database.word())
    }

    /// Returns true if a load generator is selected.
    pub(crate) fn wants_runner(&self, runner: Runner) -> bool {
        self.wants(&Runner::ALL.map(Runner::word), runner.word())
    }

    /// Returns true if a word is selected. All words of its kind are selected unless `--only` names
    /// some of them.
    fn wants(&self, kind: &[impl AsRef<str>], word: &str) -> bool {
        let is_of_kind = |named: &&String| kind.iter().any(|word| word.as_ref() == named.as_str());
        let mut named = self.only.iter().filter(is_of_kind).peekable();
        named.peek().is_none() || named.any(|named| named == word)
    }
}

const DATABASES: [&str; 2] = ["postgres", "mariadb"];
const STATEMENTS: [&str; 2] = ["prepared", "text"];
const ENCRYPTIONS: [&str; 2] = ["plain", "tls"];

fn connections() -> [String; 4] {
    CONNECTIONS.map(|connections| connections.to_string())
}

fn is_known(word: &str) -> bool {
    let words = Database::ALL.map(Database::word).into_iter();
    let words = words.chain(Statement::ALL.map(Statement::word)).chain(ENCRYPTIONS);
    let mut words = words.chain(Runner::ALL.map(Runner::word));
    words.any(|known| known == word) || connections().iter().any(|known| known == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Options, Failure> {
        let arguments: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        Options::parse(&arguments)
    }

    #[test]
    fn all_cells_and_runners_are_measured_by_default() {
        let options = parse("").expect("options");
        assert_eq!(options.cells().len(), 2 * 2 * 2 * 4);
        assert!(Runner::ALL.into_iter().all(|runner| options.wants_runner(runner)));
        assert_eq!((options.rounds, options.seconds), (5, 15));
    }

    #[test]
    fn filters_of_one_kind_unite_and_kinds_intersect() {
        let options = parse("syscalls --only 16,64 --only prepared,plain,limit").expect("options");
        assert_eq!(options.measure, Measure::Syscalls);
        let cells: Vec<String> = options.cells().iter().map(Cell::to_string).collect();
        assert_eq!(
            cells,
            [
                "postgres prepared plain 16",
                "postgres prepared plain 64",
                "mariadb prepared plain 16",
                "mariadb prepared plain 64"
            ]
        );
        assert!(options.wants_runner(Runner::Limit) && !options.wants_runner(Runner::Pgbench));
    }

    #[test]
    fn wrong_option_is_named_in_the_error() {
        let check = |line: &str, part: &str| {
            let message = parse(line).err().expect("refused").to_string();
            assert!(message.contains(part), "{line}: {message}");
        };
        check("quickly", "usage");
        check("--only oracle", "--only oracle: no such word");
        check("--rounds 0", "--rounds 0: give a whole number");
        check("--seconds 0", "--seconds 0: give a whole number");
        check("--speed 1", "unknown option --speed");
    }
}
