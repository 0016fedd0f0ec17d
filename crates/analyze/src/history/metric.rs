//! Metrics of histories: those of runs, and the results of searches for a load.

use std::fmt;

use base::Diagnostic;
use workload::question::{
    CpuMode, Direction, Quantity, RunMetric, Scale, TimeStatistic, VariedLoad,
};

/// A metric of a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HistoryMetric {
    /// A metric of runs, with the name of its job or table.
    Run(RunMetric),
    /// A result of the searches that vary this load.
    Search(SearchResult, VariedLoad),
}

/// A result of a search: a value of the load that it varies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchResult {
    /// The largest value that was confirmed.
    Sustained,
    /// The value at which the binding condition reaches its bound.
    Estimate,
    /// The value that saturates the baseline, at which the arms of an experiment are compared.
    Saturated,
}

/// A metric as a user names it: `rows(read)` for one job or table, `rows` for all of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetricName {
    /// Name of the quantity.
    pub name: &'static str,
    /// Job or table; `None` for all of them.
    pub of: Option<String>,
}

impl SearchResult {
    /// All results.
    pub(super) const ALL: [SearchResult; 3] =
        [SearchResult::Sustained, SearchResult::Estimate, SearchResult::Saturated];

    fn name(self) -> &'static str {
        match self {
            SearchResult::Sustained => "sustained",
            SearchResult::Estimate => "estimate",
            SearchResult::Saturated => "saturated",
        }
    }
}

impl HistoryMetric {
    /// Returns the name of the quantity.
    pub fn name(&self) -> &'static str {
        match self {
            HistoryMetric::Run(metric) => metric.quantity.name(),
            HistoryMetric::Search(result, _) => result.name(),
        }
    }

    /// Returns the job or table to which the metric belongs; `None` for the whole run.
    pub fn of(&self) -> Option<&str> {
        match self {
            HistoryMetric::Run(metric) => metric.of.as_deref(),
            HistoryMetric::Search(_, load) => Some(load.job()),
        }
    }

    /// Returns the unit of the metric's values; empty for shares.
    pub fn unit(&self) -> &'static str {
        match self {
            HistoryMetric::Run(metric) => metric.quantity.unit(),
            HistoryMetric::Search(_, VariedLoad::Rate { .. }) => "requests/s",
            HistoryMetric::Search(_, VariedLoad::Concurrency { .. }) => "clients",
        }
    }

    /// Returns the way in which two values of the metric are compared.
    pub fn scale(&self) -> Scale {
        match self {
            HistoryMetric::Run(metric) => metric.quantity.scale(),
            HistoryMetric::Search(..) => Scale::Ratio,
        }
    }

    /// Returns the direction in which the metric improves.
    pub(super) fn better(&self) -> Direction {
        match self {
            HistoryMetric::Run(metric) => metric.quantity.better(),
            HistoryMetric::Search(..) => Direction::Higher,
        }
    }

    /// Returns true for a metric that is judged even if it is not named. There are few such
    /// metrics: each further series has its own false alarms, and most other quantities change
    /// together with one of these metrics.
    pub(super) fn is_usual(&self) -> bool {
        match self {
            HistoryMetric::Run(metric) => is_usual(metric.quantity),
            HistoryMetric::Search(..) => true,
        }
    }
}

fn is_usual(quantity: Quantity) -> bool {
    match quantity {
        Quantity::Response(statistic) => {
            [TimeStatistic::P50, TimeStatistic::P95, TimeStatistic::P99].contains(&statistic)
        }
        Quantity::Cpu(_, mode) => mode == CpuMode::Total,
        Quantity::Throughput | Quantity::Failed | Quantity::Load | Quantity::Size => true,
        Quantity::Rows | Quantity::Service(_) | Quantity::SendLag(_) | Quantity::LogicalSize => {
            false
        }
    }
}

impl fmt::Display for HistoryMetric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write(f, self.name(), self.of())
    }
}

impl MetricName {
    /// Parses `response.p99(read)`, `throughput`, `sustained` and so on.
    ///
    /// # Errors
    /// As for [`RunMetric::parse`].
    pub fn parse(text: &str) -> Result<MetricName, Diagnostic> {
        if let Some(name) = SearchResult::ALL.into_iter().find_map(|result| of_search(result, text))
        {
            return Ok(name);
        }
        let RunMetric { quantity, of } = RunMetric::parse(text)?;
        Ok(MetricName { name: quantity.name(), of })
    }

    /// Returns true if this is a name of the metric.
    pub fn matches(&self, metric: &HistoryMetric) -> bool {
        self.name == metric.name() && (self.of.is_none() || self.of.as_deref() == metric.of())
    }
}

/// Parses the name of a result of a search, with or without its job.
fn of_search(result: SearchResult, text: &str) -> Option<MetricName> {
    let name = result.name();
    let rest = text.trim().strip_prefix(name)?.trim();
    if rest.is_empty() {
        return Some(MetricName { name, of: None });
    }
    let job = rest.strip_prefix('(')?.strip_suffix(')')?.trim();
    (!job.is_empty()).then(|| MetricName { name, of: Some(job.to_owned()) })
}

impl fmt::Display for MetricName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write(f, self.name, self.of.as_deref())
    }
}

fn write(f: &mut fmt::Formatter<'_>, name: &str, of: Option<&str>) -> fmt::Result {
    f.write_str(name)?;
    match of {
        Some(of) => write!(f, "({of})"),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_of_a_search_has_its_job_in_parentheses() {
        let rate = VariedLoad::Rate { job: "read".to_owned() };
        let clients = VariedLoad::Concurrency { job: "write".to_owned() };
        let sustained = HistoryMetric::Search(SearchResult::Sustained, rate);
        let estimate = HistoryMetric::Search(SearchResult::Estimate, clients);
        assert_eq!(
            (sustained.to_string(), sustained.unit()),
            ("sustained(read)".into(), "requests/s")
        );
        assert_eq!((estimate.to_string(), estimate.unit()), ("estimate(write)".into(), "clients"));
        let matches = |name: &str, metric| MetricName::parse(name).unwrap().matches(metric);
        assert!(matches("sustained", &sustained) && matches(" sustained ( read ) ", &sustained));
        assert!(!matches("sustained(write)", &sustained) && !matches("estimate", &sustained));
        for metric in [&sustained, &estimate] {
            assert_eq!(
                MetricName::parse(&metric.to_string()).unwrap().to_string(),
                metric.to_string()
            );
        }
    }

    #[test]
    fn other_names_are_those_of_metrics_of_runs() {
        let error = |text: &str| MetricName::parse(text).unwrap_err().message;
        assert_eq!(error("sustained()"), "`()` names no job or table");
        assert_eq!(error("sustainedly"), "unknown metric `sustainedly`");
        let p99 = MetricName::parse("response.p99(read)").unwrap();
        assert_eq!((p99.name, p99.of.as_deref()), ("response.p99", Some("read")));
    }
}
