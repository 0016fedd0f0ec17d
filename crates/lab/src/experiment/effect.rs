//! Verification that the difference of an arm is in effect.
//!
//! Parameters, pacing keys, options and addresses are parts of the plan and the target of a run.
//! TLS is negotiated with the server, which reports the result. Settings of a private server are
//! [read back](super::settings) from it.

use workload::Plan;
use workload::question::{Arm, Difference};

use crate::run::Order;

/// The option of a URL that asks for TLS.
const TLS: &str = "tls";

/// The setting in which a server says how its connection is encrypted.
const VERSION: &str = "ssl_version";

/// The setting with the cipher.
const CIPHER: &str = "ssl_cipher";

/// Checks that a run has the plan and the target of its arm.
///
/// # Errors
/// A difference is not in effect; the text says which.
pub(super) fn check_order(arm: &Arm, order: &Order) -> Result<(), String> {
    let not_there = |difference: &Difference, found: &str| {
        let (key, value) = (difference.key(), difference.value());
        format!("`{key} = {value}` is not in effect: {found}")
    };
    let is_target = |one: &&Difference| {
        matches!(one, Difference::Url(_) | Difference::Option { .. } | Difference::Server { .. })
    };
    if let Some(wanted) = arm.plan.target.as_ref().filter(|wanted| **wanted != order.target)
        && let Some(difference) = arm.differences.iter().find(is_target)
    {
        let found = format!("the run asks {}, not {wanted}", order.target);
        return Err(not_there(difference, &found));
    }
    let is_plan =
        |one: &&Difference| matches!(one, Difference::Param { .. } | Difference::Key { .. });
    let Some(difference) = arm.differences.iter().find(is_plan) else { return Ok(()) };
    let run = Plan { seed: arm.plan.seed, ..order.plan.clone() }.to_text();
    let own = arm.plan.to_text();
    if run == own {
        return Ok(());
    }
    let is_said = |(run, own): &(&str, &str)| run != own && !run.starts_with(';');
    let mut lines = run.lines().zip(own.lines());
    let found = match lines.find(is_said) {
        Some((run, own)) => format!("the plan of the run has `{run}`, not `{own}`"),
        None => "the plan of the run has other lines than that of the arm".to_owned(),
    };
    Err(not_there(difference, &found))
}

/// Checks the differences of an arm against the settings that the server has told.
///
/// # Errors
/// A difference is not in effect; the text says which.
pub(super) fn check_told(arm: &Arm, settings: &[(String, String)]) -> Result<(), String> {
    arm.differences.iter().try_for_each(|one| check_one(one, settings))
}

fn check_one(difference: &Difference, settings: &[(String, String)]) -> Result<(), String> {
    let Difference::Option { name, value } = difference else { return Ok(()) };
    let told = |wanted: &str| {
        let found = settings.iter().find(|(name, _)| name == wanted);
        found.map_or("", |(_, value)| value.as_str())
    };
    let version = told(VERSION);
    if version.is_empty() {
        return Ok(());
    }
    let is_encrypted = version.starts_with("TLS");
    match (name.as_str(), value.as_str()) {
        (TLS, "off") if is_encrypted => Err(format!(
            "`option.tls = off` is not in effect: the connection uses {version} with {}",
            told(CIPHER)
        )),
        (TLS, "require" | "verify") if !is_encrypted => Err(format!(
            "`option.tls = {value}` is not in effect: the server reports a connection without TLS"
        )),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, value: &str, version: Option<&str>) -> Result<(), String> {
        let difference = Difference::Option { name: name.to_owned(), value: value.to_owned() };
        let told = version.map(|version| (VERSION.to_owned(), version.to_owned()));
        check_one(&difference, &Vec::from_iter(told))
    }

    #[test]
    fn tls_that_is_asked_for_must_be_used() {
        assert_eq!(check("tls", "require", Some("TLSv1.3")), Ok(()));
        assert_eq!(check("tls", "off", Some("empty")), Ok(()));
        let unused = check("tls", "require", Some("empty")).unwrap_err();
        assert!(unused.contains("without TLS"), "{unused}");
        let used = check("tls", "off", Some("TLSv1.2")).unwrap_err();
        assert!(used.contains("TLSv1.2"), "{used}");
    }

    #[test]
    fn server_that_does_not_tell_is_not_judged() {
        assert_eq!(check("tls", "require", None), Ok(()));
        assert_eq!(check("journal", "wal", Some("empty")), Ok(()));
    }
}
