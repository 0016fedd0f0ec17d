//! Checks of an experiment against the plan of its workload.

use base::{Diagnostic, Span};

use super::arm::printable_name;
use super::delta;
use super::experiment::Restore;
use super::metric::{Quantity, RunMetric, Subject};
use crate::expr::{Family, Node};
use crate::plan::{Job, JobOrPart, Plan, Requests, Statement, is_job_or_part};
use crate::read::Excerpt;
use crate::sink::Sink;
use crate::wording::{name_list, nearest, quoted};

/// A metric by which the runs are judged, with its place in the file.
pub(super) type JudgedMetric<'a, 'f> = (&'a RunMetric, Excerpt<'f>);

/// An arm with the plans of its runs.
pub(super) struct ArmRuns<'a> {
    pub(super) name: &'a str,
    /// Position of its header.
    pub(super) span: Span,
    /// One plan, or one for each point of a sweep.
    pub(super) plans: Vec<&'a Plan>,
}

/// Reports metrics of jobs and tables that the workload does not have, and the throughput, in
/// requests or rows, of jobs whose rate is given. The throughput of the job `saturated` is allowed,
/// because an overloaded arm falls short of the given rate. The first arm is the baseline.
pub(super) fn metrics(
    all: &[JudgedMetric<'_, '_>],
    arms: &[ArmRuns<'_>],
    saturated: Option<&str>,
    sink: &mut Sink,
) {
    let Some(plan) = arms.first().and_then(|arm| arm.plans.first()) else { return };
    for (metric, place) in all {
        let is_carried =
            |job: &str| saturated.is_some_and(|saturated| is_job_or_part(job, saturated));
        let judged = judged_job(metric, *place, plan).and_then(|job| match job {
            Some(job) if !is_carried(job) => refuse_rate(metric.quantity, job, *place, arms),
            Some(_) | None => Ok(()),
        });
        if let Err(error) = judged {
            sink.error(|| *error);
        }
    }
}

/// Reports each arm in which a rate determines the throughput of a job that has no rate in the
/// baseline. Without a bet, the throughput of such jobs is compared.
pub(super) fn default_metrics(arms: &[ArmRuns<'_>], sink: &mut Sink) {
    let Some((baseline, others)) = arms.split_first() else { return };
    for arm in others {
        let mut pairs = baseline.plans.iter().zip(&arm.plans);
        let job = pairs.find_map(|(&first, &own)| {
            let is_it = |job: &&str| {
                let follows = |plan: &Plan| follows_rate(Quantity::Throughput, job, plan);
                !follows(first) && follows(own)
            };
            first.jobs.iter().map(Job::name).find(is_it)
        });
        let Some(job) = job else { continue };
        sink.error(|| {
            let [job, name, first] = [job, arm.name, baseline.name].map(printable_name);
            let message = format!(
                "the throughput of [{job}] cannot be compared: it is the rate in [arm {name}], \
                 and [arm {first}] has none"
            );
            Diagnostic::error(arm.span, message).help(format!(
                "compare the response time: write for example `bet = response.p99({job}) -10% .. \
                 +10%`"
            ))
        });
    }
}

/// Reports each metric of a load as an error, unless `restore = reload` makes every run load the
/// tables again.
pub(super) fn metrics_of_loads(all: &[JudgedMetric<'_, '_>], restore: &Restore, sink: &mut Sink) {
    let is_of_load = |(metric, _): &&JudgedMetric<'_, '_>| metric.quantity == Quantity::Load;
    if *restore == Restore::Reload {
        return;
    }
    for (metric, place) in all.iter().filter(is_of_load) {
        sink.error(|| {
            let metric = quoted(&metric.to_string());
            place
                .error(format!("{metric} is not measured: tables are loaded once for all arms"))
                .help("write `restore = reload`, with which each run loads them again")
        });
    }
}

/// Reports sizes of `delta` for jobs and tables that the workload does not have, and a second size
/// for the same metric: such sizes would have no effect.
pub(super) fn deltas(list: Excerpt<'_>, plan: &Plan, sink: &mut Sink) {
    let mut known: Vec<Option<RunMetric>> = Vec::new();
    for (metric, place) in delta::metrics(list) {
        let named = metric.as_ref().filter(|metric| metric.of.is_some());
        if let Some(Err(error)) = named.map(|metric| judged_job(metric, place, plan)) {
            sink.error(|| *error);
        }
        if known.contains(&metric) {
            sink.error(|| {
                let of = metric.as_ref().map_or("all metrics".to_owned(), RunMetric::to_string);
                let message = format!("`delta` has two sizes for {of}");
                place.error(message).help("remove one of the two")
            });
        }
        known.push(metric);
    }
}

/// Returns the name of the job that a metric judges; `None` for a table or the whole run.
///
/// # Errors
/// The workload has no such job or table, or has several and the metric names none.
fn judged_job<'p>(
    metric: &'p RunMetric,
    place: Excerpt<'_>,
    plan: &'p Plan,
) -> Result<Option<&'p str>, Box<Diagnostic>> {
    let (names, what): (Vec<&str>, &str) = match metric.quantity.subject() {
        Subject::Run => return Ok(None),
        // A size without a name means the whole database.
        Subject::Table if metric.quantity != Quantity::Load && metric.of.is_none() => {
            return Ok(None);
        }
        Subject::Job => (plan.jobs_and_parts().map(JobOrPart::name).collect(), "job"),
        Subject::Table => (plan.loads.iter().map(|load| load.table.as_str()).collect(), "table"),
    };
    let job_names: Vec<&str> = plan.jobs.iter().map(|job| job.name()).collect();
    let candidates = if what == "job" { &job_names } else { &names };
    let name = match (&metric.of, candidates.as_slice()) {
        (Some(name), _) if names.contains(&name.as_str()) => name.as_str(),
        (Some(name), _) => return Err(Box::new(unknown(name, what, &names, place))),
        (None, [only]) => *only,
        (None, []) => {
            let message = format!(
                "{} needs a {what}, and the workload has none",
                quoted(&metric.to_string())
            );
            return Err(Box::new(place.error(message).help(remedy_for_missing(what))));
        }
        (None, [first, ..]) => {
            let message =
                format!("{} names no {what}, and there are several", quoted(&metric.to_string()));
            return Err(Box::new(
                place.error(message).help(format!("write for example `{metric}({first})`")),
            ));
        }
    };
    Ok((what == "job").then_some(name))
}

