//! The environment of programs that are started for a workload file.

use std::ffi::OsStr;
use std::process::Command;

/// A part of the names of variables that hold secrets, in addition to the [words for
/// secrets](base::names_secret): `BASIC_AUTH`.
const PART: &str = "AUTH";

/// Suffixes of such names: of keys, and of data source names, which contain a password or a key.
const ENDS: [&str; 2] = ["_KEY", "_DSN"];

/// Names of such variables that match none of these.
const NAMES: [&str; 2] = ["DATABASE_URL", "DSN"];

/// Names that match but hold no secret: folders, sockets, files, programs and people.
const HARMLESS: [&str; 11] = [
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
        if names_secret(&name) || holds_password(&value) {
            command.env_remove(name);
        }
    }
    command
}

/// Returns true if the name of a variable suggests that it holds a secret.
fn names_secret(name: &OsStr) -> bool {
    let name = name.to_string_lossy().to_ascii_uppercase();
    let has_part = base::names_secret(&name) || name.contains(PART);
    let has_end = ENDS.iter().any(|end| name.ends_with(end));
    let is_harmless = HARMLESS.contains(&name.as_str());
    NAMES.contains(&name.as_str()) || (has_part || has_end) && !is_harmless
}

/// Returns true if a value is a URL with a password, or the settings of a connection with one.
fn holds_password(value: &OsStr) -> bool {
    let value = value.to_string_lossy();
    !base::passwords_in(&value).is_empty() || !base::password_settings_in(&value).is_empty()
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
            "MYSQL_ROOT_PASS",
            "GPG_PASSPHRASE",
            "AWS_SECRET_ACCESS_KEY",
            "AWS_ACCESS_KEY_ID",
            "STRIPE_KEY",
            "GITHUB_TOKEN",
            "OPENAI_API_KEY",
            "DATABASE_URL",
            "SENTRY_DSN",
            "BASIC_AUTH",
            "VAULT_CREDENTIALS",
        ] {
            assert!(names_secret(name.as_ref()), "{name}");
        }
        for name in [
            "PATH",
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
        for value in [
            "redis://:pw@h",
            "postgres://ann:pw@h/d",
            "mongodb+srv://ann:pw@h/d?tls=true",
            "jdbc:postgresql://h/d?user=ann&password=pw",
            "host=h user=ann Password=pw",
            "Server=h;Uid=ann;Pwd=pw",
        ] {
            assert!(holds_password(value.as_ref()), "{value}");
        }
        for value in ["postgres://ann@h/d", "http://proxy:3128", "a:b@c", "/run/user/0", "host=h"] {
            assert!(!holds_password(value.as_ref()), "{value}");
        }
    }
}
