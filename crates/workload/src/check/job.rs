//! A job: what it sends, when, what happens when something goes wrong, and what it is judged by.

use base::units::grouped;
use base::{Code, Diagnostic, Nanos, Rate};

use super::Checker;
use super::fields::Fields;
use super::section::bracketed;
use super::statement::Binding;
use crate::expr::{Node, Variables};
use crate::generate::{Family, LONGEST_TEXT};
use crate::keys::Owner;
use crate::plan::{Job, OnError, Piece, Schedule, Statement};
use crate::read::{Entry, Excerpt, Section};
use crate::wording::quoted;

/// More bytes than any number takes when it is written out.
const LONGEST_NUMBER: u64 = 400;

/// The bytes of a timestamp.
const TIMESTAMP: u64 = 26;

impl<'f> Checker<'f> {
    /// The job of a section; `accepted` are the error codes that all jobs accept.
    pub(super) fn job(
        &mut self,
        section: &'f Section<'f>,
        accepted: &[Code],
        duration: Option<Nanos>,
    ) -> Job {
        let whereabouts = format!("in job {}", bracketed(&section.name));
        let fields = self.fields(&section.entries, Owner::Job, &whereabouts);
        let mut variables = Variables::new();
        let lets = self.lets(&fields, &section.name, &mut variables);
        let statements = self.statements(&fields, &section.name, &variables);
        let (start, stop) = self.life(&fields, duration);
        let mut codes = accepted.to_vec();
        for code in self.codes(&fields) {
            if !codes.contains(&code) {
                codes.push(code);
            }
        }
        let job = Job {
            name: section.name.clone(),
            pacing: self.pacing(&fields, &section.name, &variables),
            start,
            stop,
            count: self.count(&fields, "count", (1, u64::MAX)),
            lets,
            statements,
            transaction: self
                .choice(&fields, Owner::Job, "transaction", [true, false])
                .unwrap_or(false),
            timeout: self.span(&fields, "timeout"),
            retry: self.retry(&fields),
            accepted: codes,
            on_error: self
                .choice(&fields, Owner::Job, "on-error", [OnError::Continue, OnError::Stop])
                .unwrap_or(OnError::Continue),
            slos: self.slos(&fields),
            span: section.span,
        };
        if job.statements.is_empty() {
            self.no_statement(section);
        }
        self.size(&job, &fields);
        self.total_load(&job, &fields);
        self.first_arrival(&job, &fields, duration);
        job
    }

    fn statements(
        &mut self,
        fields: &Fields<'f>,
        job: &str,
        variables: &Variables,
    ) -> Vec<Statement> {
        let mut statements: Vec<Statement> = Vec::new();
        for (key, entry) in fields.any(&["query", "query-file"]) {
            let span = entry.value().span().unwrap_or_default();
            let mut number = statements.len();
            let mut make = |checker: &mut Checker<'f>, source: Excerpt<'_>| {
                number += 1;
                checker.statement(source, Binding::Bound { job, variables, number })
            };
            match key {
                "query-file" => {
                    let all = self.statements_of(entry, make);
                    statements.extend(all.into_iter().map(|pieces| Statement { pieces, span }));
                }
                _ => statements.push(Statement { pieces: make(self, entry.value()), span }),
            }
        }
        statements
    }

    /// Complains about a job whose statements are all for other databases.
    fn no_statement(&mut self, section: &Section<'f>) {
        if self.sink.errors() > 0 {
            // Statements that could not be understood have been complained about.
            return;
        }
        let dialect = self.dialect.name();
        self.sink.error(|| {
            let name = bracketed(&section.name);
            Diagnostic::error(section.span, format!("{name} has no statement for {dialect}"))
                .help(format!("add a `query.{dialect}`, or a `query` for every database"))
        });
    }

    /// When the job begins and ends, inside the run.
    fn life(&mut self, fields: &Fields<'f>, duration: Option<Nanos>) -> (Nanos, Option<Nanos>) {
        let start = self.duration(fields, "start").unwrap_or(Nanos::ZERO);
        let stop = self.duration(fields, "stop").filter(|stop| *stop > Nanos::ZERO);
        if let (Some(entry), Some(duration)) = (fields.one("start"), duration) {
            if start > duration {
                self.sink.error(|| beyond_the_end(entry, "starts", duration));
            } else if start == duration {
                self.sink.warning(|| {
                    entry.value().warning("the job starts when the run ends: it does nothing")
                });
            }
        }
        if let (Some(entry), Some(stop)) = (fields.one("stop"), stop) {
            if duration.is_some_and(|duration| stop > duration) {
                let duration = duration.unwrap_or_default();
                self.sink.error(|| beyond_the_end(entry, "stops", duration));
            } else if stop <= start {
                self.sink.warning(|| never_runs(entry, start));
            }
        }
        (start, stop)
    }

