//! The servers of an experiment, which all of its runs share.

use base::{ById, Endpoint, Id, Secrets, Target, TargetKind};
use workload::JobTarget;
use workload::question::{Arm, SERVER_KEY};

use super::arm_point::ArmPointId;
use super::settings;
use crate::run::Order;
use crate::stage::{OpenError, Stage};
use crate::target::TargetProblem;

/// The option of a URL that applies to a private server and to its client.
const TLS: &str = "tls";

/// The servers and drivers of an experiment's arms.
///
/// Arms with the same target share a stage. Arms whose targets differ only in options of the
/// client, or in settings that arms change, have different stages on the same server and find the
/// same data.
pub(super) struct Servers {
    stages: ById<StageId, OpenStage>,
    /// The stage of each arm.
    of_arms: ById<ArmPointId, StageId>,
    /// The private servers; dropped after the stages that use them.
    private: ById<PrivateId, SharedServer>,
    /// Names of the settings of private servers that arms change.
    varied: Vec<String>,
}

/// A stage of an experiment, by its index in [`Servers`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct StageId(usize);

/// A private server of an experiment, by its index in [`Servers`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PrivateId(usize);

impl Id for StageId {
    fn at(index: usize) -> StageId {
        StageId(index)
    }

    fn index(self) -> usize {
        self.0
    }
}

impl Id for PrivateId {
    fn at(index: usize) -> PrivateId {
        PrivateId(index)
    }

    fn index(self) -> usize {
        self.0
    }
}

/// A stage, and the data on its server.
struct OpenStage {
    stage: Stage,
    target: Target,
    /// The first stage that uses the same server and data.
    data: StageId,
    /// The private server that the stage uses, if it uses one.
    private: Option<PrivateId>,
}

/// A private server that stages share.
struct SharedServer {
    /// The requested target, without the options in which the arms may differ.
    requested: Target,
    /// The URL to connect to.
    url: Target,
    server: testbed::Server,
}

impl Servers {
    /// Starts the servers. `arms` are the arms or, in a sweep, the arms at each point; `orders` has
    /// an [`Order`] for each of them. `varied` are the names of the settings of private servers
    /// that arms change. The main target of a stage is opened only if an arm on the stage uses it.
    ///
    /// # Errors
    /// A server cannot be started, or a target cannot be opened; the arm is returned with the
    /// error.
    pub(super) fn open(
        arms: &[Arm],
        orders: &[Order],
        varied: Vec<String>,
    ) -> Result<Servers, (ArmPointId, OpenError)> {
        let mut servers = Servers {
            stages: ById::default(),
            of_arms: ById::default(),
            private: ById::default(),
            varied,
        };
        let uses_main = |target: &Target| {
            arms.iter().zip(orders).any(|(arm, order)| order.target == *target && arm.uses_main())
        };
        let wants_tls = orders.iter().any(|order| uses_tls(&order.target));
        for (arm, order) in orders.iter().enumerate() {
            let known = servers.stages.iter().find(|(_, known)| known.target == order.target);
            let stage = match known.map(|(stage, _)| stage) {
                Some(stage) => stage,
                None => {
                    let reached = servers.server_url(&order.target, wants_tls);
                    let (reached, private) = reached.map_err(|error| (ArmPointId(arm), error))?;
                    let Order { plan, options, .. } = order;
                    let stage = Stage::open_used(plan, &reached, options, |used| match used {
                        JobTarget::Main => uses_main(&order.target),
                        JobTarget::Named(_) | JobTarget::Programs => plan.uses(used),
                    });
                    let stage = stage.map_err(|error| (ArmPointId(arm), error))?;
                    servers.add(stage, order.target.clone(), private)
                }
            };
            servers.of_arms.push(stage);
        }
        Ok(servers)
    }

    /// Returns the stage of an arm.
    pub(super) fn stage(&self, arm: ArmPointId) -> &Stage {
        &self.open_stage(arm).stage
    }

