//! The pacing of a job: its model and its schedule.

use base::{Diagnostic, Nanos, Rate};

use super::checker::{Checker, JobScope};
use super::fields::Fields;
use super::global::MOST_CONNECTIONS;
use super::overrides::Rates;
use super::shape;
use crate::expr::{Compiled, Expr, InvalidExpr, compile, parse_all};
use crate::keys::SectionKind;
use crate::plan::{Arrival, OnQueueFull, Pacing, Schedule};
use crate::read::{Entry, Excerpt};
use crate::value::{Constant, Type};
use crate::wording::quoted;

/// Memory that the requests of a job may need together without a warning, in bytes.
pub(super) const MEMORY_WITHOUT_WARNING: u64 = 4 << 30;

/// Maximum number of requests per arrival, and of requests that wait in a queue.
const MOST_WAITING: u32 = 1_000_000_000;

/// Approximate size of a request that waits in the queue, without its values, in bytes.
const WAITING_REQUEST: u64 = 100;

/// Shortest time between two arrivals: the period of the highest rate.
const SHORTEST_PERIOD: Nanos = Nanos(1_000_000_000 / Rate::HIGHEST);

/// The lines that set the keys on which the model depends.
#[derive(Clone, Copy)]
struct PacingLines<'f> {
    rate: Option<&'f Entry<'f>>,
    every: Option<&'f Entry<'f>>,
    concurrency: Option<&'f Entry<'f>>,
    log: Option<&'f Entry<'f>>,
}

impl<'f> PacingLines<'f> {
    /// Returns the lines that are set, with the names of their keys.
    fn all(self) -> impl Iterator<Item = (&'static str, &'f Entry<'f>)> {
        let PacingLines { rate, every, concurrency, log } = self;
        let named = [
            ("rate", rate),
            ("every", every),
            ("query-log-file", log),
            ("concurrency", concurrency),
        ];
        named.into_iter().filter_map(|(name, entry)| Some((name, entry?)))
    }
}

/// The clients of a closed job or the workers of a queue.
#[derive(Clone, Copy)]
pub(super) struct JobClients {
    workers: u32,
    /// True if they are clients of a closed job; false in other models, and in a part of a mix.
    closed: bool,
}

impl JobClients {
    /// Returns the number of clients of a closed job; `None` for other models.
    pub(super) fn clients(self) -> Option<u32> {
        self.closed.then_some(self.workers)
    }
}

impl<'f> Checker<'f> {
    /// Returns the clients or workers of a job; expressions may need them before the pacing is
    /// known.
    ///
    /// The number of clients is unknown for a part of a mix, because the mix determines it.
    pub(super) fn job_clients(&mut self, fields: &Fields<'f>, is_part: bool) -> JobClients {
        let workers = self.small_count(fields, "concurrency", (1, MOST_CONNECTIONS)).unwrap_or(1);
        let scheduled = ["rate", "every", "query-log-file"];
        let closed = !is_part && scheduled.iter().all(|key| fields.one(key).is_none());
        JobClients { workers, closed }
    }

    /// Returns the pacing of a job. `is_session` is true if each of its requests is a session.
    pub(super) fn pacing(
        &mut self,
        fields: &Fields<'f>,
        scope: JobScope<'_>,
        job_clients: JobClients,
        is_session: bool,
    ) -> Pacing {
        let chosen = PacingLines {
            rate: fields.one("rate"),
            every: fields.one("every"),
            concurrency: fields.one("concurrency"),
            log: fields.one("query-log-file"),
        };
        self.contradictions(chosen);
        self.report_missing_keys(fields, chosen, is_session);
        let batch = self.small_count(fields, "batch-size", (1, MOST_WAITING)).unwrap_or(1);
        self.clients_beyond_a_pool(chosen, job_clients.workers);
        let limit = self.small_count(fields, "queue-limit", (1, MOST_WAITING)).unwrap_or(100_000);
        self.warn_of_queue_memory(fields, "batch-size", batch);
        self.warn_of_queue_memory(fields, "queue-limit", limit);
        let on_full = self
            .choice(
                fields,
                SectionKind::Job,
                "on-queue-full",
                [OnQueueFull::Reject, OnQueueFull::Stop],
            )
            .unwrap_or(OnQueueFull::Reject);
        let every = self.period(fields);
        let rated = self.schedule(fields);
        let think = if is_session { None } else { self.think(fields, scope) };
        if chosen.log.is_some() {
            return Pacing::Replay;
        }
        match (rated, every, chosen.concurrency) {
            (Some((schedule, _)), _, Some(_)) => {
                Pacing::Queue { schedule, batch, workers: job_clients.workers, limit, on_full }
            }
            (Some((schedule, true)), _, None) => Pacing::Timetable { schedule, batch },
            (Some((schedule, false)), _, None) => Pacing::Open { schedule, batch },
            (None, Some(period), _) => {
                Pacing::Timetable { schedule: Schedule::Every(period), batch }
            }
            (None, None, _) => Pacing::Closed { clients: job_clients.workers, think },
        }
    }

