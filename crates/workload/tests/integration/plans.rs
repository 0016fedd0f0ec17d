//! Plans of files without errors.

use base::{Code, Nanos, Rate, Seed};
use workload::{
    Job, Metric, OnError, OnQueueFull, Overrides, Pacing, Piece, Placeholders, Rows, Schedule,
    Side, Statistic, Warmup, keys,
};

use crate::plan;

fn job(keys: &str) -> Job {
    let plan = plan(&format!("[job]\nquery = select 1\n{keys}\n"));
    plan.jobs.into_iter().next().expect("a job")
}

#[test]
fn the_keys_of_pacing_choose_the_model() {
    let rate = |text| Rate::parse(text).unwrap();
    let check = |keys: &str, expected: Pacing| assert_eq!(job(keys).pacing, expected, "{keys}");
    let open = |schedule| Pacing::Open { schedule, batch: 1 };
    let timetable = |schedule| Pacing::Timetable { schedule, batch: 1 };
    let closed = |clients| Pacing::Closed { clients, think: None };
    let queue = |schedule, workers, limit| Pacing::Queue {
        schedule,
        batch: 1,
        workers,
        limit,
        on_full: OnQueueFull::Reject,
    };
    check("rate = 1", open(Schedule::Poisson(rate("1"))));
    check("rate = 0.99", timetable(Schedule::Uniform(rate("0.99"))));
    check("rate = 0.5\narrival = poisson", open(Schedule::Poisson(rate("0.5"))));
    check("rate = 0.5\narrival = uniform", open(Schedule::Uniform(rate("0.5"))));
    check("rate = 50\narrival = uniform", open(Schedule::Uniform(rate("50"))));
    check("every = 10s", timetable(Schedule::Every(Nanos::from_secs(10))));
    check("", closed(1));
    check("concurrency = 8", closed(8));
    check("queue-depth = 8", closed(8));
    check("rate = 50\nconcurrency = 8", queue(Schedule::Poisson(rate("50")), 8, 100_000));
    check(
        "rate = 0.5\nconcurrency = 8\nqueue-limit = 10",
        queue(Schedule::Uniform(rate("0.5")), 8, 10),
    );
    for (word, on_full) in [("reject", OnQueueFull::Reject), ("stop", OnQueueFull::Stop)] {
        let keys = format!("rate = 50\nconcurrency = 8\non-queue-full = {word}");
        let schedule = Schedule::Poisson(rate("50"));
        check(&keys, Pacing::Queue { schedule, batch: 1, workers: 8, limit: 100_000, on_full });
    }
    check(
        "every = 1s\nbatch-size = 10",
        Pacing::Timetable { schedule: Schedule::Every(Nanos::from_secs(1)), batch: 10 },
    );
}

#[test]
fn expected_rows_are_a_number_or_a_range() {
    let rows = |text: &str| job(&format!("expect-rows = {text}")).requests.expect_rows;
    assert_eq!(job("").requests.expect_rows, None);
    assert_eq!(rows("0"), Some(Rows { least: 0, most: 0 }));
    assert_eq!(rows("1k"), Some(Rows { least: 1_000, most: 1_000 }));
    assert_eq!(rows("1 .. 10"), Some(Rows { least: 1, most: 10 }));
}

#[test]
fn remaining_keys_of_a_job_are_read() {
    let job = job("start = 1s\nstop = 5s\ncount = 1k\ntransaction = yes\ntimeout = 2s\n\
        retry = 3 on 40001, 1213\nerror = 1205, 1205\nerror = 1062\non-error = stop\n\
        slo = p99.9 < 30ms, failed < 1%\nslo = throughput > 5k");
    assert_eq!((job.start, job.stop), (Nanos::from_secs(1), Some(Nanos::from_secs(5))));
    assert_eq!((job.count, job.requests.transaction), (Some(1_000), true));
    assert_eq!(
        (job.requests.timeout, job.requests.on_error),
        (Some(Nanos::from_secs(2)), OnError::Stop)
    );
    let retry = job.requests.retry.unwrap();
    assert_eq!((retry.times, retry.codes), (3, vec![Code::new("40001"), Code::new("1213")]));
    assert_eq!(job.requests.accepted, [Code::new("1205"), Code::new("1062")]);
    let slos: Vec<_> = job.requests.slos.iter().map(|slo| (slo.text.as_str(), slo.side)).collect();
    assert_eq!(
        slos,
        [
            ("p99.9 < 30ms", Side::Below),
            ("failed < 1%", Side::Below),
            ("throughput > 5k", Side::Above)
        ]
    );
    assert_eq!(job.requests.slos[0].metric, Metric::Response(Statistic::Quantile(0.999)));
}

