//! A scenario, and the judgement of an answer.

use super::stage::{Answer, RepetitionError, ScenarioEnv};

/// A scenario with a known limiter.
pub struct Scenario {
    /// Its name.
    pub name: &'static str,
    /// A short description of the bottleneck, printed in the table.
    pub made: &'static str,
    /// The components that count as a correct answer.
    pub accepted: &'static [&'static str],
    /// Text that the reason must contain, if any, such as the name of the table.
    pub word: Option<&'static str>,
    /// Creates the bottleneck and runs `assay` against it.
    pub run: fn(&ScenarioEnv) -> Result<Answer, RepetitionError>,
}

/// The judgement of one repetition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The limiter was identified.
    Right,
    /// The limiter was not identified: the answer was `unknown`.
    Missed,
    /// The limiter was misidentified.
    Wrong,
}

impl Scenario {
    /// Judges an answer by the accepted components and the required word.
    pub fn judge(&self, answer: &Answer) -> Outcome {
        let has_word = self.word.is_none_or(|word| answer.because.contains(word));
        match answer.component.as_str() {
            "unknown" => Outcome::Missed,
            named if self.accepted.contains(&named) && has_word => Outcome::Right,
            _ => Outcome::Wrong,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limiter::Unsupported;

    fn answer(component: &str, because: &str) -> Answer {
        Answer { component: component.to_owned(), because: because.to_owned() }
    }

    #[test]
    fn an_answer_is_right_missed_or_wrong() {
        let scenario = Scenario {
            name: "hot row",
            made: "",
            accepted: &["database-locks"],
            word: Some("acct"),
            run: |_| Err(Unsupported::because("never").into()),
        };
        let check = |component, because, expected| {
            assert_eq!(scenario.judge(&answer(component, because)), expected, "{component}");
        };
        check("database-locks", "locks of table acct", Outcome::Right);
        check("database-locks", "locks of table other", Outcome::Wrong);
        check("database-cpu", "acct", Outcome::Wrong);
        check("unknown", "acct", Outcome::Missed);
        let failed = Answer::none("locks of table acct".to_owned());
        assert_eq!(scenario.judge(&failed), Outcome::Wrong);
    }
}
