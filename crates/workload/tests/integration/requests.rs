//! Contents of requests and rows.

use base::{Dialect, Nanos, Seed, Stream, Value, Values, WallTime};
use workload::feed::Group;
use workload::{Expr, Generator, Pacing, RowGenerator};

use crate::plan;

/// Formats the values, with texts in quotes.
fn shown(values: &Values) -> Vec<String> {
    let show = |value: &Value| match *value {
        Value::Null => "NULL".to_owned(),
        Value::Int(number) => number.to_string(),
        Value::Real(number) => format!("{number:?}"),
        Value::Text(text) => format!("'{}'", values.resolve(text)),
    };
    values.items().iter().map(show).collect()
}

fn generator(keys: &str, dialect: Dialect) -> Generator {
    let plan = plan(&format!("[job]\n{keys}\n"));
    Generator::new(&plan.jobs[0], WallTime::EPOCH, dialect)
}

fn request(keys: &str, number: u64) -> Vec<String> {
    let mut values = Values::new();
    generator(keys, Dialect::Postgres).fill(number, Group::NONE, &mut values);
    shown(&values)
}

#[test]
fn values_come_in_the_order_of_the_statements() {
    let keys = "query = select ${sequence()}, ${'a'}, ${0.5}\nquery = select 1\n\
                query = select ${timestamp(1h)}, ${1 / ((sequence() - 5) * 1)}";
    assert_eq!(request(keys, 0), ["1", "'a'", "0.5", "'1970-01-01 01:00:00.000000'", "0"]);
    assert_eq!(request(keys, 4)[4], "NULL");
}

#[test]
fn variable_is_evaluated_once_per_request() {
    let keys = "let = a: uniform(1, 1000000), t: text(5), b: a + 1\n\
                query = select ${a}, ${b}, ${t}\nquery = select ${a}, ${t}";
    for number in 0..100 {
        let values = request(keys, number);
        let a: i64 = values[0].parse().unwrap();
        assert_eq!(values[1], (a + 1).to_string());
        assert_eq!((&values[3], &values[4]), (&values[0], &values[2]));
    }
}

#[test]
fn command_values_are_shell_words() {
    let keys = "let = t: pick(\"it's $x\"), empty: pick(''), n: sequence()\n\
                command = ./do ${n} ${t} ${empty} ${'a b'} ${7} \"${raw(n)}\" $${HOME}; x";
    let text = "./do 3 'it'\\''s $x' '' 'a b' 7 \"3\" ${HOME}; x";
    assert_eq!(request(keys, 2), [format!("'{text}'")]);
}

#[test]
fn dynamic_statement_contains_its_values() {
    let keys = "let = t: pick('x')\n\
                query = select ${1}, ${sequence()} from t_${raw(sequence())} \
                where ${raw(t)} = ${t}\n\
                query = select ${2}";
    assert_eq!(request(keys, 6), ["'select  1 ,  7  from t_7 where x =  'x' '", "2"]);
    let mut values = Values::new();
    values.push(Value::Int(99));
    generator(keys, Dialect::Sqlite).fill(0, Group::NONE, &mut values);
    assert_eq!(shown(&values)[..2], ["99", "'select  1 ,  1  from t_1 where x =  'x' '"]);
}

#[test]
fn clients_make_the_same_values_for_the_same_number() {
    let keys = "query = select ${zipf(1, 1000)}, ${text(3, 9)}, ${pick(1, 2, 3)}";
    let mut one = generator(keys, Dialect::Sqlite);
    let mut other = one.clone();
    let (mut a, mut b) = (Values::new(), Values::new());
    for number in [5, 3, 1_000_000_007, 3, 0] {
        a.clear();
        b.clear();
        one.fill(number, Group::NONE, &mut a);
        other.fill(number + 1, Group::NONE, &mut b);
        b.clear();
        other.fill(number, Group::NONE, &mut b);
        assert_eq!(shown(&a), shown(&b));
    }
}

