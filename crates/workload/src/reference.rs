//! The reference of the language, generated from the tables that the checks use.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use base::{Dialect, Value, Values, WallTime};

use crate::expr::call::{self, AllowedIn, Spec, Variadic};
use crate::feed::Group;
use crate::keys::{self, Key, KeyGroup};
use crate::request::{Generator, RowGenerator};
use crate::{Overrides, plan_in, unsupported};

/// The largest width of a line of [`help`], in characters.
const WIDTH: usize = 96;

/// The width of the column of names in [`help`], in characters.
const NAMES: usize = 18;

/// Returns a summary of the keys and generators, for `--help`.
pub fn help() -> String {
    let mut out = String::from("WORKLOAD FILE\n");
    for place in KeyGroup::ALL {
        let _ = writeln!(out, "\n  {}", place.title());
        for key in keys::ALL.iter().filter(|key| key.place == place) {
            entry(&mut out, &key_names(key), &format!("{}{}", key.doc, presence(key)));
        }
    }
    out.push_str("\n  expressions in ${…}: parameters, variables of let, + - * / %, and\n");
    for spec in call::ALL {
        entry(&mut out, &spec.usage(), spec.doc);
    }
    out.push_str("\n  units\n");
    for (name, text) in SCALES {
        entry(&mut out, name, text);
    }
    out
}

/// The units of the language, in short.
const SCALES: [(&str, &str); 3] = [
    ("durations", "`ns`, `us`, `ms`, `s`, `m`, `h` and `d`, also together: `1m30s`"),
    ("numbers", "may end with `k` (1,000) or `M` (1,000,000)"),
    ("rates", "requests per second"),
];

/// Appends a name and its explanation in two columns; a long name gets a line of its own.
fn entry(out: &mut String, name: &str, text: &str) {
    let mut line = format!("    {name:NAMES$}");
    if name.chars().count() >= NAMES {
        let _ = writeln!(out, "    {name}");
        line = " ".repeat(4 + NAMES);
    }
    let mut width = 4 + NAMES;
    for word in text.split(' ') {
        let length = word.chars().count() + 1;
        if width + length > WIDTH {
            let _ = writeln!(out, "{}", line.trim_end());
            line = " ".repeat(4 + NAMES);
            width = 4 + NAMES;
        }
        line.push_str(word);
        line.push(' ');
        width += length;
    }
    let _ = writeln!(out, "{}", line.trim_end());
}

fn key_names(key: &Key) -> String {
    match key.alias {
        None => key.name.to_owned(),
        Some(alias) => format!("{}, {alias}", key.name),
    }
}

fn presence(key: &Key) -> String {
    match key.default {
        "" => " (required)".to_owned(),
        "none" => String::new(),
        default => format!(" (default: {default})"),
    }
}

/// Returns the complete reference of the language, as Markdown.
pub fn markdown() -> String {
    let mut out = String::from(OPENING);
    for place in KeyGroup::ALL {
        table_of_keys(&mut out, place);
    }
    out.push_str(PACING);
    out.push_str(STATEMENTS);
    out.push_str(EXPRESSIONS);
    table_of_generators(&mut out);
    golden_values(&mut out);
    out.push_str(CONDITIONS);
    out.push_str(UNITS);
    out.push_str(&unsupported_features());
    out
}

fn table_of_keys(out: &mut String, place: KeyGroup) {
    let _ = writeln!(out, "\n### Keys: {}\n", place.title());
    out.push_str("| key | value | default | meaning | example |\n");
    out.push_str("| --- | --- | --- | --- | --- |\n");
    for key in keys::ALL.iter().filter(|key| key.place == place) {
        let default = if key.default.is_empty() { "required" } else { key.default };
        let names = match key.alias {
            None => format!("`{}`", key.name),
            Some(alias) => format!("`{}`, `{alias}`", key.name),
        };
        let repeatable = if key.repeatable { " (repeatable)" } else { "" };
        let form = in_cell(&key.form.describe());
        let _ = writeln!(
            out,
            "| {names}{repeatable} | {form} | {default} | {} | `{}` |",
            in_cell(key.doc),
            in_cell(key.example)
        );
    }
}

/// Escapes the bars of a text, which would end its cell of a Markdown table.
fn in_cell(text: &str) -> String {
    text.replace('|', "\\|")
}

fn table_of_generators(out: &mut String) {
    out.push_str("\n## Generators\n\n");
    out.push_str(GENERATORS);
    out.push_str("\n| generator | takes | gives |\n| --- | --- | --- |\n");
    for spec in call::ALL {
        let (takes, gives) = (argument_list(spec), in_cell(spec.doc));
        let _ = writeln!(out, "| `{}` | {takes} | {gives} |", spec.usage());
    }
}

