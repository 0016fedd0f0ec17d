//! Comparison of records with the deliveries of the lanes.

use archive::{Archive, ClientReading, RecordError, Recorder};
use base::{AccountId, Class, Code, Nanos, Secret, Secrets, Seed, WallTime};
use hdrhistogram::Histogram;
use proptest::prelude::*;
use record::{
    Cell, Delivery, Dispatch, Event, EventError, EventKind, Excerpt, ExcerptKind, Kind, Load,
    MemoryOutlet, Outcome, Outlet, Pace, Reading, RequestEnd, RequestWork, Returned, StatementSet,
    Totals,
};

use crate::support::{
    READ, STATEMENTS, Scenario, TestFolder, WRITE, ZERO, chain, dump, end, header, keep_step,
    ledgers, record, record_with,
};

/// Runs the scenario in memory, for comparison with its record.
fn expected(scenario: Scenario) -> MemoryOutlet {
    let header = header(Pace::Virtual);
    let outlet = MemoryOutlet::new(Totals::new(header.grid(), &STATEMENTS));
    scenario.run(ledgers(&header, 1, || outlet.clone()), |_, _| {});
    outlet
}

/// Returns the values and counts of a histogram.
fn content<C: hdrhistogram::Counter>(histogram: &Histogram<C>) -> Vec<(u64, u64)> {
    let recorded = histogram.iter_recorded();
    recorded.map(|it| (it.value_iterated_to(), it.count_at_value().as_u64())).collect()
}

fn assert_holds(archive: &Archive, scenario: Scenario) {
    let expected = expected(scenario);
    let expected = expected.totals();
    let first = archive.grid().first_of_window();
    for job in archive.accounts() {
        let expected = expected.account(job);
        let mut rows = archive.intervals(job).unwrap().into_iter().peekable();
        for (interval, (counts, ends)) in (0..).zip(&expected.intervals) {
            let row = rows.next_if(|row| row.interval == interval);
            let found = row.map(|row| (row.counts, row.ends)).unwrap_or_default();
            assert_eq!(found, (*counts, *ends), "{job:?} {interval}");
        }
        assert_eq!(rows.next(), None);
        for kind in archive.kinds(job) {
            let found = archive.histogram(job, kind, first..u32::MAX).unwrap();
            let expected = expected.window.histograms.of(kind);
            assert_eq!(content(&found), content(&expected), "{job:?} {kind:?}");
        }
        let found = archive.failures(job, first..u32::MAX).unwrap();
        let mut found: Vec<_> = found.iter().map(|it| (it.class, it.code, it.count)).collect();
        let mut expected: Vec<_> = expected.window.failures.iter().collect();
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected);
    }
}

#[test]
fn invariant_7_a_record_is_one_file_that_holds_what_was_handed_over() {
    let place = TestFolder::new("whole");
    record(&place.record(), Scenario::SHORT, 1);
    assert_eq!(place.files(), ["run.assay"]);
    let archive = Archive::open(&place.record()).unwrap();
    assert_eq!(archive.header(), &header(Pace::Virtual));
    assert_eq!(archive.end(), Some(&end()));
    assert_holds(&archive, Scenario::SHORT);
    for kind in archive.kinds(READ) {
        assert!(!archive.histogram(READ, kind, 3..u32::MAX).unwrap().is_empty());
    }
    assert_eq!(place.files(), ["run.assay"], "a reader leaves nothing");
}

#[test]
fn invariant_6_the_merged_parts_of_several_lanes_are_the_whole() {
    let place = TestFolder::new("lanes");
    record(&place.record(), Scenario::SHORT, 3);
    let archive = Archive::open(&place.record()).unwrap();
    assert_holds(&archive, Scenario::SHORT);
    let rows = archive.intervals(READ).unwrap();
    let gauge = rows[3].gauge.unwrap();
    // The first interval is half a second long, so interval 3 ends at 3.5 s. The lanes report its
    // gauges at the end of second 4.
    assert_eq!((gauge.in_flight, gauge.queued, gauge.connections), (3 * 4, 3, 12));
}

/// Records one request each second, for which the server reports these numbers of changed rows.
fn record_rows(place: &TestFolder, rows: &[u64]) -> Result<Archive, RecordError> {
    let header = header(Pace::Virtual);
    let recorder = Recorder::create(&place.record(), &header).unwrap();
    let mut lane = ledgers(&header, 1, || recorder.outlet()).remove(0);
    for (second, rows) in (3..).zip(rows) {
        let at = ZERO + Nanos::from_secs(second);
        let request = lane.arrive(WRITE, second, at, at);
        let ending = RequestEnd {
            outcome: Outcome::Completed,
            sent: Some(Dispatch { assigned: at, sent: at }),
            done: at + Nanos(1_000),
            work: RequestWork { rows: *rows, ..RequestWork::default() },
            statements: &[Nanos(1_000)],
            node: None,
        };
        let _ = lane.settle(request, ending);
    }
    lane.finish();
    recorder.finish(end())?;
    Archive::open(&place.record())
}

