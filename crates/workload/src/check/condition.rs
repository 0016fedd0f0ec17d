//! Conditions that a job is judged by: `slo = p99 < 30ms, failed < 0.1%` in a job or in
//! `[threshold]`.

use std::collections::HashMap;

use base::Diagnostic;
use base::units::{Decimal, parse_decimal, parse_duration};

use super::checker::Checker;
use super::fields::Fields;
use super::name::bracketed;
use crate::keys::SectionKind;
use crate::plan::{JobOrPart, Metric, Plan, Side, Slo, Statistic};
use crate::read::{Excerpt, Section, section_name};
use crate::sink::Sink;
use crate::wording::{name_list, nearest, quoted, suggested_duration};

/// Names of metrics, for did-you-mean hints.
const METRICS: &[&str] = &["mean", "max", "throughput", "failed", "service.mean", "service.max"];

/// Maximum number of conditions per job.
const MOST_CONDITIONS: usize = 1_000;

const HELP: &str = "metrics are p50, p99.9 or any quantile, mean, max, service.p99, \
                    service.mean,\nservice.max, throughput and failed";

/// A condition as it was written, which may name a job.
#[derive(Clone)]
pub(crate) struct NamedSlo<'p> {
    /// The parsed condition.
    pub(crate) slo: Slo,
    /// The text of the whole condition.
    pub(crate) place: Excerpt<'p>,
    /// The parenthesized part after the metric, if any.
    suffix: Option<Excerpt<'p>>,
}

/// Parses the conditions of a line, and reports all errors.
pub(crate) fn named_slos<'p>(line: Excerpt<'p>, sink: &mut Sink) -> Vec<NamedSlo<'p>> {
    let mut slos = Vec::new();
    for item in line.list() {
        match condition(item) {
            Ok(slo) => slos.push(slo),
            Err(error) => sink.error(|| error),
        }
    }
    slos
}

impl<'p> NamedSlo<'p> {
    /// Returns the name of the job that the condition names, if any.
    pub(crate) fn job(&self) -> Option<String> {
        self.suffix.map(|suffix| section_name(in_parentheses(suffix).text()))
    }

    /// Returns the message about a condition that no run can meet; `None` for other conditions. In
    /// a workload file, such a condition is only a warning: released versions accepted it, and
    /// their records must stay readable.
    pub(crate) fn reason_if_impossible(&self) -> Option<String> {
        let why = match (self.slo.side, self.slo.metric) {
            (Side::Below, _) if self.slo.bound <= 0.0 => "nothing is below 0",
            (Side::Above, Metric::Failed) if self.slo.bound >= 1.0 => "no share is above 100%",
            (Side::Below | Side::Above, _) => return None,
        };
        Some(format!("{} can never hold: {why}", quoted(self.place.text())))
    }

    /// Returns the name of the job or part that the condition judges: the one in parentheses, or
    /// the only job of the plan if it has no parts.
    ///
    /// # Errors
    /// There is no such job or part, or the condition names none and the plan does not have exactly
    /// one job without parts.
    pub(crate) fn judged_job(&self, plan: &Plan) -> Result<String, Diagnostic> {
        let jobs = JudgedJobs::of(plan);
        Ok(jobs.all[jobs.index(self)?].name().to_owned())
    }
}

