//! The sentences of reports, made from findings.
//!
//! Each function takes a finding and returns its sentence. All wording of findings is here. No
//! other code parses these sentences, except to see if a sentence already has the number of its
//! check.

mod check;
mod component;
mod counters;
mod digits;
pub(crate) mod doctor;
mod empty_success;
mod limiter;
mod load;
mod obstacle;
mod programs;
mod remedy;
#[cfg(test)]
mod tests;
mod unseen;

pub(crate) use check::check_sentence;
pub(crate) use component::{
    limiter_lead, relief, relief_of_load, relief_of_program, utilised_name,
};
pub(crate) use empty_success::{remedy_of_warning, warning};
pub(crate) use limiter::limiter_reason;
pub(crate) use load::filled_by_inserts;
pub(crate) use programs::other_program;
pub(crate) use remedy::remedy_at_highest_rate;
pub use remedy::{remedy, remedy_of};
pub(crate) use unseen::{reason, unseen_requests, unseen_source};
