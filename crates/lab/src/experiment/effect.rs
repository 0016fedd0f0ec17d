//! Verification that the difference of an arm is in effect.
//!
//! Parameters, pacing keys and addresses are parts of the plan that a run carries out, which its
//! record holds. TLS is negotiated with the server, which says what came of it.

use workload::question::{Arm, Difference};

/// The option of a URL that asks for TLS.
const TLS: &str = "tls";

/// The setting in which a server says how its connection is encrypted.
const VERSION: &str = "ssl_version";

/// Checks the differences of an arm against the settings that the server has told.
///
/// # Errors
/// A difference is not in effect; the text says which.
pub(super) fn check(arm: &Arm, settings: &[(String, String)]) -> Result<(), String> {
    arm.differences.iter().try_for_each(|one| check_one(one, settings))
}

fn check_one(difference: &Difference, settings: &[(String, String)]) -> Result<(), String> {
    let Difference::Option { name, value } = difference else { return Ok(()) };
    let Some((_, version)) = settings.iter().find(|(name, _)| name == VERSION) else {
        return Ok(());
    };
    let is_encrypted = version.starts_with("TLS");
    match (name.as_str(), value.as_str()) {
        (TLS, "off") if is_encrypted => {
            Err(format!("`option.tls = off` is not in effect: the connection uses {version}"))
        }
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
