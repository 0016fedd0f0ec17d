//! Analysis of a sweep: pure functions from the figures of its runs to curves and their best point.
//!
//! A sweep runs a workload at several values of one key, several times each. A [`CurvePoint`] holds
//! the runs at one value. [`best()`] names the best point with the points that are not shown to be
//! worse, [`fit_usl()`] fits the universal scalability law to the throughput, and
//! [`response_model()`] predicts response times from the point with one client and from the points
//! on the plateau. An [`ArmCurve`] holds these results for one arm.
//!
//! A point is not used if one of its runs is INVALID or lacks the metric; [`best()`] and
//! [`fit_usl()`] name such points with the [`Unusable`] reason. Only [`response_model_of_rates()`]
//! also uses points whose load exceeds the capacity, because their throughput is the plateau. They
//! may be INVALID, unless the load generator or its machine failed.

mod best;
mod point;
mod response_model;
mod solver;
mod summary;
mod usl;

pub use best::{BestPoint, OtherPoint, Ranking, best, repeat_best};
pub use point::{ALPHA, CurvePoint, CurveRun, Interval, PointMean, Unusable};
pub use response_model::{
    ModelPoint, NoResponseModel, PointRole, ResponseModel, response_model, response_model_of_rates,
};
pub use summary::{ArmCurve, JobAtPoint, PointSummary, SweepRun, VariedKey};
pub use usl::{FittedValue, NoUsl, Peak, Usl, fit_usl};
