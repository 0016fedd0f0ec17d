//! Observation of machines, processes and databases alongside the jobs: `[observe]`.

use base::Nanos;
use base::units::{parse_count, parse_duration};

use super::checker::Checker;
use super::fields::Fields;
use super::value::ValueError;
use crate::keys::SectionKind;
use crate::plan::{Observe, RemoteHost};
use crate::read::{Entry, Section};
use crate::wording;

/// Maximum number of other machines, and of processes.
const MOST: usize = 64;

impl<'f> Checker<'f> {
    /// Checks the section.
    pub(super) fn observe(&mut self, section: &'f Section<'f>) -> Observe {
        let fields = self.fields(&section.entries, SectionKind::Observe, "in [observe]");
        let default = Observe::default();
        let every = self.read(&fields, "every", parse_every);
        let database = self.choice(&fields, SectionKind::Observe, "database", [true, false]);
        Observe {
            every: every.unwrap_or(default.every),
            database: database.unwrap_or(default.database),
            processes: self.read_all(&fields, "pid", MOST, parse_process),
            hosts: self.hosts(&fields),
        }
    }

    fn hosts(&mut self, fields: &Fields<'f>) -> Vec<RemoteHost> {
        let has_secret = |entry: &&Entry<'f>| {
            let login = entry.value().text().split_once('@').map(|(login, _)| login);
            login.is_some_and(|login| login.trim_start_matches("ssh://").contains(':'))
        };
        match fields.all("host").find(has_secret) {
            // The line holds a password, and a diagnostic with a span would print it.
            Some(entry) => {
                let span = entry.key().span().unwrap_or_default();
                let line = self.file.line_number(span.start);
                let message = format!("`host` in line {line} has a password");
                let help = "assay passes no password to ssh: set up a key";
                self.sink.error(|| wording::error(None, message).help(help));
                Vec::new()
            }
            None => self.read_all(fields, "host", MOST, parse_host),
        }
    }
}

fn parse_every(text: &str) -> Result<Nanos, ValueError> {
    let (least, most) = Observe::ENDS;
    let every = parse_duration(text)?;
    if every < least {
        let reason = format!("is too often: `every` is at least {least}");
        return Err(ValueError::with_remedy(reason));
    }
    if every > most {
        let reason = format!("is too seldom: `every` is at most {most}");
        return Err(ValueError::with_remedy(reason));
    }
    Ok(every)
}

fn parse_process(text: &str) -> Result<u32, ValueError> {
    match u32::try_from(parse_count(text)?) {
        Ok(number) if number > 0 => Ok(number),
        Ok(_) | Err(_) => Err(ValueError::new("is not a process id")),
    }
}

/// Parses the name of another machine. Every error includes an example or a remedy.
fn parse_host(text: &str) -> Result<RemoteHost, ValueError> {
    RemoteHost::parse(text).map_err(ValueError::with_remedy)
}
