//! Metrics of a run by which runs are compared: `throughput`, `response.p95(read)`, `size(orders)`.

use std::fmt;

use base::Diagnostic;

use crate::read::{Excerpt, LocatedText, section_name};
use crate::wording::{nearest, quoted};

/// A metric of a run, of one of its jobs, or of one of its tables.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RunMetric {
    /// The measured quantity.
    pub quantity: Quantity,
    /// Name of the job or table, which is written in parentheses; `None` if none was named.
    pub of: Option<String>,
}

/// A quantity that a run measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Quantity {
    /// Completed requests per second.
    Throughput,
    /// Rows of completed requests, per second.
    Rows,
    /// Response time in milliseconds.
    Response(TimeStatistic),
    /// Service time in milliseconds.
    Service(TimeStatistic),
    /// Send lag in milliseconds: the delay of the load generator.
    SendLag(TimeStatistic),
    /// Share of the scheduled requests that ended in an error that is not accepted, or were
    /// rejected or unsent.
    Failed,
    /// Processor time in microseconds per completed request.
    Cpu(CpuOwner, CpuMode),
    /// Rows per second of a load.
    Load,
    /// Bytes that a table or the database occupies on the disk.
    Size,
    /// Bytes of a table or the database, as the server reports them.
    LogicalSize,
}

/// A statistic of the times of one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TimeStatistic {
    /// The median.
    P50,
    /// The quantile at 90 %.
    P90,
    /// The quantile at 95 %.
    P95,
    /// The quantile at 99 %.
    P99,
    /// The quantile at 99.9 %.
    P999,
    /// The arithmetic mean.
    Mean,
    /// The largest time.
    Max,
}

/// The processes whose processor time is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CpuOwner {
    /// The load generator.
    Generator,
    /// The database's processes on this machine, or of a testbed.
    Database,
    /// The proxy or pooler between generator and database.
    Proxy,
}

impl CpuOwner {
    /// All owners of processor time.
    pub(super) const ALL: [CpuOwner; 3] =
        [CpuOwner::Database, CpuOwner::Proxy, CpuOwner::Generator];

    /// Returns its word in files, answers and documents.
    pub fn name(self) -> &'static str {
        match self {
            CpuOwner::Generator => "generator",
            CpuOwner::Database => "database",
            CpuOwner::Proxy => "proxy",
        }
    }
}

/// The processor mode whose time is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CpuMode {
    /// User and system time together.
    Total,
    /// Time in programs.
    User,
    /// Time in the kernel.
    System,
}

/// The direction in which a quantity improves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// More is better.
    Higher,
    /// Less is better.
    Lower,
}

/// The way in which two values of a quantity are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// By their ratio; a change is a fraction of the baseline.
    Ratio,
    /// By their difference, because the quantity can be 0; a change of a share is in percentage
    /// points.
    Difference,
}

/// The kind of name that a quantity takes in parentheses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A job.
    Job,
    /// A table that is loaded.
    Table,
    /// The whole run, which needs no name.
    Run,
}

/// Help of messages about unknown metrics.
const HELP: &str = "metrics are throughput, rows, response.Q, service.Q, send-lag.Q, failed, \
                    cpu.generator,\ncpu.database, cpu.proxy, load, size and size.logical; Q is \
                    p50, p90, p95, p99, p99_9,\nmean or max";

