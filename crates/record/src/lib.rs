//! The vocabulary of measurements, without I/O.
//!
//! A lane is one thread's part of a run. Its [`Ledger`] opens a [`Request`] when the request comes
//! due, and settles the request when it ends. The counts and histograms of a job in one interval
//! form a [`Cell`], which the lane delivers to the recorder through an [`Outlet`]. The crate
//! `archive` writes and reads the file that holds these measurements.
//!
//! In addition to the requests, a record has observations of [`ObservedComponent`]s, and facts
//! about the run: its [`Header`], its [`Event`]s, its [`End`], [`Excerpt`]s of its statements and
//! tables, and facts with the names in [`environment`]. The observations are values of [`metric`]s,
//! which one table defines for samplers and checks, and of the servers' own [`statistic`]s.
//! [`Thinning`] merges the observations of a long run; the [`SampleKind`] of a series says how.
//!
//! The invariants of this crate: every scheduled request has an outcome ([`Balance`]), quantiles
//! come from merged histograms ([`Histograms::merge`]), and the outcome and the times of a request
//! count in the interval of its *intended* start ([`RequestTimestamps`], [`Grid`]). Only
//! [`EndCounts`] count a request in the interval of its end.

mod balance;
mod component;
pub mod component_name;
mod delivery;
pub mod environment;
mod excerpt;
mod facts;
mod grid;
mod histogram;
mod input_file;
mod kind;
mod ledger;
mod live;
pub mod metric;
mod note;
mod op_log;
mod sample_kind;
mod statement_set;
pub mod statistic;
mod tally;
mod thinning;
mod time_buckets;
mod times;
mod times_sum;
mod timestamps;
mod totals;

pub use balance::{Balance, Counts, EndCounts, Failure, MAX_ROWS, Outcome};
pub use component::{ComponentKind, LANE_PREFIX, MeasuredSide, ObservedComponent};
pub use delivery::{
    Cell, Delivery, Event, EventError, EventKind, Gauge, LateAnswer, LateBatch, Outlet, Returned,
};
pub use excerpt::{Excerpt, ExcerptKind, MOST_EXCERPT_ROWS};
pub use facts::{
    AccountKind, ClientSample, End, EndKind, Header, JobHeader, Load, Pace, Reading, RunFacts,
    Series, TargetText,
};
pub use grid::{Grid, Interval};
pub use histogram::Histograms;
pub use input_file::{InputFile, LONGEST_KEPT_TEXT};
pub use kind::{HIGHEST, Kind};
pub use ledger::{Dispatch, Ledger, Request, RequestEnd, Settled};
pub use live::{ComponentUtilization, LiveJob, LiveState};
pub use metric::{MetricKind, ObservedMetric};
pub use note::{Note, NoteError};
pub use op_log::{OpFormat, OpLogReport, OpRow, OpSink};
pub use sample_kind::SampleKind;
pub use statement_set::{StatementAnswers, StatementSet};
pub use statistic::ServerStatistic;
pub use tally::{Failures, RequestWork, Sample, Tally, UNANSWERED};
pub use thinning::{SampleBin, SampleBins, SampleRange, ThinnedRow, Thinning, UNMERGED_PERIOD};
pub use time_buckets::TimeBuckets;
pub use times::{Bucket, Scale, Times};
pub use times_sum::{BucketCount, TimesSum, bucket_counts};
pub use timestamps::RequestTimestamps;
pub use totals::{AccountTotals, MemoryOutlet, Totals};
