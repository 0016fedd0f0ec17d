//! In steady state, making values allocates nothing.

use base::{Values, WallTime};
use workload::feed::Group;
use workload::{Generator, Placeholders, RowGenerator};

use crate::plan;

const FILE: &str = "
[load t]
rows = 1000
columns = a: row(), b: text(12, 40), c: uniform(0.0, 1), d: timestamp(-exp(1h)), e: permute(77)
[job]
let = x: uniform(1, 100), y: text(5, 10), z: pick('a', 'bc', text(3))
query = select ${x}, ${y}, ${z}, ${zipf(1, 1000)}, ${normal(1, 2)} / ${1.5}
query = select ${sequence()} from t_${raw(x)} where a = '${raw(y)}' and ${raw(0.5 * x)} < ${x / 7}
think = exp(20ms) + x * 1us
";

#[test]
fn requests_and_rows_allocate_nothing_in_steady_state() {
    let plan = plan(FILE);
    let mut requests = Generator::new(&plan.jobs[0], WallTime::EPOCH, Placeholders::Dollar);
    let mut rows = RowGenerator::new(&plan.loads[0], WallTime::EPOCH);
    let mut values = Values::new();
    let mut round = |numbers: std::ops::Range<u64>| {
        for number in numbers {
            values.clear();
            requests.fill(number, Group::NONE, &mut values);
            rows.fill(number, &mut values);
            requests.think(number, 0);
        }
    };
    round(0..10_000);
    let counted = allocation_counter::measure(|| round(10_000..20_000));
    assert_eq!(counted.count_total, 0);
}
