//! The environment of programs that are started for a workload file.

use std::ffi::OsStr;
use std::process::Command;

/// Parts of the names of variables that hold secrets, as tools name them: `PGPASSWORD`,
/// `ASSAY_PASSWORD`, `AWS_SECRET_ACCESS_KEY`, `GITHUB_TOKEN`, `MYSQL_PWD`.
const PARTS: [&str; 10] = [
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "SECRET",
    "TOKEN",
    "CREDENTIAL",
    "APIKEY",
    "API_KEY",
    "PRIVATE_KEY",
    "ACCESS_KEY",
];

/// Names that have none of those parts.
const NAMES: [&str; 2] = ["MYSQL_PWD", "DATABASE_URL"];

/// Keeps the secrets of this process's environment from a program that is going to be started.
pub fn without_secrets(command: &mut Command) -> &mut Command {
    for (name, _) in std::env::vars_os() {
        if names_secret(&name) {
            command.env_remove(name);
        }
    }
    command
}

/// Returns true if the name of a variable suggests that it holds a secret.
fn names_secret(name: &OsStr) -> bool {
    let name = name.to_string_lossy().to_ascii_uppercase();
    NAMES.contains(&name.as_str()) || PARTS.iter().any(|part| name.contains(part))
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
            "AWS_SECRET_ACCESS_KEY",
            "GITHUB_TOKEN",
            "OPENAI_API_KEY",
            "DATABASE_URL",
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
            "LANG",
            "XDG_STATE_HOME",
        ] {
            assert!(!names_secret(name.as_ref()), "{name}");
        }
    }
}