#[test]
fn defaults_agree_with_the_table() {
    let plan = plan("[job]\nquery = select 1\n");
    assert_eq!((plan.duration, plan.warmup, plan.seed), (None, Warmup::default(), Seed(42)));
    assert_eq!((plan.drain, plan.probe), (Nanos::from_secs(10), Nanos::from_secs(10)));
    assert_eq!((plan.connections, plan.max_connections), (None, 1_000));
    assert_eq!(plan.jobs[0].requests.on_error, OnError::Continue);
}

#[test]
fn a_parameter_keeps_every_digit() {
    let read = |params: &str, rate: &str| {
        let text = format!("[params]\n{params}\n[job]\nquery = select 1\nrate = {rate}\n");
        plan(&text).jobs[0].arrivals().unwrap().0.clone()
    };
    let rate = |text| Schedule::Uniform(Rate::parse(text).unwrap());
    assert_eq!(read("r = 0.01", "${r}"), rate("0.01"));
    assert_eq!(read("r = 0.1", "${r + 0.2}"), rate("0.3"));
    assert_eq!(read("a = ${b}\nb = 0.123456789012345678", "${a}"), rate("0.123456789012345678"));
    assert_eq!(read("a = 5", "0.${a}"), rate("0.5"));
}

#[test]
fn parameter_type_follows_its_text() {
    let plan = plan(
        "[params]\nn = 100k\nr = 8.0\nd = 90s\nt = hello world\nq = '007'\nneg = -1.5k\n\
         sum = ${n + 1}\nmixed = t_${n}\nliteral = a $${b}\n\
         [job]\nquery = select 1\n",
    );
    let params: Vec<_> =
        plan.params.iter().map(|param| (param.name.as_str(), param.value.as_str())).collect();
    assert_eq!(
        params,
        [
            ("n", "100000"),
            ("r", "8.0"),
            ("d", "1m30s"),
            ("t", "hello world"),
            ("q", "'007'"),
            ("neg", "-1500"),
            ("sum", "100001"),
            ("mixed", "t_100000"),
            ("literal", "'a ${b}'"),
        ]
    );
}

#[test]
fn lines_follow_the_rules_of_the_dialect() {
    let plan = plan(
        "\u{feff}duration = 10s ; ten\r\n  # indented comment\r\n\t; another\r\n\r\n\
         [job] ; the job\r\nquery = select a, \\\r\n   b -- ; from\r\n",
    );
    assert_eq!(plan.duration, Some(Nanos::from_secs(10)));
    let text = plan.jobs[0].requests.statements[0].text(Placeholders::Question);
    assert_eq!(text, "select a,    b -- ; from");
}

#[test]
fn a_section_with_a_query_is_a_job_whatever_its_name() {
    let plan = plan(
        "[load]\nquery = select 1\n[params]\nquery = select 2\n[load t]\nquery = select 3\n\
         [question]\nquery = select 4\n",
    );
    let names: Vec<&str> = plan.jobs.iter().map(|job| job.name()).collect();
    assert_eq!(names, ["load", "params", "load t", "question"]);
}

#[test]
fn setup_statements_are_texts_with_literals() {
    let plan = plan(
        "[params]\ntable = accounts\nname = it's\nn = 5\nr = 0.50\n[setup]\n\
         query = insert into ${raw(table)} values (${n}, ${r}, ${name}, '$${x}', ${n * 2})\n",
    );
    assert_eq!(plan.setup[0].text, "insert into accounts values (5, 0.5, 'it''s', '${x}', 10)");
    assert!(plan.jobs.is_empty());
}

