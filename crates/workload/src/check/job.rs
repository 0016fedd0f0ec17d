//! A job: its statements, pacing, error handling and conditions.

use std::path::{Component, Path, PathBuf};

use base::units::{grouped, parse_count};
use base::{Diagnostic, Dialect, Nanos, Rate, Seed, Stream};

use super::checker::{Checker, JobScope};
use super::fields::Fields;
use super::global::Global;
use super::name::bracketed;
use super::pacing::{JobClients, MEMORY_WITHOUT_WARNING};
use super::role::{Membership, Role};
use super::statement::Binding;
use super::value::ValueError;
use crate::expr::{Expr, Family, Generate, NO_VARIABLES, Node, Variables};
use crate::generate::{LONGEST_POINT, LONGEST_POLYGON, LONGEST_TEXT, UUID_LENGTH};
use crate::keys::SectionKind;
use crate::plan::{
    Flow, Job, JobTarget, OnError, OnOutage, Pacing, Part, Piece, Reconnect, Requests, Rows,
    Schedule, Statement,
};
use crate::read::{Entry, Excerpt, Section};
use crate::value::LONGEST_ESCAPE;
use crate::wording::quoted;

/// Upper bound of the length of a number in text form, in bytes.
const LONGEST_NUMBER: u64 = 400;

/// Assumed size of a field of a record, in bytes; few fields are larger.
const LARGEST_FIELD: u64 = 64 << 10;

/// Length of a timestamp, in bytes.
const TIMESTAMP: u64 = 26;

/// The lines of a section, and the values read from them so far.
struct Parsed<'f> {
    fields: Fields<'f>,
    /// SQL dialect of the target.
    dialect: Dialect,
    has_records: bool,
    variables: Variables,
    clients: JobClients,
    target: JobTarget,
    requests: Requests,
}

/// Returns the statement of a job that replays a log: the text of a line after its time.
fn log_statement(log: &Entry<'_>) -> Statement {
    let stream = Stream::new(Seed::default(), "", "");
    let line = Node::Generate(Box::new(Generate { stream, family: Family::Field(0) }));
    let span = log.value().span().unwrap_or_default();
    Statement { pieces: vec![Piece::Splice(Expr(line))], span, script: None }
}

impl<'f> Checker<'f> {
    /// Checks a section as a job of its own.
    pub(super) fn job(&mut self, section: &'f Section<'f>, global: &Global) -> Job {
        let parsed = self.requests(section, global, Role::Standalone);
        let Parsed { fields, clients, target, requests, .. } = parsed;
        let scope = JobScope {
            name: &section.name,
            clients: clients.clients(),
            dialect: parsed.dialect,
            has_records: parsed.has_records,
            variables: &parsed.variables,
        };
        let pacing = self.pacing(&fields, scope, clients, requests.is_session());
        let reconnect = self.reconnect(&fields);
        let on_outage = self.on_outage(&fields, reconnect);
        let (start, stop) = self.start_and_stop(&fields, global.duration);
        let count = self.count(&fields, "count", (1, u64::MAX));
        let parts = Vec::new();
        let job = Job { target, pacing, start, stop, count, reconnect, on_outage, requests, parts };
        self.total_load(&job, &fields);
        self.first_arrival(&job, &fields, global.duration);
        let longest = self.size(&job.requests, &fields);
        self.memory_of_clients(&job, longest, &fields);
        job
    }

    /// Checks a section as a part of a mix. The part has the pacing of the mix.
    pub(super) fn part(
        &mut self,
        section: &'f Section<'f>,
        global: &Global,
        membership: Membership<'_>,
    ) -> Part {
        let parsed = self.requests(section, global, Role::Part(membership));
        let Parsed { fields, requests, .. } = parsed;
        let Membership { mix, weight, arrives, also_runs_alone } = membership;
        let reconnect = self.reconnect(&fields);
        self.on_outage(&fields, reconnect);
        if !also_runs_alone {
            self.reject_pacing_in_part(&fields, mix, requests.is_session());
        }
        if !arrives && requests.is_session() {
            self.reject_session_in_closed_mix(&fields, mix);
        }
        self.size(&requests, &fields);
        Part { name: format!("{}/{}", mix.name, section.name), weight, requests }
    }

