//! Generators that depend on the rest of the file: clients, tables, variables.

use base::{Value, Values, WallTime};
use workload::feed::Group;
use workload::{Generator, NoFiles, Overrides, Plan};

use crate::{check, files, plan};

/// Returns the values of the first requests of the only job, as text.
fn requests(plan: &Plan, count: u64) -> Vec<String> {
    let mut generator = Generator::new(&plan.jobs[0], WallTime::EPOCH, base::Dialect::Sqlite);
    let mut values = Values::new();
    (0..count).for_each(|number| generator.fill(number, Group::NONE, &mut values));
    let show = |value: &Value| match *value {
        Value::Null => "NULL".to_owned(),
        Value::Int(number) => number.to_string(),
        Value::Real(number) => number.to_string(),
        Value::Text(text) => values.resolve(text).to_owned(),
    };
    values.items().iter().map(show).collect()
}

fn job(keys: &str, count: u64) -> Vec<String> {
    requests(&plan(&format!("[job]\n{keys}\n")), count)
}

#[test]
fn client_number_is_available_in_every_expression_of_a_request() {
    assert_eq!(job("query = select ${client()}\nconcurrency = 3", 5), ["0", "1", "2", "0", "1"]);
    assert_eq!(job("query = select ${client()}", 2), ["0", "0"]);
    let shards = "let = c: client()\nquery = select ${c * 10} from t_${raw(client())}\n\
                  think = 1ms * client()\nqueue-depth = 2";
    assert_eq!(job(shards, 2), ["select  0  from t_0", "select  10  from t_1"]);
    let plan = plan(&format!("[job]\n{shards}\n"));
    let mut generator = Generator::new(&plan.jobs[0], WallTime::EPOCH, base::Dialect::Sqlite);
    assert_eq!(generator.think(5, 0), base::Nanos::from_millis(1));
}

#[test]
fn example_has_the_values_of_request_0_as_literals_and_no_secret() {
    let plan = plan(
        "url = postgres://ann:${pw}@h/d\n[params]\npw = hunter'2\n\
         [job]\nquery = select ${uniform(1, 1000)}, ${pw}\n",
    );
    let example = |plan: &Plan| {
        let requests = &plan.jobs[0].requests;
        workload::example(requests, WallTime::EPOCH, base::Dialect::Sqlite, Group::NONE)
    };
    let value = &requests(&plan, 1)[0];
    assert_eq!(example(&plan), [format!("select {value}, 'hunter''2'")]);
    assert_eq!(example(&plan.with_secrets_hidden()), [format!("select {value}, '(secret)'")]);
}

#[test]
fn example_keeps_only_the_blanks_that_hold_a_literal_apart() {
    let plan = plan(
        "[job]\nlet = a: uniform(5, 5), b: uniform(-5, -5)\n\
         query = select 1-${b}, (${a}), a=${a}, b=${b}, x${a}y where c in (${a},${b})\n",
    );
    let requests = &plan.jobs[0].requests;
    let example = workload::example(requests, WallTime::EPOCH, base::Dialect::Sqlite, Group::NONE);
    let expected = "select 1- -5, (5), a=5, b= -5, x 5 y where c in (5,-5)";
    assert_eq!(example, [expected]);
}

#[test]
fn client_number_is_refused_outside_closed_jobs() {
    for keys in ["rate = 5", "rate = 5\nconcurrency = 3", "every = 1s", "rate = 0.5"] {
        let file = format!("[read]\nquery = select ${{client()}}\n{keys}\n");
        let (plan, found) = workload::plan(&file, &Overrides::default());
        let messages: Vec<&str> = found.iter().map(|found| found.message.as_str()).collect();
        assert_eq!(messages, ["only clients of a closed job have numbers"], "{keys}");
        assert!(plan.is_none());
    }
    check(
        r#"
[load t]
rows = 5
columns = a: client()
[read]
query = select ${7 / client()}
concurrency = 5
"#,
        r#"
error: only clients of a closed job have numbers
 --> mail.ini:3:14
  |
3 | columns = a: client()
  |              ^^^^^^^^
  |
  = help: give the job a `concurrency` without `rate` and `every`, or use `uniform(0, n)`

error: `client()` can be zero
 --> mail.ini:5:22
  |
5 | query = select ${7 / client()}
  |                      ^^^^^^^^
  |
  = help: divide by numbers that are never zero, such as `uniform(1, 10)`
"#,
    );
}

/// Compares the polygons of a file with those of the same file with an explicit number of points.
fn sized_for(tables: &str, points: u64) {
    let file = |call: &str| {
        format!("[job]\nquery = select ${{polygon({call})}}\n{tables}[params]\nscale = 30k\n")
    };
    let written = file(&format!("50, points={points}"));
    assert_eq!(requests(&plan(&file("50")), 3), requests(&plan(&written), 3), "{tables}");
}