/// All quantities with their names.
const TABLE: [(&str, Quantity); 36] = {
    use CpuMode::{System, Total, User};
    use CpuOwner::{Database, Generator, Proxy};
    use Quantity::{
        Cpu, Failed, Load, LogicalSize, Response, Rows, SendLag, Service, Size, Throughput,
    };
    use TimeStatistic::{Max, Mean, P50, P90, P95, P99, P999};
    [
        ("throughput", Throughput),
        ("rows", Rows),
        ("response.p50", Response(P50)),
        ("response.p90", Response(P90)),
        ("response.p95", Response(P95)),
        ("response.p99", Response(P99)),
        ("response.p99_9", Response(P999)),
        ("response.mean", Response(Mean)),
        ("response.max", Response(Max)),
        ("service.p50", Service(P50)),
        ("service.p90", Service(P90)),
        ("service.p95", Service(P95)),
        ("service.p99", Service(P99)),
        ("service.p99_9", Service(P999)),
        ("service.mean", Service(Mean)),
        ("service.max", Service(Max)),
        ("send-lag.p50", SendLag(P50)),
        ("send-lag.p90", SendLag(P90)),
        ("send-lag.p95", SendLag(P95)),
        ("send-lag.p99", SendLag(P99)),
        ("send-lag.p99_9", SendLag(P999)),
        ("send-lag.mean", SendLag(Mean)),
        ("send-lag.max", SendLag(Max)),
        ("failed", Failed),
        ("cpu.generator", Cpu(Generator, Total)),
        ("cpu.generator.user", Cpu(Generator, User)),
        ("cpu.generator.system", Cpu(Generator, System)),
        ("cpu.database", Cpu(Database, Total)),
        ("cpu.database.user", Cpu(Database, User)),
        ("cpu.database.system", Cpu(Database, System)),
        ("cpu.proxy", Cpu(Proxy, Total)),
        ("cpu.proxy.user", Cpu(Proxy, User)),
        ("cpu.proxy.system", Cpu(Proxy, System)),
        ("load", Load),
        ("size", Size),
        ("size.logical", LogicalSize),
    ]
};

impl TimeStatistic {
    /// All statistics, in the order of reports.
    pub const ALL: [TimeStatistic; 7] = [
        TimeStatistic::P50,
        TimeStatistic::P90,
        TimeStatistic::P95,
        TimeStatistic::P99,
        TimeStatistic::P999,
        TimeStatistic::Mean,
        TimeStatistic::Max,
    ];

    /// Returns the name in files, records and documents.
    pub fn name(self) -> &'static str {
        match self {
            TimeStatistic::P50 => "p50",
            TimeStatistic::P90 => "p90",
            TimeStatistic::P95 => "p95",
            TimeStatistic::P99 => "p99",
            TimeStatistic::P999 => "p99_9",
            TimeStatistic::Mean => "mean",
            TimeStatistic::Max => "max",
        }
    }
}

impl Direction {
    /// Returns the word for the best value: `highest` or `lowest`.
    pub fn superlative(self) -> &'static str {
        match self {
            Direction::Higher => "highest",
            Direction::Lower => "lowest",
        }
    }
}

impl Quantity {
    /// Returns all quantities, in the order of reports.
    pub fn all() -> impl Iterator<Item = Quantity> {
        TABLE.iter().map(|(_, quantity)| *quantity)
    }

