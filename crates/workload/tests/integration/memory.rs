//! Tests that generating values allocates nothing in steady state.

use base::{Dialect, Values, WallTime};
use workload::feed::{Format, Group, Reader, Records};
use workload::{Generator, RowGenerator};

use crate::plan;

const FILE: &str = "
[load t]
rows = 1000
columns = a: row(), b: text(12, 40), c: uniform(0.0, 1), d: timestamp(-exp(1h)), e: permute(77)
columns = f: point(), g: polygon(80), h: json(id: row(), at: point(), tags: json(t: '\\'))
columns = i: pareto(1.0, 3), j: hotspot(1, 9), k: latest(1, 9), l: nurand(255, 0, 999)
columns = m: csv('words.csv', 'word')
[job]
let = x: uniform(1, 100), y: text(5, 10), z: pick('a', 'bc', text(3))
query = select ${x}, ${y}, ${z}, ${zipf(1, 1000)}, ${normal(1, 2)} / ${1.5}
query = select ${client()}, ${digits('##-##')}, ${hex(20)}, ${uuid()}, ${null(0.5, text(9))}
query = select ${weighted(y: 3, 'x': 1)}, ${json(y: y, z: z, d: 1ms * x)}
query = select ${sequence()} from t_${raw(x)} where a = '${raw(y)}' and ${raw(0.5 * x)} < ${x / 7}
think = exp(20ms) + x * 1us
[fed]
query-args-file = values.csv
query = select ${field(1)}, ${json(b: field(2))}
";

/// Returns the names of all generators, as listed in the reference.
fn names() -> Vec<String> {
    let markdown = workload::reference::markdown();
    let table = markdown.split("| generator |").nth(1).expect("a table of generators");
    let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    rows.filter_map(|row| Some(row.split_once('`')?.1.split_once('(')?.0.to_owned())).collect()
}

/// Returns the records of one request of the job that takes records.
fn records() -> Records {
    let mut block = [Records::default()];
    block[0].reset(1);
    let mut reader = Reader::new(&b"a,b\n"[..], Format::Csv { delimiter: b',' }, 1);
    reader.fill(&mut block, |_| 0, |_| false).expect("a record");
    let [block] = block;
    block
}

#[test]
fn requests_and_rows_allocate_nothing_in_steady_state() {
    let plan = plan(FILE);
    for name in names() {
        assert!(FILE.contains(&format!("{name}(")), "{name}");
    }
    let mut requests = Generator::new(&plan.jobs[0], WallTime::EPOCH, Dialect::Postgres);
    let mut fed = Generator::new(&plan.jobs[1], WallTime::EPOCH, Dialect::Postgres);
    let records = records();
    let mut rows = RowGenerator::new(&plan.loads[0], WallTime::EPOCH);
    let mut values = Values::new();
    let mut round = |numbers: std::ops::Range<u64>| {
        for number in numbers {
            values.clear();
            requests.fill(number, Group::NONE, &mut values);
            fed.fill(number, records.group(0), &mut values);
            rows.fill(number, &mut values);
            requests.think(number, 0);
        }
    };
    round(0..10_000);
    assert!(names().len() > 20);
    let counted = allocation_counter::measure(|| round(10_000..20_000));
    assert_eq!(counted.count_total, 0);
}