#[test]
fn row_counts_beyond_any_sum_leave_the_record_intact() {
    let half = i64::MAX as u64;
    for rows in [
        &[u64::MAX, u64::MAX, 5][..],
        &[half, half, half],
        &[half],
        &[half - 1, 1],
        &[(1 << 62) + 7, 1 << 61],
    ] {
        let place = TestFolder::new("many-rows");
        let archive = record_rows(&place, rows).unwrap_or_else(|error| panic!("{}", chain(&error)));
        let found = archive.intervals(WRITE).unwrap();
        let found: Vec<_> = found.iter().map(|row| (row.counts.rows, row.ends.rows)).collect();
        let expected: Vec<_> =
            rows.iter().map(|rows| (*rows.min(&half), *rows.min(&half))).collect();
        assert_eq!(found, expected);
    }
}

/// Records one answered request of each `(lane, account, with_rows)`, where the statements at the
/// indices `with_rows` had rows. The first `ended` lanes end in an orderly way.
fn record_with_rows(
    place: &TestFolder,
    requests: &[(usize, AccountId, &[usize])],
    ended: usize,
) -> Archive {
    let header = header(Pace::Virtual);
    let recorder = Recorder::create(&place.record(), &header).unwrap();
    let mut lanes = ledgers(&header, 2, || recorder.outlet());
    for (lane, account, members) in requests {
        let at = ZERO + Nanos::from_secs(3);
        let request = lanes[*lane].arrive(*account, 0, at, at);
        let mut with_rows = StatementSet::default();
        members.iter().for_each(|index| with_rows.insert_if(*index, true));
        let times = vec![Nanos(1_000); STATEMENTS[account.index()].into()];
        let ending = RequestEnd {
            outcome: Outcome::Completed,
            sent: Some(Dispatch { assigned: at, sent: at }),
            done: at + Nanos(2_000),
            work: RequestWork::default(),
            statements: &times,
            node: None,
        };
        let _ = lanes[*lane].settle(request, ending);
        lanes[*lane].add_with_rows(*account, with_rows);
    }
    lanes.into_iter().take(ended).for_each(record::Ledger::finish);
    recorder.finish(end()).unwrap();
    Archive::open(&place.record()).unwrap()
}

#[test]
fn statements_with_rows_on_any_lane_are_recorded() {
    let place = TestFolder::new("with-rows");
    let requests: [(usize, AccountId, &[usize]); 4] =
        [(0, READ, &[1]), (0, READ, &[]), (1, READ, &[]), (1, WRITE, &[0])];
    let archive = record_with_rows(&place, &requests, 2);
    let answers = |account| {
        let answers = archive.statement_answers(account).unwrap().expect("all lanes have ended");
        answers.iter().map(|it| (it.count, it.has_rows)).collect::<Vec<_>>()
    };
    assert_eq!(answers(READ), [(3, false), (3, true)]);
    assert_eq!(answers(WRITE), [(1, true)]);
}

#[test]
fn statements_with_rows_are_unknown_if_a_lane_did_not_report_them() {
    let place = TestFolder::new("without-rows");
    let archive = record_with_rows(&place, &[(0, READ, &[1])], 1);
    assert_eq!(archive.statement_answers(READ).unwrap(), None);
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(8)
    })]

    #[test]
    fn deliveries_of_any_number_of_lanes_are_recorded(
        seed: u64,
        seconds in 1..40u64,
        longest in 1..60u64,
        lanes in 1..6u16,
    ) {
        let longest = Nanos::from_secs(longest);
        let scenario = Scenario { seed: Seed(seed), seconds, longest, ..Scenario::SHORT };
        let place = TestFolder::new("any");
        record(&place.record(), scenario, lanes);
        assert_holds(&Archive::open(&place.record()).unwrap(), scenario);
    }
}

#[test]
fn answers_that_come_minutes_late_are_added_to_the_rows_on_disk() {
    let place = TestFolder::new("late");
    let scenario =
        Scenario { seconds: 400, per_s: 8, longest: Nanos::from_secs(390), ..Scenario::SHORT };
    record(&place.record(), scenario, 2);
    assert_holds(&Archive::open(&place.record()).unwrap(), scenario);
}

