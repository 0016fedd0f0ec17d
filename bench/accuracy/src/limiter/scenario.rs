//! A scenario, its kind, and the judgement of an answer.

use analyze::limiting::{ConnectionLimit, LimiterFinding, Pause, ProgramLimit, Sockets, Waits};
use testbed::Kind;

use super::stage::{Answer, RepetitionError, ScenarioEnv};

/// A test of the facts that a finding must have, such as the name of a table.
pub(super) type Fact = fn(&LimiterFinding) -> bool;

/// A kind of bottleneck, which is created on one or several servers.
pub(super) struct ScenarioKind {
    pub(super) name: &'static str,
    pub(super) bottleneck: &'static str,
    pub(super) accepted: &'static [&'static str],
    pub(super) fact: Option<Fact>,
    pub(super) run: RunOn,
}

/// The servers of a kind of scenario, and the function that creates the bottleneck and runs `assay`
/// against it.
pub(super) enum RunOn {
    /// One scenario, whose server is chosen by the function.
    One(fn(&ScenarioEnv) -> Result<Answer, RepetitionError>),
    /// A scenario on each of these servers.
    Each(&'static [Kind], fn(&ScenarioEnv, Kind) -> Result<Answer, RepetitionError>),
}

impl ScenarioKind {
    /// Returns the scenarios of this kind. With [`RunOn::Each`], each name ends with the name of a
    /// product, and only the first scenario describes the bottleneck; the others say "the same".
    pub(super) fn scenarios(&self) -> Vec<Scenario> {
        match self.run {
            RunOn::One(run) => vec![self.scenario(self.name.to_owned(), self.bottleneck, run)],
            RunOn::Each(kinds, run) => {
                let mut bottleneck = self.bottleneck;
                let scenario = |kind: &Kind| {
                    let kind = *kind;
                    let name = format!("{}, {}", self.name, product(kind));
                    let shown = std::mem::replace(&mut bottleneck, "the same");
                    self.scenario(name, shown, move |stage| run(stage, kind))
                };
                kinds.iter().map(scenario).collect()
            }
        }
    }

    fn scenario(
        &self,
        name: String,
        bottleneck: &'static str,
        run: impl Fn(&ScenarioEnv) -> Result<Answer, RepetitionError> + 'static,
    ) -> Scenario {
        Scenario { name, bottleneck, accepted: self.accepted, fact: self.fact, run: Box::new(run) }
    }
}

/// Returns the name of a server's product.
fn product(kind: Kind) -> &'static str {
    match kind {
        Kind::Postgres => "PostgreSQL",
        Kind::Mariadb => "MariaDB",
        Kind::Mysql => "MySQL",
    }
}

/// The creation of a bottleneck, followed by a run of `assay` against it.
type Repetition = Box<dyn Fn(&ScenarioEnv) -> Result<Answer, RepetitionError>>;

/// A scenario with a known limiter.
pub struct Scenario {
    /// Name of the scenario.
    pub name: String,
    /// A short description of the bottleneck, printed in the table.
    pub bottleneck: &'static str,
    /// The components that count as a correct answer.
    pub accepted: &'static [&'static str],
    /// Test of the facts that the finding must have, such as the name of the table; `None` if any
    /// facts are accepted.
    pub fact: Option<fn(&LimiterFinding) -> bool>,
    /// Creates the bottleneck and runs `assay` against it.
    pub run: Repetition,
}

/// The judgement of one repetition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The limiter was identified.
    Right,
    /// The limiter was not identified: the answer was `unknown`.
    Missed,
    /// The limiter was misidentified, the finding lacks the required fact, or the repetition
    /// failed.
    Wrong,
}

impl Scenario {
    /// Judges an answer by the accepted components and the required facts.
    pub fn judge(&self, answer: &Answer) -> Outcome {
        let has_fact = self.fact.is_none_or(|fact| answer.finding.as_ref().is_some_and(fact));
        match answer.component.as_str() {
            "unknown" => Outcome::Missed,
            named if self.accepted.contains(&named) && has_fact => Outcome::Right,
            _ => Outcome::Wrong,
        }
    }
}

/// Returns true if a finding names the table `acct` or a statement about it.
pub(super) fn names_acct(finding: &LimiterFinding) -> bool {
    match finding {
        LimiterFinding::Waits(Waits::Locks { table, statement, .. }) => {
            [table, statement].into_iter().flatten().any(|name| name.contains("acct"))
        }
        _ => false,
    }
}

/// Returns true if a finding names the program `sh`.
pub(super) fn names_sh(finding: &LimiterFinding) -> bool {
    match finding {
        LimiterFinding::OtherPrograms(others) => others.largest().iter().any(|it| it.name == "sh"),
        _ => false,
    }
}

/// Returns true if a finding names pgbouncer as the pool.
pub(super) fn names_pgbouncer(finding: &LimiterFinding) -> bool {
    match finding {
        LimiterFinding::Connections(ConnectionLimit::PoolOfProgram { pooler, .. }) => {
            pooler.as_deref() == Some("pgbouncer")
        }
        _ => false,
    }
}

/// Returns true if a finding says that a program pauses, and is based on the sockets at both ends
/// of its connections.
pub(super) fn sees_both_sockets(finding: &LimiterFinding) -> bool {
    match finding {
        LimiterFinding::Program(ProgramLimit::Pauses { pause, .. }) => {
            matches!(pause, Pause::NoFurtherRequests { sockets: Sockets::Empty { .. }, .. })
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use analyze::limiting::WaitingSessions;

    use super::*;
    use crate::limiter::Unsupported;

    /// Returns an answer with waits for locks of a table.
    fn answer(component: &str, table: &str) -> Answer {
        let sessions = WaitingSessions { waiting: 2.0, active: 3.0, event: String::new() };
        let table = Some(table.to_owned());
        let locks = Waits::Locks { sessions, table, statement: None };
        Answer {
            component: component.to_owned(),
            because: String::new(),
            finding: Some(LimiterFinding::Waits(locks)),
        }
    }

    #[test]
    fn limiter_answer_is_right_missed_or_wrong() {
        let scenario = Scenario {
            name: "hot row".to_owned(),
            bottleneck: "",
            accepted: &["database-locks"],
            fact: Some(names_acct),
            run: Box::new(|_| Err(Unsupported::new("never").into())),
        };
        let check = |component, table, expected| {
            assert_eq!(scenario.judge(&answer(component, table)), expected, "{component}");
        };
        check("database-locks", "public.acct", Outcome::Right);
        check("database-locks", "other", Outcome::Wrong);
        check("database-cpu", "acct", Outcome::Wrong);
        check("unknown", "acct", Outcome::Missed);
        let failed = Answer::failed("locks of table acct".to_owned());
        assert_eq!(scenario.judge(&failed), Outcome::Wrong);
    }

    #[test]
    fn scenario_kind_is_made_once_for_each_server() {
        let kind = ScenarioKind {
            name: "hot row",
            bottleneck: "one row",
            accepted: &["database-locks"],
            fact: None,
            run: RunOn::Each(&[Kind::Postgres, Kind::Mysql], |_, kind| {
                Err(Unsupported::new(kind.name()).into())
            }),
        };
        let scenarios = kind.scenarios();
        let reported: Vec<_> =
            scenarios.iter().map(|it| (it.name.as_str(), it.bottleneck)).collect();
        assert_eq!(reported, [("hot row, PostgreSQL", "one row"), ("hot row, MySQL", "the same")]);
        let single =
            ScenarioKind { run: RunOn::One(|_| Err(Unsupported::new("never").into())), ..kind };
        assert_eq!(single.scenarios()[0].name, "hot row");
    }
}
