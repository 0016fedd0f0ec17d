//! Adds the samples of all observers to the record of a run in virtual time, which has none:
//! samples of a busy PostgreSQL and of a machine with two processors. Used to measure the size of
//! long records and of their pages: `observed R.assay`.

use std::f64::consts::TAU;
use std::path::Path;

use base::Nanos;
use record::{
    ComponentKind, MeasuredSide, SampleBins, SampleKind, Series, ThinnedRow, Thinning, metric,
    statistic,
};
use rusqlite::{Connection, Transaction, params};

type Failure = Box<dyn std::error::Error>;

/// Seconds between samples beyond two hours. Fewer samples save time, and result in the same number
/// of rows.
const SPARSE: u64 = 20;

fn main() -> Result<(), Failure> {
    let path = std::env::args_os().nth(1).ok_or("name a record of a run in virtual time")?;
    observe(Path::new(&path))
}

fn observe(path: &Path) -> Result<(), Failure> {
    let mut connection = Connection::open(path)?;
    connection.pragma_update(None, "synchronous", "off")?;
    // Each moment adds rows for some hundred series. With the usual cache of 2 MB, most pages would
    // be written and read again at each moment. A negative size of the cache is in KiB.
    connection.pragma_update(None, "cache_size", -256 * 1024)?;
    let transaction = connection.transaction()?;
    let fact = |key: &str| {
        let select = "select value from meta where key = ?1";
        transaction.query_row(select, [key], |row| row.get::<_, i64>(0))
    };
    let [warmup, end] = [fact("warmup_ns")?, fact("ended_at_ns")?].map(i64::cast_unsigned);
    let bins = SampleBins::new(Nanos(warmup), Some(Nanos(end)));
    let series = series();
    for (series, number) in series.iter().zip(0_i64..) {
        let Series { component, metric, unit } = series;
        let sql = "insert into series values (?, ?, ?, ?)";
        transaction.prepare_cached(sql)?.execute(params![number, component, metric, unit])?;
    }
    sample(&transaction, bins, &series, end / 1_000_000_000)?;
    seal(&transaction)?;
    Ok(transaction.commit()?)
}

/// Returns the series of a busy PostgreSQL on this machine.
fn series() -> Vec<Series> {
    let roles = ["checkpointer", "walwriter", "background writer", "autovacuum launcher"];
    let kinds = [
        ComponentKind::Lane(0),
        ComponentKind::Host,
        ComponentKind::Processor(0),
        ComponentKind::Processor(1),
        ComponentKind::Disk("vda".to_owned()),
        ComponentKind::Interface("eth0".to_owned()),
        ComponentKind::Interface("lo".to_owned()),
        ComponentKind::Processes(MeasuredSide::Generator),
        ComponentKind::Processes(MeasuredSide::Server),
        ComponentKind::Sockets(MeasuredSide::Generator),
        ComponentKind::Sockets(MeasuredSide::Server),
        ComponentKind::Sessions,
        ComponentKind::Storage,
    ];
    let kinds = kinds.into_iter().chain(roles.map(|role| ComponentKind::Role(role.to_owned())));
    let named = |kind: &ComponentKind, metric: &str, unit: &str| Series {
        component: kind.to_string(),
        metric: metric.to_owned(),
        unit: unit.to_owned(),
    };
    let mut all: Vec<Series> = Vec::new();
    for kind in kinds {
        let metrics = metric::metrics_of(&kind).into_iter().flatten();
        // A stall is not sampled each second.
        let metrics = metrics.filter(|it| **it != metric::generator::STALL);
        all.extend(metrics.map(|metric| named(&kind, metric.name, metric.unit)));
    }
    let waits = ["cpu", "IO:WALSync", "LWLock:WALWrite", "Lock:tuple", "Client:ClientRead"];
    all.extend(waits.map(|wait| named(&ComponentKind::Waits, wait, "sessions")));
    let judged = statistic::VIEWS.iter().flat_map(|view| view.statistics);
    let judged = judged.filter(|it| it.name.starts_with("pg_")).map(|it| it.name.to_owned());
    let others = (0..48).map(|number| format!("pg_stat_database.number_{number}"));
    all.extend(judged.chain(others).map(|name| named(&ComponentKind::Statistics, &name, "")));
    all
}