    /// Returns the name in files, records and documents.
    pub fn name(self) -> &'static str {
        let row = TABLE.iter().find(|(_, quantity)| *quantity == self);
        row.map(|(name, _)| *name).expect("every quantity is in the table")
    }

    /// Returns the unit of its values.
    pub fn unit(self) -> &'static str {
        match self {
            Quantity::Throughput => "requests/s",
            Quantity::Rows | Quantity::Load => "rows/s",
            Quantity::Response(_) | Quantity::Service(_) | Quantity::SendLag(_) => "ms",
            Quantity::Failed => "",
            Quantity::Cpu(..) => "µs/request",
            Quantity::Size | Quantity::LogicalSize => "bytes",
        }
    }

    /// Returns the direction in which the quantity improves.
    pub fn better(self) -> Direction {
        match self {
            Quantity::Throughput | Quantity::Rows | Quantity::Load => Direction::Higher,
            Quantity::Response(_)
            | Quantity::Service(_)
            | Quantity::SendLag(_)
            | Quantity::Failed
            | Quantity::Cpu(..)
            | Quantity::Size
            | Quantity::LogicalSize => Direction::Lower,
        }
    }

    /// Returns the way in which two of its values are compared.
    pub fn scale(self) -> Scale {
        match self {
            Quantity::Failed => Scale::Difference,
            Quantity::Throughput
            | Quantity::Rows
            | Quantity::Response(_)
            | Quantity::Service(_)
            | Quantity::SendLag(_)
            | Quantity::Cpu(..)
            | Quantity::Load
            | Quantity::Size
            | Quantity::LogicalSize => Scale::Ratio,
        }
    }

    /// Returns the kind of name that the quantity takes in parentheses.
    pub fn subject(self) -> Subject {
        match self {
            Quantity::Throughput
            | Quantity::Rows
            | Quantity::Response(_)
            | Quantity::Service(_)
            | Quantity::SendLag(_)
            | Quantity::Failed => Subject::Job,
            Quantity::Load | Quantity::Size | Quantity::LogicalSize => Subject::Table,
            Quantity::Cpu(..) => Subject::Run,
        }
    }

    /// Returns the smallest change that matters, as a fraction (of the baseline, or of the
    /// scheduled requests): 5 % for times, 1 % for everything else, 0.1 percentage points for
    /// failures.
    pub fn default_delta(self) -> f64 {
        match self {
            Quantity::Response(_) | Quantity::Service(_) | Quantity::SendLag(_) => 0.05,
            Quantity::Throughput
            | Quantity::Rows
            | Quantity::Cpu(..)
            | Quantity::Load
            | Quantity::Size
            | Quantity::LogicalSize => 0.01,
            Quantity::Failed => 0.001,
        }
    }

    /// Returns true if the quantity must be declared to be compared. The send lag must be, because
    /// it is a delay of the load generator, not a property of the database.
    pub fn must_be_declared(self) -> bool {
        matches!(self, Quantity::SendLag(_))
    }
}

impl RunMetric {
    /// Creates the metric of the only job or table, or of the whole run.
    pub fn new(quantity: Quantity) -> RunMetric {
        RunMetric { quantity, of: None }
    }

    /// Creates the metric of a job or table.
    pub fn of(quantity: Quantity, name: impl Into<String>) -> RunMetric {
        RunMetric { quantity, of: Some(name.into()) }
    }

    /// Parses `throughput`, `response.p99(read)` or `size(orders)`.
    ///
    /// # Errors
    /// An unknown quantity (the error suggests the nearest one), empty or unclosed parentheses, or
    /// a name for a quantity of the whole run. Positions are offsets into `text`.
    pub fn parse(text: &str) -> Result<RunMetric, Diagnostic> {
        metric(LocatedText::whole(text, 0).excerpt().trim())
    }
}

impl fmt::Display for RunMetric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.quantity.name())?;
        match &self.of {
            Some(name) => write!(f, "({name})"),
            None => Ok(()),
        }
    }
}

/// Splits a text at the end of the metric that it begins with: after the last `)` or, without one,
/// before the first blank, `<` or `>`. Names of jobs may contain blanks and parentheses.
pub(super) fn split(item: Excerpt<'_>) -> (Excerpt<'_>, Excerpt<'_>) {
    let text = item.text();
    let first = text.find(|c: char| c.is_whitespace() || matches!(c, '<' | '>'));
    let end = match text.rfind(')') {
        Some(close) => close + 1,
        None => first.unwrap_or(text.len()),
    };
    (item.part(0..end).trim(), item.part(end..text.len()).trim())
}

/// Parses a metric at a position.
pub(crate) fn metric(item: Excerpt<'_>) -> Result<RunMetric, Diagnostic> {
    let text = item.text();
    let Some(open) = text.find('(') else {
        return Ok(RunMetric::new(quantity(item)?));
    };
    let suffix = item.part(open..text.len());
    let inside = suffix.text().strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    let Some(name) = inside.map(section_name).filter(|name| !name.is_empty()) else {
        let error = suffix.error(format!("{} names no job or table", quoted(suffix.text())));
        return Err(error.help("write for example `response.p99(read)`"));
    };
    let quantity = quantity(item.part(0..open).trim())?;
    match quantity.subject() {
        Subject::Job | Subject::Table => Ok(RunMetric::of(quantity, name)),
        Subject::Run => {
            let message = format!("`{}` is a metric of the whole run", quantity.name());
            Err(suffix.error(message).help(format!("write `{}`", quantity.name())))
        }
    }
}