/// Returns the text between the parentheses.
fn in_parentheses(suffix: Excerpt<'_>) -> Excerpt<'_> {
    suffix.part(1..suffix.text().len() - 1).trim()
}

impl<'f> Checker<'f> {
    /// Parses the conditions in all `slo` lines of a job.
    pub(super) fn slos(&mut self, fields: &Fields<'f>) -> Vec<Slo> {
        let mut slos = Vec::new();
        self.conditions(fields, |condition| match condition.suffix {
            None => add_to_job(&mut slos, condition),
            Some(suffix) => Err(redundant_job_name(suffix, condition.place)),
        });
        slos
    }

    /// Assigns the conditions of `[threshold]` to the jobs that they name.
    pub(super) fn thresholds(&mut self, section: &'f Section<'f>, plan: &mut Plan) {
        let fields = self.fields(&section.entries, SectionKind::Threshold, "in [threshold]");
        let mut slos: Vec<Vec<Slo>> =
            plan.requests_mut().map(|requests| std::mem::take(&mut requests.slos)).collect();
        let jobs = JudgedJobs::of(plan);
        self.conditions(&fields, |condition| {
            let index = jobs.index(&condition)?;
            add_to_job(&mut slos[index], condition)
        });
        for (requests, slos) in plan.requests_mut().zip(slos) {
            requests.slos = slos;
        }
    }

    /// Calls `each` with every condition that can be parsed, and reports all errors.
    fn conditions(
        &mut self,
        fields: &Fields<'f>,
        mut each: impl FnMut(NamedSlo<'_>) -> Result<(), Diagnostic>,
    ) {
        for entry in fields.all("slo") {
            let Some(resolved) = self.resolved(entry) else {
                continue;
            };
            for item in resolved.excerpt().list() {
                let condition = condition(item);
                let bytes = condition.as_ref().map_or(0, |condition| condition.slo.text.len());
                if let Err(refused) = self.inserted.add_to_memory(bytes, item) {
                    self.report_invalid(refused);
                    return;
                }
                let reason = condition.as_ref().ok().and_then(NamedSlo::reason_if_impossible);
                if let Some(why) = reason {
                    self.sink.warning(|| with_remedy_of_impossible(item.warning(why)));
                }
                if let Err(diagnostic) = condition.and_then(&mut each) {
                    self.sink.error(|| diagnostic);
                }
            }
        }
    }
}

/// Adds a condition to its job; reports the first condition beyond the maximum number.
fn add_to_job(slos: &mut Vec<Slo>, condition: NamedSlo<'_>) -> Result<(), Diagnostic> {
    if slos.len() <= MOST_CONDITIONS {
        slos.push(condition.slo);
        if slos.len() > MOST_CONDITIONS {
            return Err(condition.place.error("the job has more than 1,000 conditions"));
        }
    }
    Ok(())
}

/// The jobs and parts of a plan that conditions may judge.
struct JudgedJobs<'p> {
    all: Vec<JobOrPart<'p>>,
    by_name: HashMap<&'p str, usize>,
}

impl<'p> JudgedJobs<'p> {
    fn of(plan: &'p Plan) -> JudgedJobs<'p> {
        let all: Vec<JobOrPart<'p>> = plan.jobs_and_parts().collect();
        let by_name = all.iter().enumerate().map(|(index, job)| (job.name(), index)).collect();
        JudgedJobs { all, by_name }
    }

    /// Returns the index of the job or part that a condition judges: the one named in parentheses,
    /// or the only job of the plan if it has no parts.
    fn index(&self, condition: &NamedSlo<'_>) -> Result<usize, Diagnostic> {
        let names = || self.all.iter().map(|job| job.name());
        let Some(suffix) = condition.suffix else {
            return match names().next() {
                Some(_) if self.all.len() == 1 => Ok(0),
                Some(first) => Err(missing_job_name(condition, first)),
                None => Err(condition.place.error("the file has no job that could be judged")),
            };
        };
        let named = in_parentheses(suffix);
        let name = section_name(named.text());
        if let Some(index) = self.by_name.get(name.as_str()) {
            return Ok(*index);
        }
        let error = named.error(format!("there is no job {}", bracketed(named.text())));
        if let Some(part) = self.all.iter().find(|job| job.section() == name) {
            return Err(error.did_you_mean(Some(part.name())));
        }
        Err(match nearest(&name, names()) {
            Some(near) => error.did_you_mean(Some(near)),
            None if self.all.is_empty() => error,
            None => {
                error.help(format!("jobs of this file are {}", name_list(names().map(bracketed))))
            }
        })
    }
}

fn missing_job_name(condition: &NamedSlo<'_>, first: &str) -> Diagnostic {
    let text = &condition.slo.text;
    let metric = text.split_whitespace().next().unwrap_or_default();
    let after = &text[metric.len()..];
    let error = condition.place.error("the condition does not say which job it judges");
    error.help(format!("name the job in parentheses: `{metric}({first}){after}`"))
}

/// Returns the error for a condition inside a job that names a job.
fn redundant_job_name(suffix: Excerpt<'_>, place: Excerpt<'_>) -> Diagnostic {
    let (suffix_text, text) = (suffix.text(), place.text());
    let metric = text.split('(').next().unwrap_or_default().trim();
    suffix.error("a condition inside a job judges that job").help(format!(
        "write `{metric}` without `{suffix_text}`, or the whole in a section `[threshold]`"
    ))
}

fn condition(item: Excerpt<'_>) -> Result<NamedSlo<'_>, Diagnostic> {
    let text = item.text();
    // The name of a job, in parentheses, may contain `<` and `>`.
    let after = text.rfind(')').unwrap_or_default();
    let Some(at) = text[after..].find(['<', '>']).map(|at| after + at) else {
        let message = match text.is_empty() {
            true => "a condition is missing next to a comma".to_owned(),
            false => format!("{} is not a condition", quoted(text)),
        };
        return Err(item.error(message).help("write for example `slo = p99 < 30ms`"));
    };
    let side = if text[at..].starts_with('<') { Side::Below } else { Side::Above };
    if text[at + 1..].starts_with('=') {
        let sign = item.part(at..at + 2);
        let strict = &text[at..at + 1];
        return Err(sign
            .error(format!("{} is not a comparison of conditions", quoted(sign.text())))
            .help(format!("write `{strict}`")));
    }
    let (name, suffix) = split_metric(item.part(0..at).trim())?;
    let bound = item.part(at + 1..text.len()).trim();
    let metric = metric(name)?;
    let value = parse_bound(metric, bound)?;
    let sign = &text[at..at + 1];
    let text = format!("{} {sign} {}", name.text(), bound.text());
    Ok(NamedSlo { slo: Slo { text, metric, side, bound: value }, place: item, suffix })
}

/// Splits a metric from the parenthesized job name after it.
fn split_metric(name: Excerpt<'_>) -> Result<(Excerpt<'_>, Option<Excerpt<'_>>), Diagnostic> {
    let text = name.text();
    let Some(open) = text.find('(') else {
        return Ok((name, None));
    };
    let suffix = name.part(open..text.len());
    if !text.ends_with(')') || suffix.text()[1..].trim() == ")" {
        let error = suffix.error(format!("{} names no job", quoted(suffix.text())));
        return Err(error.help("write for example `slo = p99(read) < 30ms`"));
    }
    Ok((name.part(0..open).trim(), Some(suffix)))
}

fn metric(name: Excerpt<'_>) -> Result<Metric, Diagnostic> {
    let text = name.text();
    match text {
        "throughput" => return Ok(Metric::Throughput),
        "failed" => return Ok(Metric::Failed),
        _ => {}
    }
    match text.strip_prefix("service.") {
        Some(word) => Ok(Metric::Service(statistic(word, name)?)),
        None => Ok(Metric::Response(statistic(text, name)?)),
    }
}

fn statistic(word: &str, name: Excerpt<'_>) -> Result<Statistic, Diagnostic> {
    match word {
        "mean" => return Ok(Statistic::Mean),
        "max" => return Ok(Statistic::Max),
        _ => {}
    }
    let quantile = word.strip_prefix('p').and_then(|number| Decimal::parse(number).ok());
    let Some(percent) = quantile else {
        return Err(unknown_metric(name));
    };
    match fraction(percent) {
        Some(quantile) if quantile > 0.0 && quantile < 1.0 => Ok(Statistic::Quantile(quantile)),
        _ => Err(name
            .error(format!("the quantile {} is not between p0 and p100", quoted(word)))
            .help("write `p99.9` for 99.9 %; the largest value is `max`")),
    }
}

/// Converts a percentage to a fraction, as the nearest double.
fn fraction(percent: Decimal) -> Option<f64> {
    let text = format!("{}e-{}", percent.digits, percent.scale + 2);
    text.parse().ok()
}

fn unknown_metric(name: Excerpt<'_>) -> Diagnostic {
    let text = name.text();
    if text.is_empty() {
        return name.error("the condition does not say what is judged").help(HELP);
    }
    // Experiments compare these metrics, but a condition cannot use them.
    if matches!(text.split('.').next(), Some("rows" | "cpu" | "size")) {
        return name.error(format!("{} cannot be a condition", quoted(text))).help(HELP);
    }
    let error = name.error(format!("unknown metric {}", quoted(text)));
    let ours = match text.to_ascii_lowercase().as_str() {
        "median" => Some("p50"),
        "avg" | "average" => Some("mean"),
        "latency" | "response" => Some("p99"),
        "maximum" | "worst" => Some("max"),
        "tps" | "qps" | "rps" | "rate" => Some("throughput"),
        "errors" | "error" | "failures" | "failure" => Some("failed"),
        "service" => Some("service.mean"),
        _ => nearest(text, METRICS.iter().copied()),
    };
    match ours {
        Some(ours) => error.did_you_mean(Some(ours)),
        None => error.help(HELP),
    }
}

/// Parses the bound of a condition: a time in nanoseconds, a number of requests per second, or a
/// fraction of the requests.
fn parse_bound(metric: Metric, bound: Excerpt<'_>) -> Result<f64, Diagnostic> {
    let text = bound.text();
    let refuse =
        |why: String, help: &str| Err(bound.error(format!("{} {why}", quoted(text))).help(help));
    match metric {
        Metric::Response(_) | Metric::Service(_) => match parse_duration(text) {
            Ok(span) => Ok(span.0 as f64),
            Err(error) => match suggested_duration(text) {
                Some(meant) => refuse(error.to_string(), &format!("write `{meant}`")),
                None => refuse(error.to_string(), "times have a unit: `p99 < 30ms`"),
            },
        },
        Metric::Throughput => {
            let number = text.strip_suffix("/s").unwrap_or(text).trim_end();
            match parse_decimal(number) {
                Ok(number) => Ok(number.as_f64()),
                Err(error) => {
                    refuse(error.to_string(), "throughput is per second: `throughput > 1000`")
                }
            }
        }
        Metric::Failed => {
            let help = "the share of failed requests is in percent: `failed < 0.1%`";
            let Some(percent) = text.strip_suffix('%') else {
                return refuse("is not a percentage".to_owned(), help);
            };
            match parse_decimal(percent.trim_end()).map(fraction) {
                Ok(Some(share)) if share <= 1.0 => Ok(share),
                Ok(_) => refuse("is more than 100%".to_owned(), help),
                Err(error) => refuse(error.to_string(), help),
            }
        }
    }
}

/// Adds the remedy to the diagnostic about a condition that no run can meet.
pub(crate) fn with_remedy_of_impossible(diagnostic: Diagnostic) -> Diagnostic {
    diagnostic.help("write a bound that can be met, such as `failed < 0.1%` or `p99 < 30ms`")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::LocatedText;

    #[test]
    fn impossible_condition_reports_the_reason() {
        for (text, why) in [
            ("failed < 0%", Some("nothing is below 0")),
            ("p99(read) < 0ms", Some("nothing is below 0")),
            ("service.mean < 0", Some("nothing is below 0")),
            ("throughput<0/s", Some("nothing is below 0")),
            ("failed > 100%", Some("no share is above 100%")),
            ("failed < 100%", None),
            ("throughput > 0/s", None),
        ] {
            let located = LocatedText::outside(text);
            let found = condition(located.excerpt()).expect(text).reason_if_impossible();
            assert_eq!(found, why.map(|why| format!("`{text}` can never hold: {why}")));
        }
    }

    fn check(text: &str, metric: Metric, side: Side, bound: f64) {
        let located = LocatedText::outside(text);
        let slo = condition(located.excerpt()).expect(text).slo;
        assert_eq!((slo.metric, slo.side, slo.bound), (metric, side, bound), "{text}");
    }

    #[test]
    fn conditions_compare_as_written() {
        let quantile = |quantile| Metric::Response(Statistic::Quantile(quantile));
        check("p99 < 30ms", quantile(0.99), Side::Below, 30e6);
        check("p99.9<1s", quantile(0.999), Side::Below, 1e9);
        check("p50 > 0", quantile(0.5), Side::Above, 0.0);
        check(
            "service.p99.99 < 5ms",
            Metric::Service(Statistic::Quantile(0.9999)),
            Side::Below,
            5e6,
        );
        check("service.mean < 5ms", Metric::Service(Statistic::Mean), Side::Below, 5e6);
        check("max < 1m", Metric::Response(Statistic::Max), Side::Below, 60e9);
        check("throughput > 1.5k", Metric::Throughput, Side::Above, 1_500.0);
        check("throughput > 100/s", Metric::Throughput, Side::Above, 100.0);
        check("failed < 0.1%", Metric::Failed, Side::Below, 0.001);
        check("failed > 0%", Metric::Failed, Side::Above, 0.0);
        check("failed < 100%", Metric::Failed, Side::Below, 1.0);
    }
}
