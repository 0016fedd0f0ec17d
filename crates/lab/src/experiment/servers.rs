//! The servers of an experiment, which all of its runs share.

use base::{Endpoint, Target, TargetKind};

use crate::run::Order;
use crate::stage::{OpenError, Stage};
use crate::target::TargetProblem;

/// The option of a URL that client and server of a private server have in common.
const TLS: &str = "tls";

/// The servers and drivers of an experiment's arms.
///
/// Arms with the same target share a stage. Arms whose targets differ in options of the client
/// share the server behind them, so that they find the same data.
pub(super) struct Servers {
    stages: Vec<Opened>,
    /// The stage of each arm.
    of_arms: Vec<usize>,
    /// The private servers; dropped after the stages that use them.
    _private: Vec<testbed::Server>,
}

/// A stage with the data that its server holds.
struct Opened {
    stage: Stage,
    target: Target,
    /// The first stage whose server has the same data.
    data: usize,
}

impl Servers {
    /// Starts the servers; `orders` has an order for each arm.
    ///
    /// # Errors
    /// A server cannot be started, or a target cannot be opened; with the number of the arm.
    pub(super) fn open(orders: &[Order]) -> Result<Servers, (usize, OpenError)> {
        let mut servers = Servers { stages: Vec::new(), of_arms: Vec::new(), _private: Vec::new() };
        let mut private: Vec<(Target, Target)> = Vec::new();
        let wants_tls = orders.iter().any(|order| uses_tls(&order.target));
        for (arm, order) in orders.iter().enumerate() {
            let known = servers.stages.iter().position(|opened| opened.target == order.target);
            let place = match known {
                Some(place) => place,
                None => {
                    let reached = servers.reached(&order.target, wants_tls, &mut private);
                    let reached = reached.map_err(|error| (arm, error))?;
                    let stage = Stage::open(&order.plan, &reached, &order.options);
                    let stage = stage.map_err(|error| (arm, error))?;
                    servers.add(stage, order.target.clone())
                }
            };
            servers.of_arms.push(place);
        }
        Ok(servers)
    }

    /// Returns the stage of an arm.
    pub(super) fn stage(&self, arm: usize) -> &Stage {
        &self.stages[self.of_arms[arm]].stage
    }

    /// Returns the arms through which the data of all servers are prepared: one for each server.
    pub(super) fn arms_with_own_data(&self) -> Vec<usize> {
        let has_own = |place: usize| self.stages[place].data == place;
        let first = |place: usize| self.of_arms.iter().position(|of| *of == place);
        (0..self.stages.len()).filter(|place| has_own(*place)).filter_map(first).collect()
    }

    /// Returns the URL to connect to: that of a private server if the target asks for one.
    fn reached(
        &mut self,
        target: &Target,
        wants_tls: bool,
        private: &mut Vec<(Target, Target)>,
    ) -> Result<Target, OpenError> {
        if target.kind != TargetKind::Testbed {
            return Ok(target.clone());
        }
        let server = without_tls(target);
        let url = match private.iter().find(|(known, _)| *known == server) {
            Some((_, url)) => url.clone(),
            None => {
                let mut asked = server.clone();
                if wants_tls {
                    asked.options.push((TLS.to_owned(), "verify".to_owned()));
                }
                let (started, url) = testbed::start(&asked).map_err(TargetProblem::Testbed)?;
                self._private.push(started);
                private.push((server, url.clone()));
                url
            }
        };
        Ok(if wants_tls { with_mode(url, target.option(TLS)) } else { url })
    }

    fn add(&mut self, stage: Stage, target: Target) -> usize {
        let same = |opened: &Opened| shares_data(&opened.target, &target);
        let place = self.stages.len();
        let data = self.stages.iter().position(same).unwrap_or(place);
        self.stages.push(Opened { stage, target, data });
        place
    }
}

fn uses_tls(target: &Target) -> bool {
    target.option(TLS).is_some_and(|mode| mode != "off")
}

fn without_tls(target: &Target) -> Target {
    let mut target = target.clone();
    target.options.retain(|(name, _)| name != TLS);
    target
}

/// Returns the URL of a server that offers TLS, with the mode that an arm asks for.
fn with_mode(url: Target, mode: Option<&str>) -> Target {
    match mode.unwrap_or("off") {
        "verify" => url,
        mode => Target { options: vec![(TLS.to_owned(), mode.to_owned())], ..url },
    }
}

/// Returns true if two different targets are one server with the same data.
fn shares_data(one: &Target, other: &Target) -> bool {
    match one.endpoint {
        Endpoint::Network { .. } | Endpoint::File(_) => {
            (one.kind, &one.endpoint) == (other.kind, &other.endpoint)
        }
        Endpoint::Named(_) if one.kind == TargetKind::Testbed => {
            without_tls(one) == without_tls(other)
        }
        Endpoint::Temporary | Endpoint::Named(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(one: &str, other: &str, expected: bool) {
        let [first, second] = [one, other].map(|url| Target::parse(url).unwrap());
        assert_eq!(shares_data(&first, &second), expected, "{one} {other}");
    }

    #[test]
    fn options_of_the_client_do_not_change_the_data() {
        check("postgres://h/d?tls=off", "postgres://h/d?tls=require", true);
        check("postgres://h/d", "postgres://h/e", false);
        check("testbed:postgres", "testbed:postgres?tls=require", true);
        check("testbed:postgres", "testbed:mariadb", false);
        check("testbed:postgres?server.fsync=off", "testbed:postgres", false);
        check("sqlite:a.db?journal=wal", "sqlite:a.db", true);
        check("sqlite:?journal=wal", "sqlite:", false);
        check("sim:mm1", "sim:mm1?service=2ms", false);
    }

    #[test]
    fn client_asks_for_its_own_mode_of_tls() {
        let url = Target::parse("postgres://h/d?tls=verify&tls-ca=a.pem").unwrap();
        let options = |mode: Option<&str>| with_mode(url.clone(), mode).to_string();
        assert_eq!(options(None), "postgres://h/d?tls=off");
        assert_eq!(options(Some("require")), "postgres://h/d?tls=require");
        assert_eq!(options(Some("verify")), url.to_string());
    }
}