/// Parses the name of a quantity. `p99.9` is read as `p99_9`.
fn quantity(item: Excerpt<'_>) -> Result<Quantity, Diagnostic> {
    let name = item.text().replace(".p99.9", ".p99_9");
    let row = TABLE.iter().find(|(known, _)| *known == name);
    row.map(|(_, quantity)| *quantity).ok_or_else(|| unknown(item))
}

fn unknown(item: Excerpt<'_>) -> Diagnostic {
    let text = item.text();
    if text.is_empty() {
        return item.error("a metric is missing").help(HELP);
    }
    let error = item.error(format!("unknown metric {}", quoted(text)));
    let lower = text.to_ascii_lowercase();
    let as_time = |prefix: &str| TABLE.iter().find(|(name, _)| *name == format!("{prefix}{lower}"));
    let ours = match lower.as_str() {
        "tps" | "qps" | "rps" | "rate" => Some("throughput"),
        "errors" | "error" | "failures" | "failure" => Some("failed"),
        "latency" | "response" => Some("response.p99"),
        "service" => Some("service.p99"),
        "lag" | "send-lag" | "send_lag" => Some("send-lag.p99"),
        "median" => Some("response.p50"),
        "average" | "avg" => Some("response.mean"),
        "cpu" => Some("cpu.database"),
        "disk" | "bytes" => Some("size"),
        _ => match as_time("response.") {
            Some((name, _)) => Some(*name),
            None => nearest(text, TABLE.iter().map(|(name, _)| *name)),
        },
    };
    match ours {
        Some(ours) => error.did_you_mean(Some(ours)),
        None => error.help(HELP),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_quantity_prints_as_it_is_parsed() {
        for quantity in Quantity::all() {
            let metric = RunMetric::new(quantity);
            assert_eq!(RunMetric::parse(&metric.to_string()), Ok(metric));
            if quantity.subject() != Subject::Run {
                let named = RunMetric::of(quantity, "a (b), < c");
                assert_eq!(RunMetric::parse(&named.to_string()), Ok(named));
            }
        }
    }

    #[test]
    fn quantities_and_their_names_differ() {
        for (row, (name, quantity)) in TABLE.iter().enumerate() {
            let others = &TABLE[row + 1..];
            assert!(others.iter().all(|other| other.0 != *name && other.1 != *quantity), "{name}");
        }
    }

    #[test]
    fn quantile_may_be_written_with_a_point() {
        let metric = RunMetric::parse(" service.p99.9 ( read ) ").unwrap();
        assert_eq!(metric.to_string(), "service.p99_9(read)");
    }

    fn check(text: &str, message: &str, help: &str) {
        let diagnostic = RunMetric::parse(text).unwrap_err();
        let shown = (diagnostic.message.as_str(), diagnostic.help.as_deref().unwrap_or_default());
        assert_eq!(shown, (message, help), "{text}");
    }

    #[test]
    fn unknown_metric_suggests_nearest() {
        let meant = |name: &str| format!("did you mean `{name}`?");
        check("thruput", "unknown metric `thruput`", HELP);
        check("troughput", "unknown metric `troughput`", &meant("throughput"));
        check("p95(read)", "unknown metric `p95`", &meant("response.p95"));
        check("responce.p99", "unknown metric `responce.p99`", &meant("response.p99"));
        check("tps", "unknown metric `tps`", &meant("throughput"));
        check("cpu", "unknown metric `cpu`", &meant("cpu.database"));
        check("send-lag", "unknown metric `send-lag`", &meant("send-lag.p99"));
        check("colour", "unknown metric `colour`", HELP);
        check("", "a metric is missing", HELP);
        check("(read)", "a metric is missing", HELP);
    }

    #[test]
    fn name_in_parentheses_is_checked() {
        let example = "write for example `response.p99(read)`";
        check("throughput()", "`()` names no job or table", example);
        check("throughput(read", "`(read` names no job or table", example);
        let whole = "`cpu.database` is a metric of the whole run";
        check("cpu.database(read)", whole, "write `cpu.database`");
    }
}