/// Writes the samples of each series, and the samples of the load generator's own process.
fn sample(
    to: &Transaction<'_>,
    bins: SampleBins,
    series: &[Series],
    seconds: u64,
) -> Result<(), Failure> {
    let kinds: Vec<SampleKind> = series.iter().map(SampleKind::of).collect();
    let mut thinning = Thinning::new(bins);
    let mut rows = Vec::new();
    let kept = record::UNMERGED_PERIOD.0 / 1_000_000_000;
    let sparse = (kept.min(seconds)..=seconds).step_by(SPARSE as usize);
    for second in (0..kept.min(seconds)).chain(sparse) {
        // No thread wakes at exactly the same moment of every second.
        let at = Nanos::from_secs(second) + Nanos::from_micros(100 + second % 700);
        for ((series, kind), number) in series.iter().zip(&kinds).zip(0_u32..) {
            let value = value(series, *kind, number, second as f64);
            thinning.add(number.into(), *kind, (at, value), &mut rows);
            for row in rows.drain(..) {
                write(to, number.into(), row)?;
            }
        }
        let is_kept = second < kept || second % (bins.length().0 / 1_000_000_000) == 0;
        if is_kept {
            client(to, second as f64)?;
        }
    }
    thinning.end().into_iter().try_for_each(|(number, row)| write(to, number, row))
}

/// Returns the value of a series at second `s`. Most values differ between day and night; about a
/// third of the series never change.
fn value(series: &Series, kind: SampleKind, number: u32, s: f64) -> f64 {
    let noise = (s * f64::from(number + 1)).sin();
    let day = s / 86_400.0 * TAU;
    // Growth between 0.5 and 1.5 per second.
    let grown = s - 0.5 * day.cos() * 86_400.0 / TAU + 0.2 * noise;
    match (&*series.metric, kind) {
        ("processors", SampleKind::Counter) => 2.0 * s,
        ("total", _) => s,
        ("waited" | "stolen" | "throttled", _) => 0.001 * grown,
        ("wall-clock", _) => 1e-6 * s + 1e-5 * noise,
        ("frequency", _) => 2_600.0 + 5.0 * noise,
        ("processors", _) => 2.0,
        ("busiest", _) => 0.1 + 0.05 * noise,
        ("proxies" | "other-programs", _) => 0.0,
        _ if number.is_multiple_of(3) => 1e6,
        (_, SampleKind::Counter | SampleKind::Drift) if series.unit == "s" => 0.3 * grown,
        (_, SampleKind::Counter | SampleKind::Drift) => (811.0 * grown).floor(),
        (_, SampleKind::Gauge | SampleKind::Longest | SampleKind::Label) => {
            4.0 + 2.0 * day.sin() + noise
        }
    }
}

fn client(to: &Transaction<'_>, s: f64) -> Result<(), Failure> {
    let sql = "insert into client
        (at_s, cpu_user_s, cpu_system_s, rss_bytes, peak_rss_bytes, threads)
        values (?, ?, ?, ?, ?, ?)";
    let memory = 41_000_000 + (s as i64 % 97) * 4_096;
    let values = params![s, 0.021 * s, 0.017 * s, memory, 42_000_000, 6];
    to.prepare_cached(sql)?.execute(values)?;
    Ok(())
}

fn write(to: &Transaction<'_>, series: i64, row: ThinnedRow) -> Result<(), Failure> {
    let at_s = row.at.as_secs_f64();
    let sql = "insert into sample values (?, ?, ?)";
    to.prepare_cached(sql)?.execute(params![series, at_s, row.value])?;
    if let Some(range) = row.range {
        let sql = "insert into sample_range values (?, ?, ?, ?, ?)";
        let values = params![series, at_s, range.samples, range.least, range.most];
        to.prepare_cached(sql)?.execute(values)?;
    }
    Ok(())
}

/// Makes the record look like one of a run in real time, and makes its sums agree with its rows.
fn seal(to: &Transaction<'_>) -> Result<(), Failure> {
    let sums = "
        update meta set value = 'real' where key = 'pace';
        insert into meta select 'sample_ranges', count(*) from sample_range;
        delete from seal where what in
            ('rows of meta', 'rows of series', 'rows of sample', 'rows of client');
        insert into seal select 'rows of meta', -1, count(*) from meta;
        insert into seal select 'rows of series', -1, count(*) from series;
        insert into seal select 'rows of sample', -1, count(*) from sample;
        insert into seal select 'rows of client', -1, count(*) from client;";
    Ok(to.execute_batch(sums)?)
}