#[test]
fn polygons_are_sized_for_the_only_table_with_points() {
    sized_for("[load a]\nrows = 20k\ncolumns = id: row(), at: point()\n", 20_000);
    sized_for("[load a]\nrows = ${scale * 2}\ncolumn = at: null(0.1, point())\n", 60_000);
    let others = "[load b]\nrows = 7\ncolumns = point: 'point()', p: polygon(5, 100)\n\
                  [load a]\nrows = 5k\ncolumns = i: json(id: row(), at: point())\n";
    sized_for(others, 5_000);
    let inside = "[load zones]\nrows = 10\ncolumns = zone: polygon(3)\n\
                  [load a]\nrows = 5k\ncolumns = at: pick(point(), point())\n";
    sized_for(inside, 5_000);
    let elsewhere = "[load b]\nrows = 7\ncolumns = id: row()\ncolumn.mysql = at: point()\n\
                     [load a]\nrows = 5k\ncolumns = id: row()\ncolumn.sqlite = at: point()\n";
    sized_for(elsewhere, 5_000);
}

#[test]
fn errors_of_a_table_with_points_are_reported_once() {
    let file = "[load a]\nrows = x\nlines = 7\ncolumns = at: point()\n\
                [job]\nquery = select ${polygon(5, points=100)}\n";
    let (_, found) = workload::plan(file, &Overrides::default());
    let messages: Vec<&str> = found.iter().map(|found| found.message.as_str()).collect();
    assert_eq!(messages.len(), 2, "{messages:?}");
}

#[test]
fn polygon_without_a_table_of_points_names_the_remedy() {
    let refused = |tables: &str, why: &str| {
        let file = format!("{tables}[job]\nquery = select ${{polygon(5)}}\n");
        let (_, found) = workload::plan(&file, &Overrides::default());
        let messages: Vec<&str> = found.iter().map(|found| found.message.as_str()).collect();
        assert_eq!(messages, [format!("{why}, so the area of the polygon is unknown")]);
        let help = "say how many there are: `polygon(hits=80, points=100000)`";
        assert_eq!(found[0].help.as_deref(), Some(help));
    };
    refused("", "no [load TABLE] of the file has a column of `point()`");
    let table = |name: &str, rows| format!("[load {name}]\nrows = {rows}\ncolumns = at: point()\n");
    let two = format!("{}{}", table("a", 5_000), table("b", 5_000));
    refused(&two, "more than one [load TABLE] has a column of `point()`");
    refused(&table("a", 0), "the table with a column of `point()` has no rows");
    check(
        r#"
[load a]
rows = 8
columns = at: point()
[read]
query = select ${polygon(hits=5)}
"#,
        r#"
error: 5 hits are not less than half of 8 points
 --> mail.ini:5:31
  |
5 | query = select ${polygon(hits=5)}
  |                               ^
  |
  = help: a polygon is smaller than half of the sphere: ask for fewer hits
"#,
    );
}

#[test]
fn mistake_in_a_table_of_points_is_reported_once() {
    check(
        r#"
[load a]
rows = many
columns = at: point()
[read]
query = select 1
"#,
        r#"
error: `many` is not a number
 --> mail.ini:2:8
  |
2 | rows = many
  |        ^^^^
  |
  = help: write for example `rows = 100k`
"#,
    );
}

#[test]
fn json_documents_may_contain_any_variables() {
    let keys = "let = n: sequence(), t: pick('a\"b')\n\
                query = select ${json(n: n, t: t, again: json(t: t))}\n\
                query = select '${raw(json(t: t, u: 'x'))}' and ${t}";
    assert_eq!(
        job(keys, 1),
        [
            r#"{"n":1,"t":"a\"b","again":{"t":"a\"b"}}"#,
            r#"select '{"t":"a\"b","u":"x"}' and  'a"b' "#,
        ]
    );
}

#[test]
fn weights_and_values_may_be_parameters_and_variables() {
    let file = "[params]\nheavy = 0.9\nname = red\n[job]\nlet = a: sequence(), b: weighted(a: 5)\n\
                query = select ${b}, ${weighted(name: heavy, 'blue': 1 - heavy)}\n";
    let drawn = requests(&plan(file), 20);
    let numbers: Vec<String> = (1..=20).map(|number| number.to_string()).collect();
    assert!(drawn.iter().step_by(2).eq(&numbers), "{drawn:?}");
    let colours = drawn.iter().skip(1).step_by(2);
    assert!(colours.clone().all(|name| name == "red" || name == "blue"));
    assert!(colours.filter(|name| *name == "red").count() >= 14);
    let printed = plan(file).to_text();
    assert!(printed.contains("weighted('red': 9, 'blue': 1)"), "{printed}");
}

