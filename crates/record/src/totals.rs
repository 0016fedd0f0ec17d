//! A record in memory, for tests, the self-test and benchmarks.

use std::sync::{Arc, Mutex, MutexGuard};

use base::AccountId;

use crate::balance::{Counts, EndCounts};
use crate::delivery::{Delivery, Event, LateBatch, Outlet, Returned};
use crate::grid::{Grid, Interval};
use crate::statement_set::StatementSet;
use crate::tally::Tally;

/// The sums of everything that the lanes of a run delivered, except gauges.
#[derive(Clone, Debug)]
pub struct Totals {
    grid: Grid,
    /// Events of the run.
    pub events: Vec<Event>,
    accounts: Vec<AccountTotals>,
}

/// The sums of one account.
#[derive(Clone, Debug)]
pub struct AccountTotals {
    /// Counters of each interval, without the overflows of late requests.
    pub intervals: Vec<(Counts, EndCounts)>,
    /// Statements that returned or changed a row in the whole run.
    pub with_rows: StatementSet,
    /// Sums over all intervals from the beginning of the window on, the drain included. Requests
    /// count if their intended start lies in these intervals, and ends if the end does.
    pub window: Tally,
}

impl Totals {
    /// Creates empty totals for accounts with these numbers of statements.
    pub fn new(grid: Grid, statements: &[u16]) -> Totals {
        let accounts = statements
            .iter()
            .map(|&count| AccountTotals {
                intervals: Vec::new(),
                with_rows: StatementSet::default(),
                window: Tally::new(count),
            })
            .collect();
        Totals { grid, events: Vec::new(), accounts }
    }

    /// Returns the totals of one account.
    pub fn account(&self, account: AccountId) -> &AccountTotals {
        &self.accounts[account.index()]
    }

    fn add(&mut self, delivery: Delivery) -> Option<Returned> {
        match delivery {
            Delivery::Cell(mut cell) => {
                let (counts, ends) = self.interval(cell.account, cell.interval);
                counts.merge(&cell.tally.counts);
                ends.merge(&cell.tally.ends);
                if cell.interval >= self.grid.first_of_window() {
                    self.accounts[cell.account.index()].window.merge(&cell.tally);
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
            Delivery::WithRows(sets) => {
                for (totals, set) in self.accounts.iter_mut().zip(sets) {
                    totals.with_rows.merge(set);
                }
                None
            }
            Delivery::Gauges { .. } => None,
        }
    }

    fn add_late(&mut self, batch: &LateBatch) {
        let first = self.grid.first_of_window();
        for (account, interval) in batch.arrivals() {
            self.interval(account, interval).0.arrivals += 1;
            if interval >= first {
                self.accounts[account.index()].window.counts.arrivals += 1;
            }
        }
        for late in batch.requests() {
            self.interval(late.account, late.start).0.record(late.sample);
            self.interval(late.account, late.end).1.record(late.sample);
            let window = &mut self.accounts[late.account.index()].window;
            if late.start >= first {
                window.record_start(late.sample, late.statements);
            }
            if late.end >= first {
                window.record_end(late.sample);
            }
        }
    }

    fn interval(&mut self, account: AccountId, interval: Interval) -> &mut (Counts, EndCounts) {
        let intervals = &mut self.accounts[account.index()].intervals;
        let needed = interval as usize + 1;
        if intervals.len() < needed {
            intervals.resize(needed, Default::default());
        }
        &mut intervals[interval as usize]
    }
}

/// An outlet that adds everything to [`Totals`], which all lanes share.
pub struct MemoryOutlet {
    totals: Arc<Mutex<Totals>>,
    returned: Vec<Returned>,
}

impl MemoryOutlet {
    /// Creates the outlet of the first lane; its clones are the outlets of the other lanes.
    pub fn new(totals: Totals) -> MemoryOutlet {
        MemoryOutlet { totals: Arc::new(Mutex::new(totals)), returned: Vec::new() }
    }

    /// Returns the totals so far.
    pub fn totals(&self) -> MutexGuard<'_, Totals> {
        self.totals.lock().expect("adding up does not panic")
    }
}

/// A clone is an outlet for another lane, with the same totals. The memory that was returned to the
/// first lane is not shared.
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

    fn take_returned(&mut self) -> Option<Returned> {
        self.returned.pop()
    }

    fn is_broken(&self) -> bool {
        false
    }
}