/// Returns true if a quantity of a job or part is determined by the rate of its arrivals.
fn follows_rate(quantity: Quantity, job: &str, plan: &Plan) -> bool {
    let is_of_rate = match quantity {
        Quantity::Throughput | Quantity::Rows => true,
        Quantity::Response(_)
        | Quantity::Service(_)
        | Quantity::SendLag(_)
        | Quantity::Failed
        | Quantity::Cpu(..)
        | Quantity::Load
        | Quantity::Size
        | Quantity::LogicalSize => false,
    };
    let either = plan.jobs_and_parts().find(|either| either.name() == job);
    is_of_rate && either.is_some_and(|either| either.job().has_arrivals())
}

/// Refuses to judge a job by a quantity that the rate of its arrivals determines in an arm.
fn refuse_rate(
    quantity: Quantity,
    job: &str,
    place: Excerpt<'_>,
    arms: &[ArmRuns<'_>],
) -> Result<(), Box<Diagnostic>> {
    let follows =
        |arm: &&ArmRuns<'_>| arm.plans.iter().any(|plan| follows_rate(quantity, job, plan));
    let Some(first) = arms.iter().find(follows) else { return Ok(()) };
    let location = match arms.iter().all(|arm| follows(&arm)) {
        true => String::new(),
        false => format!(" in [arm {}]", printable_name(first.name)),
    };
    let name = printable_name(job);
    let subject = match quantity == Quantity::Rows {
        true => format!("the rows per second of [{name}] follow its rate"),
        false => format!("the throughput of [{name}] is its rate"),
    };
    let message =
        format!("{subject}{location}: a job with arrivals completes what the file asks for");
    Err(Box::new(place.error(message).help(format!(
        "judge it by its response time, such as `response.p99({name})`, or give the job \
         `concurrency` and no rate"
    ))))
}

fn unknown(name: &str, what: &str, names: &[&str], place: Excerpt<'_>) -> Diagnostic {
    let error = place.error(format!("the workload has no {what} {}", quoted(name)));
    match (nearest(name, names.iter().copied()), names) {
        (Some(near), _) => error.did_you_mean(Some(near)),
        (None, []) => error.help(remedy_for_missing(what)),
        (None, _) => error.help(format!("its {what}s are {}", name_list(names))),
    }
}

/// Returns the remedy for a metric of a job or a table in a workload that has none.
fn remedy_for_missing(what: &str) -> &'static str {
    match what {
        "table" => "load one with `[load TABLE]` in the workload, or bet on a metric of a job",
        _ => "write a job into the workload, or bet on `load(TABLE)` or `size`",
    }
}