#[test]
fn misplaced_colon_is_refused() {
    check(
        r#"
[read]
query = select ${uniform(1: 5, 2)}, ${weighted('a': 1, 'b')}, ${json(1 + 2: 3)}
"#,
        r#"
error: `uniform` has no arguments with a `:`
 --> mail.ini:2:26
  |
2 | query = select ${uniform(1: 5, 2)}, ${weighted('a': 1, 'b')}, ${json(1 + 2: 3)}
  |                          ^^^^
  |
  = help: write `uniform(lo, hi)`

error: `'b'` has no weight
 --> mail.ini:2:56
  |
2 | query = select ${uniform(1: 5, 2)}, ${weighted('a': 1, 'b')}, ${json(1 + 2: 3)}
  |                                                        ^^^
  |
  = help: write `weighted(a: 3, b: 1, …)`

error: `1 + 2` is not a name
 --> mail.ini:2:70
  |
2 | query = select ${uniform(1: 5, 2)}, ${weighted('a': 1, 'b')}, ${json(1 + 2: 3)}
  |                                                                      ^^^^^
  |
  = help: write a word or a text before the colon: `json(id: 1, 'a b': 2)`
"#,
    );
}

#[test]
fn expression_of_think_time_may_be_null() {
    let plan = plan("[job]\nquery = select 1\nthink = null(1, 5ms)\n");
    let mut generator = Generator::new(&plan.jobs[0], WallTime::EPOCH, base::Dialect::Sqlite);
    assert_eq!(generator.think(3, 0), base::Nanos::ZERO);
}

#[test]
fn ranges_of_generators_reveal_zero_divisors() {
    let answer = |divisor: &str| {
        let file = format!("[job]\nquery = select ${{7 / {divisor}}}\n");
        workload::plan(&file, &Overrides::default()).0.is_some()
    };
    for zero in ["hotspot(0, 9)", "latest(0, 9)", "nurand(7, 0, 9)", "null(0.5, uniform(0, 9))"] {
        assert!(!answer(zero), "{zero}");
    }
    for never in ["hotspot(1, 9)", "latest(1, 9)", "nurand(7, 1, 9)", "null(0.5, uniform(1, 9))"] {
        assert!(answer(never), "{never}");
    }
    assert!(answer("hotspot(0, 9, hot=0.1, share=0)"));
}

const WORDS: &str = "[job]\nquery = select ${csv('words.csv', 'word')}, ${csv('words.csv', 2)}\n";

#[test]
fn rows_of_a_file_are_used_cyclically() {
    let expected = ["haste", "kind", "slow", "noun", "haste", "adjective", "slow", "kind"];
    assert_eq!(requests(&plan(WORDS), 4), expected);
    let printed = plan(WORDS).to_text();
    assert_eq!(plan(&printed).as_printed(), plan(WORDS).as_printed(), "{printed}");
    let mut changed = files();
    changed.insert("words.csv".to_owned(), b"word,k\nx,y".to_vec());
    let (other, _) = workload::plan_in(WORDS, &Overrides::default(), &changed);
    assert_ne!(other.unwrap().as_printed(), plan(WORDS).as_printed());
}

#[test]
fn plan_can_be_shown_without_its_files() {
    let printed = plan(WORDS).to_text();
    let (seen, found) = workload::plan_in(&printed, &Overrides::default(), &NoFiles);
    let seen = seen.unwrap_or_else(|| panic!("{found:?}"));
    assert_eq!(seen.to_text(), printed);
    assert_eq!(requests(&seen, 1), ["NULL", "NULL"]);
}

#[test]
fn file_errors_point_at_the_line_that_names_the_file() {
    check(
        r#"
[read]
query = select ${csv('nowhere.csv', 1)}
"#,
        r#"
error: there is no file `nowhere.csv`
 --> mail.ini:2:22
  |
2 | query = select ${csv('nowhere.csv', 1)}
  |                      ^^^^^^^^^^^^^
  |
  = help: without a leading `/` it is looked for in the folder of the workload file
"#,
    );
    let refused = |file: &str, expected: &[&str]| {
        let (_, found) = workload::plan_in(file, &Overrides::default(), &files());
        let said: Vec<String> = found
            .iter()
            .map(|d| format!("{}: {}", d.message, d.help.as_deref().unwrap_or("")))
            .collect();
        assert_eq!(said, expected);
    };
    refused(
        "[a]\nquery = select ${csv('words.csv', 'ward')}, ${csv('words.csv', 'zzzzzzz')}\n",
        &[
            "`words.csv` has no column `ward`: did you mean `word`?",
            "`words.csv` has no column `zzzzzzz`: its columns are word and kind",
        ],
    );
    refused(
        "[a]\nquery = select ${csv('words.csv', 3)}\n",
        &["unknown column `3`: `words.csv` has 2 columns: columns are numbered from 1"],
    );
}
