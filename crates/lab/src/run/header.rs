//! The header of a run's record.

use engine::NodeEntry;
use record::{AccountKind, Header, JobHeader, Pace, TargetText};
use workload::{Account, JobOrPart, JobTarget, Placeholders};

use super::order::Order;

/// Builds the record's header; `nodes` has the entries of jobs at single servers. The plan in the
/// header has no `[teardown]` if the run does not execute it.
pub(super) fn header(order: &Order, nodes: Vec<NodeEntry>) -> Header {
    let Order { plan, options, .. } = order;
    let mut plan = plan.with_secrets_hidden();
    if !options.teardown && !plan.teardown.is_empty() {
        plan.to_mut().teardown.clear();
    }
    let plan = &*plan;
    let job = |(account, either): (Account, JobOrPart<'_>)| JobHeader {
        name: either.name().to_owned(),
        kind: match account {
            Account::Job(_) => AccountKind::Job,
            Account::Part(mix, _) => AccountKind::Part {
                mix: plan.account_of(mix),
                section: either.section().to_owned(),
            },
        },
        model: either.job().model().to_owned(),
        arrival: either.job().arrival().map(str::to_owned),
        offered_per_s: either.offered_per_s(plan.warmup.known(), plan.duration),
        connections_asked: Some(match either {
            JobOrPart::Job(job) => engine::configured_connections(plan, job),
            JobOrPart::Part(..) => 0,
        }),
        statements: either
            .requests()
            .statements
            .iter()
            .map(|statement| statement.text(Placeholders::Question))
            .collect(),
    };
    let node = |NodeEntry { job, address }: NodeEntry| JobHeader {
        name: format!("{}@{address}", plan.job(job).name()),
        kind: AccountKind::Node { job: plan.account_of(job), address },
        model: AccountKind::NODE_MODEL.to_owned(),
        arrival: None,
        offered_per_s: None,
        connections_asked: None,
        statements: Vec::new(),
    };
    Header {
        assay: order.version.clone(),
        commit: order.commit.clone(),
        started: options.started,
        pace: if options.is_virtual { Pace::Virtual } else { Pace::Real },
        lanes: options.threads,
        seed: plan.seed,
        target: match plan.uses(JobTarget::Main) {
            true => (&order.target).into(),
            false => TargetText::none(),
        },
        command: order.command.clone(),
        workload: order.workload.clone(),
        plan: plan.to_text(),
        warmup: plan.warmup.known(),
        duration: plan.duration,
        jobs: plan.accounts().map(job).chain(nodes.into_iter().map(node)).collect(),
    }
}