    /// Warns of a queue that could need more memory than a machine has if it fills up.
    fn warn_of_queue_memory(&mut self, fields: &Fields<'f>, key: &str, requests: u32) {
        let bytes = u64::from(requests) * WAITING_REQUEST;
        let Some(entry) = fields.one(key).filter(|_| bytes > MEMORY_WITHOUT_WARNING) else {
            return;
        };
        self.sink.warning(|| {
            let gigabytes = bytes >> 30;
            let message =
                format!("that many waiting requests could need {gigabytes} GiB of memory");
            entry.value().warning(message).help(format!("lower `{key}`"))
        });
    }

    /// Warns of clients that would wait for each other in dbbench's pool: in Assay each client has
    /// its own connection.
    fn clients_beyond_a_pool(&mut self, chosen: PacingLines<'f>, clients: u32) {
        let Some(pool) = self.overrides.pool().filter(|pool| clients > *pool) else { return };
        let Some(entry) = chosen.concurrency else { return };
        self.sink.warning(|| {
            let connections = if pool == 1 { "connection" } else { "connections" };
            let message = format!("{clients} clients have more than {pool} {connections}");
            let help = "`--max-active-conns` bounds jobs with a rate: lower the number here";
            entry.whole().warning(message).help(help)
        });
    }

    /// Returns the schedule of a rate, and true if the schedule is a timetable: without an
    /// `arrival` key, a rate below 1/s, or any rate under the rules of dbbench.
    fn schedule(&mut self, fields: &Fields<'f>) -> Option<(Schedule, bool)> {
        let arrivals = [Arrival::Poisson, Arrival::Uniform];
        let written = self.choice(fields, SectionKind::Job, "arrival", arrivals);
        if let Some(entry) = fields.one("rate").filter(|entry| shape::is_call(entry.value())) {
            return Some((self.varying_schedule(entry, fields.one("arrival"), written)?, false));
        }
        let rate = self.rate(fields, "rate")?;
        let ticks = self.overrides.rates == Rates::AsDbbench && written.is_none();
        if ticks && fields.one("concurrency").is_none() {
            return Some((Schedule::Every(rate.nth_uniform(1)), true));
        }
        let timetable = ticks || (rate.as_f64() < 1.0 && written.is_none());
        let overriding = self.overrides.arrival.filter(|_| !timetable);
        let usual = if timetable { Arrival::Uniform } else { Arrival::Poisson };
        let schedule = match overriding.or(written).unwrap_or(usual) {
            Arrival::Poisson => Schedule::Poisson(rate),
            Arrival::Uniform => Schedule::Uniform(rate),
        };
        Some((schedule, timetable))
    }

    fn period(&mut self, fields: &Fields<'f>) -> Option<Nanos> {
        let period = self.span(fields, "every")?;
        let too_long = period > Rate::LONGEST_PERIOD;
        let entry = fields.one("every").filter(|_| too_long || period < SHORTEST_PERIOD);
        if let Some(entry) = entry {
            let why = match too_long {
                true => "is longer than a year",
                false => "is less than 100ns, the time of 10,000,000 arrivals per second",
            };
            self.sink
                .error(|| entry.value().error(format!("{} {why}", quoted(entry.value().text()))));
        }
        Some(period)
    }

    /// Reports keys that select two different models.
    fn contradictions(&mut self, chosen: PacingLines<'f>) {
        let set: Vec<_> = chosen.all().collect();
        let [(first, one), (second, other), ..] = set.as_slice() else { return };
        let help = match (*first, *second) {
            ("rate", "concurrency") => return,
            ("rate", "every") => {
                "`rate` is traffic, `every` a timetable: keep the one that you mean"
            }
            ("every", "concurrency") => {
                "a timetable opens as many connections as it needs;\n\
                 for a queue with workers write `rate` and `concurrency`"
            }
            _ => "a replay uses the times of its log and as many connections as it needs",
        };
        self.sink.error(|| two_models(other, one).help(help));
    }

