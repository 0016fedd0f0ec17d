//! Tests that start, use and end private servers.

use std::path::Path;
use std::process::Stdio;

use testbed::{Auth, Cpus, Kind, Options, Server};

use crate::support::{KINDS, Login, client, is_running, start};

#[test]
fn a_server_answers_with_its_settings_and_leaves_nothing() {
    for kind in KINDS {
        let server = start(&Options::new(kind).max_connections(17));
        let setting = match kind {
            Kind::Postgres => server.sql("SHOW max_connections").unwrap(),
            Kind::Mariadb | Kind::Mysql => server.sql("SELECT @@max_connections").unwrap(),
        };
        assert_eq!(setting, "17\n", "{}", server.log());
        let (folder, pid) = (server.folder().to_owned(), server.pid().unwrap());
        assert!(folder.exists() && is_running(pid));
        drop(server);
        assert!(!folder.exists(), "{}", folder.display());
        assert!(!is_running(pid));
    }
}

#[test]
fn a_killed_server_comes_back_with_its_data_on_its_port() {
    for kind in KINDS {
        let mut server = start(&Options::new(kind));
        server.sql("CREATE TABLE t (a INT); INSERT INTO t VALUES (7)").unwrap();
        let port = server.port();
        server.kill();
        assert_eq!(server.pid(), None);
        assert!(server.sql("SELECT 1").is_err());
        server.restart().unwrap_or_else(|problem| panic!("{problem}"));
        assert_eq!(server.sql("SELECT a FROM t").unwrap(), "7\n");
        assert_eq!(server.port(), port);
        server.stop();
        assert_eq!(server.pid(), None);
    }
}

#[test]
fn restarted_server_has_its_data_and_other_settings() {
    for kind in KINDS {
        let mut server = start(&Options::new(kind).max_connections(17));
        server.sql("CREATE TABLE t (a INT); INSERT INTO t VALUES (7)").unwrap();
        let port = server.port();
        let with = |value: &str| vec![("max_connections".to_owned(), value.to_owned())];
        server.restart_with(with("23")).unwrap_or_else(|problem| panic!("{problem}"));
        let setting = match kind {
            Kind::Postgres => "SHOW max_connections",
            Kind::Mariadb | Kind::Mysql => "SELECT @@max_connections",
        };
        assert_eq!(server.sql(setting).unwrap(), "23\n");
        assert_eq!((server.sql("SELECT a FROM t").unwrap().as_str(), server.port()), ("7\n", port));
        let unknown = vec![("nonsense".to_owned(), "1".to_owned())];
        let problem = server.restart_with(unknown).unwrap_err();
        assert!(problem.to_string().contains("nonsense"), "{problem}");
        server.restart().unwrap_or_else(|problem| panic!("{problem}"));
        assert_eq!(server.sql(setting).unwrap(), "23\n");
        server.restart_with(Vec::new()).unwrap_or_else(|problem| panic!("{problem}"));
        assert_eq!(server.sql("SELECT a FROM t").unwrap(), "7\n");
    }
}

/// Returns, for each thread of a process and of its children, the processors that it may run on.
fn allowed_list(pid: u32) -> Vec<String> {
    let children = format!("/proc/{pid}/task/{pid}/children");
    let children = std::fs::read_to_string(children).unwrap_or_default();
    let pids = children.split_whitespace().map(str::to_owned).chain([pid.to_string()]);
    let tasks = pids.filter_map(|pid| std::fs::read_dir(format!("/proc/{pid}/task")).ok());
    let status = tasks.flatten().flatten().map(|task| task.path().join("status"));
    let list = |text: String| {
        let line = text.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
        line.map(|list| list.trim().to_owned())
    };
    status.filter_map(|path| list(std::fs::read_to_string(path).ok()?)).collect()
}

#[test]
fn server_is_bound_to_its_processors_also_after_a_restart() {
    let own = allowed_list(std::process::id());
    for kind in KINDS {
        let bound = Options::new(kind).cpus(Cpus::parse("0").unwrap());
        let mut server = start(&bound);
        let is_bound = |server: &Server| {
            let lists = allowed_list(server.pid().unwrap());
            !lists.is_empty() && lists.iter().all(|list| list == "0")
        };
        assert!(is_bound(&server), "{kind:?}");
        assert_eq!(server.sql("SELECT 1").unwrap(), "1\n");
        server.restart_with(vec![("max_connections".to_owned(), "23".to_owned())]).unwrap();
        assert!(is_bound(&server), "{kind:?}");
        server.kill();
        server.restart().unwrap();
        assert!(is_bound(&server), "{kind:?}");
    }
    assert_eq!(allowed_list(std::process::id()).first(), own.first());
}

