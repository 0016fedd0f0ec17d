//! What happened?
//!
//! On the measured side, a lane's [`Ledger`] opens a [`Request`] when it comes due and settles it
//! when it ends; counts and histograms of one second make a [`Cell`], which changes hands once per
//! interval through an [`Outlet`].
//!
//! The invariants that live here: nothing scheduled vanishes ([`Balance`]), quantiles come from
//! merged histograms ([`Histograms::merge`]), and an answer counts where its request was *meant*
//! to begin ([`Life`], [`Grid`]).

mod balance;
mod delivery;
mod grid;
mod histogram;
mod ledger;
mod life;
mod tally;
mod totals;

pub use balance::{Balance, Counts, Ends, Failure, Outcome};
pub use delivery::{
    Cell, Delivery, Event, EventKind, Gauge, JobIndex, Late, LateBatch, Outlet, Returned,
};
pub use grid::{Grid, Interval};
pub use histogram::{HIGHEST, Histograms, Kind};
pub use ledger::{Dispatch, Ending, Ledger, Request, Settled};
pub use life::Life;
pub use tally::{Effort, Failures, Sample, Tally};
pub use totals::{JobTotals, MemoryOutlet, Totals};
