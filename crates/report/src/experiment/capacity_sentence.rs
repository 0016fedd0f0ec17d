//! The sentences that answer the question of a capacity search.

use analyze::capacity::{Capacity, CapacityOrder, Irregular};

use super::capacity::CapacityView;
use crate::number;

impl CapacityView {
    /// Returns the sentences that answer the question; `record` is the path of the record.
    pub(super) fn answers(&self, record: &str) -> Vec<String> {
        let Some(found) = &self.found else { return Vec::new() };
        let mut sentences = vec![self.sentence(found)];
        sentences.extend(self.stored_method.map(stored_answer_note));
        sentences.extend(found.irregular.iter().map(|why| self.irregularity_text(why, record)));
        sentences
    }

    fn sentence(&self, found: &Capacity) -> String {
        let Some(sustained) = found.sustained else { return self.answer_without_value(found) };
        let times = number::count(found.confirmations.into(), "time");
        let held = match (self.order.hold, self.was_held(found)) {
            (Some(hold), true) => format!(", held for {hold}"),
            (Some(hold), false) => format!(", not held for {hold}"),
            (None, _) => String::new(),
        };
        let conditions = self.met_conditions(found);
        let with = if conditions.is_empty() { "" } else { " with " };
        let load = match self.is_rate() {
            true => format!("{} requests per second", number::significant(sustained)),
            false => number::count(sustained as u64, "client"),
        };
        let fails = match (self.highest_passing_beyond(), found.fails) {
            (Some(passes), _) => format!("the boundary is irregular up to {}", self.value(passes)),
            (None, Some(fails)) => format!("it fails at {}", self.value(fails)),
            (None, None) => "no larger value that was tried fails".to_owned(),
        };
        let result = format!("{load}{with}{conditions} (confirmed {times}{held}); {fails}");
        match self.limit_of_connections() {
            Some(connections) => format!(
                "The search found the limit of {}, not the capacity of the server, which sustains \
                 at least {result}",
                number::count(connections, "connection")
            ),
            None => format!("The server sustains {result}"),
        }
    }

    /// Returns the conditions that hold at the result.
    fn met_conditions(&self, found: &Capacity) -> String {
        let is_unmet = |position: usize| {
            let is_one = |why: &Irregular| *why == Irregular::Unmet { condition: position };
            found.irregular.iter().any(is_one)
        };
        let conditions = self.order.conditions.iter().enumerate();
        let met = conditions.filter(|(position, _)| !is_unmet(*position));
        met.map(|(_, condition)| condition.to_string()).collect::<Vec<String>>().join(", ")
    }

    /// Returns the answer of a search that confirmed no value, or whose value did not hold.
    fn answer_without_value(&self, found: &Capacity) -> String {
        let slo = &found.slo;
        let load = if self.is_rate() { "rate" } else { "number of clients" };
        let failed = found.irregular.iter().find_map(|why| match why {
            Irregular::HoldFailed { value } => Some(*value),
            _ => None,
        });
        match (failed, found.estimate) {
            (Some(value), _) => format!(
                "{} did not keep {slo} for {}, although shorter trials confirmed it",
                self.value(value),
                self.hold_length()
            ),
            (None, _) if self.misses_conditions() && self.always_has_errors() => {
                format!("Requests failed at every {load} that was tried")
            }
            (None, _) if self.misses_conditions() => {
                format!("No {load} that was tried keeps {slo}")
            }
            (None, Some(estimate)) => format!(
                "No {load} was confirmed to keep {slo}; the estimate is {}",
                self.value(estimate)
            ),
            (None, None) => format!("No {load} was confirmed to keep {slo}"),
        }
    }
}

/// Returns the sentence on an answer that was read from the record, and not computed from the
/// trials by this version of the method.
fn stored_answer_note(method: u32) -> String {
    format!(
        "Answer of search method {method}, stored in the record: this version of Assay uses method \
         {}",
        CapacityOrder::METHOD
    )
}

#[cfg(test)]
mod tests {
    use analyze::capacity::LoadLimit;

    use super::super::capacity::tests::search;
    use super::*;

    const RECORD: &str = "r.assay";

    #[test]
    fn connection_limit_is_not_reported_as_capacity() {
        for limit in [LoadLimit::OwnConnections(16), LoadLimit::AcceptedConnections(16)] {
            let mut view = search();
            view.found.as_mut().unwrap().irregular = vec![Irregular::LimitedBy(limit)];
            let answers = view.answers(RECORD);
            let words = "The search found the limit of 16 connections, not the capacity of the \
                         server, which sustains at least 740 requests per second with p99(read) < \
                         20ms (confirmed 6 times); it fails at 820/s";
            assert_eq!(answers[0], words);
            assert!(answers[1].starts_with("Irregular: limited by connections = 16."));
            let sustained = view.numbers().into_iter().find(|(name, _)| *name == "sustained");
            assert_eq!(sustained.unwrap().1, "at least 740/s");
        }
    }

    #[test]
    fn answer_that_was_stored_names_its_method() {
        let mut view = search();
        assert_eq!(view.answers(RECORD).len(), 1);
        view.stored_method = Some(3);
        let method = CapacityOrder::METHOD;
        let words = format!(
            "Answer of search method 3, stored in the record: this version of Assay uses method \
             {method}"
        );
        assert_eq!(view.answers(RECORD)[1], words);
    }
}
