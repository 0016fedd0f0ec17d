//! Checks of the section `[capacity]`.

use base::units::{parse_decimal, parse_duration};
use base::{Diagnostic, Nanos, Rate, RateError, Span};

use super::arm::{ArmDraft, printable_name};
use super::capacity::{CapacityQuestion, Condition, VariedLoad};
use super::fields::Fields;
use super::vary::Vary;
use crate::check::{NamedSlo, named_slos, with_remedy_of_impossible};
use crate::keys::SectionKind;
use crate::plan::{JobOrPart, Metric, Pacing, Plan, Side, Slo, Statistic};
use crate::read::{Excerpt, File, Section, section_name};
use crate::sink::Sink;
use crate::wording::{name_list, quoted};

/// Longest budget, trial or hold: 30 days.
const LONGEST: Nanos = Nanos::from_secs(30 * 24 * 3_600);

/// Maximum number of conditions.
const MOST_CONDITIONS: usize = 20;

/// A capacity search that is read but not yet checked against the workload.
pub(super) struct CapacityDraft<'f> {
    slos: Vec<NamedSlo<'f>>,
    vary: Option<(VariedLoad, Excerpt<'f>)>,
    first: Option<f64>,
    /// Largest value, and its place.
    highest: Option<(f64, Excerpt<'f>)>,
    trial: Nanos,
    /// Place of the trial's length, if the file names one.
    trial_place: Option<Excerpt<'f>>,
    /// Shortest trial that shows an overload.
    shortest_detecting: Nanos,
    budget: Nanos,
    /// Length of the hold, and its place.
    hold: Option<(Nanos, Excerpt<'f>)>,
    /// Position of the header.
    span: Span,
}

/// Reads the keys of `[capacity]`.
pub(super) fn read<'f>(
    file: &File<'_>,
    section: &'f Section<'f>,
    sink: &mut Sink,
) -> CapacityDraft<'f> {
    let fields = Fields::of(file, section, SectionKind::Capacity, sink);
    let slos: Vec<NamedSlo<'f>> =
        fields.values("slo").flat_map(|value| named_slos(value, sink)).collect();
    for (key, example) in [("slo", "slo = p99(read) < 30ms"), ("vary", "vary = rate(read)")] {
        if !section.entries.iter().any(|entry| entry.key().text() == key) {
            sink.error(|| {
                Diagnostic::error(section.span, format!("[capacity] has no `{key}`"))
                    .help(format!("write for example `{example}`"))
            });
        }
    }
    let vary = fields.one("vary").and_then(|value| match parse_varied_load(value) {
        Ok(load) => Some((load, value)),
        Err(error) => {
            sink.error(|| error);
            None
        }
    });
    let is_whole = vary.as_ref().is_some_and(|(load, _)| load.is_whole());
    let number = |name: &str, sink: &mut Sink| {
        let value = fields.one(name)?;
        Some((load_value(name, value, is_whole, sink)?, value))
    };
    let budget = length(&fields, "budget", sink).unwrap_or(CapacityQuestion::BUDGET);
    let trial = length(&fields, "trial", sink);
    let shortest_detecting = match is_whole {
        // Clients of a closed job wait for answers instead of leaving a backlog.
        true => Nanos::ZERO,
        false => CapacityQuestion::shortest_detecting_trial(slos.iter().map(|one| &one.slo)),
    };
    let default = CapacityQuestion::default_trial(budget).max(shortest_detecting);
    CapacityDraft {
        slos,
        first: number("first", sink).map(|(first, _)| first),
        highest: number("highest", sink),
        trial: trial.unwrap_or(default),
        trial_place: fields.one("trial"),
        shortest_detecting,
        budget,
        hold: length(&fields, "hold", sink).zip(fields.one("hold")),
        vary,
        span: section.span,
    }
}

/// Returns the search of a printed experiment, whose conditions all name their jobs.
pub(super) fn outline(draft: &CapacityDraft<'_>) -> Option<CapacityQuestion> {
    let named = |one: &NamedSlo<'_>| Some((one.job()?, one.slo.clone()));
    let conditions = draft.slos.iter().map(named).collect::<Option<Vec<_>>>()?;
    let (load, _) = draft.vary.as_ref()?;
    let (load, most) = (load.clone(), CapacityQuestion::MOST_CLIENTS);
    Some(draft.question(load, conditions.into_iter().map(condition).collect(), most))
        .filter(|question| !question.conditions.is_empty())
}