/// Describes the arguments of a generator.
fn argument_list(spec: &Spec) -> String {
    let parameters =
        spec.parameters.iter().map(|parameter| format!("{}: {}", parameter.name, parameter.form));
    let rest = match spec.rest {
        Variadic::Nothing | Variadic::Values => None,
        Variadic::Weighted => Some("values of one type, each with a weight".to_owned()),
        Variadic::Named => Some("values of any type, each with a name".to_owned()),
    };
    let parts: Vec<String> = parameters.chain(rest).collect();
    if parts.is_empty() { "nothing".to_owned() } else { parts.join("; ") }
}

fn golden_values(out: &mut String) {
    out.push_str(GOLDEN);
    let _ = writeln!(out, "```text\n{}```", STREETS.1);
    out.push_str("\n| call | values |\n| --- | --- |\n");
    for spec in call::ALL {
        let values = match READ_FROM_FILES.contains(&spec.name) {
            true => "what the file says".to_owned(),
            false => first_values(spec).join(", "),
        };
        let _ = writeln!(out, "| `{}` | {values} |", spec.example);
    }
}

/// Generators whose values come from a file of the job.
const READ_FROM_FILES: &[&str] = &["field"];

/// A file for examples: its name and contents.
pub(crate) const STREETS: (&str, &str) = (
    "streets.csv",
    "name,zip\nHigh Street,01234\n\"Mill Lane, East\",04321\n\"\"\"The\"\" Ring\",00815\n",
);

/// The number of example values of each generator in the reference.
const FIRST: u64 = 8;

/// Returns the first values of a generator's example.
///
/// They are taken from the column `value` of a table `golden` or, if only requests have such
/// values, from the job `golden` of three clients.
fn first_values(spec: &Spec) -> Vec<String> {
    let source = match spec.allowed_in {
        AllowedIn::Anywhere | AllowedIn::Rows => {
            format!("[load golden]\nrows = {FIRST}\ncolumn = value: {}\n", spec.example)
        }
        AllowedIn::Clients => {
            format!("[golden]\nconcurrency = 3\nquery = select ${{{}}}\n", spec.example)
        }
    };
    let files = [STREETS].map(|(name, text)| (name.to_owned(), text.as_bytes().to_vec()));
    let (Some(plan), _) = plan_in(&source, &Overrides::default(), &BTreeMap::from(files)) else {
        return Vec::new();
    };
    let mut values = Values::new();
    for load in &plan.loads {
        let mut generator = RowGenerator::new(load, WallTime::EPOCH);
        (0..FIRST).for_each(|row| generator.fill(row, &mut values));
    }
    for job in &plan.jobs {
        let mut generator = Generator::new(job, WallTime::EPOCH, Dialect::Sqlite);
        (0..FIRST).for_each(|request| generator.fill(request, Group::NONE, &mut values));
    }
    values.items().iter().map(|value| shown(&values, *value)).collect()
}

fn shown(values: &Values, value: Value) -> String {
    match value {
        Value::Null => "NULL".to_owned(),
        Value::Int(number) => number.to_string(),
        Value::Real(number) => number.to_string(),
        Value::Text(text) => format!("`{}`", values.resolve(text)),
    }
}

fn unsupported_features() -> String {
    let list = |words: &[unsupported::UnsupportedFeature]| {
        let words: Vec<String> = words.iter().map(|word| format!("`{}`", word.name)).collect();
        words.join(", ")
    };
    format!(
        "\n## Not in this version\n\n\
         Keys: {}.\n",
        list(unsupported::KEYS)
    )
}

const OPENING: &str = r"# Workload files

This page lists every section, key, generator and metric. [The workload file](workload.md) explains
them with examples. A small file:

```ini
duration = 60s                      ; a key for the whole run

[params]
rows = 100k

[read]                              ; a job
query = select * from account where id = ${uniform(1, rows)}
rate  = 100
slo   = p99 < 30ms
```

The file is text in UTF-8, with or without a byte order mark, with LF or CRLF line ends.

* A line is a section `[name]`, a `key = value`, a comment, or blank. White space around names,
  keys and values does not count. Upper and lower case differ.
* A comment line begins with `;` or `#`. After a header or a value, a comment begins with white
  space and `;`. A statement extends to the end of its line: no comment can follow it.
