//! Texts of irregularities that depend on no other part of the search.

use analyze::capacity::{LoadLimit, Metastable, Phase};
use base::shell_word;

use crate::number;

/// Returns the command that shows a run of a record, as code.
pub(super) fn report_of_run(record: &str, run: u32) -> String {
    format!("`assay report {} --run {run}`", shell_word(record))
}

/// Returns a drift of the capacity in words, with its remedy.
pub(super) fn drift(change: f64) -> String {
    let word = if change < 0.0 { "falls" } else { "grows" };
    format!(
        "Irregular: the capacity {word} from trial to trial, by {} over the search. Write \
         `restore`, or wait until the server has settled, then ask again",
        number::percent(change.abs())
    )
}

/// Returns a limit of the load in words, with its remedy.
pub(super) fn limited_by(limit: LoadLimit) -> String {
    match limit {
        LoadLimit::OwnConnections(connections) => format!(
            "Irregular: limited by connections = {connections}. Requests wait for a connection of \
             ours: this is not the capacity of the database; raise `concurrency` or \
             `max-connections`"
        ),
        LoadLimit::AcceptedConnections(connections) => format!(
            "Irregular: limited by connections = {connections}. The server accepts no more: this \
             is not the capacity of the database; raise the limit of connections of the server or \
             the pool"
        ),
    }
}

/// Describes an overload that may sustain itself, with advice. The trials do not show the cause of
/// the overload.
pub(super) fn metastable(found: &Metastable) -> String {
    let Metastable { fails, answered_per_s, passes, connections, advised } = *found;
    let busy = connections.map_or_else(String::new, |busy| {
        format!(", with {} busy", number::count(busy, "connection"))
    });
    let remedy = match advised {
        Some(most) => format!(
            "Write `max-connections = {most}`, or `concurrency = {most}` if the job has that key"
        ),
        None => "Write a smaller `max-connections`, or `concurrency` if the job has it".to_owned(),
    };
    format!(
        "Irregular: an overload seems to sustain itself (metastable failure). At {} the server \
         answered only {}{busy}, although {} passed in another trial. A backlog made it slower, or \
         something else did. {remedy}",
        number::rate(fails),
        number::rate(answered_per_s),
        number::rate(passes)
    )
}

/// Returns the phase of the search in words that continue "the budget ended".
pub(super) fn during(phase: &Phase) -> String {
    match phase {
        Phase::Bracket => "before values on both sides of the boundary were found".to_owned(),
        Phase::Shrink => "before the boundary was located".to_owned(),
        Phase::Round(round) => format!("in round {round} around the boundary"),
        Phase::Confirm(_) => "in the confirmation".to_owned(),
        Phase::Hold => "in the hold".to_owned(),
    }
}
