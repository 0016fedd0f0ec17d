//! The vocabulary of measurements, without I/O.
//!
//! A lane's [`Ledger`] opens a [`Request`] when it comes due and settles it when it ends. The
//! counts and histograms of one second form a [`Cell`], which is delivered once per interval
//! through an [`Outlet`]. `archive` writes and reads the file that holds them.
//!
//! In addition to the requests, a record has observations of [`ObservedComponent`]s, and facts
//! about the run: its [`Header`], its [`Event`]s, its [`End`], [`Excerpt`]s of its statements and
//! tables, and facts with the names in [`environment`]. The observations are [`metric`]s, from one
//! table for samplers and judgements. [`Thinning`] merges the observations of a long run, each by
//! the [`SampleKind`] of its series.
//!
//! The invariants of this crate: every scheduled request has an outcome ([`Balance`]), quantiles
//! come from merged histograms ([`Histograms::merge`]), and an answer counts at the *intended*
//! start of its request ([`RequestTimestamps`], [`Grid`]).

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
