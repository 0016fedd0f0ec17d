//! Classification of PostgreSQL's errors (manual, appendix "PostgreSQL Error Codes").

use base::{Class, Code, Secrets};
use net::Address;
use wire_postgres::{OwnedReport, Severity, SqlState, ValueError, WireError};

use crate::Error;

/// Remedy for a text with the character NUL, which PostgreSQL's types cannot hold.
const WITHOUT_NUL: &str = "; a text of PostgreSQL holds no NUL character: remove it from the data";

/// Converts a server's error report into an error with a class and a remedy, without the secrets
/// that the server repeats.
pub(super) fn fault(report: &OwnedReport, secrets: &Secrets) -> Error {
    let (class, code) = class_and_code(report.sqlstate);
    let class = match report.severity.map(Severity::ends_session) {
        Some(true) => Class::Disconnect,
        // Raised by a function, or passed on from another server or a parallel worker: this session
        // continues.
        Some(false) if class == Class::Disconnect => Class::Server,
        Some(false) | None => class,
    };
    let says = |part: &str| report.message.contains(part);
    let class = match code.as_str() {
        // The server did not fail: the statement copies data that a job does not have.
        "57014" if says("COPY from stdin failed") => Class::Statement,
        _ => class,
    };
    let remedy = match code.as_str() {
        // The server has received the next statement of a pipeline instead of COPY data.
        "08P01" if says("COPY from stdin") => "; a job has no data to copy: use a [load] section",
        "40001" | "40P01" => "; `retry = 3 on 40001, 40P01` tries it again",
        "42P05" | "26000" => "; behind a pooler that shares sessions write `prepare = no`",
        "22021" if says("0x00") => WITHOUT_NUL,
        // Raised by `chr(0)`, for example.
        "54000" if says("null character") => WITHOUT_NUL,
        "57014" if says("statement timeout") => {
            "; a larger statement_timeout of the server allows more"
        }
        _ => "",
    };
    Error::new(class, code, message_without_secrets(report, secrets) + remedy)
}

/// Returns the server's message, followed by its detail and its hint, without secrets.
pub(super) fn message_without_secrets(report: &OwnedReport, secrets: &Secrets) -> String {
    let mut words = report.message.clone();
    for more in [&report.detail, &report.hint].into_iter().flatten() {
        words.push_str(": ");
        words.push_str(more);
    }
    secrets.hide(&words)
}

/// Returns the class and the code of an error with this SQLSTATE.
pub(super) fn class_and_code(state: Option<SqlState>) -> (Class, Code) {
    let Some(state) = state else { return (Class::Statement, Code::new("unknown")) };
    let state = state.as_str();
    let class = match state {
        // lock_not_available; the class 40 of rolled-back transactions follows below.
        "55P03" => Class::Conflict,
        "53300" => Class::TooManyConnections,
        // admin_shutdown, crash_shutdown, cannot_connect_now, database_dropped,
        // idle_session_timeout.
        "57P01" | "57P02" | "57P03" | "57P04" | "57P05" => Class::Disconnect,
        // query_canceled, insufficient_privilege, read_only_sql_transaction.
        "57014" | "42501" | "25006" => Class::Server,
        _ => match &state[..2] {
            "08" => Class::Disconnect,
            "23" => Class::Constraint,
            "40" => Class::Conflict,
            // Out of resources; operator intervention; system error; internal error or corruption;
            // error in the configuration file.
            "53" | "57" | "58" | "XX" | "F0" => Class::Server,
            _ => Class::Statement,
        },
    };
    (class, Code::new(state))
}

/// Code of a table of the wrong kind (wrong_object_type).
const WRONG_KIND: &str = "42809";

/// Returns true for the error of a server that forbids the COPY into a table and may allow inserts:
/// feature_not_supported for row-level security, wrong_object_type for a view.
pub(super) fn forbids_copy(error: &Error) -> bool {
    matches!(error.code().as_str(), "0A000" | WRONG_KIND) && !error.class().ends_connection()
}

/// Builds the error for a view that takes inserts only.
pub(super) fn copy_into_view(view: &str) -> Error {
    let words = format!("`{view}` is a view, into which the server copies no rows");
    Error::new(Class::Statement, Code::new(WRONG_KIND), words)
}

/// Returns true if pgbouncer refuses a client because its maximum number of clients is reached.
/// pgbouncer has one code for all of its refusals.
pub(super) fn is_full_pooler(report: &OwnedReport) -> bool {
    report.message.contains("max_client_conn")
}

/// Returns true if a wrong or missing password may be the reason for refusing a login. pgbouncer
/// has one code for all of its refusals, and only its message distinguishes them.
pub(super) fn is_of_password(code: &str, words: &str) -> bool {
    match code {
        "28P01" => true,
        "08P01" => words.contains("password"),
        _ => false,
    }
}

/// Returns the remedy for a login that is refused with this code and message.
pub(super) fn remedy(code: &str, words: &str) -> &'static str {
    match code {
        "28P01" => "the password comes from the URL, ASSAY_PASSWORD or ~/.pgpass, in this order",
        "28000" => remedy_of_rules(words),
        "3D000" => "create the database, or name another one in the URL",
        "08P01" if words.contains("max_client_conn") => {
            "raise the pooler's max_client_conn, or ask for fewer connections"
        }
        "53300" => "raise the server's max_connections, or ask for fewer connections",
        _ => "",
    }
}