#[test]
fn invariant_4_the_same_deliveries_make_the_same_exported_bytes() {
    let exported = || {
        let place = TestFolder::new("same");
        record(&place.record(), Scenario::SHORT, 2);
        let mut hlog = Vec::new();
        let archive = Archive::open(&place.record()).unwrap();
        archive::export::write_hlog(&archive, &mut hlog).unwrap();
        (dump(&place.record()), hlog)
    };
    let (rows, hlog) = exported();
    let (rows_again, hlog_again) = exported();
    assert_eq!(rows, rows_again);
    assert_eq!(hlog, hlog_again);
    assert!(rows.len() > 10_000 && hlog.len() > 10_000);
}

#[test]
fn invariant_8_a_password_never_enters_the_file() {
    let place = TestFolder::new("secret");
    record(&place.record(), Scenario::SHORT, 1);
    let bytes = std::fs::read(place.record()).unwrap();
    let holds = |text: &str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
    assert!(holds("postgres://ann@db1/shop"));
    assert!(!holds("hunter2"));
}

#[test]
fn invariant_8_secret_that_a_server_repeats_never_enters_the_file() {
    let place = TestFolder::new("repeated");
    record_with(&place.record(), Scenario::SHORT, 1, |recorder| {
        let facts = recorder.facts();
        facts.hide(Secrets::new(["hunter2", "hunter22"].map(Secret::new)));
        facts.setting("observe.missing.sessions", "wrong password 'hunter2'");
        facts.setting("database.table.hunter22.bytes", "1");
        facts.excerpt(Excerpt {
            subject: "t".to_owned(),
            kind: ExcerptKind::Rows,
            titles: vec!["a".to_owned()],
            rows: vec![vec![Some(format!("stored password{}hunter2", " ".repeat(60)))]],
        });
        let statement = "set password = 'hunter2' for ann";
        let reading = || Reading::of("statements", statement, "looks", 1.0);
        let of_table = Reading::of("db1/table hunter2_log", "bytes", "bytes", 1.0);
        facts.readings(Nanos::from_secs(1), vec![reading(), of_table]);
        facts.load_readings("accounts", Nanos::from_secs(1), vec![reading()]);
        let (account, kind) = (None, EventKind::OutageBegan);
        let text = "no login with 'hunter2'".to_owned();
        recorder.outlet().deliver(Delivery::Event(Event {
            at: Nanos(1),
            account,
            kind,
            error: None,
            text,
        }));
    });
    let rows = dump(&place.record());
    for result in [
        "wrong password",
        "set password",
        "no login with",
        "stored password",
        "db1/table (secret)_log",
        "database.table.(secret).bytes",
    ] {
        assert!(rows.contains(result), "{result}: {rows}");
    }
    assert!(!rows.contains("hunte"), "{rows}");
}

/// A mix of many parts may report thousands of first errors.
#[test]
fn first_errors_leave_room_for_other_events() {
    let place = TestFolder::new("first-errors");
    record_with(&place.record(), Scenario::SHORT, 1, |recorder| {
        let mut outlet = recorder.outlet();
        let mut deliver = |kind| {
            let account = Some(AccountId(1));
            let event = Event { at: Nanos(1), account, kind, error: None, text: String::new() };
            outlet.deliver(Delivery::Event(event));
        };
        (0..6_000).for_each(|_| deliver(EventKind::FirstError));
        deliver(EventKind::OutageBegan);
    });
    let archive = Archive::open(&place.record()).unwrap();
    let events = archive.events().unwrap();
    assert_eq!((events.len(), archive.events_dropped().unwrap()), (5_001, 1_000));
    assert_eq!(events[5_000].kind, EventKind::OutageBegan);
}