#[test]
fn a_frozen_server_answers_when_it_is_thawed() {
    for kind in KINDS {
        let mut server = start(&Options::new(kind));
        server.freeze();
        let pid = server.pid().unwrap();
        let state = || std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        assert!(state().contains("T (stopped)"), "{}", state());
        let login = Login { password: server.password().expose(), extra: &[] };
        let mut asking = client(&server, login, "SELECT 5");
        let mut asking = asking.stdout(Stdio::piped()).spawn().unwrap();
        // The client waits: the kernel has accepted its connection, but the frozen server has not.
        assert!(asking.try_wait().unwrap().is_none());
        server.thaw();
        assert_eq!(asking.wait_with_output().unwrap().stdout, b"5\n");
    }
}

#[test]
fn a_frozen_server_can_be_ended() {
    for kind in KINDS {
        let mut server = start(&Options::new(kind));
        let (folder, pid) = (server.folder().to_owned(), server.pid().unwrap());
        server.freeze();
        drop(server);
        assert!(!is_running(pid) && !folder.exists());
    }
}

/// Starts and ends a server of each URL, and checks that it prints the `expected` text for the
/// folder of temporary files. This folder is new, and its name begins with `name`. Uses a separate
/// process, because the folder applies to the whole process.
#[track_caller]
fn check_servers_in(name: &str, urls: [&str; 2], expected: impl Fn(&Path) -> String) {
    let above = std::env::temp_dir().join(format!("{name} {}", std::process::id()));
    std::fs::create_dir(&above).expect("a new folder");
    for url in urls {
        let mut host = std::process::Command::new(env!("CARGO_BIN_EXE_testbed-host"));
        host.arg(url).env("TMPDIR", &above).stdin(Stdio::null());
        let ran = host.output().expect("the host of servers");
        let said = String::from_utf8_lossy(&ran.stdout).into_owned();
        let complaint = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert!(said.contains(&expected(&above)), "{url}: {said}{complaint}");
    }
    std::fs::remove_dir(&above).expect("nothing is left in it");
}

#[test]
fn server_starts_in_a_folder_with_spaces() {
    let urls = ["testbed:mariadb", "testbed:postgres?via=pgbouncer"];
    check_servers_in("assay spaces", urls, |above| above.display().to_string());
}

/// The servers use a folder in `/tmp` instead: PostgreSQL writes the path of its folder into a file
/// with one fact per line, and a line break in the path would make the start hang.
#[test]
fn server_does_not_start_in_a_folder_whose_name_has_two_lines() {
    let urls = ["testbed:mariadb", "testbed:postgres"];
    check_servers_in("assay\nlines", urls, |_| "/tmp/assay-".to_owned());
}

#[test]
fn unknown_setting_quotes_the_server() {
    for (kind, words) in [
        (Kind::Postgres, "unrecognized configuration parameter \"nonsense\""),
        (Kind::Mariadb, "unknown variable 'nonsense=1'"),
    ] {
        let problem = Server::start(&Options::new(kind).set("nonsense", "1")).err().unwrap();
        assert!(problem.to_string().contains(words), "{problem}");
    }
}

#[test]
fn impossible_options_are_refused_before_the_start() {
    let problem = Server::start(&Options::mariadb().auth(Auth::Scram)).err().unwrap();
    assert_eq!(problem.to_string(), "a mariadb server has no login by Scram");
    let far = Options::postgres().cpus(Cpus::parse("8000").unwrap());
    let problem = Server::start(&far).err().unwrap().to_string();
    assert!(problem.starts_with("`cpus`: there is no processor 8000: this machine has"));
}

#[test]
fn durability_settings_are_the_servers_defaults() {
    for (kind, sql, answer) in [
        (
            Kind::Postgres,
            "SELECT count(*) FROM pg_settings WHERE source = 'command line' AND name NOT IN \
             ('data_directory', 'listen_addresses', 'port', 'unix_socket_directories')",
            "0\n",
        ),
        (
            Kind::Mariadb,
            "SELECT @@innodb_flush_log_at_trx_commit, @@sync_binlog, @@innodb_doublewrite",
            "1\t0\t1\n",
        ),
    ] {
        assert_eq!(testbed::shared(kind).sql(sql).unwrap(), answer);
    }
}

#[test]
fn shared_server_is_started_once() {
    let first = testbed::shared(Kind::Postgres);
    assert_eq!(first.pid(), testbed::shared(Kind::Postgres).pid());
    assert_eq!(first.sql("SELECT current_database()").unwrap(), "assay\n");
}

#[test]
fn the_password_is_in_no_log_and_no_command_line() {
    for options in [
        Options::postgres().set("log_statement", "all"),
        Options::mariadb().set("general_log", "1").set("general_log_file", "all.log"),
    ] {
        let server = start(&options);
        let password = server.password().expose();
        server.sql("SELECT 'in the log'").unwrap();
        let general = std::fs::read_to_string(server.folder().join("data/all.log"));
        let log = server.log() + &general.unwrap_or_default();
        assert!(log.contains("in the log") && !log.contains(password), "{log}");
        let command = std::fs::read_to_string(format!("/proc/{}/cmdline", server.pid().unwrap()));
        assert!(!command.unwrap().contains(password));
    }
}
