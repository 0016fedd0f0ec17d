//! A printed plan is a workload file whose plan is the same, generator by generator.

use std::collections::BTreeMap;

use base::{Dialect, Severity, Value, Values, WallTime};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::RngSeed;
use workload::feed::Group;
use workload::{Generator, JobOrPart, Overrides, RowGenerator};

use crate::render;

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(42),
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_printed_plan_reads_as_the_same_plan(text in file()) {
        let mut files = files();
        let (plan, diagnostics) = workload::plan_in(&text, &Overrides::default(), &files);
        let Some(plan) = plan else {
            // Constants can overflow, divisors can be zero, spliced texts can contain quotes, texts
            // can be too long, and `arrival` can be combined with a trace of times; these files
            // have no other errors.
            let harmless = [
                "is too large",
                "divides by zero",
                "can be zero",
                "not a single statement",
                "the limit is 256 MiB",
                "combined with a trace of times",
                "the command is malformed",
            ];
            let errors = diagnostics.iter().filter(|d| d.severity == Severity::Error);
            for diagnostic in errors {
                let known = harmless.iter().any(|why| diagnostic.message.contains(why));
                prop_assert!(known, "{}", render(&text, &diagnostics));
            }
            return Ok(());
        };
        let printed = plan.to_text();
        // The printed plan contains its traces, and needs only the file with the list of values.
        files.retain(|name, _| name == "words.csv");
        let (again, diagnostics) = workload::plan_in(&printed, &Overrides::default(), &files);
        let again = again.ok_or_else(|| {
            TestCaseError::fail(format!("{text}\n{printed}\n{}", render(&printed, &diagnostics)))
        })?;
        prop_assert_eq!(again.as_printed(), plan.as_printed(), "{}\n{}", text, printed);
        prop_assert_eq!(again.to_text(), printed);
        for (one, other) in plan.jobs_and_parts().zip(again.jobs_and_parts()) {
            prop_assert_eq!(requests(one), requests(other));
        }
        for (one, other) in plan.loads.iter().zip(&again.loads) {
            prop_assert_eq!(rows(one), rows(other));
        }
    }
}

/// Returns the files that the generated workloads name.
fn files() -> BTreeMap<String, Vec<u8>> {
    let files = [
        ("words.csv", "word,n\r\n\"a;b\",1\n$${x},2\n"),
        ("arrivals.txt", "# seconds\r\n0.5\n\n1.25\n1.25\n 2e1 \n"),
        ("rates.csv", "0, 100\n10,0\n20 16.7\n"),
    ];
    files.map(|(name, text)| (name.to_owned(), text.as_bytes().to_vec())).into()
}

fn requests(either: JobOrPart<'_>) -> (Vec<Value>, usize) {
    let mut values = Values::new();
    let mut generator = match either {
        JobOrPart::Job(job) => Generator::new(job, WallTime::EPOCH, Dialect::Postgres),
        JobOrPart::Part(_, part) => Generator::of_part(part, WallTime::EPOCH, Dialect::Postgres),
    };
    for number in [0, 1, 1_000_003] {
        generator.fill(number, Group::NONE, &mut values);
    }
    (values.items().to_vec(), values.text_bytes())
}

fn rows(load: &workload::Load) -> (Vec<Value>, usize) {
    let mut values = Values::new();
    let mut generator = RowGenerator::new(load, WallTime::EPOCH);
    for number in [0, 1, 1_000_003] {
        generator.fill(number, &mut values);
    }
    let mut texts = values.items().iter().filter_map(|value| match value {
        Value::Text(text) => Some(values.resolve(*text)),
        Value::Null | Value::Int(_) | Value::Real(_) => None,
    });
    assert!(!generator.is_ascii() || texts.all(str::is_ascii), "{load:?}");
    (values.items().to_vec(), values.text_bytes())
}

const PARAMS: &str = "\
[params]
p_int = 7
p_real = 0.25
p_span = 90s
p_name = accounts
p_text = it's 100% \"fine\"
p_odd = \"a \\; b\\n\\\\\"
";