#[test]
fn facts_arriving_during_the_run_are_kept() {
    let place = TestFolder::new("notes");
    let zero = WallTime(1_795_292_110_123_456_789);
    let load = |seconds: f64, rows| Load {
        table: "accounts".to_owned(),
        started: WallTime(1_795_292_103_000_000_000),
        length: Nanos::from_secs_f64(seconds),
        rows,
        bytes: rows * 20,
    };
    record_with(&place.record(), Scenario::SHORT, 1, |recorder| {
        let facts = recorder.facts();
        facts.setting("server.version", "17");
        facts.setting("server.fsync", "on");
        facts.setting("server.fsync", "off");
        for (seconds, rows) in [(0.2, 100), (0.9, 500), (1.5, 900), (2.25, 1_000)] {
            facts.load(load(seconds, rows));
            let looks = Reading::of("sessions", "looks", "looks", rows as f64);
            facts.load_readings("accounts", Nanos::from_secs_f64(seconds), vec![looks]);
        }
        let ran = Reading::of("lane-0", "ran", "s", 0.25);
        facts.readings(Nanos::from_secs(1), vec![ran]);
        facts.time_zero(zero);
        let mut outlet = recorder.outlet();
        for number in 0..10_100u64 {
            let text = format!("{number} {}", "é".repeat(3_000));
            let at = Nanos(number * 1_000_001);
            let (account, kind) = (Some(AccountId(1)), EventKind::OutageBegan);
            outlet.deliver(Delivery::Event(Event { at, account, kind, error: None, text }));
        }
    });
    let archive = Archive::open(&place.record()).unwrap();
    assert_eq!(archive.time_zero(), Some(zero));
    let settings = archive.settings().unwrap();
    assert_eq!(settings[0], ("server.fsync".to_owned(), "off".to_owned()));
    assert_eq!(settings.len(), 2);
    let loads = archive.loads().unwrap();
    assert_eq!(loads[0].load, load(2.25, 1_000));
    let progress: Vec<u64> = loads[0].progress.iter().map(|point| point.rows).collect();
    assert_eq!(progress, [500, 900, 1_000], "the last of each second");
    // Observations during the filling of a table are separate from observations during the run.
    let [watched] = &*loads[0].series else { panic!("{:?}", loads[0].series) };
    assert_eq!((&*watched.series.component, &*watched.series.metric), ("sessions", "looks"));
    assert_eq!(watched.points.len(), 4);
    assert_eq!(watched.points[3], (Nanos::from_secs_f64(2.25), 1_000.0));
    let series = archive.series().unwrap();
    let names: Vec<&str> = series.iter().map(|it| it.series.component.as_str()).collect();
    assert_eq!(names, ["lane-0"]);
    let events = archive.events().unwrap();
    assert_eq!((events.len(), archive.events_dropped().unwrap()), (10_000, 100));
    assert_eq!(
        (events[9_999].at, events[9_999].account),
        (Nanos(9_999 * 1_000_001), Some(AccountId(1)))
    );
    assert!(events.iter().all(|event| event.text.len() <= 4_096));
}

#[test]
fn event_of_a_long_error_keeps_its_code() {
    let place = TestFolder::new("long-error");
    let header = header(Pace::Virtual);
    let recorder = Recorder::create(&place.record(), &header).unwrap();
    let text = format!("{} ({})", "x".repeat(20_000), "C".repeat(Code::CAPACITY));
    let (account, kind) = (Some(READ), EventKind::FirstError);
    let code = Code::new(&"C".repeat(Code::CAPACITY));
    let error = Some(EventError { class: Class::Statement, code });
    recorder.facts().event(Event { at: Nanos::ZERO, account, kind, error, text });
    Scenario::SHORT.run(ledgers(&header, 1, || recorder.outlet()), |_, _| {});
    recorder.finish(end()).unwrap();
    let events = Archive::open(&place.record()).unwrap().events().unwrap();
    let found = events.iter().find(|event| (event.account, event.kind) == (account, kind)).unwrap();
    assert_eq!(found.error, error);
    let end = format!("({})", "C".repeat(Code::CAPACITY));
    assert!(found.text.ends_with(&end) && found.text.len() <= 4_096, "{}", found.text.len());
}

/// The first records have no table of errors: the text of a first error ends with its code.
#[test]
fn first_error_of_a_record_without_its_table_has_the_code_of_its_text() {
    let place = TestFolder::new("error-in-text");
    let header = header(Pace::Virtual);
    let recorder = Recorder::create(&place.record(), &header).unwrap();
    let event = |account, text: &str| Event {
        at: Nanos::ZERO,
        account: Some(account),
        kind: EventKind::FirstError,
        error: None,
        text: text.to_owned(),
    };
    for (account, text) in [(WRITE, "twice (AB123)"), (WRITE, "twice (0)"), (READ, "no (AB123)")] {
        recorder.facts().event(event(account, text));
    }
    Scenario::SHORT.run(ledgers(&header, 1, || recorder.outlet()), |_, _| {});
    recorder.finish(end()).unwrap();
    let errors = || -> Vec<_> {
        let events = Archive::open(&place.record()).unwrap().events().unwrap();
        events.into_iter().filter(|event| event.kind == EventKind::FirstError).collect()
    };
    assert!(errors().iter().all(|event| event.error.is_none()));
    let connection = rusqlite::Connection::open(place.record()).unwrap();
    let class = Class::Constraint.name();
    let without_table = format!(
        "drop table event_error; delete from seal;
        delete from meta where key like 'ended%';
        insert or replace into failure values (1, 2, '{class}', 'AB123', 1)"
    );
    connection.execute_batch(&without_table).unwrap();
    let found: Vec<_> = errors().iter().map(|event| event.error).collect();
    let error = EventError { class: Class::Constraint, code: Code::new("AB123") };
    assert_eq!(found, [Some(error), None, None]);
}

