//! The statements of `docs/record.md` about the tables, checked against a record.

use archive::{Archive, Recorder};
use base::{Nanos, WallTime};
use record::{Excerpt, ExcerptKind, InputFile, Kind, Load, Pace, Reading};
use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags};

use crate::support::{READ, Scenario, TestFolder, WRITE, end, header, ledgers};

const DOCUMENT: &str = include_str!("../../../../docs/record.md");

/// Creates a record in real time, with data in all tables except those of events and accounts.
fn record(place: &TestFolder) -> Connection {
    let header = header(Pace::Real);
    let recorder = Recorder::create(&place.record(), &header).unwrap();
    let facts = recorder.facts();
    facts.setting("server.version", "17");
    facts.file(InputFile {
        path: "shop.ini".to_owned(),
        bytes: 3,
        sha256: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad".to_owned(),
        text: Some("abc".to_owned()),
    });
    facts.excerpt(Excerpt {
        subject: "accounts".to_owned(),
        kind: ExcerptKind::Rows,
        titles: vec!["id".to_owned()],
        rows: vec![vec![Some("1".to_owned())]],
    });
    for second in 1..=5 {
        facts.load(Load {
            table: "accounts".to_owned(),
            started: WallTime(1_795_292_103_000_000_000),
            length: Nanos::from_secs(second),
            rows: second * 1_000,
            bytes: second * 9_000,
        });
    }
    let looks = Reading::of("sessions", "looks", "looks", 10.0);
    facts.load_readings("accounts", Nanos::from_secs(1), vec![looks]);
    facts.time_zero(WallTime(1_795_292_110_000_000_000));
    for (second, ran) in [(1, 0.2), (2, 0.4), (7_201, 0.6), (7_202, 0.9), (7_203, 1.0)] {
        facts.readings(Nanos::from_secs(second), vec![Reading::of("lane-0", "ran", "s", ran)]);
    }
    Scenario::SHORT.run(ledgers(&header, 2, || recorder.outlet()), |_, _| {});
    recorder.finish(end()).unwrap();
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
    Connection::open_with_flags(place.record(), flags).unwrap()
}

/// Returns the SQL of the examples, in order.
fn queries() -> Vec<&'static str> {
    let (child, _) = DOCUMENT.split_once("## Five queries").unwrap();
    let blocks = child.split("```sql\n").skip(1);
    blocks.map(|block| block.split("```").next().unwrap()).collect()
}

fn rows(record: &Connection, query: &str) -> Vec<Vec<Value>> {
    let mut select = record.prepare(query).unwrap();
    let columns = select.column_count();
    let read = |row: &rusqlite::Row<'_>| (0..columns).map(|column| row.get(column)).collect();
    select.query_map([], read).unwrap().collect::<Result<_, _>>().unwrap()
}

fn number(value: &Value) -> f64 {
    match value {
        Value::Integer(number) => *number as f64,
        Value::Real(number) => *number,
        other => panic!("{other:?} is no number"),
    }
}

#[test]
fn documented_queries_agree_with_the_reader() {
    let place = TestFolder::new("queries");
    let record = record(&place);
    let answers: Vec<_> = queries().iter().map(|query| rows(&record, query)).collect();
    assert_eq!(answers.len(), 10);
    for (query, rows) in queries().iter().zip(&answers) {
        assert!(!rows.is_empty(), "{query}");
        assert!(!rows.iter().flatten().any(|value| *value == Value::Null), "{query}: {rows:?}");
    }

    let archive = Archive::open(&place.record()).unwrap();
    // The last interval of the window begins half a second before the end of the window.
    let (first, last) = (archive.grid().first_of_window(), archive.grid().interval(end().at) + 1);
    let window = |job| {
        let rows = archive.intervals(job).unwrap();
        rows.into_iter().filter(move |row| (first..last).contains(&row.interval))
    };
    let scheduled: u64 = window(READ).map(|row| row.counts.arrivals).sum();
    assert_eq!(number(&answers[1][0][1]), scheduled as f64);
    let balance = answers[1][0][2..].iter().map(number).sum::<f64>();
    assert_eq!(balance, scheduled as f64, "the parts are the whole");
    let completed: u64 = window(WRITE).map(|row| row.ends.completed).sum();
    assert_eq!(number(&answers[2][1][1]), completed as f64 / 17.5);
    let response = archive.histogram(READ, Kind::Response, first..last).unwrap();
    for row in &answers[3] {
        let expected = response.value_at_quantile(number(&row[0])) as f64 / 1e6;
        assert_eq!(number(&row[1]), expected, "quantile {:?}", row[0]);
    }
    let all = archive.histogram(READ, Kind::Response, 0..u32::MAX).unwrap();
    let share = 1.0 - all.quantile_below(30_000_000);
    assert!((number(&answers[5][0][1]) - share).abs() < 1e-9);
}

#[test]
fn histograms_decoded_in_sql_agree_with_the_reader() {
    let place = TestFolder::new("buckets");
    let record = record(&place);
    let archive = Archive::open(&place.record()).unwrap();
    for job in archive.accounts() {
        for kind in archive.kinds(job) {
            let mut expected = Vec::new();
            let show = |slice: archive::HistogramSlice<'_>| {
                let buckets = slice.histogram.iter_recorded();
                expected.extend(buckets.map(|it| {
                    let (time, count) = (it.value_iterated_to(), it.count_at_value());
                    [i64::from(slice.interval), time as i64, count as i64].map(Value::Integer)
                }));
            };
            archive.each_histogram(job, kind, 0..u32::MAX, show).unwrap();
            let (job, kind) = (job.0, kind.name());
            let query = format!(
                "select interval, time_ns, count from bucket where job = {job} and kind = '{kind}'
                order by interval, time_ns"
            );
            assert_eq!(rows(&record, &query), expected, "{kind}");
        }
    }
}

#[test]
fn every_table_and_column_is_documented() {
    let place = TestFolder::new("columns");
    let record = record(&place);
    let columns = rows(
        &record,
        "select t.type, t.name, c.name from sqlite_schema t, pragma_table_info(t.name) c
        where t.type in ('table', 'view')",
    );
    assert!(columns.len() > 100);
    for column in columns {
        let [Value::Text(kind), Value::Text(table), Value::Text(column)] = &column[..] else {
            panic!("{column:?}");
        };
        let (heading, end) = if kind == "table" {
            (format!("### `{table}`\n"), "\n#")
        } else {
            (format!("* `{table}`:"), "\n* ")
        };
        let (_, section) = DOCUMENT.split_once(&heading).expect(&heading);
        let section = section.split(end).next().unwrap();
        assert!(section.contains(&format!("`{column}`")), "{table}.{column}");
    }
}

#[test]
fn every_table_and_view_of_a_record_holds_something() {
    let place = TestFolder::new("filled");
    let record = record(&place);
    let names = rows(&record, "select name from sqlite_schema where type in ('table', 'view')");
    for name in names.iter().flatten() {
        let Value::Text(name) = name else { panic!("{name:?}") };
        // This run has no events, and all its accounts are whole jobs.
        let expected = !["event", "event_error", "account"].contains(&name.as_str());
        assert_eq!(!rows(&record, &format!("select * from {name}")).is_empty(), expected, "{name}");
    }
    let rates = rows(&record, "select rows_per_s, client_cores from load_rate");
    assert!(rates.iter().all(|row| row[0] == Value::Real(1_000.0)), "{rates:?}");
    assert_eq!(rows(&record, "select * from measured"), [[2.5, 20.0].map(Value::Real)]);
}