* A `\` as the last character of a line joins the next line to it, without a separator.
* A key occurs once in its section, unless the tables call it *repeatable*. The lines of a
  repeatable key add up.
* A key may name its database: `query.mysql`, `query.postgres` or `query.sqlite`. Lines for other
  databases are ignored. If a key is not repeatable, the line for the target's database wins over
  the plain one. A simulated server uses the lines for SQLite. `target` cannot name a database.

## Sections

| section | meaning |
| --- | --- |
| above the first | keys for the whole run |
| `[params]` | named constants: `rows = 100k`; `--set rows=1M` overrides them |
| `[setup]` | statements that run once, before everything else |
| `[load TABLE]` | rows to insert before the jobs start |
| `[teardown]` | statements that run once, at the end |
| `[threshold]` | conditions of several jobs in one place: `slo = p99(read) < 30ms` |
| `[target NAME]` | another database, which jobs use with `target = NAME` |
| `[observe]` | settings of the observation during the run |
| `[question]`, `[arm NAME]`, `[sweep]` | the sections of an [experiment file](experiments.md) |
| `[saturate]` | a [search for saturation](saturate.md) before the arms are compared |
| `[capacity]` | a [capacity search](capacity.md) in an experiment file |
| any other | a job: statements that are sent again and again |

A section with a `query`, `query-file`, `query-log-file`, `command` or `mix` is a job, whatever its
name, except `[setup]` and `[teardown]`. A section occurs once. `[global]` is ignored with a
warning.

A parameter is a number, a duration or a text. A value that looks like a number or a duration is
treated as one, unless it is quoted: `zip = '01234'`. A value may use other parameters, in any
order: `pages = ${rows / 100}`. Nothing is replaced in a quoted text.
";

const PACING: &str = r"
## When requests start

| keys | model | meaning |
| --- | --- | --- |
| `rate` | open | arrivals by schedule, answered or not |
| `rate` + `concurrency` | queue | arrivals into one queue, served by that many workers |
| `every` | timetable | fixed times |
| `concurrency`, or nothing | closed | clients with one request at a time; `think` between them |
| `rate` + `session = yes` | partly-open | arrivals send statements one by one, `think` between |
| `query-log-file` | replay | the times of a log, each line on any free connection |

A `rate` of at least 1/s is a Poisson process. Below 1/s it is a timetable, unless `arrival` or
`concurrency` is set. The option `--arrival` changes every rate, except one below 1/s without
`arrival`. The first arrival of a timetable, and of uniform arrivals, comes one period after the
job's start. `start` and `stop` count from the start of the run. `count` counts arrivals (batches);
in a closed job it counts requests, and in a replay lines.

A section with `mix` has a pacing and no statements. Each of its requests is one of the sections
that it names, drawn by weight. A section that is named only by a mix has no pacing, and does not
run as a job of its own.

A rate may vary with the time since the job's start. Such a rate is never a timetable. Its uniform
arrivals come whenever the expected number of arrivals reaches the next whole number.

| rate | arrivals per second |
| --- | --- |
| `ramp(100, 5000, 60s)` | from the first to the second within the span, then the second |
| `sine(1000, 500, 60s)` | mean + amplitude · sin(2πt/period), the amplitude at most the mean |
| `steps(100 200 400, 10s)` | one after the other, each for the span, the last one until the end |
| `trace(FILE)`, a time and a rate per line | the rate from that time on; none before the first |
| `trace(FILE)`, a time per line | arrivals at exactly these times |

Rates may be zero, and have up to nine decimals. A list is written out, or as a range: `1..128 x2`
is 1 2 4 … 128, `10..100 +10` is 10 20 30 … 100.

The times of a trace are seconds since the job's start, in order. A comma or blanks separate the
time from the rate. Blank lines and lines that begin with `#` or `;` are ignored. The file name is
relative to the folder of the workload file; quote a name with blanks. A short trace may be part of
the call: `trace(times 0.5 1.25 7)`, `trace(rates 0 100, 10 200)`. With recorded times, `arrival` is
an error.
";

const STATEMENTS: &str = r"
## Statements

* `${expression}` is a bound value of a prepared statement. In `[setup]` and `[teardown]` it must be
  constant, and is inserted as an SQL literal, texts in quotes.
* `${raw(expression)}` inserts the text of the value without quotes: for names of tables, and inside
  literals. If the value is not constant, the statement is sent as a new text each time.
* `$${` is a literal `${`.
* A statement has no `;` outside literals and comments, and does not begin with `begin` (write
  `transaction = yes`) or `use` (name the database in the URL).
* Literals are `'…'` and `…` between double quotes or backquotes; a doubled quote is a quote.
  Comments are `--` and `/* */`. PostgreSQL also has `$tag$…$tag$`, `E'…'` and nested comments;
  MySQL has `#` and backslash escapes, and needs a blank after `--`.
* With `query-args-file`, `?` (on PostgreSQL `$1`, `$2`, …) outside of literals and comments is a
  field of the request's record, like `${field(1)}`.
* Durations cannot be bound, because databases have no such type: `${timeout / 1s}` is a number of
  seconds.
* A `command` is shell text. `${expression}` is one word of it, quoted if necessary, and must be
  outside of quotes and comments. `${raw(expression)}` is allowed anywhere.
";

