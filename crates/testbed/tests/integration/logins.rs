//! Tests of logins and of rights.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use base::{Endpoint, Target};
use testbed::{Auth, Kind, Options, Rights, Server, Tls};

use crate::support::{Login, ask, ask_plainly, output_of, start, text};

/// Query for the prefix of PostgreSQL's stored verifier, which shows the method.
const STORED_PASSWORD: &str = "SELECT left(rolpassword, 3) FROM pg_authid WHERE rolname = 'assay'";

#[test]
fn postgres_accepts_each_login_method_only_with_the_password() {
    for (auth, method, prefix) in [
        (Auth::Scram, "scram-sha-256", "SCR"),
        (Auth::Md5, "md5", "md5"),
        (Auth::Password, "password", "SCR"),
    ] {
        let server = start(&Options::postgres().auth(auth));
        assert_eq!(ask_plainly(&server, STORED_PASSWORD), Ok(prefix.to_owned()));
        let rules = server.sql("SELECT auth_method FROM pg_hba_file_rules WHERE type = 'host'");
        assert_eq!(rules.unwrap(), format!("reject\n{method}\n"));
        let refused = ask(&server, Login { password: "wrong", extra: &[] }, "SELECT 1");
        assert!(refused.unwrap_err().contains("password authentication failed"), "{auth:?}");
    }
    let server = start(&Options::postgres().auth(Auth::Trust));
    let welcome = ask(&server, Login { password: "any", extra: &[] }, "SELECT 1");
    assert_eq!(welcome, Ok("1".to_owned()));
}

#[test]
fn mariadb_accepts_each_login_method_only_with_the_password() {
    for (auth, plugin) in [(Auth::Native, "mysql_native_password"), (Auth::Ed25519, "ed25519")] {
        let server = start(&Options::mariadb().auth(auth));
        let plugin_query = "SELECT plugin FROM mysql.user WHERE user = 'assay'";
        assert_eq!(ask_plainly(&server, plugin_query), Ok(plugin.to_owned()));
        let refused = ask(&server, Login { password: "wrong", extra: &[] }, "SELECT 1");
        assert!(refused.unwrap_err().contains("Access denied"), "{auth:?}");
    }
}

#[test]
fn tcp_logins_are_limited_to_the_user() {
    let postgres = testbed::shared(Kind::Postgres);
    let mut psql = Command::new("psql");
    psql.args(["-X", "-h", "127.0.0.1", "-p", &postgres.port().to_string()]);
    psql.args(["-U", "postgres", "-c", "SELECT 1"]).env("PGPASSWORD", "");
    assert!(output_of(psql).unwrap_err().contains("pg_hba.conf rejects"));
    let mariadb = testbed::shared(Kind::Mariadb);
    for user in ["root", ""] {
        let mut client = Command::new("mariadb");
        client.args(["--no-defaults", "-h", "127.0.0.1", "-P", &mariadb.port().to_string()]);
        client.arg(format!("--user={user}")).args(["-e", "SELECT 1"]);
        assert!(output_of(client).unwrap_err().contains("Access denied"), "`{user}`");
    }
}

#[test]
fn url_has_the_login_and_the_socket() {
    let server = testbed::shared(Kind::Mariadb);
    let (url, port) = (server.url(), server.port());
    assert_eq!(url.to_string(), format!("mysql://assay@127.0.0.1:{port}/assay"));
    let Endpoint::Network { password: Some(password), .. } = url.endpoint else { panic!() };
    assert_eq!(password.expose(), server.password().expose());
    let socket = server.url_over_socket();
    let path = socket.option("socket").unwrap();
    assert!(path.len() <= 107 && std::path::Path::new(path).exists(), "{path}");
}