impl CapacityDraft<'_> {
    /// Returns the only arm of the search: the workload with the first value.
    pub(super) fn arm(&self, workload: &File<'_>, sink: &mut Sink) -> Option<ArmDraft> {
        let (load, place) = self.vary.as_ref()?;
        if let Err(error) = Vary::parse(*place, workload) {
            sink.error(|| *error);
            return None;
        }
        Some(ArmDraft {
            differences: vec![load.difference(self.first(load))],
            spans: vec![place.span()],
            ..ArmDraft::of_workload(self.span)
        })
    }

    fn first(&self, load: &VariedLoad) -> f64 {
        self.first.unwrap_or(match load {
            VariedLoad::Rate { .. } => CapacityQuestion::FIRST_RATE,
            VariedLoad::Concurrency { .. } => 1.0,
        })
    }

    /// Returns the search in a workload with this plan; reports contradictions between search and
    /// plan.
    pub(super) fn check(self, plan: &Plan, sink: &mut Sink) -> Option<CapacityQuestion> {
        let (load, place) = self.vary.as_ref()?;
        if let Err(error) = check_load_grows(load, *place, plan) {
            sink.error(|| error);
            return None;
        }
        self.check_jobs(load, plan, sink);
        self.warn_of_short_trial(sink);
        if let Some((hold, place)) = self.hold.filter(|(hold, _)| *hold < self.trial) {
            sink.error(|| {
                place
                    .error(format!("a hold of {hold} is shorter than a trial, {}", self.trial))
                    .help(
                        "write a longer `hold` or a shorter `trial`: a short hold fails by chance",
                    )
            });
        }
        let mut conditions = Vec::new();
        for one in &self.slos {
            let judged = one.judged_job(plan).and_then(|job| {
                limits(one, &job, load, plan)?;
                Ok(job)
            });
            match judged {
                Ok(job) if conditions.len() < MOST_CONDITIONS => {
                    conditions.push(condition((job, one.slo.clone())));
                }
                Ok(_) => sink.error(|| {
                    one.place
                        .error(format!("there are more than {MOST_CONDITIONS} conditions"))
                        .help("leave out those that another one implies")
                }),
                Err(error) => sink.error(|| error),
            }
        }
        let (load, most) = (load.clone(), f64::from(plan.max_connections));
        if let Some((highest, place)) = self.highest {
            match load.is_whole() {
                true if highest > most => sink.error(|| too_many_clients(place, highest, most)),
                false if highest > Rate::HIGHEST as f64 => sink.error(|| too_high(place)),
                true | false => {}
            }
        }
        Some(self.question(load, conditions, most))
    }

    /// Warns of a trial that may be too short to show an overload.
    fn warn_of_short_trial(&self, sink: &mut Sink) {
        let CapacityDraft { trial, shortest_detecting: least, .. } = *self;
        let Some(place) = self.trial_place.filter(|_| trial < least) else { return };
        sink.warning(|| {
            let message = format!(
                "a trial of {trial} may not show that a rate exceeds the capacity by a few percent"
            );
            place.warning(message).help(format!(
                "write `trial = {least}` or longer, or bound a response time by less in `slo`"
            ))
        });
    }

    /// Reports jobs that start at or after the end of a trial. In the varied job, also reports keys
    /// and files that can end the job before the trial ends, and a `batch-size` above 1, because
    /// the job's rate then counts batches, not requests.
    fn check_jobs(&self, load: &VariedLoad, plan: &Plan, sink: &mut Sink) {
        let trial = plan.warmup.known() + self.trial;
        for job in &plan.jobs {
            let (name, start) = (job.name(), job.start);
            if start >= trial {
                sink.error(|| {
                    let message = format!(
                        "`start` of [{name}], {start}, is after the end of a trial, {trial}"
                    );
                    Diagnostic::error(self.span, message)
                        .help("write a shorter `start` or a longer `trial`")
                });
            }
            if name != load.job() {
                continue;
            }
            let ends = [("count", job.count.is_some()), ("stop", job.stop.is_some())];
            for (key, _) in ends.into_iter().filter(|(_, is_set)| *is_set) {
                sink.error(|| {
                    let message = format!("`{key}` can end [{name}] before the end of a trial");
                    let help =
                        format!("leave out `{key}`: the search sets the length of each trial");
                    Diagnostic::error(self.span, message).help(help)
                });
            }
            if let Some(feed) = job.sections().find_map(|requests| requests.feed.as_ref()) {
                sink.error(|| {
                    let message = format!(
                        "the values in {} can run out before the end of a trial of [{name}]",
                        quoted(&feed.file)
                    );
                    let help = "draw the values in the statement, such as `${uniform(1, 1000)}`: \
                                each trial reads the file from the beginning";
                    Diagnostic::error(self.span, message).help(help)
                });
            }
            let batch = job.arrivals().map_or(1, |(_, batch)| batch);
            if batch > 1 {
                sink.error(|| {
                    let message = format!(
                        "[{name}] has {batch} requests per arrival, and a search counts requests: \
                         its rates would be {batch} times too small"
                    );
                    Diagnostic::error(self.span, message).help(format!(
                        "leave out `batch-size`, or write `[sweep] vary = rate({name})`"
                    ))
                });
            }
        }
    }

    fn question(
        &self,
        vary: VariedLoad,
        conditions: Vec<Condition>,
        most_clients: f64,
    ) -> CapacityQuestion {
        let highest = match vary {
            VariedLoad::Rate { .. } => CapacityQuestion::HIGHEST_RATE,
            VariedLoad::Concurrency { .. } => most_clients,
        };
        CapacityQuestion {
            conditions,
            first: self.first(&vary),
            highest: self.highest.map_or(highest, |(highest, _)| highest),
            vary,
            trial: self.trial,
            budget: self.budget,
            hold: self.hold.map(|(hold, _)| hold),
        }
    }
}