#[test]
fn setup_literals_double_backslashes_where_they_escape() {
    for (url, expected) in [
        ("mysql://h/d", r"select 'C:\\new', 'a\b C:\new'"),
        ("postgres://h/d", r"select 'C:\new', 'a\b C:\new'"),
        ("sqlite:x.db", r"select 'C:\new', 'a\b C:\new'"),
    ] {
        let params = r"[params]
p = C:\new
[setup]
query = select ${p}, 'a\b ${raw(p)}'
";
        assert_eq!(plan(&format!("url = {url}\n{params}")).setup[0].text, expected, "{url}");
    }
}

#[test]
fn statements_are_pieces_of_text_and_values() {
    let plan = plan(
        "[params]\nt = accounts\n[job]\nlet = a: uniform(1, 9)\n\
         query = select * from ${raw(t)} where a = ${a} and b = ${7}\n\
         query = select * from t${raw(a)} where c = '${raw(a)}$${' and d = ${a + 1}\n",
    );
    let [fixed, dynamic] = plan.jobs[0].requests.statements.as_slice() else {
        panic!("two statements");
    };
    assert_eq!((fixed.parameters(), fixed.is_dynamic()), (2, false));
    assert_eq!(fixed.text(Placeholders::Dollar), "select * from accounts where a = $1 and b = $2");
    assert_eq!((dynamic.parameters(), dynamic.is_dynamic()), (1, true));
    assert_eq!(dynamic.text(Placeholders::Question), "select * from t… where c = '…${' and d = ?");
    assert!(matches!(dynamic.pieces[1], Piece::Splice(_)));
}

#[test]
fn statement_with_a_generated_file_name_is_sent_as_text() {
    for (query, expected) in [
        ("load data local infile ${'a.csv'} into table t", true),
        ("LOAD XML LOCAL\\\n INFILE${'a.xml'} INTO TABLE t", true),
        ("load data local infile 'a.csv' into table t set a = ${1}", false),
        ("select ${1} from infile where infile = ${1}", false),
        ("select no_infile ${1}", false),
    ] {
        let plan = plan(&format!("[job]\nquery = {query}\n"));
        assert_eq!(plan.jobs[0].requests.statements[0].is_dynamic(), expected, "{query}");
    }
}

#[test]
fn the_examples_in_the_table_of_keys_are_accepted() {
    let of_experiments = |key: &&keys::Key| {
        use keys::SectionKind::{Arm, Capacity, Question, Saturate, Sweep};
        matches!(key.place.owner(), Question | Arm | Capacity | Sweep | Saturate)
    };
    for key in keys::ALL.iter().filter(|key| !of_experiments(key)) {
        let companion = match key.name {
            "arrival" | "batch-size" | "outage" => "rate = 5\n",
            "session" => "rate = 5\n",
            "pipeline" => "transaction = yes\n",
            "query-args-delim" => "query-args-file = users.csv\n",
            "queue-limit" | "on-queue-full" => "rate = 5\nconcurrency = 5\n",
            "rows" => "columns = a: 1\n",
            "columns" => "rows = 5\n",
            "warmup" => "duration = 60s\n",
            _ => "",
        };
        let table = match key.name {
            "rows" | "columns" => "",
            _ => "rows = 5\ncolumns = a: 1\n",
        };
        let query = match key.name {
            "query" | "command" | "mix" | "query-log-file" => "",
            _ => "query = select 1\n",
        };
        let others = "[read]\nquery = select 1\n[write]\nquery = select 2\n";
        let others = if key.name == "mix" { others } else { "" };
        let lines = format!("{}\n{companion}{others}", key.example);
        let target = match key.name {
            "target" => "[target copy]\nurl = sqlite:copy.db\n",
            _ => "",
        };
        let file = match key.place.owner() {
            keys::SectionKind::Global => format!("{lines}[job]\nquery = select 1\n"),
            keys::SectionKind::Fixed => format!("[setup]\n{lines}[job]\nquery = select 1\n"),
            keys::SectionKind::Load => format!("[load t]\n{table}{lines}"),
            keys::SectionKind::Target => format!("[target copy]\n{lines}[job]\nquery = select 1\n"),
            keys::SectionKind::Job => format!("{target}[job]\n{query}{lines}"),
            keys::SectionKind::Threshold => {
                format!("[read]\n{query}[write]\n{query}[threshold]\n{lines}")
            }
            keys::SectionKind::Observe => format!("[job]\nquery = select 1\n[observe]\n{lines}"),
            keys::SectionKind::Question
            | keys::SectionKind::Arm
            | keys::SectionKind::Capacity
            | keys::SectionKind::Sweep
            | keys::SectionKind::Saturate => {
                unreachable!("they are left out")
            }
        };
        plan(&file);
    }
}

