//! The environment of programs that are started for a workload file.

use std::ffi::OsStr;
use std::process::Command;

use base::holds_password;

/// A part of the names of variables that hold secrets, such as `BASIC_AUTH`, in addition to the
/// [words for secrets](base::names_secret).
const SECRET_PART: &str = "AUTH";

/// The suffix of the names of variables that hold a key.
const SECRET_SUFFIX: &str = "_KEY";

/// The name of a variable that holds a secret and matches neither [`SECRET_PART`] nor
/// [`SECRET_SUFFIX`].
const SECRET_NAME: &str = "DATABASE_URL";

/// Variables whose names match but that hold no secret: for example, folders, sockets, files,
/// programs and people.
const HARMLESS_NAMES: [&str; 11] = [
    "PWD",
    "OLDPWD",
    "SSH_AUTH_SOCK",
    "SSH_ASKPASS",
    "SSH_ASKPASS_REQUIRE",
    "XAUTHORITY",
    "ICEAUTHORITY",
    "PGPASSFILE",
    "GIT_AUTHOR_NAME",
    "GIT_AUTHOR_EMAIL",
    "GIT_AUTHOR_DATE",
];

/// Removes the secrets of this process's environment from the environment of a program to be
/// started.
pub fn without_secrets(command: &mut Command) -> &mut Command {
    for (name, value) in std::env::vars_os() {
        if is_secret(&name, &value) {
            command.env_remove(name);
        }
    }
    command
}

/// Returns true if a variable holds a secret, judged by its name and its value.
fn is_secret(name: &OsStr, value: &OsStr) -> bool {
    names_secret(name) || holds_password(&value.to_string_lossy())
}

/// Returns true if the name of a variable suggests that it holds a secret.
fn names_secret(name: &OsStr) -> bool {
    let name = name.to_string_lossy().to_ascii_uppercase();
    let has_part = base::names_secret(&name) || name.contains(SECRET_PART);
    let has_end = name.ends_with(SECRET_SUFFIX);
    let is_harmless = HARMLESS_NAMES.contains(&name.as_str());
    name == SECRET_NAME || (has_part || has_end) && !is_harmless
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_with_secrets_are_known_by_their_names() {
        for name in [
            "ASSAY_PASSWORD",
            "PGPASSWORD",
            "MYSQL_PWD",
            "pg_passwd",
            "DB_PASS",
            "DB_PW",
            "ROOT_PW",
            "GH_PAT",
            "CI_JOB_JWT",
            "MYSQL_ROOT_PASS",
            "GPG_PASSPHRASE",
            "AWS_SECRET_ACCESS_KEY",
            "AWS_ACCESS_KEY_ID",
            "STRIPE_KEY",
            "GITHUB_TOKEN",
            "OPENAI_API_KEY",
            "DATABASE_URL",
            "SENTRY_DSN",
            "DSN",
            "BASIC_AUTH",
            "VAULT_CREDENTIALS",
        ] {
            assert!(names_secret(name.as_ref()), "{name}");
        }
        for name in [
            "PATH",
            "LS_PATTERN",
            "SPWN",
            "PWD",
            "OLDPWD",
            "HOME",
            "PGPASSFILE",
            "SSH_AUTH_SOCK",
            "SSH_ASKPASS",
            "XAUTHORITY",
            "GIT_AUTHOR_NAME",
            "KEYBOARD",
            "LANG",
            "XDG_STATE_HOME",
        ] {
            assert!(!names_secret(name.as_ref()), "{name}");
        }
    }

    #[test]
    fn values_with_passwords_are_known_whatever_their_names() {
        for (value, expected) in [
            ("host=h Password=pw", true),
            ("root:pw@tcp(h:3306)/shop", true),
            ("root:pw@unix(/run/mysqld.sock)/shop", true),
            ("root@tcp(h:3306)/shop", false),
            ("host=h", false),
        ] {
            assert_eq!(is_secret("SHOP".as_ref(), value.as_ref()), expected, "{value}");
        }
    }
}