/// With access to files or programs, statements written by others could damage the files of the
/// person who runs them.
#[test]
fn user_of_a_url_reaches_no_file_and_no_program() {
    let folder = std::env::temp_dir();
    let touched = folder.join(format!("assay-touched-{}", std::process::id()));
    let path = touched.display();
    let statements = [
        (
            "testbed:postgres",
            vec![
                format!("copy (select 1) to program 'touch {path}'"),
                format!("copy (select 1) to '{path}'"),
                "create table t (a text); copy t from '/etc/passwd'".to_owned(),
                "select pg_read_file('/etc/passwd')".to_owned(),
                format!("select lo_export(lo_from_bytea(0, 'x'), '{path}')"),
                "alter system set archive_command = 'touch x'".to_owned(),
                "alter role assay superuser".to_owned(),
                "grant pg_execute_server_program to assay".to_owned(),
                "create role other superuser".to_owned(),
                "set role postgres".to_owned(),
            ],
        ),
        (
            "testbed:mariadb",
            vec![
                format!("select 1 into outfile '{path}'"),
                format!("select 1 into dumpfile '{path}'"),
                "create table t (a text); load data infile '/etc/passwd' into table t".to_owned(),
                format!("set global general_log_file = '{path}'"),
                format!("set global slow_query_log_file = '{path}'"),
                "grant file on *.* to assay@'%'".to_owned(),
                "update mysql.global_priv set priv = '{}' where user = 'root'".to_owned(),
                "create user other".to_owned(),
            ],
        ),
    ];
    for (url, statements) in statements {
        let (server, _) = testbed::start(&Target::parse(url).unwrap()).unwrap();
        for statement in &statements {
            let refused = ask_plainly(&server, statement).expect_err(statement);
            let words = ["ermission denied", "must be superuser", "denied", "must have admin"];
            assert!(words.iter().any(|words| refused.contains(words)), "{statement}: {refused}");
        }
        assert!(!touched.exists());
    }
    // Not even an administrator of MariaDB reaches files through the server's functions. A
    // different folder for tables is ignored.
    let mariadb = start(&Options::mariadb());
    std::fs::create_dir(&touched).unwrap();
    std::fs::set_permissions(&touched, PermissionsExt::from_mode(0o777)).unwrap();
    for engine in ["innodb", "aria", "myisam"] {
        let table = format!("create table {engine} (a int) engine {engine}");
        let elsewhere = format!("{table} data directory '{path}' index directory '{path}'");
        let _ = ask_plainly(&mariadb, &elsewhere);
        let _ = ask_plainly(&mariadb, &format!("{table} data directory '{path}'"));
        let part = format!("partition p values less than (9) data directory '{path}'");
        let parts = format!("partition by range (a) ({part})");
        let _ = ask_plainly(
            &mariadb,
            &format!("create table p{engine} (a int) engine {engine} {parts}"),
        );
    }
    std::fs::remove_dir(&touched).expect("nothing is in it");
    assert_eq!(ask_plainly(&mariadb, "select load_file('/etc/passwd')"), Ok("NULL".to_owned()));
    let refused = ask_plainly(&mariadb, &format!("select 1 into outfile '{path}'")).unwrap_err();
    assert!(refused.contains("secure-file-priv"), "{refused}");
}

/// The statements of this test need the rights that the workloads, the observer and the record
/// need.
#[test]
fn user_of_a_url_owns_its_databases() {
    for (url, statements) in [
        (
            "testbed:postgres?server.shared_preload_libraries=pg_stat_statements",
            &[
                "create table t (a int primary key); create schema s; create table s.t (a int)",
                "create database other",
                "vacuum analyze t",
                "checkpoint",
                "select count(*) > 0 from pg_stat_statements",
                "select count(*) from pg_settings where name = 'shared_preload_libraries'",
                "select count(*) from pg_stat_activity where backend_type = 'checkpointer'",
                "create function f() returns int language sql as 'select 1'",
            ][..],
        ),
        (
            "testbed:mariadb",
            &[
                "create table t (a int primary key); analyze table t",
                "create database assay2; create table assay2.t (a int)",
                "show all slaves status",
                "show slave hosts",
                "select count(*) from information_schema.innodb_sys_tablespaces",
                "select count(*) from performance_schema.file_summary_by_event_name",
                "create function f() returns int deterministic return 1",
            ],
        ),
    ] {
        let (server, _) = testbed::start(&Target::parse(url).unwrap()).unwrap();
        for statement in statements {
            ask_plainly(&server, statement).unwrap_or_else(|why| panic!("{statement}: {why}"));
        }
    }
    let options = Options::postgres().rights(Rights::Ordinary);
    assert_eq!(ask_plainly(&start(&options), "show is_superuser"), Ok("off".to_owned()));
}

/// Returns the options of a client that verifies the server's certificate.
fn verifying<'a>(server: &Server, authority: &'a str) -> Vec<(&'static str, &'a str)> {
    match server.kind() {
        Kind::Postgres => vec![
            ("PGSSLMODE", "verify-full"),
            ("PGSSLROOTCERT", authority),
            ("PGCHANNELBINDING", "require"),
        ],
        Kind::Mariadb | Kind::Mysql => vec![("ssl-verify-server-cert", "1"), ("ssl-ca", authority)],
    }
}