/// The settings of `[observe]`, and the errors in them.
#[test]
fn observed_hosts_are_read_and_printed() {
    let text = "[job]\nquery = select 1\n[observe]\nevery = 500ms\ndatabase = no\npid = 12\n\
                pid = 13\nhost = ssh://u@db1\nhost = ssh://db2:2222\n";
    let found = plan(text);
    let observe = &found.observe;
    assert_eq!((observe.every, observe.database), (base::Nanos::from_millis(500), false));
    assert_eq!(observe.processes, [12, 13]);
    assert_eq!(
        observe.hosts.iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["ssh://u@db1", "ssh://db2:2222"]
    );
    assert_eq!(plan(&found.to_text()).as_printed(), found.as_printed());
    let plain = plan("[job]\nquery = select 1\n");
    assert_eq!(plain.observe, workload::Observe::default());
    assert!(!plain.to_text().contains("observe"));
    for (line, words) in [
        ("every = 1ms", "is too often"),
        ("every = 2m", "is too seldom"),
        ("pid = 0", "is not a process id"),
        ("host = db1", "ssh://postgres@db1"),
        ("host = ssh://u:secret@db1", "has a password"),
        ("database = maybe", "yes"),
    ] {
        let (plan, diagnostics) = workload::plan(
            &format!("[job]\nquery = select 1\n[observe]\n{line}\n"),
            &workload::Overrides::default(),
        );
        assert!(plan.is_none(), "{line}");
        let reported = format!("{diagnostics:?}");
        assert!(reported.contains(words), "{line}: {reported}");
        assert!(!reported.contains("secret"), "{reported}");
    }
}

#[test]
fn a_plan_without_spans_and_passwords_is_comparable() {
    let one = plan("url = mysql://ann:secret@h/d\n[job]\nquery = select 1\n");
    let other = plan("url = mysql://ann@h/d\n\n\n[job]\nquery =    select 1\n");
    assert_ne!(one, other);
    assert_eq!(one.as_printed(), other.as_printed());
    assert!(!one.to_text().contains("secret"));
    let target = |login: &str| {
        plan(&format!("[target a]\nurl = mysql://{login}@h/d\n[job]\ntarget = a\nquery = x\n"))
    };
    assert_ne!(target("ann:secret"), target("ann"));
    assert_eq!(target("ann:secret").as_printed(), target("ann").as_printed());
    assert!(!target("ann:secret").to_text().contains("secret"));
}

#[test]
fn load_method_that_the_target_lacks_is_refused_with_place_and_remedy() {
    let load = |method: &str, url: &str| {
        let text = format!("[load t]\nrows = 1\ncolumns = a: row()\nmethod = {method}\n");
        let overrides = Overrides { target: base::Target::parse(url).ok(), ..Overrides::default() };
        let (plan, found) = workload::plan(&text, &overrides);
        assert_eq!(plan.is_some(), found.is_empty());
        crate::render(&text, &found)
    };
    for (method, url) in [
        ("copy", "postgres://h/d"),
        ("copy", "testbed:postgres"),
        ("load-data", "mysql://h/d"),
        ("load-data", "testbed:mariadb"),
        ("insert", "sqlite:"),
        ("auto", "sim:mm1"),
    ] {
        assert_eq!(load(method, url), "", "{method} {url}");
    }
    for (method, url) in [
        ("copy", "mysql://h/d"),
        ("load-data", "postgres://h/d"),
        ("copy", "sqlite:t.db"),
        ("load-data", "sim:mm1"),
    ] {
        let shown = load(method, url);
        assert!(
            shown.contains(&format!("[load t]: the target has no method `{method}`")),
            "{shown}"
        );
        assert!(shown.contains(":4:10") && shown.contains("write `method = auto`"), "{shown}");
    }
    let shown = load("copy\non-duplicate = ignore", "postgres://h/d");
    assert!(shown.contains("COPY fails with the first row whose key exists"), "{shown}");
}