/// Returns true if a job may change data: it runs a program, or one of its statements does not
/// begin like a reading statement, or has a part that changes data.
pub(super) fn writes(plan: &Plan) -> bool {
    const READING_WORDS: [&str; 6] = ["select", "with", "table", "values", "show", "explain"];
    let reads = |statement: &Statement| {
        statement.first_word().is_some_and(|word| is_among(word, &READING_WORDS))
            && !contains_word_of(statement, &["insert", "update", "delete", "merge"])
    };
    let all = plan.jobs_and_parts().flat_map(|either| &either.requests().statements);
    all.into_iter().any(|statement| !reads(statement))
}

fn is_among(word: &str, known: &[&str]) -> bool {
    known.iter().any(|known| word.eq_ignore_ascii_case(known))
}

/// Returns true if one of these words is in a statement that may contain other statements, such as
/// `with gone as (delete from …) select …`.
fn contains_word_of(statement: &Statement, known: &[&str]) -> bool {
    let first = statement.first_word();
    let is_composed = first.is_some_and(|word| is_among(word, &["with", "explain"]));
    is_composed && statement.words().any(|word| is_among(word, known))
}

/// Returns true if requests insert keys from `sequence()` or `permute()`, which begin again in
/// every run.
pub(super) fn inserts_numbered_keys(requests: &Requests) -> bool {
    const INSERTING_WORDS: [&str; 4] = ["insert", "replace", "merge", "copy"];
    let is_insert = |one: &&Statement| {
        let begins_so = one.first_word().is_some_and(|word| is_among(word, &INSERTING_WORDS));
        begins_so || contains_word_of(one, &["insert", "merge"])
    };
    let numbered = numbered_variables(requests);
    let inserts = requests.statements.iter().filter(is_insert);
    let mut exprs = inserts.flat_map(|one| one.bound().chain(one.spliced()));
    exprs.any(|expr| contains_numbered(&expr.0, &numbered))
}

/// Returns a flag for each variable of the requests: true if its value contains a key from
/// `sequence()` or `permute()`.
fn numbered_variables(requests: &Requests) -> Vec<bool> {
    let mut numbered = Vec::with_capacity(requests.lets.len());
    for variable in &requests.lets {
        // Variables refer to earlier ones only.
        let is_numbered = contains_numbered(&variable.value.0, &numbered);
        numbered.push(is_numbered);
    }
    numbered
}

fn contains_numbered(node: &Node, numbered_variables: &[bool]) -> bool {
    let mut found = match node {
        Node::Generate(call) => matches!(call.family, Family::Sequence(_) | Family::Permute(_)),
        Node::Variable(place) => numbered_variables.get(*place).copied().unwrap_or_default(),
        _ => false,
    };
    node.children(&mut |child| found = found || contains_numbered(child, numbered_variables));
    found
}
