//! Classification of MySQL's and MariaDB's errors (manuals, "Server Error Message Reference" and
//! "MariaDB Error Code Reference").

use base::{Class, Code, Secrets};
use net::Address;
use wire_mysql::{Refusal, WireError};

use crate::Error;

/// Converts a server's error message into an error with a class and a remedy, without the secrets
/// that the server repeats.
#[cold]
pub(super) fn fault(refusal: &Refusal, secrets: &Secrets) -> Error {
    let (class, code) = class_and_code(refusal);
    let words = message_without_secrets(refusal, secrets);
    let remedy = match refusal.code {
        1205 | 1213 => "; `retry = 3 on 1205, 1213` tries it again",
        UNKNOWN_COMMAND if is_about_files(UNKNOWN_COMMAND, &words) => AVOID_PROXY,
        code if is_about_files(code, &words) => ALLOW_FILES,
        1461 => "; raise the server's max_prepared_stmt_count",
        1969 => "; a larger max_statement_time of the server allows more",
        3024 => "; a larger max_execution_time of the server allows more",
        _ => "",
    };
    Error::new(class, code, words + remedy)
}

/// Remedy for a server that accepts no files from clients.
const ALLOW_FILES: &str = "; `set global local_infile = on` at the server allows it";

/// Remedy for ProxySQL, which loads no files of clients: if allowed to, it reads a file of its own
/// machine.
const AVOID_PROXY: &str = "; ProxySQL passes on no files: connect to the server itself";

/// Codes of servers that forbid `LOAD DATA LOCAL`: one of MySQL, one of MariaDB, and an older code
/// of both.
const FORBIDDEN_FILES: [u16; 3] = [3948, 4166, 1148];

/// Code of implementations without codes of their own (`ER_UNKNOWN_ERROR`).
const UNKNOWN: u16 = 1105;

/// Code of a command that the server does not know or does not accept now (`ER_UNKNOWN_COM_ERROR`).
/// A node that has left its Galera cluster also sends it.
const UNKNOWN_COMMAND: u16 = 1047;

/// Phrase in the refusal of ProxySQL (test_unsupported_queries-t.cpp): "Unsupported 'LOAD DATA
/// LOCAL INFILE' command", with the code [`UNKNOWN_COMMAND`]. The session continues.
const UNSUPPORTED_BY_PROXY: &str = "load data local";

/// Phrases in the errors of implementations without codes of their own: the name of the setting,
/// and the name of the feature. The words `data local` prove nothing, because any error may quote
/// the statement.
const FORBIDDING_WORDS: [&str; 2] = ["local_infile", "local data"];

fn is_about_files(code: u16, words: &str) -> bool {
    let says = |phrase: &&str| words.to_ascii_lowercase().contains(phrase);
    match code {
        UNKNOWN => FORBIDDING_WORDS.iter().any(says),
        UNKNOWN_COMMAND => says(&UNSUPPORTED_BY_PROXY),
        code => FORBIDDEN_FILES.contains(&code),
    }
}

/// Returns true for the error of a server that forbids `LOAD DATA LOCAL`.
pub(super) fn forbids_files(error: &Error) -> bool {
    error.code().as_str().parse().is_ok_and(|code| is_about_files(code, error.message()))
}

/// Builds the error for a server that declined files from clients at the login.
pub(super) fn files_declined() -> Error {
    let words = format!("the server accepts no files from clients{ALLOW_FILES}");
    Error::new(Class::Server, Code::new("load-data"), words)
}

/// Returns true if the statement cannot be prepared but may be sent as text.
pub(super) fn can_be_sent_as_text(error: &Error) -> bool {
    error.code().as_str() == NOT_PREPARABLE
}

/// Code of a command that the prepared-statement protocol does not support.
const NOT_PREPARABLE: &str = "1295";

/// Returns the server's message without secrets, with the SQLSTATE if it is a specific one.
pub(super) fn message_without_secrets(refusal: &Refusal, secrets: &Secrets) -> String {
    let mut words = secrets.hide(&String::from_utf8_lossy(&refusal.message));
    if let Some(state) = refusal.sqlstate.filter(|state| state != b"HY000") {
        words.push_str(&format!(" [{}]", String::from_utf8_lossy(&state)));
    }
    words
}

/// Returns the class and the code of an error in a running session.
pub(super) fn class_and_code(refusal: &Refusal) -> (Class, Code) {
    let class = class_of_code(refusal).unwrap_or_else(|| class_of_sqlstate(refusal));
    (class, Code::new(&refusal.code.to_string()))
}