    /// Reports keys that need another key, which is not set, and `think` in a model without think
    /// time.
    fn report_missing_keys(
        &mut self,
        fields: &Fields<'f>,
        chosen: PacingLines<'f>,
        is_session: bool,
    ) {
        let (rate, every) = (chosen.rate.is_some(), chosen.every.is_some());
        if let Some(entry) = fields.one("arrival").filter(|_| !rate) {
            let help = match every {
                true => "a timetable is always even: leave `arrival` out",
                false => "write `rate = 100` as well, or leave it out",
            };
            self.report_unusable_key(entry, "needs a `rate`", help);
        }
        if let Some(entry) = fields.one("batch-size").filter(|_| !rate && !every) {
            let help = "write `rate = 100` or `every = 10s` as well, or leave it out";
            self.report_unusable_key(entry, "needs a `rate` or `every`", help);
        }
        let queue = rate && chosen.concurrency.is_some();
        for (key, what) in [("queue-limit", "the limit"), ("on-queue-full", "the line")] {
            if let Some(entry) = fields.one(key).filter(|_| !queue) {
                let help = format!("add the missing key, or leave {what} out: a queue needs both");
                self.report_unusable_key(entry, "needs a `rate` and a `concurrency`", &help);
            }
        }
        if let Some(entry) = fields.one("session").filter(|_| is_session && !rate) {
            let help = "sessions need arrivals: write `rate = 10` as well, or leave it out";
            self.report_unusable_key(entry, "needs a `rate`", help);
        }
        let model = chosen.all().map(|(name, _)| name).find(|name| *name != "concurrency");
        if let Some((entry, model)) = fields.one("think").zip(model).filter(|_| !is_session) {
            let why = format!("cannot be combined with `{model}`");
            let help = format!(
                "only clients of a closed job and sessions think: leave out `think` or `{model}`"
            );
            self.report_unusable_key(entry, &why, &help);
        }
    }

    /// Reports a key that cannot be used with the other keys of its section. `why` continues the
    /// message after the name of the key.
    pub(super) fn report_unusable_key(&mut self, entry: &Entry<'_>, why: &str, help: &str) {
        self.sink.error(|| {
            let name = quoted(entry.key().text());
            entry.key().error(format!("{name} {why}")).help(help)
        });
    }

    /// Returns the think time of a client or of a session; `None` if there is no valid one. It is a
    /// constant duration, or a duration drawn for each pause.
    pub(super) fn think(&mut self, fields: &Fields<'f>, scope: JobScope<'_>) -> Option<Expr> {
        let entry = fields.one("think")?;
        let source = entry.value();
        let compiled = parse_all(source)
            .map_err(InvalidExpr::from)
            .and_then(|ast| compile(&ast, source, self.request_scope(scope, "think")))
            .and_then(|compiled| self.count_nodes(compiled, source, scope.has_records))
            .and_then(|compiled| pause(compiled, source).map_err(InvalidExpr::from));
        compiled.map_err(|refused| self.report_invalid(refused)).ok()
    }
}

/// Returns a pause from an expression: a non-negative duration, or a bare zero.
fn pause(compiled: Compiled, source: Excerpt<'_>) -> Result<Expr, Diagnostic> {
    let what = quoted(source.text());
    match &compiled {
        Compiled::Constant(Constant::Int(0)) => {
            return Ok(Expr(Constant::Duration(0).into_node()));
        }
        Compiled::Constant(constant) if constant.is_negative() => {
            return Err(source.error(format!("{what} is negative")));
        }
        Compiled::Constant(_) | Compiled::Dynamic(..) => {}
    }
    let kind = compiled.kind();
    if kind == Type::Duration {
        return Ok(Expr(compiled.into_node()));
    }
    let error = source.error(format!("`think` is a duration, but {what} is {}", kind.article()));
    Err(match kind.is_number() {
        true => error.help("give its numbers a unit: `20ms`, `exp(20ms)`"),
        false => error.help("write for example `think = exp(20ms)`"),
    })
}

fn two_models(second: &Entry<'_>, first: &Entry<'_>) -> Diagnostic {
    let (first, name) = (quoted(first.key().text()), quoted(second.key().text()));
    second.key().error(format!("{first} and {name} cannot be set together"))
}