    /// Checks the requests of a section.
    fn requests(
        &mut self,
        section: &'f Section<'f>,
        global: &Global,
        role: Role<'_>,
    ) -> Parsed<'f> {
        let dialect = self.dialect_of(match role {
            Role::Standalone => section,
            Role::Part(membership) => membership.mix,
        });
        let location_text = format!("in job {}", bracketed(&section.name));
        let mut fields =
            self.fields_in(dialect, &section.entries, SectionKind::Job, &location_text);
        let has_records = fields.one("query-args-file").is_some();
        self.drop_unset(&mut fields, role.runs_alone());
        let clients = self.job_clients(&fields, matches!(role, Role::Part(_)));
        let mut variables = Variables::new();
        let scope = JobScope {
            name: &section.name,
            clients: clients.clients(),
            dialect,
            has_records,
            variables: &NO_VARIABLES,
        };
        let transaction = self.choice(&fields, SectionKind::Job, "transaction", [true, false]);
        let transaction = transaction.unwrap_or(false);
        let before = self.inserted.enter(&section.name);
        let lets = self.lets(&fields, scope, &mut variables);
        let scope = JobScope { variables: &variables, ..scope };
        let flow = self.flow(&fields, scope, transaction);
        self.no_retry_of_separate_statements(&fields, &flow, role, dialect);
        let (target, statements) = self.target_and_statements(&fields, section, scope);
        self.secrets.follow(&variables);
        self.passwords_of_other_dialects(section, SectionKind::Job, dialect);
        let feed = self.feed(&fields, &flow, &statements);
        let pipeline = self.pipeline(&fields, transaction && flow == Flow::Together);
        let own = self.codes(&fields).into_iter();
        let mut accepted = global.accepted.clone();
        accepted.extend(own.filter(|code| !global.accepted.contains(code)));
        let requests = Requests {
            section: section.name.clone(),
            lets,
            statements,
            flow,
            feed,
            transaction,
            pipeline,
            results: self.results(&fields, &section.name, role),
            prepare: self
                .choice(&fields, SectionKind::Job, "prepare", [true, false])
                .unwrap_or(true),
            expect_rows: self.read(&fields, "expect-rows", rows),
            timeout: self.span(&fields, "timeout"),
            retry: self.retry(&fields),
            accepted,
            on_error: self
                .choice(&fields, SectionKind::Job, "on-error", [OnError::Continue, OnError::Stop])
                .unwrap_or(OnError::Continue),
            slos: self.slos(&fields),
            span: section.span,
        };
        self.inserted.leave(before);
        Parsed { fields, dialect, has_records, variables, clients, target, requests }
    }

    /// Checks the target and the statements of a section.
    fn target_and_statements(
        &mut self,
        fields: &Fields<'f>,
        section: &'f Section<'f>,
        scope: JobScope<'_>,
    ) -> (JobTarget, Vec<Statement>) {
        if let Some(entry) = fields.one("command") {
            self.reject_statement_keys(fields);
            let command = Statement {
                pieces: self.statement(entry.value(), Binding::Shell(scope)),
                span: entry.value().span().unwrap_or_default(),
                script: None,
            };
            return (JobTarget::Programs, vec![command]);
        }
        let target = self.job_target(fields);
        if let Some(log) = fields.one("query-log-file") {
            for (key, entry) in fields.entries_where(|key| !key.allowed_with_log) {
                self.sink.error(|| {
                    entry
                        .key()
                        .error(format!("`{key}` and `query-log-file` cannot be set together"))
                        .help("the log has the statements: leave out one of the two")
                });
            }
            return (target, vec![log_statement(log)]);
        }
        let statements = self.statements(fields, scope);
        if fields.one("mix").is_some() {
            self.reject_keys_in_mix(fields);
        } else if statements.is_empty() {
            self.no_statement(section, scope.dialect);
        }
        (target, statements)
    }

    /// Returns the way in which the statements of a request run: together, separately, or as a
    /// session. `transaction` is true if they are a transaction.
    fn flow(&mut self, fields: &Fields<'f>, scope: JobScope<'_>, transaction: bool) -> Flow {
        let separately = self.choice(fields, SectionKind::Job, "multi-query-mode", [()]).is_some();
        let is_session =
            self.choice(fields, SectionKind::Job, "session", [true, false]) == Some(true);
        let together = [("transaction", transaction), ("session", is_session)];
        let conflict = together.iter().find(|(_, is_set)| *is_set);
        let conflict = conflict.and_then(|(key, _)| fields.one(key));
        if let (true, Some(entry)) = (separately, conflict) {
            self.sink.error(|| {
                let name = quoted(entry.key().text());
                entry
                    .key()
                    .error(format!("{name} and `multi-query-mode` cannot be set together"))
                    .help(
                        "statements are sent either separately or together: leave one of them out",
                    )
            });
        }
        match is_session {
            true => Flow::Session { think: self.think(fields, scope) },
            false if separately => Flow::Separately,
            false => Flow::Together,
        }
    }

    /// Returns true if the statements of a request are pipelined. Only a transaction without pauses
    /// between its statements can be pipelined, because its first error ends all its statements.
    fn pipeline(&mut self, fields: &Fields<'f>, is_one_transaction: bool) -> bool {
        let wants = self.choice(fields, SectionKind::Job, "pipeline", [true, false]) == Some(true);
        let vain = fields.one("pipeline").filter(|_| wants && !is_one_transaction);
        if let Some(entry) = vain {
            self.sink.error(|| {
                entry
                    .key()
                    .error("`pipeline = yes` sends the statements of a transaction together")
                    .help("write `transaction = yes`, and no `session`; or leave `pipeline` out")
            });
        }
        wants
    }

    fn reconnect(&mut self, fields: &Fields<'f>) -> Reconnect {
        let choices = [Reconnect::No, Reconnect::PerTransaction];
        self.choice(fields, SectionKind::Job, "reconnect", choices).unwrap_or(Reconnect::No)
    }

    fn on_outage(&mut self, fields: &Fields<'f>, reconnect: Reconnect) -> OnOutage {
        let entry = match reconnect {
            Reconnect::No => fields.one("outage"),
            // With a new connection per transaction, a refused connection fails or waits in every
            // model.
            Reconnect::PerTransaction => None,
        };
        let arrives = fields.any(&["rate", "every"]).next().is_some();
        if let Some(entry) = entry.filter(|_| !arrives) {
            let help = match fields.one("query-log-file") {
                Some(_) => "log lines fail at once while their target is unreachable: leave it out",
                None => "clients of a closed job wait for a lost target anyway: leave it out",
            };
            self.report_unusable_key(entry, "needs a `rate` or `every`", help);
        }
        let choices = [OnOutage::Fail, OnOutage::Wait];
        self.choice(fields, SectionKind::Job, "outage", choices).unwrap_or(OnOutage::Fail)
    }

    /// Reports keys that have no meaning in a job that runs a program.
    fn reject_statement_keys(&mut self, fields: &Fields<'f>) {
        for (name, entry) in fields.entries_where(|key| !key.allowed_with_command) {
            let why = match name {
                "query" => "a job sends statements or runs a program: make two jobs of it",
                "reconnect" => "a program makes connections of its own: remove the key",
                "target" => "programs do not use assay's targets: remove the key",
                _ => "it applies to statements, and the job runs a program: remove the key",
            };
            self.sink.error(|| {
                let message = format!("{} cannot be used with `command`", quoted(name));
                entry.key().error(message).help(why)
            });
        }
    }

    fn statements(&mut self, fields: &Fields<'f>, scope: JobScope<'_>) -> Vec<Statement> {
        let mut statements: Vec<Statement> = Vec::new();
        for (key, entry) in fields.any(&["query", "query-file"]) {
            let span = entry.value().span().unwrap_or_default();
            let mut number = statements.len();
            let mut make = |checker: &mut Checker<'f>, source: Excerpt<'_>| {
                number += 1;
                checker.statement(source, Binding::Bound { scope, number })
            };
            match key {
                "query-file" => {
                    let all = self.statements_of(entry, scope.dialect, make);
                    statements.extend(all.into_iter().map(|(pieces, line)| Statement {
                        pieces,
                        span,
                        script: Some(line),
                    }));
                }
                _ => statements.push(Statement {
                    pieces: make(self, entry.value()),
                    span,
                    script: None,
                }),
            }
        }
        statements
    }

    /// Reports a job whose statements are all for other databases.
    fn no_statement(&mut self, section: &Section<'f>, dialect: Dialect) {
        if self.sink.errors() > 0 {
            // Statements that could not be parsed have been reported already.
            return;
        }
        let dialect = dialect.name();
        self.sink.error(|| {
            let name = bracketed(&section.name);
            Diagnostic::error(section.span, format!("{name} has no statement for {dialect}"))
                .help(format!("add a `query.{dialect}`, or a `query` for every database"))
        });
    }

    /// Returns the name of the file for the rows that the statements return. No other job may use
    /// the same file, and a section with a file may be used only once.
    fn results(&mut self, fields: &Fields<'f>, job: &str, role: Role<'_>) -> Option<String> {
        let entry = fields.one("query-results-file")?;
        let path = self.recorded_file_name(entry, "query-results-file = found.csv")?;
        let parts = Path::new(&path).components();
        let file: PathBuf = parts.filter(|part| *part != Component::CurDir).collect();
        match self.results_files.get(&file) {
            Some((other, _)) if other != job => {
                let message = format!(
                    "the results of {} and of {} would go to one file, {}",
                    bracketed(other),
                    bracketed(job),
                    quoted(&path)
                );
                let help = "give each job a file of its own: they would overwrite each other";
                self.sink.error(|| entry.value().error(message).help(help));
            }
            Some((_, first_use)) => {
                let message = format!(
                    "{} is used twice, {first_use} and {}, and both would write {}",
                    bracketed(job),
                    use_text(role),
                    quoted(&path)
                );
                let help = "write the section a second time, with another name and another file";
                self.sink.error(|| entry.value().error(message).help(help));
            }
            None => {
                self.results_files.insert(file, (job.to_owned(), use_text(role)));
            }
        }
        Some(path)
    }

    /// Returns the start and the end of the job within the run.
    fn start_and_stop(
        &mut self,
        fields: &Fields<'f>,
        duration: Option<Nanos>,
    ) -> (Nanos, Option<Nanos>) {
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

    /// Warns if the first arrival is due at or after the end of the job. Random and varying
    /// arrivals are not checked.
    fn first_arrival(&mut self, job: &Job, fields: &Fields<'f>, duration: Option<Nanos>) {
        let first = job.arrivals().and_then(|(schedule, _)| schedule.first());
        let end = job.stop.or(duration).filter(|end| job.start < *end);
        let entry = fields.one("every").or_else(|| fields.one("rate"));
        if let (Some(entry), Some(end), Some(first)) = (entry, end, first)
            && job.start + first >= end
        {
            self.sink.warning(|| {
                let first = quoted(&(job.start + first).to_string());
                let message =
                    format!("the first arrival is due at {first}, but the job has ended by then");
                let help = match entry.key().text() {
                    "rate" => "make the run longer, or the rate higher",
                    _ => "make the run longer, or `every` shorter",
                };
                entry.whole().warning(message).help(help)
            });
        }
    }

    /// Reports jobs whose total rate is above the limit of any generator.
    fn total_load(&mut self, job: &Job, fields: &Fields<'f>) {
        let most = Rate::HIGHEST as f64;
        if let Some((schedule @ Schedule::Every(_), _)) = job.arrivals()
            && schedule.highest_per_s() > most
        {
            // The period alone is too short, which has been reported already.
            return;
        }
        let before = self.offered_per_s;
        self.offered_per_s += job.highest_per_s().unwrap_or(0.0);
        let causing_entry =
            ["batch-size", "rate", "every"].into_iter().find_map(|key| fields.one(key));
        let Some(entry) = causing_entry.filter(|_| before <= most && self.offered_per_s > most)
        else {
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

    /// Reports a request whose texts could exceed 256 MiB together. Returns their largest total
    /// size, in bytes.
    fn size(&mut self, requests: &Requests, fields: &Fields<'f>) -> u64 {
        let mut lets: Vec<u64> = Vec::new();
        for variable in &requests.lets {
            lets.push(variable.value.0.longest(&lets));
        }
        let pieces = requests.statements.iter().flat_map(|statement| {
            let binds = requests.prepare && !statement.is_dynamic();
            statement.pieces.iter().map(move |piece| (piece, binds))
        });
        let lengths: Vec<u64> = pieces
            .map(|(piece, binds)| match piece {
                Piece::Text(text) => text.len() as u64,
                Piece::Value(expr) if binds => expr.0.longest(&lets),
                // The text is created once and copied into a literal, where each byte may need an
                // escape.
                Piece::Value(expr) => {
                    let longest = expr.0.longest(&lets);
                    LONGEST_NUMBER + longest.saturating_mul(1 + LONGEST_ESCAPE)
                }
                // A spliced text is created once and copied into the statement.
                Piece::Splice(expr) => LONGEST_NUMBER + 2 * expr.0.longest(&lets),
                // Quoting may turn one character into four.
                Piece::Quoted(expr) => LONGEST_NUMBER + 5 * expr.0.longest(&lets),
            })
            .chain(lets.iter().copied())
            .collect();
        let entry = fields.one("query").or(fields.one("command"));
        let longest = lengths.iter().copied().fold(0, u64::saturating_add);
        self.within_request_size(lengths.into_iter(), entry, "a request");
        longest
    }

    /// Warns if the clients together could need more memory than a machine has: each client holds
    /// its request in memory while it is sent.
    fn memory_of_clients(&mut self, job: &Job, longest: u64, fields: &Fields<'f>) {
        let clients = match job.pacing {
            Pacing::Closed { clients, .. } => clients,
            Pacing::Queue { workers, .. } => workers,
            Pacing::Open { .. } | Pacing::Timetable { .. } | Pacing::Replay => 1,
        };
        let together = longest.saturating_mul(clients.into());
        let Some(entry) = fields.one("concurrency").filter(|_| together > MEMORY_WITHOUT_WARNING)
        else {
            return;
        };
        self.sink.warning(|| {
            let gigabytes = together >> 30;
            let message = format!(
                "the requests of {clients} clients could need {gigabytes} GiB of memory together"
            );
            entry.value().warning(message).help("make its texts shorter, or lower `concurrency`")
        });
    }
}

impl Node {
    /// Returns the maximum size of a text value, in bytes; 0 for other values. `lets` holds the
    /// sizes of the variables.
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
                Family::Hex(Node::Int(length)) => length.unsigned_abs(),
                Family::Hex(_) => LONGEST_TEXT.unsigned_abs(),
                Family::Digits(pattern) => pattern.len() as u64,
                Family::Uuid => UUID_LENGTH,
                Family::Point => LONGEST_POINT,
                Family::Polygon(_) => LONGEST_POLYGON,
                Family::Null(null) => null.value.longest(lets),
                Family::Csv(csv) => csv.longest(),
                Family::Json(json) => json.longest(|value| value.longest(lets)),
                Family::Pick(values) => longest_of(values, lets),
                Family::Weighted(weighted) => longest_of(weighted.values(), lets),
                Family::Uniform(_)
                | Family::Zipf(_)
                | Family::Exponential(_)
                | Family::Normal(..)
                | Family::Row
                | Family::Sequence(_)
                | Family::Permute(_)
                | Family::Pareto(_)
                | Family::Hotspot(_)
                | Family::Latest(_)
                | Family::Nurand(_)
                | Family::Client(_) => 0,
                // The size of a record is limited where it is read.
                Family::Field(_) => LARGEST_FIELD,
                Family::Timestamp(_) => TIMESTAMP,
            },
        }
    }
}

fn longest_of(values: &[Node], lets: &[u64]) -> u64 {
    values.iter().map(|value| value.longest(lets)).max().unwrap_or(0)
}

/// Describes the use of a section.
fn use_text(role: Role<'_>) -> String {
    match role {
        Role::Standalone => "as a job of its own".to_owned(),
        Role::Part(membership) => format!("in the mix {}", bracketed(&membership.mix.name)),
    }
}

/// Parses `1` or `1..10`.
fn rows(text: &str) -> Result<Rows, ValueError> {
    let number = |text: &str| parse_count(text.trim());
    let Some((least, most)) = text.split_once("..") else {
        let rows = number(text)?;
        return Ok(Rows { least: rows, most: rows });
    };
    match (number(least)?, number(most)?) {
        (least, most) if least > most => Err(ValueError::new("ends before it begins")),
        (least, most) => Ok(Rows { least, most }),
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