/// Returns the remedy for a refusal that is not about the password. All such refusals have the code
/// 28000, so the message decides. For messages that are not in English, the general remedy at the
/// end is returned.
fn remedy_of_rules(words: &str) -> &'static str {
    let says = |part: &str| words.contains(part);
    // Servers before version 14 say "SSL off".
    if says("no encryption") || says("SSL off") {
        "write `tls=require` or `tls=verify`, or allow the user without TLS in the server's \
         pg_hba.conf"
    } else if says("client certificate") {
        "give one with `tls-cert=FILE&tls-key=FILE`"
    } else if says("channel binding") {
        "the answer comes not from that server but from a machine in between"
    } else if says("role") && says("does not exist") {
        "create the role there, or name another user in the URL"
    } else {
        "name another user in the URL, or allow this one in the server's pg_hba.conf"
    }
}

/// Builds the error for a server that violates the protocol. The session is unusable.
#[cold]
pub(super) fn malformed_message(address: &Address, error: &WireError) -> Error {
    protocol_violation(address, &error.to_string())
}

/// Builds the error for a COPY that the server completed before it requested data.
#[cold]
pub(super) fn copy_without_data(address: &Address) -> Error {
    protocol_violation(address, "CommandComplete without CopyInResponse")
}

/// Builds the error for a server that completed more commands than were sent.
#[cold]
pub(super) fn surplus_completion(address: &Address) -> Error {
    protocol_violation(address, "CommandComplete without a statement")
}

fn protocol_violation(address: &Address, why: &str) -> Error {
    Error::disconnect_naming_server(format!(
        "{address} does not speak PostgreSQL's protocol: {why}"
    ))
}

/// Builds the error for a server that turns out to be MySQL or MariaDB.
#[cold]
pub(super) fn is_of_mysql(address: &Address) -> Error {
    Error::disconnect(format!(
        "a MySQL or MariaDB server answers at {address}; write `mysql://` in place of `postgres://`"
    ))
}

/// Builds the error for a value that does not fit the parameter described by the server.
#[cold]
pub(super) fn unencodable_value(error: &ValueError) -> Error {
    Error::new(Class::Statement, Code::new("value"), error.to_string())
}

/// Builds the error for a text that the protocol cannot carry.
#[cold]
pub(super) fn unencodable_text(error: &WireError) -> Error {
    Error::new(Class::Statement, Code::new("text"), format!("it cannot be sent: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remedy_depends_on_the_message_and_not_on_its_code() {
        let said = |code: &str, message: &str| {
            let report = OwnedReport {
                severity: None,
                sqlstate: SqlState::parse(code.as_bytes()),
                message: message.to_owned(),
                detail: None,
                hint: None,
                position: None,
            };
            fault(&report, &Secrets::default())
        };
        let pooler = said("08P01", "server login has been failing");
        assert_eq!(pooler, Error::new(Class::Disconnect, Code::new("08P01"), pooler.message()));
        assert_eq!(pooler.message(), "server login has been failing");
        let copy = said("08P01", "unexpected message type 0x50 during COPY from stdin");
        assert!(copy.message().ends_with("use a [load] section"), "{copy}");
        let user = said("57014", "canceling statement due to user request");
        assert_eq!(user.message(), "canceling statement due to user request");
    }

    #[test]
    fn error_after_which_the_session_continues_is_no_disconnect() {
        let check = |severity, code: &str, expected| {
            let report = OwnedReport {
                severity,
                sqlstate: SqlState::parse(code.as_bytes()),
                message: "could not connect to server \"other\"".to_owned(),
                detail: None,
                hint: None,
                position: None,
            };
            let class = fault(&report, &Secrets::default()).class();
            assert_eq!(class, expected, "{severity:?} {code}");
        };
        for code in ["08001", "57P01"] {
            check(Some(Severity::Error), code, Class::Server);
            check(Some(Severity::Fatal), code, Class::Disconnect);
            check(None, code, Class::Disconnect);
        }
        check(Some(Severity::Error), "42601", Class::Statement);
        check(Some(Severity::Fatal), "42601", Class::Disconnect);
    }

    #[test]
    fn missing_role_is_not_attributed_to_pg_hba() {
        let given = |words| remedy("28000", words);
        assert!(given("role \"ann\" does not exist").starts_with("create the role"));
        assert!(given("no pg_hba.conf entry for host \"::1\"").contains("pg_hba.conf"));
    }

    #[test]
    fn error_codes_have_their_documented_class() {
        for (code, class) in [
            ("42601", Class::Statement),
            ("42P01", Class::Statement),
            ("22012", Class::Statement),
            ("23505", Class::Constraint),
            ("40001", Class::Conflict),
            ("40P01", Class::Conflict),
            ("55P03", Class::Conflict),
            ("57014", Class::Server),
            ("53100", Class::Server),
            ("53300", Class::TooManyConnections),
            ("57P01", Class::Disconnect),
            ("08006", Class::Disconnect),
        ] {
            let found = class_and_code(SqlState::parse(code.as_bytes()));
            assert_eq!(found, (class, Code::new(code)));
        }
        assert_eq!(class_and_code(None).0, Class::Statement);
    }
}