#[test]
fn only_clients_that_trust_the_authority_trust_the_server() {
    for (kind, tls, refusal) in [
        (
            Kind::Postgres,
            "SELECT ssl::text FROM pg_stat_ssl WHERE pid = pg_backend_pid()",
            "certificate verify failed",
        ),
        (
            Kind::Mariadb,
            "SELECT IF(variable_value = '', 'false', 'true') FROM \
             information_schema.session_status WHERE variable_name = 'ssl_cipher'",
            "TLS/SSL error",
        ),
    ] {
        let server = start(&Options::new(kind).tls(Tls::Server));
        let files = server.certificates().unwrap();
        let with = |authority| {
            let extra = verifying(&server, authority);
            ask(&server, Login { password: server.password().expose(), extra: &extra }, tls)
        };
        assert_eq!(with(text(&files.authority)), Ok("true".to_owned()), "{}", server.log());
        let refused = with(text(&files.unrelated_authority)).unwrap_err();
        assert!(refused.contains(refusal), "{refused}");
        let url = server.url();
        assert_eq!(url.option("tls"), Some("verify"));
        assert_eq!(url.option("tls-ca"), Some(text(&files.authority)));
    }
}

#[test]
fn url_starts_a_server_and_yields_its_address() {
    let asked = Target::parse("testbed:postgres?tls=require&server.jit=off").unwrap();
    let (server, reached) = testbed::start(&asked).unwrap_or_else(|problem| panic!("{problem}"));
    let port = server.port();
    assert_eq!(reached.to_string(), format!("postgres://assay@127.0.0.1:{port}/assay?tls=require"));
    assert_eq!(ask_plainly(&server, "SHOW jit"), Ok("off".to_owned()));
    assert_eq!(server.sql("SHOW ssl").unwrap(), "on\n");
}

#[test]
fn the_certificates_verify() {
    let server = start(&Options::postgres().tls(Tls::Server));
    let files = server.certificates().unwrap();
    let verify = |authority, purpose: &str, certificate, name: &[&str]| {
        let mut openssl = Command::new("openssl");
        openssl.args(["verify", "-x509_strict", "-purpose", purpose, "-CAfile", authority]);
        openssl.args(name).arg(certificate);
        output_of(openssl)
    };
    let (authority, unrelated) = (text(&files.authority), text(&files.unrelated_authority));
    let (of_server, of_client) = (text(&files.server), text(&files.client));
    for name in
        [["-verify_hostname", "localhost"], ["-verify_ip", "127.0.0.1"], ["-verify_ip", "::1"]]
    {
        let verified = verify(authority, "sslserver", of_server, &name);
        assert_eq!(verified, Ok(format!("{of_server}: OK")));
    }
    assert!(verify(authority, "sslclient", of_client, &[]).is_ok());
    assert!(verify(authority, "sslclient", of_server, &[]).is_err());
    assert!(verify(authority, "sslserver", of_server, &["-verify_hostname", "a.b"]).is_err());
    assert!(verify(unrelated, "sslserver", of_server, &[]).is_err());
}

#[test]
fn a_server_can_ask_clients_for_certificates() {
    for (kind, refusal) in [
        (Kind::Postgres, "connection requires a valid client certificate"),
        (Kind::Mariadb, "Access denied"),
    ] {
        let server = start(&Options::new(kind).tls(Tls::Mutual));
        let files = server.certificates().unwrap();
        let password = server.password().expose();
        let mut extra = verifying(&server, text(&files.authority));
        let refused = ask(&server, Login { password, extra: &extra }, "SELECT 1").unwrap_err();
        assert!(refused.contains(refusal), "{refused}");
        let (certificate, key) = (text(&files.client), text(&files.client_key));
        extra.extend(match kind {
            Kind::Postgres => [("PGSSLCERT", certificate), ("PGSSLKEY", key)],
            Kind::Mariadb | Kind::Mysql => [("ssl-cert", certificate), ("ssl-key", key)],
        });
        let let_in = ask(&server, Login { password, extra: &extra }, "SELECT 1");
        assert_eq!(let_in, Ok("1".to_owned()));
    }
}