#[test]
fn adding_a_job_column_or_variable_keeps_other_values() {
    let small = request("query = select ${uniform(1, 1000000)}", 5);
    let large = request(
        "let = x: text(5)\nquery = select ${uniform(1, 1000000)}, ${x}, ${uniform(1, 5)}",
        5,
    );
    assert_eq!(small[0], large[0]);
    let row = |columns: &str| {
        let plan = plan(&format!("[load t]\nrows = 5\ncolumns = {columns}\n"));
        let mut values = Values::new();
        RowGenerator::new(&plan.loads[0], WallTime::EPOCH).fill(2, &mut values);
        shown(&values)
    };
    let narrow = row("b: uniform(1, 1000000)");
    let wide = row("a: row(), b: uniform(1, 1000000)");
    assert_eq!(wide, ["3".to_owned(), narrow[0].clone()]);
}

#[test]
fn ascii_rows_are_recognised() {
    for (column, is_ascii) in [
        ("text(60)", true),
        ("pick('a', 'b')", true),
        ("pick('a', 'é')", false),
        ("null(0.5, 'é')", false),
        ("digits('##-é')", false),
        ("json(a: 1, b: text(5))", true),
        ("json(a: 1, b: 'é')", false),
    ] {
        let plan = plan(&format!("[load t]\nrows = 5\ncolumns = a: row(), b: {column}\n"));
        let rows = RowGenerator::new(&plan.loads[0], WallTime::EPOCH);
        assert_eq!(rows.is_ascii(), is_ascii, "{column}");
    }
}

#[test]
fn a_pause_is_drawn_for_each_request() {
    let think = |keys: &str, number| {
        let keys = format!("query = select 1\nthink = {keys}");
        generator(&keys, Dialect::Sqlite).think(number, 0)
    };
    assert_eq!(think("20ms", 7), Nanos::from_millis(20));
    assert_eq!(think("0", 7), Nanos::ZERO);
    assert_eq!(think("${10ms} * 2", 7), Nanos::from_millis(20));
    assert_eq!(think("10ms * sequence(0)", 7), Nanos::from_millis(70));
    assert_eq!(think("5ms - 10ms * sequence()", 7), Nanos::ZERO);
    assert_ne!(think("exp(20ms)", 7), think("exp(20ms)", 8));
    let mut plan = plan("[job]\nquery = select 1\n");
    let stream = Stream::new(Seed(42), "job", "think #1");
    let pause = Some(Expr::exp(Nanos::from_millis(20), stream));
    plan.jobs[0].pacing = Pacing::Closed { clients: 1, think: pause };
    let mut by_hand = Generator::new(&plan.jobs[0], WallTime::EPOCH, Dialect::Sqlite);
    assert_eq!(by_hand.think(7, 0), think("exp(20ms)", 7));
    let none = generator("query = select 1", Dialect::Sqlite).think(1, 0);
    assert_eq!(none, Nanos::ZERO);
    let mut with_variable =
        generator("let = a: sequence(1)\nquery = select ${a}\nthink = a * 1ms", Dialect::Sqlite);
    assert_eq!(with_variable.think(4, 0), Nanos::from_millis(5));
}

/// From pause to pause, only random numbers differ: after the first pause, they are those of a
/// number that no request has.
#[test]
fn pauses_of_a_session_know_the_number_of_their_request() {
    let think = |expr: &str, number, pause| {
        let keys = format!("rate = 1\nsession = yes\nquery = x\nquery = y\nthink = {expr}");
        generator(&keys, Dialect::Sqlite).think(number, pause)
    };
    for pause in [0, 1, 5] {
        assert_eq!(think("1ms * sequence(0)", 7, pause), Nanos::from_millis(7));
        assert_eq!(think("1ms * latest(3, 3)", 7, pause), Nanos::from_millis(10));
        assert_eq!(think("1ms * permute(9)", 7, pause), think("1ms * permute(9)", 7, 0));
        let of_other_number = think("exp(20ms)", 7 ^ pause << 40, 0);
        assert_eq!(think("exp(20ms)", 7, pause), of_other_number);
    }
    assert_ne!(think("exp(20ms)", 7, 1), think("exp(20ms)", 7, 0));
}