const EXPRESSIONS: &str = r"
## Expressions

Numbers (`10`, `1.5M`, `0.01`), durations (`250ms`), texts (`'it''s'`, or with escapes
`\\ \' \n \r \t \; \u{41}` between double quotes), parameters, variables of `let`, `+ - * / %`,
parentheses, and generators. Arguments are positional or named: `zipf(1, rows, s=1.2)`. A colon
separates a value from its weight, and a name from its value: `weighted('new': 3, 'paid': 1)`,
`json(id: row())`.

* A whole number without a point, or with `k` or `M`, is an integer (64 bits). Other numbers are
  decimal fractions: exact in constants, doubles in values that are computed per request or row.
* Integers stay integers: `7 / 2` is 3, and `-7 % 2` is -1. If one of the numbers has a point, so
  has the result: `7.0 / 2` is 3.5.
* Durations are added and subtracted, and multiplied and divided by numbers. A duration divided by a
  duration is a number with a point.
* A constant that overflows is an error. So is a divisor that can be seen to be zero for some
  requests: `${7 / uniform(0, 9)}`. In values that are computed per request or row, integers and
  durations saturate, other divisions by zero are NULL, and an operation on NULL is NULL.
* `let` variables are computed once per request, in order; later ones may use earlier ones.
* The plain value of a key may contain constant expressions: `rows = ${scale * 1000}`.
* An expression is at most 100 operators and parentheses deep.
";

const GENERATORS: &str = "\
A generator is a pure function of the seed, the name of the section, the place in the section, and
the number of the request or row. The only exception is `timestamp()`, which counts from the start
of the run. The place is the name of the column or variable, or the number of the statement and of
the value in it. A change in one place leaves the values of all others as they are.
";

const GOLDEN: &str = "
The table shows the first eight values of each generator, with seed 42, as the column `value` of
`[load golden]`, in a run that starts at the beginning of 1970. `client()` is used in a job with
three clients, and `streets.csv` has these lines:

";

const CONDITIONS: &str = r"
## Conditions

`slo = p99 < 30ms, failed < 0.1%`: a metric, `<` or `>`, and a bound.

| metric | of | bound |
| --- | --- | --- |
| `p50`, `p99.9`, any quantile | response time | duration |
| `mean`, `max` | response time | duration |
| `service.p99`, `service.mean`, `service.max` | service time | duration |
| `throughput` | completions per second | number |
| `failed` | (errors − accepted + rejected + unsent) / scheduled | percentage |

A condition that no run can meet, such as `failed < 0%`, gets a warning, and is an error in
`[capacity]`.

In `[threshold]` the metric names its job: `p99(read) < 30ms`, `service.p99(read) < 5ms`. A part of
a mix is named with the mix: `p99(oltp/read) < 30ms`. In a file with one job that is not a mix, the
name is optional.
";

const UNITS: &str = r"
## Units and limits

Durations have the units `ns`, `us`, `ms`, `s`, `m`, `h` and `d`, also combined: `1m30s`. Numbers
may end with `k` (1,000) or `M` (1,000,000). Rates are per second; the lowest rate is just above one
per year.

| what | at most |
| --- | --- |
| requests per second, of one job and of all jobs together | 10,000,000 |
| a file | 64 MiB, 10,000 sections, 200,000 keys |
| jobs and parts of mixes together | 10,000 |
| a list | 10,000 numbers |
| all traces together | 60 MiB |
| a statement | 65,535 values |
| a request or a row | 256 MiB |
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_names_every_key_and_generator() {
        let (markdown, help) = (markdown(), help());
        for key in keys::ALL {
            assert!(markdown.contains(&format!("| `{}`", key.name)), "{}", key.name);
            assert!(markdown.contains(key.example), "{}", key.example);
            assert!(help.contains(key.name), "{}", key.name);
        }
        for spec in call::ALL {
            assert!(markdown.contains(&spec.usage()), "{}", spec.name);
            let expected = if READ_FROM_FILES.contains(&spec.name) { 0 } else { FIRST };
            assert_eq!(first_values(spec).len() as u64, expected, "{}", spec.name);
        }
    }

    #[test]
    fn rows_of_a_table_have_as_many_cells_as_its_title() {
        let markdown = markdown();
        let cells = |line: &str| line.replace("\\|", "").matches('|').count();
        let lines: Vec<&str> = markdown.lines().collect();
        for pair in lines.windows(2).filter(|pair| pair.iter().all(|line| line.starts_with('|'))) {
            assert_eq!(cells(pair[0]), cells(pair[1]), "{}\n{}", pair[0], pair[1]);
        }
    }

    #[test]
    fn the_help_fits_the_terminal() {
        for line in help().lines() {
            assert!(line.chars().count() <= WIDTH, "{line}");
        }
    }
}