    /// Returns the passwords of all targets, as [`Stage::passwords`] does.
    pub(super) fn passwords(&self) -> Secrets {
        Secrets::of_all(self.stages.iter().map(|(_, opened)| opened.stage.passwords()))
    }

    /// Returns the kind of an arm's private server; `None` if it has none.
    pub(super) fn private_kind(&self, arm: ArmPointId) -> Option<testbed::Kind> {
        self.open_stage(arm).private.map(|private| self.private[private].server.kind())
    }

    fn open_stage(&self, arm: ArmPointId) -> &OpenStage {
        &self.stages[self.of_arms[arm]]
    }

    /// Returns one arm for each server and database. The data there are prepared through this arm.
    pub(super) fn arms_with_own_data(&self) -> Vec<ArmPointId> {
        let with_own = self.stages.iter().filter(|(stage, opened)| opened.data == *stage);
        let first = |(stage, _)| self.of_arms.iter().find(|(_, of)| **of == stage);
        with_own.filter_map(first).map(|(arm, _)| arm).collect()
    }

    /// Returns one arm for each distinct endpoint (login, list of hosts and database, or file), in
    /// the order of the arms.
    pub(super) fn arms_with_own_endpoint(&self) -> Vec<ArmPointId> {
        let endpoint = |arm: ArmPointId| {
            let target = &self.open_stage(arm).target;
            (target.kind, &target.endpoint)
        };
        let mut arms: Vec<ArmPointId> = Vec::new();
        for (arm, _) in self.of_arms.iter() {
            if !arms.iter().any(|known| endpoint(*known) == endpoint(arm)) {
                arms.push(arm);
            }
        }
        arms
    }

    /// Returns the first stage that uses the data of an arm. All arms that use the same data have
    /// the same first stage.
    pub(super) fn data_of(&self, arm: ArmPointId) -> StageId {
        self.open_stage(arm).data
    }

    /// Restarts the private server of an arm with the arm's settings, if any arm changes settings.
    /// Every run of every arm then finds its server in the same state.
    ///
    /// # Errors
    /// The server does not start with these settings.
    pub(super) fn restart(&mut self, arm: ArmPointId) -> Result<(), testbed::Problem> {
        let opened = &self.stages[self.of_arms[arm]];
        let Some(private) = opened.private.filter(|_| !self.varied.is_empty()) else {
            return Ok(());
        };
        let settings = testbed::check(&opened.target)?.settings;
        self.private[private].server.restart_with(settings)
    }

    /// Returns the URL to connect to. If the target requests a private server, starts this server
    /// unless it is running, and returns its URL and its index.
    fn server_url(
        &mut self,
        target: &Target,
        wants_tls: bool,
    ) -> Result<(Target, Option<PrivateId>), OpenError> {
        if target.kind != TargetKind::Testbed {
            return Ok((target.clone(), None));
        }
        let shared = without_varied(target, &self.varied);
        let known = self.private.iter().find(|(_, private)| private.requested == shared);
        let private = match known.map(|(private, _)| private) {
            Some(private) => private,
            None => {
                let mut requested = without_tls(target);
                if wants_tls {
                    requested.options.push((TLS.to_owned(), "verify".to_owned()));
                }
                let (server, url) = testbed::start(&requested).map_err(TargetProblem::Testbed)?;
                self.private.push(SharedServer { requested: shared, url, server })
            }
        };
        let url = self.private[private].url.clone();
        Ok((if wants_tls { with_mode(url, target.option(TLS)) } else { url }, Some(private)))
    }

