//! Observation of machines, processes and databases beside the jobs: `[observe]`.

use base::Nanos;
use base::units::{parse_count, parse_duration};

use super::checker::Checker;
use super::fields::Fields;
use crate::keys::Owner;
use crate::plan::{Observe, RemoteHost};
use crate::read::{Entry, Section};
use crate::wording;

/// Highest number of other machines, and of processes.
const MOST: usize = 64;

impl<'f> Checker<'f> {
    /// Checks the section.
    pub(super) fn observe(&mut self, section: &'f Section<'f>) -> Observe {
        let fields = self.fields(&section.entries, Owner::Observe, "in [observe]");
        let default = Observe::default();
        let every = self.read(&fields, "every", parse_every);
        let database = self.choice(&fields, Owner::Observe, "database", [true, false]);
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
            None => self.read_all(fields, "host", MOST, RemoteHost::parse),
        }
    }
}

fn parse_every(text: &str) -> Result<Nanos, String> {
    let (least, most) = Observe::ENDS;
    match parse_duration(text) {
        Ok(every) if every < least => Err(format!("is too often: `every` is at least {least}")),
        Ok(every) if every > most => Err(format!("is too seldom: `every` is at most {most}")),
        Ok(every) => Ok(every),
        Err(error) => Err(error.to_string()),
    }
}

fn parse_process(text: &str) -> Result<u32, String> {
    match parse_count(text).map(u32::try_from) {
        Ok(Ok(number)) if number > 0 => Ok(number),
        Ok(_) => Err("is not a process id".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}
