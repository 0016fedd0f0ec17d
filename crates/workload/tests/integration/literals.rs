//! Tests with a real database that a value written into a statement equals the bound value.

use base::{Dialect, Value, Values, WallTime};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::RngSeed;
use rusqlite::types::Value as Stored;
use workload::{Generator, Overrides};

use crate::plan;

fn job(keys: &str) -> workload::Job {
    plan(&format!("[job]\n{keys}\n")).jobs.remove(0)
}

/// Returns the values of request 0.
fn values(job: &workload::Job, dialect: Dialect) -> Values {
    let mut values = Values::new();
    Generator::new(job, WallTime::EPOCH, dialect).fill(0, workload::feed::Group::NONE, &mut values);
    values
}

/// Returns the last value, which is a text.
fn text(values: &Values) -> String {
    match values.items().last() {
        Some(Value::Text(text)) => values.resolve(*text).to_owned(),
        other => panic!("{other:?}"),
    }
}

/// Returns the first value of a job with these keys, as it is bound.
fn bound(keys: &str) -> Stored {
    let values = values(&job(keys), Dialect::Sqlite);
    match values.items()[0] {
        Value::Null => Stored::Null,
        Value::Int(number) => Stored::Integer(number),
        Value::Real(number) => Stored::Real(number),
        Value::Text(text) => Stored::Text(values.resolve(text).to_owned()),
    }
}

/// Returns SQLite's answer to a statement.
fn answer(sql: &str) -> Stored {
    let connection = rusqlite::Connection::open_in_memory().expect("a database");
    let answer = connection.query_row(sql, [], |row| row.get(0));
    answer.unwrap_or_else(|error| panic!("{sql}: {error}"))
}

/// Checks that an expression has the same value in the text of a statement as when it is bound.
fn check(expr: &str) {
    let query = format!("query = select ${{{expr}}}");
    let sent = text(&values(&job(&format!("{query}\nprepare = no")), Dialect::Sqlite));
    assert_eq!(answer(&sent), bound(&query), "{expr}: {sent}");
}

/// Returns true if a file with this value gives a plan.
fn is_sound(expr: &str) -> bool {
    let file = format!("[job]\nquery = select ${{{expr}}}\n");
    workload::plan(&file, &Overrides::default()).0.is_some()
}

/// Formats a text as an expression that escapes each character by its number.
fn spelled(text: &str) -> String {
    let escape = |character: char| format!("\\u{{{:x}}}", u32::from(character));
    format!("\"{}\"", text.chars().map(escape).collect::<String>())
}

#[test]
fn values_of_every_kind_round_trip() {
    for expr in [
        "0",
        "-1",
        "9223372036854775807",
        "0 - 9223372036854775807 - 1",
        "0.5",
        "2.0",
        "-0.1",
        "1.0 / 3",
        "timestamp(1h)",
        "'it''s'",
        "text(40)",
        "uniform(1, 1000000)",
        "normal(0, 1)",
        "1 / ((sequence() - 1) * 1)",
    ] {
        check(expr);
    }
}

#[test]
fn adjacent_text_does_not_merge_with_a_value() {
    let sent = |query: &str| {
        answer(&text(&values(&job(&format!("query = {query}\nprepare = no")), Dialect::Sqlite)))
    };
    assert_eq!(sent("select 1 -${-1}"), Stored::Integer(2));
    assert_eq!(sent("select 1-${-1}-${-2}"), Stored::Integer(4));
    assert_eq!(sent("select ${1}as a"), Stored::Integer(1));
    // A letter directly before a text would turn it into a literal of bytes.
    let keys = "query = select x${'41'}\nprepare = no";
    assert_eq!(text(&values(&job(keys), Dialect::Sqlite)), "select x '41' ");
}

#[test]
fn each_statement_is_one_text_and_shares_the_variables() {
    let keys = "let = a: sequence(5), t: pick('it''s')\nprepare = no\n\
                query = select ${a}, ${t} from t_${raw(a)}\nquery = select ${a}";
    let values = values(&job(keys), Dialect::Postgres);
    let texts: Vec<&str> = values
        .items()
        .iter()
        .map(|value| match *value {
            Value::Text(text) => values.resolve(text),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(texts, ["select  5 ,  'it''s'  from t_5", "select  5 "]);
}

#[test]
fn the_name_of_a_file_is_written_into_its_statement() {
    let keys = "query = load data local infile ${'it''s.tsv'} into table t set a = ${1}";
    let values = values(&job(keys), Dialect::Mysql);
    assert_eq!(values.items().len(), 1);
    let expected = "load data local infile  'it''s.tsv'  into table t set a =  1 ";
    assert_eq!(text(&values), expected);
}

#[test]
fn backslashes_are_doubled_where_they_escape() {
    let keys = "query = select ${\"a\\\\'\"}\nprepare = no";
    let sent = |dialect| text(&values(&job(keys), dialect));
    assert_eq!(sent(Dialect::Mysql), r"select  'a\\''' ");
    assert_eq!(sent(Dialect::Postgres), r"select  'a\''' ");
    assert_eq!(sent(Dialect::Sqlite), r"select  'a\''' ");
}

#[test]
fn after_the_first_requests_literals_allocate_nothing() {
    let keys = "let = t: text(5, 50), n: normal(0, 1)\nprepare = no\n\
                query = select ${t}, ${n}, ${uniform(-5, 5)}, ${timestamp(1s)} from t_${raw(t)}";
    let mut generator = Generator::new(&job(keys), WallTime::EPOCH, Dialect::Mysql);
    let mut values = Values::new();
    let mut fill = |numbers: std::ops::Range<u64>| {
        for number in numbers {
            values.clear();
            generator.fill(number, workload::feed::Group::NONE, &mut values);
        }
    };
    fill(0..1_000);
    let counted = allocation_counter::measure(|| fill(0..1_000));
    assert_eq!(counted.count_total, 0);
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 2_000,
        max_global_rejects: 100_000,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(42),
        ..ProptestConfig::default()
    })]

    /// A text that ended its literal early would cause an error, or give a different value.
    #[test]
    fn text_stays_within_its_literal(parts in vec(nasty(), 0..12)) {
        let expr = spelled(&parts.concat());
        prop_assume!(is_sound(&expr));
        check(&expr);
    }

    #[test]
    fn every_double_reads_back_exactly(bits in any::<u64>()) {
        let number = f64::from_bits(bits);
        prop_assume!(number.is_finite());
        let digits = number.to_string();
        let digits = if digits.contains('.') { digits } else { format!("{digits}.0") };
        // A file cannot contain a double with very many digits.
        prop_assume!(is_sound(&digits));
        check(&digits);
    }
}

fn nasty() -> impl Strategy<Value = String> {
    let known = select(vec![
        "'",
        "''",
        "\\",
        "\\'",
        "\"",
        "`",
        "--",
        "/*",
        "*/",
        ";",
        "\n",
        "\r\n",
        "\0",
        "$$",
        "?",
        "${",
        "E'",
        "x'",
        "%",
        "' or 1=1 --",
        "');drop table t;--",
        "é",
        "\u{2019}",
        "\u{ff07}",
    ]);
    prop_oneof![
        3 => known.prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
    ]
}