    fn add(&mut self, stage: Stage, target: Target, private: Option<PrivateId>) -> StageId {
        let same = |(_, opened): &(StageId, &OpenStage)| {
            shares_data(&opened.target, &target, &self.varied)
        };
        let data = self.stages.iter().find(same).map(|(stage, _)| stage);
        let data = data.unwrap_or(StageId(self.stages.len()));
        self.stages.push(OpenStage { stage, target, data, private })
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

/// Returns a target without the options in which arms on the same private server may differ.
fn without_varied(target: &Target, varied: &[String]) -> Target {
    let mut target = without_tls(target);
    let is_varied = |name: &str| {
        name.strip_prefix(SERVER_KEY)
            .is_some_and(|name| varied.contains(&settings::server_setting_name(name)))
    };
    target.options.retain(|(name, _)| !is_varied(name));
    target
}

/// Returns the URL of a server that offers TLS, with the TLS mode that an arm requests.
fn with_mode(url: Target, mode: Option<&str>) -> Target {
    match mode.unwrap_or("off") {
        "verify" => url,
        mode => Target { options: vec![(TLS.to_owned(), mode.to_owned())], ..url },
    }
}

/// Returns true if two different targets reach one server with the same data.
fn shares_data(one: &Target, other: &Target, varied: &[String]) -> bool {
    match one.endpoint {
        Endpoint::Network { .. } => one.kind == other.kind && shares_first_host(one, other),
        Endpoint::File(_) => (one.kind, &one.endpoint) == (other.kind, &other.endpoint),
        Endpoint::Named(_) if one.kind == TargetKind::Testbed => {
            without_varied(one, varied) == without_varied(other, varied)
        }
        Endpoint::Temporary | Endpoint::Named(_) => false,
    }
}

/// Returns true if the endpoints of two targets are equal except for the hosts after the first one.
/// This holds for the points of a sweep over the number of hosts, because each point uses the first
/// hosts of the same list.
fn shares_first_host(one: &Target, other: &Target) -> bool {
    let first = |target: &Target| {
        let mut endpoint = target.endpoint.clone();
        if let Endpoint::Network { addresses, .. } = &mut endpoint {
            addresses.truncate(1);
        }
        endpoint
    };
    first(one) == first(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(one: &str, other: &str, expected: bool) {
        let [first, second] = [one, other].map(|url| Target::parse(url).unwrap());
        assert_eq!(shares_data(&first, &second, &[]), expected, "{one} {other}");
    }

    #[test]
    fn options_of_the_client_do_not_change_the_data() {
        check("postgres://h/d?tls=off", "postgres://h/d?tls=require", true);
        check("postgres://h/d", "postgres://h/e", false);
        check("postgres://h/d", "postgres://h,i/d", true);
        check("postgres://h,i/d", "postgres://i/d", false);
        check("testbed:postgres", "testbed:postgres?tls=require", true);
        check("testbed:postgres", "testbed:mariadb", false);
        check("testbed:postgres?server.fsync=off", "testbed:postgres", false);
        check("sqlite:a.db?journal=wal", "sqlite:a.db", true);
        check("sqlite:?journal=wal", "sqlite:", false);
        check("sim:mm1", "sim:mm1?service=2ms", false);
    }

    #[test]
    fn settings_that_arms_change_do_not_change_the_data() {
        let [off, on] = ["off&server.jit=off", "on"]
            .map(|fsync| Target::parse(&format!("testbed:postgres?server.Fsync={fsync}")).unwrap());
        let varied = ["fsync", "jit"].map(str::to_owned);
        assert!(shares_data(&off, &on, &varied));
        assert!(!shares_data(&off, &on, &varied[..1]));
    }

    #[test]
    fn client_requests_its_own_mode_of_tls() {
        let url = Target::parse("postgres://h/d?tls=verify&tls-ca=a.pem").unwrap();
        let options = |mode: Option<&str>| with_mode(url.clone(), mode).to_string();
        assert_eq!(options(None), "postgres://h/d?tls=off");
        assert_eq!(options(Some("require")), "postgres://h/d?tls=require");
        assert_eq!(options(Some("verify")), url.to_string());
    }
}