/// Returns the class and the code of an error during a login. A refused login has lost no session,
/// and may be retried unless it was refused because of the user, the host or the database.
pub(super) fn class_and_code_in_login(refusal: &Refusal) -> (Class, Code) {
    let (class, code) = class_and_code(refusal);
    let is_final = matches!(refusal.sqlstate, Some([b'2', b'8', ..] | [b'4', b'2', ..]));
    match class {
        Class::Server if !is_final => (Class::Disconnect, code),
        Class::Server => (Class::Statement, code),
        class => (class, code),
    }
}

/// Returns the class of an error code whose SQLSTATE does not determine the class; `None` for other
/// codes.
fn class_of_code(refusal: &Refusal) -> Option<Class> {
    Some(match refusal.code {
        // Lock wait timeout; deadlock; record has changed since it was read; XA rolled back after a
        // timeout or a deadlock; veto of a group or a cluster; NOWAIT. TiDB's: 8022, 8028, 9007.
        1205 | 1213 | 1020 | 1613 | 1614 | 3101 | 3572 | 8022 | 8028 | 9007 => Class::Conflict,
        // Duplicates of several kinds, and check constraints.
        1022 | 1062 | 1169 | 1586 | 1761 | 1762 | 3819 | 4025 => Class::Constraint,
        // Limits of the server and of the user, and no thread for one more connection.
        1040 | 1135 | 1203 => Class::TooManyConnections,
        // A limit of the user, on connections or on questions.
        1226 if mentions(refusal, "connections") => Class::TooManyConnections,
        1226 => Class::Server,
        // Shutdown (two codes); forced close; host blocked; aborted; packet too large, after which
        // the server closes the connection; aborted; killed; client-side errors, as sent by proxies
        // (two codes); offline; killed; idle.
        1053 | 1079 | 1080 | 1129 | 1152 | 1153 | 1184 | 1927 => Class::Disconnect,
        2006 | 2013 | 3032 | 3169 | 4031 => Class::Disconnect,
        // No disk, memory or file; not a node of the cluster; full; crashed; limits.
        3 | 28 | 1021 | 1037 | 1038 | 1041 | 1047 | 1114 | 1194 | 1195 | 1197 | 1206 | 1461 | 1878
        // Errors of a storage engine; read-only modes.
        | 1026 | 1030 | 1290 | 1792 | 1836
        // Missing privileges.
        | 1044 | 1045 | 1142 | 1143 | 1227 | 1370
        // Interrupted; out of time (MariaDB's and MySQL's codes).
        | 1317 | 1969 | 3024 => Class::Server,
        _ => return None,
    })
}

fn mentions(refusal: &Refusal, word: &str) -> bool {
    String::from_utf8_lossy(&refusal.message).contains(word)
}

/// Code of an error that a program in the server raises with an SQLSTATE of its choice
/// (`ER_SIGNAL_EXCEPTION`). The session continues.
const SIGNAL: u16 = 1644;

/// Returns the class that the SQLSTATE's class implies.
fn class_of_sqlstate(refusal: &Refusal) -> Class {
    match refusal.sqlstate {
        Some([b'0', b'8', ..]) if refusal.code == SIGNAL => Class::Server,
        Some([b'0', b'8', ..]) => Class::Disconnect,
        Some([b'2', b'3', ..]) => Class::Constraint,
        Some([b'4', b'0', ..]) => Class::Conflict,
        _ => Class::Statement,
    }
}

/// Returns true if a wrong or missing password may be the reason for refusing a login with this
/// code. Servers also refuse users who must use TLS, or a client certificate, with these codes.
pub(super) fn is_of_password(code: u16) -> bool {
    matches!(code, 1045 | 1698)
}

/// Returns the remedy for a login that is refused with this code.
pub(super) fn remedy(code: u16) -> &'static str {
    match code {
        1045 | 1698 => {
            "the password comes from the URL, ASSAY_PASSWORD or ~/.my.cnf, in this order; a user \
             who must use TLS needs `tls=require` or `tls=verify`, and one with a certificate \
             `tls-cert=FILE&tls-key=FILE`"
        }
        1044 => "grant the user the database, or name another one in the URL",
        1049 => "create the database, or name another one in the URL",
        1040 => "raise the server's max_connections, or ask for fewer connections",
        1203 | 1226 => "raise the user's max_user_connections, or ask for fewer connections",
        1129 => "run `flush hosts` on the server",
        1130 => "create a user there who may log in from this host",
        3118 | 4151 => "unlock the user on the server: `alter user … account unlock`",
        3159 => "write `tls=require` or `tls=verify`",
        _ => "",
    }
}

/// Builds the error for a server that violates the protocol. The session is unusable.
#[cold]
pub(super) fn malformed_message(address: &Address, error: &WireError) -> Error {
    protocol_violation(address, &error.to_string())
}