fn file() -> impl Strategy<Value = String> {
    let parts = (any::<bool>(), job_statements(), job_statements(), some_of(OF_A_REPLAY));
    let load = (vec(column(), 1..5), some_of(OF_A_LOAD));
    (globals(), fixed(), load, vec(job(), 1..4), parts, fixed()).prop_map(
        |(globals, setup, (columns, load), jobs, (is_mixed, one, other, replay), teardown)| {
            let mut text =
                format!("{globals}{PARAMS}[setup]\n{setup}[load s.\"odd t\"]\nrows = 5\n{load}");
            for (place, column) in columns.iter().enumerate() {
                text.push_str(&format!("column = c{place}: {column}\n"));
            }
            for (place, job) in jobs.iter().enumerate() {
                text.push_str(&format!("[job {place} é]\n{job}"));
                if job.len() % 2 == 0 && !job.contains("command = ") {
                    text.push_str(&format!("query-results-file = ${{p_name}}/$${{x}};y {place}\n"));
                }
            }
            if is_mixed {
                text.push_str(&format!(
                    "[mix]\nmix = part a: 3, job b: 1k,both\nrate = 5\ncount = 7\ntimeout = 1s\n\
                     [part a]\n{one}timeout = 2s\n[job b]\n{other}slo = p99 < 1s\n\
                     [both]\nquery = y\nconcurrency = 2\nerror = 7\n\
                     [mix 2]\nmix = both, part a\n[log]\nquery-log-file = a;b.log\n{replay}\
                     [threshold]\nslo = max(mix 2/part a) < 9s, failed(both) < 1%\n\
                     [clients]\nquery.sqlite = x ${{client()}}\nquery.mysql = y\nquery = z\n\
                     concurrency = 9\nconcurrency.sqlite = 3\nslo.mysql = p99 < 1s\n\
                     [sessions]\nrate = 0.5\nsession = yes\nthink = exp(p_span)\n\
                     query = a\nquery = b\n"
                ));
            }
            text.push_str("[target b-2]\nurl = sim:mm1?service=${p_int}ms\n");
            format!("{text}[teardown]\n{teardown}")
        },
    )
}

/// Keys of a job that replays a log.
const OF_A_REPLAY: &[&str] = &[
    "count = 5",
    "start = 1s",
    "prepare = no",
    "expect-rows = 5",
    "timeout = 1s",
    "retry = 2 on 40001",
    "error = A-B",
    "on-error = stop",
    "query-results-file = r.csv",
    "slo = max < 1s",
];

/// Keys of a load.
const OF_A_LOAD: &[&str] = &[
    "writers = 3",
    "batch = 2k",
    "method = insert",
    "on-duplicate = replace",
    "indexes = after",
    "column = csv: csv('words.csv', 'word')",
    "column = csv2: csv('words.csv', 2)",
];

/// Generates any subset of these lines, in order.
fn some_of(lines: &'static [&'static str]) -> impl Strategy<Value = String> {
    vec(any::<bool>(), lines.len()).prop_map(move |chosen| {
        let lines = lines.iter().zip(chosen).filter(|(_, chosen)| *chosen);
        lines.map(|(line, _)| format!("{line}\n")).collect()
    })
}

fn globals() -> impl Strategy<Value = String> {
    let others = some_of(&[
        "duration = 1m30s",
        "seed = 18446744073709551615",
        "drain = 0s",
        "probe = ${p_span / 9}",
        "url = sqlite:odd%20file%3B.db?a=b%26c",
        "error = 1, A-B",
        "connections = 5",
        "max-connections = ${p_int * 100}",
    ]);
    let warmup = select(vec!["", "warmup = 5s\n", "warmup = auto\n"]);
    (warmup, others).prop_map(|(warmup, others)| format!("{warmup}{others}"))
}

fn fixed() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        literal(),
        select(vec!["${p_int}", "${p_text}", "${raw(p_name)}", "${-p_real * 2}"])
            .prop_map(|piece| format!(" {piece} "))
    ];
    statements(piece)
}

fn job() -> impl Strategy<Value = String> {
    let asking = (job_statements(), select(vec!["", "target = b-2\n"]), pacing(), options());
    let asking = asking.prop_map(|(statements, target, pacing, options)| {
        // Statements that run separately are not retried.
        let options = match statements.contains("multi-query-mode") {
            true => options.replace(&format!("{RETRY}\n"), ""),
            false => options,
        };
        format!("{statements}{target}{pacing}{options}")
    });
    prop_oneof![3 => asking, 1 => running_job()]
}

/// Pieces of a command that contain no expression; some of them look special.
const COMMAND: &[&str] =
    &[" -x ", "$${HOME}", "'it is; $${x}'", "\"a b\"", "|cat", "; x", "\\\\x", "é\t"];

/// Generates a job that runs a program.
fn running_job() -> impl Strategy<Value = String> {
    let value = prop_oneof![int(true), real(true), text(true), stamp()];
    let piece = prop_oneof![
        2 => select(COMMAND.to_vec())
            .prop_map(str::to_owned),
        2 => value.clone().prop_map(|value| format!("${{{value}}}")),
        1 => value.prop_map(|value| format!(" ${{raw({value})}} ")),
        1 => Just("\"${raw(p_int)}\"".to_owned()),
    ];
    let options = options().prop_map(|options| {
        options.replace("prepare = no\n", "").replace("expect-rows = ${p_int}..1k\n", "")
    });
    let pacing = pacing()
        .prop_map(|pacing| pacing.replace("reconnect = per-transaction\noutage = wait\n", ""));
    (lets(), vec(piece, 0..6), pacing, options).prop_map(|(lets, pieces, pacing, options)| {
        format!("{lets}command = x{}\n{pacing}{options}", pieces.concat())
    })
}

