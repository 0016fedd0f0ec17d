//! Measures the cost of generating a value.
//!
//! Each case is a closed job of one statement with [`PLACES`] values of one kind, each drawn
//! independently. [`Generator::fill`] writes the values of one request after another into a buffer
//! that is cleared before each request. The printed number is the elapsed time divided by the
//! number of values: drawing, writing the text if there is one, and a share of the fixed cost of a
//! request. All cases take turns, round by round.
//!
//! The program fails if a case allocates. The goals are printed, but not judged. It is a separate
//! program because it counts every allocation, which would slow down `bench`.

use std::alloc::System;
use std::process::ExitCode;

use base::{Clock, Dialect, Monotonic, Values, WallTime};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use workload::feed::Group;
use workload::{Generator, Overrides};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Number of values in a request.
const PLACES: usize = 32;

/// Approximate length of one measurement, in nanoseconds: short enough that most are not
/// interrupted on a busy machine, and the median is the cost of the work alone.
const LENGTH: f64 = 200e3;

/// The measured expressions, each with its goal in nanoseconds per value, if there is one.
const CASES: [(&str, Option<f64>); 27] = [
    ("sequence()", None),
    ("client()", None),
    ("uniform(1, 1000000)", Some(15.0)),
    ("uniform(0.0, 1.0)", None),
    ("zipf(1, 1000000)", Some(60.0)),
    ("zipf(1, 1000000, s=1.2)", None),
    ("normal(100, 15)", None),
    ("exp(20.0)", None),
    ("pareto(10.0, 1.5)", None),
    ("hotspot(1, 1000000)", None),
    ("latest(1, 1000000)", None),
    ("nurand(8191, 1, 100000)", None),
    ("permute(1000000)", None),
    ("text(12)", None),
    ("text(120)", Some(120.0)),
    ("text(12, 40)", None),
    ("digits('###-###-####')", None),
    ("hex(32)", None),
    ("uuid()", None),
    ("pick('new', 'paid', 'sent')", None),
    ("weighted('new': 3, 'paid': 1)", None),
    ("timestamp(-uniform(0s, 1h))", None),
    ("json(id: sequence(), name: text(12))", None),
    ("point()", None),
    ("polygon(80, points=100000)", None),
    ("null(0.1, uniform(1, 1000000))", None),
    ("uniform(1, 1000) * 7 + 1", None),
];

/// A measured expression with its cost in each round.
struct Case {
    expression: &'static str,
    goal: Option<f64>,
    generator: Generator,
    values: Values,
    /// Number of requests in one measurement.
    requests: u64,
    /// The number of the next request.
    next: u64,
    nanos: Vec<f64>,
    allocations: usize,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let rounds = match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [] => Some(301),
        ["rounds", count] => count.parse().ok().filter(|count| *count > 0),
        _ => None,
    };
    let Some(rounds) = rounds else {
        print_line("usage: values [rounds N]");
        return ExitCode::from(2);
    };
    print_line(bench::describe());
    let mut cases: Vec<Case> = CASES.into_iter().map(|case| Case::new(case, rounds)).collect();
    for _ in 0..rounds {
        cases.iter_mut().for_each(Case::measure);
    }
    print_line("| value | median | lowest | highest | goal | allocations |");
    print_line("| --- | --: | --: | --: | --: | --: |");
    cases.iter_mut().for_each(Case::print);
    match cases.iter().all(|case| case.allocations == 0) {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

impl Case {
    fn new((expression, goal): (&'static str, Option<f64>), rounds: usize) -> Case {
        let list = vec![format!("${{{expression}}}"); PLACES].join(", ");
        let text = format!("[job]\nquery = select {list}\nconcurrency = 4\n");
        let (plan, diagnostics) = workload::plan(&text, &Overrides::default());
        let plan = plan.unwrap_or_else(|| panic!("{expression}: {diagnostics:?}"));
        let generator = Generator::new(&plan.jobs[0], WallTime::EPOCH, Dialect::Sqlite);
        let values = Values::new();
        let mut case = Case {
            expression,
            goal,
            generator,
            values,
            requests: 200,
            next: 0,
            nanos: Vec::with_capacity(rounds),
            allocations: 0,
        };
        // The first call grows the buffers; the second one determines the length of a measurement.
        case.make();
        let nanos = case.make();
        case.requests = (LENGTH / nanos / PLACES as f64).max(1.0) as u64;
        case
    }

    /// Generates the values of one measurement. Returns the nanoseconds per value.
    fn make(&mut self) -> f64 {
        let began = Monotonic.now();
        for number in self.next..self.next + self.requests {
            self.values.clear();
            self.generator.fill(number, Group::NONE, &mut self.values);
            std::hint::black_box(&self.values);
        }
        let nanos = Monotonic.now().since(began).as_secs_f64() * 1e9;
        self.next += self.requests;
        nanos / (self.requests as f64 * PLACES as f64)
    }

    fn measure(&mut self) {
        let region = Region::new(ALLOCATOR);
        let nanos = self.make();
        let change = region.change();
        self.allocations += change.allocations + change.reallocations;
        self.nanos.push(nanos);
    }

    fn print(&mut self) {
        self.nanos.sort_by(f64::total_cmp);
        let (lowest, highest) = (self.nanos[0], self.nanos[self.nanos.len() - 1]);
        let median = self.nanos[self.nanos.len() / 2];
        let goal = self.goal.map_or(String::new(), |goal| format!("≤ {goal}"));
        print_line(format!(
            "| `{}` | {median:.1} | {lowest:.1} | {highest:.1} | {goal} | {} |",
            self.expression, self.allocations
        ));
    }
}

/// Prints a line of the result.
#[expect(clippy::print_stdout, reason = "the only function that prints to standard output")]
fn print_line(line: impl std::fmt::Display) {
    println!("{line}");
}