/// Builds the error for a violation of the protocol; `why` describes the violation.
#[cold]
pub(super) fn protocol_violation(address: &Address, why: &str) -> Error {
    Error::disconnect_naming_server(format!("{address} does not speak MySQL's protocol: {why}"))
}

/// Builds the error for a wrong number of values for a statement.
#[cold]
pub(super) fn wrong_value_count(given: u32, wanted: usize) -> Error {
    let words = format!("expected {wanted} values for the statement, found {given}");
    Error::new(Class::Statement, Code::new("value"), words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(code: u16, state: &[u8; 5], message: &str) -> Refusal {
        Refusal { code, sqlstate: Some(*state), message: message.as_bytes().to_vec() }
    }

    #[test]
    fn every_way_of_forbidding_local_files_is_recognised() {
        for (code, message, remedy) in [
            (3948, "Loading local data is disabled; it must be enabled on both sides", ALLOW_FILES),
            (4166, "The used command is not allowed: the server has disabled it", ALLOW_FILES),
            (1148, "The used command is not allowed with this MySQL version", ALLOW_FILES),
            (1105, "local_infile needs to be set to 1 to use LOCAL", ALLOW_FILES),
            (1105, "Loading local data is disabled", ALLOW_FILES),
            (1047, "Unsupported 'LOAD DATA LOCAL INFILE' command", AVOID_PROXY),
            (1047, "WSREP has not yet prepared node for application use", ""),
            (1105, "table doesn't support LOAD DATA", ""),
            (1105, "cannot reach the tablet at localhost:15999", ""),
            (1105, "unsupported: load data local infile 'rows' into table t", ""),
            (1064, "syntax error near LOCAL", ""),
        ] {
            let error = fault(&refusal(code, b"08S01", message), &Secrets::default());
            assert_eq!(forbids_files(&error), !remedy.is_empty(), "{error}");
            assert_eq!(error.message(), format!("{message} [08S01]{remedy}"));
        }
    }

    #[test]
    fn error_codes_have_their_documented_class() {
        for (code, state, class) in [
            (1064, b"42000", Class::Statement),
            (1146, b"42S02", Class::Statement),
            (1062, b"23000", Class::Constraint),
            (1048, b"23000", Class::Constraint),
            (1452, b"23000", Class::Constraint),
            (3819, b"HY000", Class::Constraint),
            (1213, b"40001", Class::Conflict),
            (1205, b"HY000", Class::Conflict),
            (3572, b"HY000", Class::Conflict),
            (1040, b"08004", Class::TooManyConnections),
            (1203, b"42000", Class::TooManyConnections),
            (1053, b"08S01", Class::Disconnect),
            (1927, b"70100", Class::Disconnect),
            (4031, b"HY000", Class::Disconnect),
            (1159, b"08S01", Class::Disconnect),
            (1644, b"08001", Class::Server),
            (1644, b"45000", Class::Statement),
            (1047, b"08S01", Class::Server),
            (1317, b"70100", Class::Server),
            (1969, b"70100", Class::Server),
            (1142, b"42000", Class::Server),
        ] {
            let expected = (class, Code::new(&code.to_string()));
            assert_eq!(class_and_code(&refusal(code, state, "")), expected, "{code}");
        }
    }

    #[test]
    fn user_limits_are_classified_by_their_resource() {
        let limit = |resource| {
            let message = format!("User 'ann' has exceeded the '{resource}' resource");
            class_and_code(&refusal(1226, b"42000", &message)).0
        };
        assert_eq!(limit("max_user_connections"), Class::TooManyConnections);
        assert_eq!(limit("max_connections_per_hour"), Class::TooManyConnections);
        assert_eq!(limit("max_questions"), Class::Server);
    }

    #[test]
    fn login_refused_by_identity_is_final() {
        for (code, state, class) in [
            (1045, b"28000", Class::Statement),
            (1044, b"42000", Class::Statement),
            (1049, b"42000", Class::Statement),
            (1130, b"HY000", Class::Statement),
            (1040, b"08004", Class::TooManyConnections),
            (1041, b"HY000", Class::Disconnect),
            (1053, b"08S01", Class::Disconnect),
        ] {
            assert_eq!(class_and_code_in_login(&refusal(code, state, "")).0, class, "{code}");
        }
    }

    #[test]
    fn locked_user_needs_no_tls() {
        for code in [3118, 4151] {
            assert!(remedy(code).contains("account unlock"), "{code}");
        }
        assert!(remedy(3159).contains("tls=require"));
    }

    #[test]
    fn application_sqlstate_is_part_of_the_message() {
        let said =
            |code, state| message_without_secrets(&refusal(code, state, "no"), &Secrets::default());
        assert_eq!(said(1644, b"45000"), "no [45000]");
        assert_eq!(said(1205, b"HY000"), "no");
    }
}