/// Checks that a condition of this job can limit the load.
fn limits(one: &NamedSlo<'_>, job: &str, load: &VariedLoad, plan: &Plan) -> Result<(), Diagnostic> {
    if let Some(message) = one.reason_if_impossible() {
        return Err(with_remedy_of_impossible(one.place.error(message)));
    }
    match (one.slo.side, one.slo.metric) {
        (Side::Below, Metric::Throughput) => return Err(upper_throughput(one, job, load)),
        (Side::Below, Metric::Response(Statistic::Max) | Metric::Service(Statistic::Max)) => {
            return Err(maximum(one.place));
        }
        (Side::Below, Metric::Response(_) | Metric::Service(_) | Metric::Failed) => return Ok(()),
        (Side::Above, Metric::Response(_) | Metric::Service(_) | Metric::Failed) => {
            return Err(lower_bound(one.place));
        }
        (Side::Above, Metric::Throughput) => {}
    }
    let either = plan.jobs_and_parts().find(|either| either.name() == job);
    match either.map(JobOrPart::job) {
        Some(of) if of.name() != load.job() && !matches!(of.pacing, Pacing::Closed { .. }) => {
            let name = printable_name(job);
            let message = format!(
                "the throughput of [{name}] is its rate: a job with arrivals completes what the \
                 file asks for"
            );
            Err(one.place.error(message).help(format!(
                "judge it by its response time, such as `slo = p99({name}) < 30ms`, or give the \
                 job `concurrency` and no rate"
            )))
        }
        Some(_) | None => Ok(()),
    }
}

/// Returns the error for a lower bound on a time or on failures.
fn lower_bound(place: Excerpt<'_>) -> Diagnostic {
    let message = format!("{} is a lower bound, which a larger load meets", quoted(place.text()));
    let upper = place.text().replace('>', "<");
    place.error(message).help(format!("write an upper bound: `slo = {upper}`"))
}

/// Returns the error for a bound on the maximum of a time, which grows with the number of requests.
fn maximum(place: Excerpt<'_>) -> Diagnostic {
    let message = format!(
        "{} depends on the length of a trial: more requests have a larger maximum",
        quoted(place.text())
    );
    let quantile = place.text().replacen("max", "p99.9", 1);
    place.error(message).help(format!("write a quantile: `slo = {quantile}`"))
}

/// Returns the error for an upper bound on throughput. Such a bound would limit the load that the
/// search itself sets, or would be met more easily at a larger load.
fn upper_throughput(one: &NamedSlo<'_>, job: &str, load: &VariedLoad) -> Diagnostic {
    let (place, bound) = (one.place, one.slo.bound);
    let lower = place.text().replace('<', ">");
    let highest = match load {
        VariedLoad::Rate { job: varied } if varied == job => {
            format!(", and `highest = {bound}` as the largest load to try")
        }
        VariedLoad::Rate { .. } | VariedLoad::Concurrency { .. } => String::new(),
    };
    place
        .error(format!(
            "{} is an upper bound of throughput, which does not limit the load that a server takes",
            quoted(place.text())
        ))
        .help(format!("write a lower bound, `slo = {lower}`{highest}"))
}