    /// Warns of a timetable whose first time is behind the end.
    fn first_arrival(&mut self, job: &Job, fields: &Fields<'f>, duration: Option<Nanos>) {
        let Some((Schedule::Every(period), _)) = job.arrivals() else { return };
        let end = job.stop.or(duration).filter(|end| job.start < *end);
        if let (Some(entry), Some(end)) = (fields.one("every"), end)
            && job.start + period >= end
        {
            self.sink.warning(|| {
                let first = quoted(&(job.start + period).to_string());
                let message = format!("the first time is at {first}, and the job ends before");
                entry.whole().warning(message).help("make the run longer, or `every` shorter")
            });
        }
    }

    /// Complains about requests that come faster than any generator sends them.
    fn total_load(&mut self, job: &Job, fields: &Fields<'f>) {
        let most = Rate::HIGHEST as f64;
        if job.arrivals().is_some_and(|(schedule, _)| schedule.per_s() > most) {
            // That the rate alone is too high has been said.
            return;
        }
        let before = self.offered_per_s;
        self.offered_per_s += job.offered_per_s().unwrap_or(0.0);
        let culprit = ["batch-size", "rate", "every"].into_iter().find_map(|key| fields.one(key));
        let Some(entry) = culprit.filter(|_| before <= most && self.offered_per_s > most) else {
            return;
        };
        let (total, most) = (grouped(self.offered_per_s as u64), grouped(Rate::HIGHEST));
        let whose = if before > 0.0 { "the jobs up to here together" } else { "this job" };
        self.sink.error(|| {
            entry
                .whole()
                .error(format!("{whose} would send {total} requests per second, above {most}"))
                .help("lower the rate or the batch")
        });
    }

    /// Complains about a request that could outgrow its buffer.
    fn size(&mut self, job: &Job, fields: &Fields<'f>) {
        let mut lets: Vec<u64> = Vec::new();
        for variable in &job.lets {
            lets.push(variable.value.0.longest(&lets));
        }
        let pieces = job.statements.iter().flat_map(|statement| &statement.pieces);
        let lengths: Vec<u64> = pieces
            .map(|piece| match piece {
                Piece::Text(text) => text.len() as u64,
                Piece::Value(expr) => expr.0.longest(&lets),
                // A spliced text is made once and copied into the statement.
                Piece::Splice(expr) => LONGEST_NUMBER + 2 * expr.0.longest(&lets),
            })
            .chain(lets.iter().copied())
            .collect();
        self.within_request_size(lengths.into_iter(), fields.one("query"), "a request");
    }
}

impl Node {
    /// How many bytes the value can have at most if it is a text, else 0; `lets` are those of the
    /// variables.
    pub(super) fn longest(&self, lets: &[u64]) -> u64 {
        match self {
            Node::Int(_)
            | Node::Real(_)
            | Node::Duration(_)
            | Node::Negate(_)
            | Node::Combine(_) => 0,
            Node::Text(text) => text.len() as u64,
            Node::Variable(place) => lets.get(*place).copied().unwrap_or(0),
            Node::Generate(generate) => match &generate.family {
                Family::Text(lo, hi) => match hi.as_ref().unwrap_or(lo) {
                    Node::Int(length) => length.unsigned_abs(),
                    _ => LONGEST_TEXT.unsigned_abs(),
                },
                Family::Pick(values) => {
                    values.iter().map(|value| value.longest(lets)).max().unwrap_or(0)
                }
                Family::Uniform(_)
                | Family::Zipf(_)
                | Family::Exponential(_)
                | Family::Normal(..)
                | Family::Row
                | Family::Sequence(_)
                | Family::Permute(_) => 0,
                Family::Timestamp(_) => TIMESTAMP,
            },
        }
    }
}

fn beyond_the_end(entry: &Entry<'_>, what: &str, duration: Nanos) -> Diagnostic {
    let message = format!(
        "the job {what} at {}, but the run ends at {}",
        quoted(entry.value().text()),
        quoted(&duration.to_string())
    );
    entry.value().error(message).help("`duration` is the length of the whole run: make it longer")
}

fn never_runs(entry: &Entry<'_>, start: Nanos) -> Diagnostic {
    let message = format!(
        "the job stops at {}, but starts at {}: it does nothing",
        quoted(entry.value().text()),
        quoted(&start.to_string())
    );
    entry.value().warning(message).help("`stop` counts from the start of the run, not of the job")
}
