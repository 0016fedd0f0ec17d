//! A record in memory, for tests and calibration.

use std::sync::{Arc, Mutex, MutexGuard};

use crate::balance::{Counts, Ends};
use crate::delivery::{Delivery, Event, LateBatch, Outlet, Returned};
use crate::grid::{Grid, Interval};
use crate::job::JobIndex;
use crate::tally::Tally;

/// The sums of everything that the lanes of a run delivered.
#[derive(Clone, Debug)]
pub struct Totals {
    grid: Grid,
    /// Events of the run.
    pub events: Vec<Event>,
    jobs: Vec<JobTotals>,
}

/// The sums of one job.
#[derive(Clone, Debug)]
pub struct JobTotals {
    /// Counters of each interval.
    pub intervals: Vec<(Counts, Ends)>,
    /// Requests of the window, by intended start (ends: by end).
    pub window: Tally,
}

impl Totals {
    /// Creates empty totals for jobs with these numbers of statements.
    pub fn new(grid: Grid, statements: &[u16]) -> Totals {
        let jobs = statements
            .iter()
            .map(|&count| JobTotals { intervals: Vec::new(), window: Tally::new(count) })
            .collect();
        Totals { grid, events: Vec::new(), jobs }
    }

    /// Returns the totals of one job.
    pub fn job(&self, job: JobIndex) -> &JobTotals {
        &self.jobs[usize::from(job.0)]
    }

    fn add(&mut self, delivery: Delivery) -> Option<Returned> {
        match delivery {
            Delivery::Cell(mut cell) => {
                let (counts, ends) = self.interval(cell.job, cell.interval);
                counts.merge(&cell.tally.counts);
                ends.merge(&cell.tally.ends);
                if cell.interval >= self.grid.first_of_window() {
                    self.jobs[usize::from(cell.job.0)].window.merge(&cell.tally);
                }
                cell.tally.reset();
                Some(Returned::Cell(cell))
            }
            Delivery::Late(mut batch) => {
                self.add_late(&batch);
                batch.reset();
                Some(Returned::Late(batch))
            }
            Delivery::Event(event) => {
                self.events.push(event);
                None
            }
            Delivery::Gauges { .. } => None,
        }
    }

    fn add_late(&mut self, batch: &LateBatch) {
        let first = self.grid.first_of_window();
        for (job, interval) in batch.arrivals() {
            self.interval(job, interval).0.arrivals += 1;
            if interval >= first {
                self.jobs[usize::from(job.0)].window.counts.arrivals += 1;
            }
        }
        for late in batch.requests() {
            self.interval(late.job, late.start).0.record(late.sample);
            self.interval(late.job, late.end).1.record(late.sample);
            let window = &mut self.jobs[usize::from(late.job.0)].window;
            if late.start >= first {
                window.record_start(late.sample, late.statements);
            }
            if late.end >= first {
                window.record_end(late.sample);
            }
        }
    }

    fn interval(&mut self, job: JobIndex, interval: Interval) -> &mut (Counts, Ends) {
        let intervals = &mut self.jobs[usize::from(job.0)].intervals;
        let needed = interval as usize + 1;
        if intervals.len() < needed {
            intervals.resize(needed, Default::default());
        }
        &mut intervals[interval as usize]
    }
}

/// An outlet that adds everything to [`Totals`] shared by all lanes.
pub struct MemoryOutlet {
    totals: Arc<Mutex<Totals>>,
    returned: Vec<Returned>,
}

impl MemoryOutlet {
    /// Creates an outlet to `totals`.
    pub fn new(totals: Totals) -> MemoryOutlet {
        MemoryOutlet { totals: Arc::new(Mutex::new(totals)), returned: Vec::new() }
    }

    /// Returns the totals so far.
    pub fn totals(&self) -> MutexGuard<'_, Totals> {
        self.totals.lock().expect("adding up does not panic")
    }
}

/// A clone is the outlet of another lane to the same totals.
impl Clone for MemoryOutlet {
    fn clone(&self) -> MemoryOutlet {
        MemoryOutlet { totals: Arc::clone(&self.totals), returned: Vec::new() }
    }
}

impl Outlet for MemoryOutlet {
    fn deliver(&mut self, delivery: Delivery) {
        let returned = self.totals().add(delivery);
        self.returned.extend(returned);
    }

    fn returned(&mut self) -> Option<Returned> {
        self.returned.pop()
    }

    fn is_broken(&self) -> bool {
        false
    }
}
