//! The plan: a workload file in typed form, complete and with all names resolved.
//!
//! A plan is the only thing that the engine knows about a workload file. Parameters are replaced by
//! their values, defaults are filled in, every variable is an index, and every generator has its
//! own random stream. Building a plan touches no database and no clock.

mod account;
mod hidden;
mod id;
mod job;
mod load;
mod model;
mod observe;
mod pacing;
mod slo;
mod statement;
mod target;
mod warmup;

pub use crate::text::Piece;
pub(crate) use account::names_of_wholes;
pub use account::{JobOrPart, is_job_or_part};
pub use hidden::Hidden;
pub use id::{Account, JobId, PartId, TargetId};
pub use job::{Feed, Flow, Job, Let, OnError, OnOutage, Part, Reconnect, Requests, Retry, Rows};
pub use load::{Column, Indexes, Load, LoadMethod, OnDuplicate};
pub use model::{Param, Plan};
pub use observe::{Observe, RemoteHost};
pub use pacing::{Arrival, OnQueueFull, Pacing, Schedule};
pub use slo::{Metric, Side, Slo, Statistic};
pub use statement::{FixedStatement, ScriptLine, Statement};
pub use target::{JobTarget, NamedTarget};
pub use warmup::Warmup;
