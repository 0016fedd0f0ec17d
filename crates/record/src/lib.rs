//! Measurement and recording of requests.
//!
//! On the measured side, a lane's [`Ledger`] opens a [`Request`] when it comes due and settles it
//! when it ends. The counts and histograms of one second make a [`Cell`], which is delivered once
//! per interval through an [`Outlet`].
//!
//! On the other side of the outlet, a [`Recorder`] adds up the lanes and writes the `.assay` file,
//! which an [`Archive`] reads and [`write_hlog`] exports. Other files of a run, which are not part
//! of the record, are written by separate threads: an [`OpLog`], a [`ResultsFile`].
//!
//! The invariants of this crate: every scheduled request has an outcome ([`Balance`]), quantiles
//! come from merged histograms ([`Histograms::merge`]), an answer counts at the *intended* start of
//! its request ([`Life`], [`Grid`]), a record survives `kill -9` ([`Recorder`]), and an [`Archive`]
//! returns what was written.

mod archive;
mod balance;
mod component;
mod delivery;
mod facts;
mod grid;
mod histogram;
mod hlog;
mod ledger;
mod life;
mod recorder;
mod spool;
mod tally;
mod times;
mod totals;

pub use archive::{
    Archive, ClientReading, FailureCount, HistogramSlice, IntervalCounts, LoadPoint, LoadReport,
    RecordError, RecordErrorKind, SeriesReadings,
};
pub use balance::{Balance, Counts, Ends, Failure, Outcome};
pub use component::{Component, Part, Side};
pub use delivery::{
    Cell, Delivery, Event, EventKind, Gauge, JobIndex, Late, LateBatch, Outlet, Returned,
};
pub use facts::{
    ClientSample, End, EndKind, Header, INSERT_REASON_PREFIX, JobHeader, Load, Pace, Reading,
    Series, TargetText,
};
pub use grid::{Grid, Interval};
pub use histogram::{HIGHEST, Histograms, Kind};
pub use hlog::{hlog_tag, write_hlog};
pub use ledger::{Dispatch, Ending, Ledger, Request, Settled};
pub use life::Life;
pub use recorder::{Busy, Live, LiveJob, LiveView, Notes, Recorder, RecorderOutlet};
pub use spool::{
    FileHealth, Logged, OpFormat, OpLog, OpLogError, OpLogHandle, OpLogPlan, OpLogReport,
    ResultsFile, ResultsHandle, Unwritten, Written,
};
pub use tally::{Failures, RequestWork, Sample, Tally, UNANSWERED};
pub use times::Times;
pub use totals::{JobTotals, MemoryOutlet, Totals};