fn lets() -> impl Strategy<Value = String> {
    (int(false), text(false), span(false)).prop_map(|(int, text, span)| {
        format!("let = v_int: {int}, v_text: {text}\nlet = v_span: {span}\n")
    })
}

fn job_statements() -> impl Strategy<Value = String> {
    let value = prop_oneof![int(true), real(true), text(true), stamp()];
    let piece = prop_oneof![
        2 => literal(),
        2 => value.clone().prop_map(|value| format!("${{{value}}}")),
        1 => value.clone().prop_map(|value| format!(" ${{raw({value})}} ")),
        1 => Just("'${raw(p_int)}'".to_owned()),
    ];
    let flow = select(vec![
        "",
        "transaction = yes\n",
        "pipeline = yes\ntransaction = yes\n",
        "multi-query-mode = multi-connection\n",
        "query-args-file = odd $${x};name.csv\nquery.sqlite = a ? b\nquery.mysql = ?\n",
        "query-args-file = b\nquery-args-delim = \"\\t\"\n\
         query = ?2${field(1)}'${raw(field(7))}?'\n",
    ]);
    (lets(), statements(piece), flow)
        .prop_map(|(lets, statements, flow)| format!("{lets}{statements}{flow}"))
}

fn statements(piece: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    vec(vec(piece, 0..6), 1..4).prop_map(|statements| {
        let line = |pieces: Vec<String>| format!("query = x{}\n", pieces.concat());
        statements.into_iter().map(line).collect()
    })
}

/// Generates text of a statement without an expression; some of it looks special.
fn literal() -> impl Strategy<Value = String> {
    select(vec![
        " where a = ",
        "$${x}",
        "'it''s; $${x}'",
        "/* ' ; */",
        "t$1",
        "é\t",
        "\"a;b\"",
        " $$$${ ' $$ ",
        "\\ x",
        "% {} }",
        "# ",
        "`odd;`",
        " ?? ",
    ])
    .prop_map(str::to_owned)
}

fn pacing() -> impl Strategy<Value = String> {
    let rate = select(vec![
        "1",
        "0.01",
        "3000",
        "16.7",
        "${p_real}",
        "123.456789012345678",
        "ramp(0, ${p_int}k, ${p_span})",
        "ramp(16.7, 0.000000001, 1ns)",
        "sine(${p_int}, ${p_real}, 1h1s)",
        "steps(1..128 x2, 10s)",
        "steps(10..100 +10 ,1m)",
        "steps(0 0.5 3, 1ms)",
        "trace(arrivals.txt)",
        "trace('rates.csv')",
        "trace(rates 0.000000001 0, 1e3 16.7)",
    ]);
    let arrival_of_times =
        select(vec!["trace(times 0 0 1.000000001 7)", "trace(\"arrivals.txt\")"])
            .prop_map(|rate| format!("rate = {rate}\n"));
    let arrival = select(vec!["", "arrival = poisson\n", "arrival = uniform\n"]);
    let rated = (rate, arrival, 1..50_u32).prop_map(|(rate, arrival, batch)| {
        format!("rate = {rate}\n{arrival}batch-size = {batch}\n")
    });
    let rated = prop_oneof![9 => rated, 1 => arrival_of_times].boxed();
    let rated_full =
        rated.clone().prop_map(|rated| format!("{rated}concurrency = 4\non-queue-full = stop\n"));
    prop_oneof![
        rated.clone(),
        rated.clone().prop_map(|rated| format!("{rated}outage = wait\n")),
        rated.prop_map(|rated| format!("{rated}queue-depth = 4\nqueue-limit = 1k\n")),
        rated_full,
        (1..u64::MAX >> 20).prop_map(|nanos| format!("every = {}ns\n", nanos.clamp(10, 1 << 50))),
        (1..5_000_u32).prop_map(|clients| format!("concurrency = {clients}\n")),
        Just("concurrency = 3\nreconnect = per-transaction\noutage = wait\n".to_owned()),
        span(true).prop_map(|span| format!("think = 1ms + {span}\n")),
        Just(String::new()),
    ]
}

/// The line of `retry`, which a job with separate statements cannot have.
const RETRY: &str = "retry = ${p_int} on 40001,1213";

fn options() -> impl Strategy<Value = String> {
    some_of(&[
        "start = 1s500us",
        "stop = 59s",
        "count = 10k",
        "timeout = 3us",
        RETRY,
        "error = HY000, SQLITE_BUSY",
        "on-error = stop",
        "prepare = no",
        "expect-rows = ${p_int}..1k",
        "slo = p99.9<${p_span} , failed < 0.25%",
        "slo = service.mean > 0, throughput > 1.5k",
    ])
}