/// Returns the error for more clients than the workload has connections.
pub(super) fn too_many_clients(place: Excerpt<'_>, clients: f64, most: f64) -> Diagnostic {
    place
        .error(format!("{clients} clients are more than `max-connections` = {most}"))
        .help(format!("write `max-connections = {clients}` into the workload file"))
}

/// Returns a condition whose text names its job.
fn condition((job, slo): (String, Slo)) -> Condition {
    let (metric, rest) = slo.text.split_once(' ').unwrap_or((&slo.text, ""));
    let text = format!("{metric}({job}) {rest}");
    Condition { slo: Slo { text, ..slo }, job }
}

/// Returns the load of `rate(JOB)` or `concurrency(JOB)`.
pub(super) fn parse_varied_load(value: Excerpt<'_>) -> Result<VariedLoad, Diagnostic> {
    let text = value.text();
    let refuse = || {
        let message = format!(
            "unknown value {} for `vary`; expected rate(JOB) or concurrency(JOB)",
            quoted(text)
        );
        value.error(message).help("write for example `vary = rate(read)`")
    };
    let (key, rest) = text.split_once('(').ok_or_else(refuse)?;
    let job = section_name(rest.strip_suffix(')').ok_or_else(refuse)?);
    if job.is_empty() {
        return Err(refuse());
    }
    match key {
        "rate" => Ok(VariedLoad::Rate { job }),
        "concurrency" => Ok(VariedLoad::Concurrency { job }),
        _ => Err(refuse()),
    }
}

/// Checks that the varied job exists, and that a larger value gives it a larger load.
pub(super) fn check_load_grows(
    load: &VariedLoad,
    place: Excerpt<'_>,
    plan: &Plan,
) -> Result<(), Diagnostic> {
    let Some(job) = plan.jobs.iter().find(|job| job.name() == load.job()) else {
        let names = name_list(plan.jobs.iter().map(|job| job.name()));
        let error = place.error(format!("no job {} runs on its own", quoted(load.job())));
        return Err(error.help(format!("jobs are {names}")));
    };
    let name = printable_name(load.job());
    match (load, &job.pacing) {
        (VariedLoad::Concurrency { .. }, Pacing::Closed { .. }) => Ok(()),
        (VariedLoad::Concurrency { .. }, _) => {
            let message = format!("[{name}] has arrivals: more workers do not raise its load");
            Err(place.error(message).help(format!("write `vary = rate({name})`")))
        }
        (VariedLoad::Rate { .. }, _) => Ok(()),
    }
}

/// Returns the value of `key`, in requests per second or clients; reports an invalid value.
fn load_value(key: &str, value: Excerpt<'_>, is_whole: bool, sink: &mut Sink) -> Option<f64> {
    match load_number(value.text(), is_whole) {
        Ok(number) => Some(number),
        Err(refused) => {
            let example = if is_whole { "2" } else { "1k" };
            let help = format!("write for example `{key} = {example}`");
            sink.error(|| value.error(refused).help(help));
            None
        }
    }
}

/// Returns the error for a rate above the largest allowed one. Only the check against the workload
/// reports it: recorded experiments of earlier versions may have such a rate, and stay readable.
fn too_high(place: Excerpt<'_>) -> Diagnostic {
    let refused = format!("{} {}", quoted(place.text()), RateError::TooHigh);
    place.error(refused).help("write for example `highest = 1k`")
}

/// Parses a number of requests per second or of clients.
///
/// # Errors
/// The text is not a number, not above 0, or a fraction of a client. The message is a sentence.
pub(super) fn load_number(text: &str, is_whole: bool) -> Result<f64, String> {
    let refused = match parse_decimal(text.strip_suffix("/s").unwrap_or(text)) {
        Ok(number) if number.as_f64() <= 0.0 => "is not above 0".to_owned(),
        Ok(number) if is_whole && number.as_f64().fract() != 0.0 => {
            "is not a whole number of clients".to_owned()
        }
        Ok(number) => return Ok(number.as_f64()),
        Err(error) => error.to_string(),
    };
    Err(format!("{} {refused}", quoted(text)))
}

fn length(fields: &Fields<'_>, name: &str, sink: &mut Sink) -> Option<Nanos> {
    let value = fields.one(name)?;
    let refused = match parse_duration(value.text()) {
        Ok(Nanos::ZERO) => "is not above 0".to_owned(),
        Ok(length) if length > LONGEST => format!("is longer than {LONGEST}"),
        Ok(length) => return Some(length),
        Err(error) => error.to_string(),
    };
    sink.error(|| {
        let message = format!("{} {refused}", quoted(value.text()));
        value.error(message).help("times have a unit: `30s`, `15m`")
    });
    None
}
