//! Servers: from start to end.

use testbed::{Kind, Options, Server};

const KINDS: [Kind; 2] = [Kind::Postgres, Kind::Mariadb];

fn start(options: &Options) -> Server {
    Server::start(options).unwrap_or_else(|problem| panic!("{problem}"))
}

#[test]
fn a_server_answers_with_its_settings_and_leaves_nothing() {
    for kind in KINDS {
        let server = start(&Options::new(kind).max_connections(17));
        let setting = match kind {
            Kind::Postgres => server.sql("SHOW max_connections").unwrap(),
            Kind::Mariadb => server.sql("SELECT @@max_connections").unwrap(),
        };
        assert_eq!(setting, "17\n", "{}", server.log());
        let (folder, pid) = (server.folder().to_owned(), server.pid().unwrap());
        assert!(folder.exists() && std::path::Path::new(&format!("/proc/{pid}")).exists());
        drop(server);
        assert!(!folder.exists(), "{}", folder.display());
        assert!(!std::path::Path::new(&format!("/proc/{pid}")).exists());
    }
}

#[test]
fn a_killed_server_comes_back_with_its_data_on_its_port() {
    for kind in KINDS {
        let mut server = start(&Options::new(kind));
        server.sql("CREATE TABLE t (a INT); INSERT INTO t VALUES (7)").unwrap();
        let port = server.port();
        server.kill();
        assert!(server.sql("SELECT 1").is_err());
        server.restart().unwrap_or_else(|problem| panic!("{problem}"));
        assert_eq!(server.sql("SELECT a FROM t").unwrap(), "7\n");
        assert_eq!(server.port(), port);
        server.stop();
        assert_eq!(server.pid(), None);
    }
}

#[test]
fn an_unknown_setting_is_told_in_the_words_of_the_server() {
    for (kind, words) in [
        (Kind::Postgres, "unrecognized configuration parameter \"nonsense\""),
        (Kind::Mariadb, "unknown variable 'nonsense=1'"),
    ] {
        let problem = Server::start(&Options::new(kind).set("nonsense", "1")).err().unwrap();
        assert!(problem.to_string().contains(words), "{problem}");
    }
}

#[test]
fn a_shared_server_is_one() {
    let first = testbed::shared(Kind::Postgres);
    assert_eq!(first.pid(), testbed::shared(Kind::Postgres).pid());
    assert_eq!(first.sql("SELECT current_database()").unwrap(), "assay\n");
}
