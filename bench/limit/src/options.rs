//! The command line of `limit`.

use std::time::Duration;

use limit::arguments::{CliOption, Failure, KnownOptions};

/// The database whose protocol is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Database {
    Postgres,
    Mysql,
}

/// The form in which the statement is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Statement {
    /// Prepared once; requests contain the id in binary.
    Prepared,
    /// As text that contains the digits of the id.
    Text,
}

/// The parsed command line.
pub(crate) struct Options {
    pub(crate) database_kind: Database,
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) user: String,
    pub(crate) password: String,
    pub(crate) database: String,
    pub(crate) connections: usize,
    pub(crate) length: Duration,
    pub(crate) statement: Statement,
    pub(crate) tls: bool,
    /// The `select` statement up to the id.
    pub(crate) query: String,
    /// Largest id; ids are drawn from 1 to this number.
    pub(crate) rows: u32,
}

const USAGE: &str = "usage: limit postgres|mysql [--host 127.0.0.1] [--port N] [--user NAME] \
    [--database NAME] [--connections N] [--seconds N] [--statement prepared|text] [--tls] \
    [--query 'select c from sbtest1 where id = '] [--rows 100000]";

const KNOWN: KnownOptions<'_> = KnownOptions { flags: &["--tls"], usage: USAGE };

/// Largest number of rows whose ids have at most six digits.
const MOST_ROWS: u32 = 999_999;

impl Options {
    /// Parses the command line and reads the password from its environment variable.
    pub(crate) fn parse(arguments: &[String]) -> Result<Options, Failure> {
        let (kind, rest) = arguments.split_first().ok_or(USAGE)?;
        let mut options = match kind.as_str() {
            "postgres" => Options::of(Database::Postgres, 5432, "PGPASSWORD"),
            "mysql" => Options::of(Database::Mysql, 3306, "MYSQL_PWD"),
            _ => return Err(USAGE.into()),
        };
        KNOWN.read(rest, |given| options.set(given))?;
        Ok(options)
    }

    fn of(database_kind: Database, port: u16, password: &str) -> Options {
        Options {
            database_kind,
            host: "127.0.0.1".to_owned(),
            port,
            user: "bench".to_owned(),
            password: std::env::var(password).unwrap_or_default(),
            database: "bench".to_owned(),
            connections: 1,
            length: Duration::from_secs(15),
            statement: Statement::Prepared,
            tls: false,
            query: "select c from sbtest1 where id = ".to_owned(),
            rows: 100_000,
        }
    }

    fn set(&mut self, given: CliOption<'_>) -> Result<(), Failure> {
        let value = given.value;
        match given.name {
            "--tls" => self.tls = true,
            "--host" => value.clone_into(&mut self.host),
            "--port" => self.port = u16::try_from(given.number()?)?,
            "--user" => value.clone_into(&mut self.user),
            "--database" => value.clone_into(&mut self.database),
            "--connections" => self.connections = given.positive()? as usize,
            "--seconds" => self.length = Duration::from_secs(given.number()?.into()),
            "--query" => value.clone_into(&mut self.query),
            "--rows" => self.rows = given.number()?,
            "--statement" => {
                self.statement = match value {
                    "prepared" => Statement::Prepared,
                    "text" => Statement::Text,
                    _ => return Err(given.wrong_value("give prepared or text")),
                }
            }
            _ => return Err(KNOWN.unknown(given)),
        }
        match self.rows {
            1..=MOST_ROWS => Ok(()),
            _ => Err(format!("--rows must be from 1 to {MOST_ROWS}").into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Options, Failure> {
        let arguments: Vec<String> = line.split(' ').map(str::to_owned).collect();
        Options::parse(&arguments)
    }

    #[test]
    fn options_are_read() {
        let options =
            parse("mysql --tls --connections 64 --statement text --seconds 0").expect("options");
        assert_eq!(options.database_kind, Database::Mysql);
        assert_eq!((options.connections, options.port, options.tls), (64, 3306, true));
        assert_eq!(options.statement, Statement::Text);
        assert_eq!(options.length, Duration::ZERO);
    }

    #[test]
    fn wrong_option_is_named_in_the_error() {
        let check = |line: &str, part: &str| {
            let message = parse(line).err().expect("refused").to_string();
            assert!(message.contains(part), "{line}: {message}");
        };
        check("oracle", "usage");
        check("mysql --port", "usage");
        check("mysql --port x", "--port x: give a whole number");
        check("mysql --speed 3", "unknown option --speed");
        check("postgres --statement both", "prepared or text");
        check("postgres --rows 1000000", "from 1 to 999999");
    }
}