#[test]
fn generator_is_sampled_in_real_time_only() {
    let client = |pace| -> Vec<ClientReading> {
        let place = TestFolder::new("client");
        let header = header(pace);
        let recorder = Recorder::create(&place.record(), &header).unwrap();
        recorder.facts().time_zero(WallTime::EPOCH);
        let scenario = Scenario { seconds: 3, ..Scenario::SHORT };
        scenario.run(ledgers(&header, 2, || recorder.outlet()), |_, _| {});
        recorder.finish(end()).unwrap();
        Archive::open(&place.record()).unwrap().client().unwrap()
    };
    assert_eq!(client(Pace::Virtual), []);
    let readings = client(Pace::Real);
    let at: Vec<f64> = readings.iter().map(|reading| reading.at.as_secs_f64()).collect();
    assert_eq!(at, [0.0, 0.5, 1.5, 2.5]);
    assert!(readings.is_sorted_by_key(|reading| reading.sample.cpu_user));
}

#[test]
fn invariant_5_the_live_picture_is_the_last_complete_interval() {
    let place = TestFolder::new("live");
    let header = header(Pace::Real);
    let recorder = Recorder::create(&place.record(), &header).unwrap();
    let live = recorder.live();
    assert_eq!(live.latest(), None);
    Scenario::SHORT.run(ledgers(&header, 2, || recorder.outlet()), |_, second| {
        keep_step(&recorder, &live, second);
        if second == 3 {
            // The third second ends in the interval from 2.5 to 3.5 s: the previous one is
            // complete.
            let picture = live.latest().unwrap();
            assert_eq!((picture.interval, picture.at), (2, Nanos::from_millis(2_500)));
            assert_eq!(picture.jobs[0].offered_per_s, 60.0);
            assert!(picture.jobs[0].achieved_per_s > 40.0);
            assert!(picture.jobs[0].p50 < picture.jobs[0].p99);
            assert_eq!(picture.jobs[0].gauge.unwrap().in_flight, 2 * 3);
        }
    });
    recorder.finish(end()).unwrap();
    assert_eq!(live.latest().unwrap().interval, 19);
}

/// An outlet that counts the cells that the recorder holds.
struct Counting<O> {
    outlet: O,
    away: usize,
    most: usize,
}

impl<O: Outlet> Outlet for &mut Counting<O> {
    fn deliver(&mut self, delivery: Delivery) {
        self.away += usize::from(matches!(delivery, Delivery::Cell(_)));
        self.most = self.most.max(self.away);
        self.outlet.deliver(delivery);
    }

    fn take_returned(&mut self) -> Option<Returned> {
        let returned = self.outlet.take_returned()?;
        if let Returned::Cell(cell) = &returned {
            let Cell { account: _, interval: _, tally } = &**cell;
            assert!(tally.is_empty() && tally.histograms.of(Kind::Response).is_empty());
            self.away -= 1;
        }
        Some(returned)
    }

    fn is_broken(&self) -> bool {
        self.outlet.is_broken()
    }
}

#[test]
fn virtual_time_waits_for_the_recorder_and_needs_no_more_memory_the_longer_it_lasts() {
    let place = TestFolder::new("bounded");
    let header = header(Pace::Virtual);
    let recorder = Recorder::create(&place.record(), &header).unwrap();
    let mut counting = Counting { outlet: recorder.outlet(), away: 0, most: 0 };
    let scenario =
        Scenario { seconds: 1_500, per_s: 8, longest: Nanos::from_secs(2), ..Scenario::SHORT };
    let ledger =
        record::Ledger::new(0, crate::support::ZERO, header.grid(), &STATEMENTS, &mut counting);
    scenario.run(vec![ledger], |_, _| {});
    assert!(counting.most < 64, "{} cells were under way", counting.most);
    drop(counting);
    recorder.finish(end()).unwrap();
}

#[test]
fn discarded_record_leaves_no_file() {
    let place = TestFolder::new("discarded");
    let recorder = Recorder::create(&place.record(), &header(Pace::Real)).unwrap();
    recorder.facts().setting("server.version", "17");
    let outlet: Box<dyn Outlet + Send> = Box::new(recorder.outlet());
    std::thread::spawn(move || drop(outlet)).join().unwrap();
    recorder.discard().unwrap();
    assert_eq!(place.files(), Vec::<String>::new());
}
