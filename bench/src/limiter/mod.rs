//! Is the limiter that is named the one that was made?
//!
//! Each [`Scenario`] builds a situation whose limiter is known because it was made, with real
//! servers, and lets the program `assay` run in it. What it names is compared with what was made.

mod loads;
mod programs;
mod scenarios;
mod stage;
mod table;

pub use stage::{Answer, Draws, Stage, Stopped, Unable, say};
pub use table::{Row, Table};

/// All situations.
pub fn scenarios() -> impl Iterator<Item = &'static Scenario> {
    scenarios::SCENARIOS.iter().chain(programs::SCENARIOS)
}

/// A situation with a known limiter.
pub struct Scenario {
    /// Its name.
    pub name: &'static str,
    /// What was made, in a few words.
    pub made: &'static str,
    /// The components that name it rightly.
    pub accepted: &'static [&'static str],
    /// A word that must stand in the reason, if one must: the name of the table.
    pub word: Option<&'static str>,
    /// Makes it and runs in it.
    pub run: fn(&Stage) -> Result<Answer, Stopped>,
}

/// What came of one repetition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The right component was named.
    Right,
    /// None was: the answer was that it is not known.
    Missed,
    /// Another one was.
    Wrong,
}

impl Scenario {
    /// Whether an answer names what was made.
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
            run: |_| Err(Unable::because("never").into()),
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

    #[test]
    fn scenarios_have_names_of_their_own_and_words_of_the_contract() {
        for (place, scenario) in scenarios().enumerate() {
            assert!(scenarios().skip(place + 1).all(|other| other.name != scenario.name));
            for accepted in scenario.accepted {
                let is_known = analyze::Component::ALL.iter().any(|it| it.name() == *accepted);
                assert!(is_known, "{}: {accepted}", scenario.name);
            }
        }
        assert!(scenarios().count() >= 12);
    }
}
