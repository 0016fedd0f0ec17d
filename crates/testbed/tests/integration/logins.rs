//! Who is let in, and how.

use std::process::Command;

use base::{Endpoint, Target};
use testbed::{Auth, Kind, Options, Server, Tls};

use crate::support::{Login, ask, ask_plainly, said, start, text};

/// What PostgreSQL keeps for a password begins with the method.
const KEPT: &str = "SELECT left(rolpassword, 3) FROM pg_authid WHERE rolname = 'assay'";

#[test]
fn postgres_lets_in_by_each_method_and_only_with_the_password() {
    for (auth, method, kept) in [
        (Auth::Scram, "scram-sha-256", "SCR"),
        (Auth::Md5, "md5", "md5"),
        (Auth::Password, "password", "SCR"),
    ] {
        let server = start(&Options::postgres().auth(auth));
        assert_eq!(ask_plainly(&server, KEPT), Ok(kept.to_owned()));
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
fn mariadb_lets_in_by_each_method_and_only_with_the_password() {
    for (auth, plugin) in [(Auth::Native, "mysql_native_password"), (Auth::Ed25519, "ed25519")] {
        let server = start(&Options::mariadb().auth(auth));
        let kept = "SELECT plugin FROM mysql.user WHERE user = 'assay'";
        assert_eq!(ask_plainly(&server, kept), Ok(plugin.to_owned()));
        let refused = ask(&server, Login { password: "wrong", extra: &[] }, "SELECT 1");
        assert!(refused.unwrap_err().contains("Access denied"), "{auth:?}");
    }
}

#[test]
fn nobody_is_let_in_over_tcp_but_the_user() {
    let postgres = testbed::shared(Kind::Postgres);
    let mut psql = Command::new("psql");
    psql.args(["-X", "-h", "127.0.0.1", "-p", &postgres.port().to_string()]);
    psql.args(["-U", "postgres", "-c", "SELECT 1"]).env("PGPASSWORD", "");
    assert!(said(psql).unwrap_err().contains("pg_hba.conf rejects"));
    let mariadb = testbed::shared(Kind::Mariadb);
    for user in ["root", ""] {
        let mut client = Command::new("mariadb");
        client.args(["--no-defaults", "-h", "127.0.0.1", "-P", &mariadb.port().to_string()]);
        client.arg(format!("--user={user}")).args(["-e", "SELECT 1"]);
        assert!(said(client).unwrap_err().contains("Access denied"), "`{user}`");
    }
}

#[test]
fn the_url_says_how_to_get_in() {
    let server = testbed::shared(Kind::Mariadb);
    let (url, port) = (server.url(), server.port());
    assert_eq!(url.to_string(), format!("mysql://assay@127.0.0.1:{port}/assay"));
    let Endpoint::Network { password: Some(password), .. } = url.endpoint else { panic!() };
    assert_eq!(password.expose(), server.password().expose());
    let socket = server.url_over_socket();
    let path = socket.option("socket").unwrap();
    assert!(path.len() <= 107 && std::path::Path::new(path).exists(), "{path}");
}

/// The options of a client that checks the server's certificate.
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
fn a_client_that_trusts_the_authority_trusts_the_server_and_no_other_does() {
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
        let refused = with(text(&files.stranger)).unwrap_err();
        assert!(refused.contains(refusal), "{refused}");
        let url = server.url();
        assert_eq!(url.option("tls"), Some("verify"));
        assert_eq!(url.option("tls-ca"), Some(text(&files.authority)));
    }
}

#[test]
fn a_url_starts_a_server_and_says_how_it_is_reached() {
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
        said(openssl)
    };
    let (authority, stranger) = (text(&files.authority), text(&files.stranger));
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
    assert!(verify(stranger, "sslserver", of_server, &[]).is_err());
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
