//! A planted fault: a record that lacks some requests.

use engine::{LaneOutlet, Rules};
use record::{Balance, Delivery, MemoryOutlet, Outlet, Returned};

use super::finding::{Allowed, Finding};
use super::oracle_run::{JOB, Span, memory, plan, server, simulate_into};
use super::oracles::ONE_SERVER;
use super::quantity::Quantity;

/// An outlet that drops `to_lose` completed requests, and passes on everything else.
struct LossyOutlet {
    next: MemoryOutlet,
    to_lose: u64,
}

impl Outlet for LossyOutlet {
    fn deliver(&mut self, mut delivery: Delivery) {
        if let Delivery::Cell(cell) = &mut delivery {
            let counts = &mut cell.tally.counts;
            let was = counts.balance;
            let lost = was.completed().min(self.to_lose);
            let completed = was.completed() - lost;
            counts.balance = Balance::of(completed, was.errors(), was.rejected(), was.unsent());
            self.to_lose -= lost;
        }
        self.next.deliver(delivery);
    }

    fn take_returned(&mut self) -> Option<Returned> {
        self.next.take_returned()
    }

    fn is_broken(&self) -> bool {
        self.next.is_broken()
    }
}

/// Compares arrivals and outcomes in a minute of M/M/1 in which `to_lose` requests get lost.
pub(super) fn findings(to_lose: u64) -> Vec<Finding> {
    let span = Span { warmup_s: 0.0, window_s: 60.0 };
    let (plan, config) = (plan(ONE_SERVER.workload, span, 1), server(ONE_SERVER.server));
    let memory = memory(&plan);
    simulate_into(Rules::STANDARD, &plan, &config, || {
        Box::new(LossyOutlet { next: memory.clone(), to_lose }) as LaneOutlet
    });
    let counts = memory.totals().account(JOB).window.counts;
    let vanished = counts.arrivals.abs_diff(counts.balance.scheduled());
    let expected = (Quantity::Unaccounted, 0.0);
    vec![Finding::within(ONE_SERVER.name, expected, vanished as f64, Allowed::ZERO)]
}