fn column() -> impl Strategy<Value = String> {
    prop_oneof![Just("row()".to_owned()), int(false), real(false), text(false), stamp()]
}

/// Generates an integer expression, with the job's variables or without.
fn int(variables: bool) -> BoxedStrategy<String> {
    let name = if variables { "v_int" } else { "p_int" };
    let leaf = prop_oneof![
        any::<i64>().prop_map(|number| number.to_string()),
        (-9..99_i64).prop_map(|number| number.to_string()),
        select(vec![name, "p_int", "1.5M", "sequence()", "sequence(start=-5)", "permute(77)"])
            .prop_map(str::to_owned),
        select(vec![
            "hotspot(-5, 5)",
            "hotspot(1, 1000, hot=0.01, share=p_real)",
            "latest(1, p_int)",
            "nurand(255, 1, 3000)",
            "weighted(1: 2.5, p_int: 0.5)",
            "null(0.3, -9)",
        ])
        .prop_map(str::to_owned),
        (any::<i64>(), any::<i64>()).prop_map(|(a, b)| format!(
            "uniform({}, {})",
            a.min(b),
            a.max(b)
        )),
        (0..2_000_u32).prop_map(|s| format!("zipf(-3, 1000000, s={}.{:03})", s / 1000, s % 1000)),
    ];
    let nested = leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            (inner.clone(), select(vec!["+", "-", "*", "/", "%"]), inner.clone())
                .prop_map(|(a, sign, b)| format!("({a}) {sign} ({b})")),
            (inner.clone(), inner.clone(), inner.clone())
                .prop_map(|(a, b, c)| { format!("{a} + pick({b}, -{c}) * ${{{a}}}") }),
            (inner.clone(), inner).prop_map(|(a, b)| format!("uniform(sequence() * {a}, {b})")),
        ]
    });
    nested.boxed()
}

fn real(variables: bool) -> BoxedStrategy<String> {
    let number = any::<u32>().prop_map(|n| format!("{}.{:05}", n / 100_000, n % 100_000));
    let leaf = prop_oneof![
        number,
        select(vec![
            "p_real",
            "-0.5",
            "2.0",
            "1e-18",
            "uniform(0, 0.5)",
            "exp(3)",
            "normal(0, 0.1)",
            "pareto(p_real, 1.5)",
            "null(1e-18, weighted(1: 1, 2.5: 3M))"
        ])
        .prop_map(str::to_owned),
    ];
    (leaf.clone(), select(vec!["+", "-", "*", "/"]), prop_oneof![leaf, int(variables)])
        .prop_map(|(a, sign, b)| format!("{a} {sign} ({b})"))
        .boxed()
}

fn span(variables: bool) -> BoxedStrategy<String> {
    let leaf = prop_oneof![
        (0..i64::MAX as u64 / 8).prop_map(|nanos| base::Nanos(nanos).to_string()),
        select(vec!["p_span", "exp(20ms)", "normal(1s, 2ms)", "uniform(0s, 1h)", "pareto(1ms, 2)"])
            .prop_map(str::to_owned),
    ];
    (leaf.clone(), leaf, int(variables))
        .prop_map(|(a, b, number)| format!("({a} - {b}) / ({number}) + -{a} * 0.5"))
        .prop_map(|span| format!("exp(1ms) * 0 + ({span})"))
        .boxed()
}

fn text(variables: bool) -> BoxedStrategy<String> {
    let name = if variables { "v_text" } else { "p_text" };
    let quoted = ".{0,12}".prop_map(|text| {
        let escape = |c: char| match c {
            'a'..='z' | 'A'..='Z' => c.to_string(),
            '\0' => "\\t".to_owned(),
            _ => c.escape_unicode().to_string(),
        };
        format!("\"{}\"", text.chars().map(escape).collect::<String>())
    });
    let leaf = prop_oneof![
        quoted,
        select(vec![name, "p_odd", "text(5)", "text(0, 9)", "'it''s'", "text(uniform(1, 5))"])
            .prop_map(str::to_owned),
        select(vec!["digits('#-\"#')", "hex(p_int)", "uuid()", "point()", "polygon(5, points=1k)"])
            .prop_map(str::to_owned),
        Just(format!(
            "json(a: {name}, 'b \" c': null(0.5, json()), d: weighted({name}: 3, p_odd: 1))"
        )),
    ];
    prop_oneof![
        leaf.clone(),
        vec(leaf, 1..4).prop_map(|values| format!("pick({})", values.join(", "))),
    ]
    .boxed()
}

fn stamp() -> impl Strategy<Value = String> {
    select(vec!["timestamp()", "timestamp(-uniform(0s, p_span))", "timestamp(offset=-1h)"])
        .prop_map(str::to_owned)
}
