//! A private server: its start, restart and end.

use std::mem;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use base::{Endpoint, HostPort, Secret, Target, TargetKind};
use net::TlsMode;

use crate::folder::{Folder, random_hex};
use crate::instance::{DATABASE, Instance, USER};
use crate::launch::{Launch, StopSignal, with_a_free_port};
use crate::options::Tls;
use crate::pooler::{self, Pooler, PoolerLaunch};
use crate::process::{Process, run};
use crate::programs::{Account, current_user_name};
use crate::template::Template;
use crate::{Certificates, Kind, Options, Problem, mariadb, mysql, mysql_family, postgres};

/// Name of the server's log file.
const LOG: &str = "server.log";

/// A private database server in a temporary folder, on a free port of 127.0.0.1 and a Unix domain
/// socket, with a user `assay` and a database `assay`. Nothing is left of it after it is dropped or
/// this process is killed.
///
/// ```no_run
/// use testbed::{Options, Server};
///
/// let mut server = Server::start(&Options::postgres().set("synchronous_commit", "off"))?;
/// assert_eq!(server.sql("SELECT 1 + 1")?, "2\n");
/// println!("measure {}", server.url());
/// server.kill();
/// server.restart()?;
/// # Ok::<(), testbed::Problem>(())
/// ```
pub struct Server {
    options: Options,
    instance: Instance,
    password: Secret,
    /// The server process; `None` after the server was killed or shut down.
    process: Option<Process>,
    pooler: Option<Pooler>,
    folder: Folder,
}

impl Server {
    /// Starts a server and waits until it answers, at most two minutes for each program that runs.
    ///
    /// # Errors
    /// A program is not installed, the options are impossible, or the server does not become ready;
    /// the message then has the end of the server's log.
    pub fn start(options: &Options) -> Result<Server, Problem> {
        options.check()?;
        let accounts = match options.kind {
            Kind::Postgres => &postgres::ACCOUNTS,
            Kind::Mariadb | Kind::Mysql => &mysql_family::ACCOUNTS,
        };
        let account = Account::for_server(accounts)?;
        let folder = Folder::new(&account)?;
        let path = folder.path().to_owned();
        let certificates = match options.tls {
            Tls::Off => None,
            Tls::Server | Tls::Mutual => {
                Some(Certificates::make(&path.join("tls"), USER, &account)?)
            }
        };
        let owner = current_user_name()?;
        let instance = Instance { path, port: 0, account, owner, certificates };
        let password = Secret::new(random_hex(16)?);
        let options = options.clone();
        let mut server =
            Server { options, instance, password, process: None, pooler: None, folder };
        server.initialise()?;
        with_a_free_port(|port| {
            server.instance.port = port;
            server.launch()
        })?;
        server.create_user()?;
        server.start_pooler()?;
        Ok(server)
    }

    /// Returns the kind of the server.
    pub fn kind(&self) -> Kind {
        self.options.kind
    }

    /// Returns the server's URL over TCP, with the password. If the server offers TLS, the URL has
    /// `tls=verify` and the options that name the certificate files. With a pooler, the URL is the
    /// pooler's.
    pub fn url(&self) -> Target {
        let Some(files) = &self.instance.certificates else { return self.url_over_tcp(Vec::new()) };
        let option = |name: &str, path: &Path| (name.to_owned(), path.display().to_string());
        let mut options = vec![("tls".to_owned(), TlsMode::Verify.word().to_owned())];
        options.push(option("tls-ca", &files.authority));
        if self.options.tls == Tls::Mutual {
            options.push(option("tls-cert", &files.client));
            options.push(option("tls-key", &files.client_key));
        }
        self.url_over_tcp(options)
    }

    /// Returns the server's URL over the Unix domain socket, whose path is the option `socket`.
    pub fn url_over_socket(&self) -> Target {
        // The URL needs a host, which the socket replaces.
        let nowhere = HostPort { host: "localhost".to_owned(), port: None };
        let socket = self.socket().display().to_string();
        self.url_at(nowhere, vec![("socket".to_owned(), socket)])
    }

    fn url_over_tcp(&self, options: Vec<(String, String)>) -> Target {
        self.url_at(HostPort { host: "127.0.0.1".to_owned(), port: Some(self.port()) }, options)
    }

    fn url_at(&self, address: HostPort, options: Vec<(String, String)>) -> Target {
        let kind = match self.options.kind {
            Kind::Postgres => TargetKind::Postgres,
            Kind::Mariadb | Kind::Mysql => TargetKind::Mysql,
        };
        let endpoint = Endpoint::Network {
            user: Some(USER.to_owned()),
            password: Some(self.password.clone()),
            addresses: vec![address],
            database: Some(DATABASE.to_owned()),
        };
        Target { kind, endpoint, options }
    }

    /// Returns the password of the user `assay`.
    pub fn password(&self) -> &Secret {
        &self.password
    }

    /// Returns the TCP port on 127.0.0.1 for clients.
    pub fn port(&self) -> u16 {
        self.pooler.as_ref().map_or(self.instance.port, |pooler| pooler.port)
    }

    /// Returns the TCP port of the server itself, behind its pooler if it has one.
    pub fn own_port(&self) -> u16 {
        self.instance.port
    }

    /// Returns the path of the Unix domain socket for clients.
    pub fn socket(&self) -> PathBuf {
        if let Some(pooler) = &self.pooler {
            return pooler::socket_of(&self.instance, pooler.port);
        }
        match self.options.kind {
            Kind::Postgres => postgres::socket(&self.instance),
            Kind::Mariadb | Kind::Mysql => mysql_family::socket(&self.instance),
        }
    }

    /// Returns the path of the server's temporary folder.
    pub fn folder(&self) -> &Path {
        &self.instance.path
    }

    /// Returns the server's certificates, if the server offers TLS.
    pub fn certificates(&self) -> Option<&Certificates> {
        self.instance.certificates.as_ref()
    }

    /// Returns the id of the server's first process; `None` after [`Server::kill`] or
    /// [`Server::stop`].
    pub fn pid(&self) -> Option<u32> {
        self.process.as_ref().map(Process::pid)
    }

    /// Returns the id of the pooler's first process, if there is a pooler.
    pub fn pooler_pid(&self) -> Option<u32> {
        self.pooler.as_ref().map(|pooler| pooler.process.pid())
    }

    /// Returns the server's log so far.
    pub fn log(&self) -> String {
        read_log(&self.instance.path.join(LOG))
    }

    /// Returns the pooler's log so far.
    pub fn pooler_log(&self) -> String {
        read_log(&self.instance.path.join(pooler::LOG))
    }

    /// Runs statements as the administrator, with the database's own client program. Returns the
    /// rows: values are separated by tabs, and null is `NULL`.
    ///
    /// # Errors
    /// The client program is not installed, or a statement failed; the message then has the
    /// client's output.
    pub fn sql(&self, text: &str) -> Result<String, Problem> {
        self.run_sql(DATABASE, text)
    }

    fn run_sql(&self, database: &str, text: &str) -> Result<String, Problem> {
        match self.options.kind {
            Kind::Postgres => run("psql", postgres::client(&self.instance, database)?, text),
            Kind::Mariadb => run("mariadb", mariadb::client(&self.instance, database)?, text),
            Kind::Mysql => run("mysql", mysql::client(&self.instance, database)?, text),
        }
    }

    /// Kills all processes of the server (SIGKILL), as a crash would. [`Server::restart`] starts
    /// the server again.
    pub fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.kill();
            self.folder.unregister_process(process.pid());
        }
    }

    /// Stops all processes of the server (SIGSTOP): its sessions stay open, and nothing answers.
    pub fn freeze(&mut self) {
        if let Some(process) = &self.process {
            process.freeze();
        }
    }

    /// Continues a frozen server.
    pub fn thaw(&mut self) {
        if let Some(process) = &self.process {
            process.thaw();
        }
    }

    /// Shuts the server down as its manual describes; its data stays for [`Server::restart`].
    pub fn stop(&mut self) {
        match self.options.kind {
            Kind::Postgres => self.end(&postgres::STOP),
            Kind::Mariadb | Kind::Mysql => self.end(&mysql_family::STOP),
        }
    }

    /// Ends the server if it runs, and starts it again on the same port with the same data.
    ///
    /// # Errors
    /// The server does not become ready; the message has the end of the server's log.
    pub fn restart(&mut self) -> Result<(), Problem> {
        self.stop();
        self.launch()
    }

    /// Ends the server if it runs, and starts it again with different settings, on the same port
    /// with the same data.
    ///
    /// # Errors
    /// As for [`Server::restart`]; the next restart then has the settings from before. If a setting
    /// is malformed, or is one that the testbed itself sets, the server keeps running as it was.
    pub fn restart_with(&mut self, settings: Vec<(String, String)>) -> Result<(), Problem> {
        let before = mem::replace(&mut self.options.settings, settings);
        let restarted = self.options.check().and_then(|()| self.restart());
        if restarted.is_err() {
            self.options.settings = before;
        }
        restarted
    }

    fn end(&mut self, signal: &StopSignal) {
        if let Some(process) = self.process.take() {
            signal.stop(process, &mut self.folder);
        }
    }

    /// Starts the pooler, if the options have one.
    fn start_pooler(&mut self) -> Result<(), Problem> {
        let Some(via) = self.options.via else { return Ok(()) };
        let Server { options, instance, password, folder, .. } = self;
        let launch = PoolerLaunch { via, options, instance, password };
        self.pooler = Some(launch.start(folder)?);
        Ok(())
    }

    fn initialise(&self) -> Result<(), Problem> {
        let instance = &self.instance;
        match self.options.kind {
            Kind::Postgres => {
                make_data_folder(instance, &postgres::program()?, postgres::initialise)?;
                postgres::configure(instance, &self.options)
            }
            Kind::Mariadb => {
                make_data_folder(instance, &mariadb::program()?, mariadb::initialise)?;
                mariadb::configure(instance)
            }
            // There is no template, because a data folder of MySQL has keys and an identity of its
            // own.
            Kind::Mysql => mysql::initialise(instance),
        }
    }

    /// Starts the server and waits until it is ready.
    fn launch(&mut self) -> Result<(), Problem> {
        let Server { options, instance, folder, .. } = self;
        let (name, stop_signal, command) = match options.kind {
            Kind::Postgres => ("postgres", postgres::DISCARD, postgres::server(instance, options)?),
            Kind::Mariadb => {
                ("mariadbd", mysql_family::DISCARD, mariadb::server(instance, options)?)
            }
            Kind::Mysql => ("mysqld", mysql_family::DISCARD, mysql::server(instance, options)?),
        };
        let command = match &options.cpus {
            Some(cpus) => cpus.bind(&command),
            None => command,
        };
        let launch = Launch { name, stop_signal, log: instance.path.join(LOG) };
        let process = launch.run(command, folder, |pid, log| match options.kind {
            Kind::Postgres => postgres::is_ready(instance, pid),
            Kind::Mariadb | Kind::Mysql => mysql_family::is_ready(log),
        })?;
        self.process = Some(process);
        Ok(())
    }

    /// Creates the user and the database.
    fn create_user(&self) -> Result<(), Problem> {
        let password = self.password.expose();
        match self.options.kind {
            Kind::Postgres => {
                let text = postgres::create_user_sql(&self.options, password);
                self.run_sql(postgres::FIRST_DATABASE, &text)
            }
            Kind::Mariadb => {
                let text = mariadb::create_user_sql(&self.options, password);
                self.run_sql(mysql_family::FIRST_DATABASE, &text)
            }
            Kind::Mysql => {
                let text = mysql::create_user_sql(&self.options, password);
                self.run_sql(mysql_family::FIRST_DATABASE, &text)
            }
        }
        .map(drop)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(pooler) = self.pooler.take() {
            pooler.stop_signal().stop(pooler.process, &mut self.folder);
        }
        match self.options.kind {
            Kind::Postgres => self.end(&postgres::DISCARD),
            Kind::Mariadb | Kind::Mysql => self.end(&mysql_family::DISCARD),
        }
    }
}

/// Makes the data folder of an instance: a copy of the template for the server program if there is
/// one, or an initialised folder.
fn make_data_folder(
    instance: &Instance,
    program: &Path,
    initialise: fn(&Instance) -> Result<(), Problem>,
) -> Result<(), Problem> {
    let Some(template) = Template::of(program, instance)? else { return initialise(instance) };
    if template.copy_to(&instance.data())? {
        return Ok(());
    }
    initialise(instance)?;
    template.store(&instance.data())
}

/// Returns the text of a log.
fn read_log(path: &Path) -> String {
    String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()).into_owned()
}

/// Returns a server with default settings that all tests of this process share. It starts on first
/// use and ends with the process. Tests that share it use table names of their own.
///
/// # Panics
/// If the server cannot be started.
pub fn shared(kind: Kind) -> &'static Server {
    static POSTGRES: OnceLock<Server> = OnceLock::new();
    static MARIADB: OnceLock<Server> = OnceLock::new();
    static MYSQL: OnceLock<Server> = OnceLock::new();
    let place = match kind {
        Kind::Postgres => &POSTGRES,
        Kind::Mariadb => &MARIADB,
        Kind::Mysql => &MYSQL,
    };
    shared_in(place, &Options::new(kind))
}

/// Returns a second shared server, which also offers TLS.
///
/// # Panics
/// If the server cannot be started.
pub fn shared_with_tls(kind: Kind) -> &'static Server {
    static POSTGRES: OnceLock<Server> = OnceLock::new();
    static MARIADB: OnceLock<Server> = OnceLock::new();
    static MYSQL: OnceLock<Server> = OnceLock::new();
    let place = match kind {
        Kind::Postgres => &POSTGRES,
        Kind::Mariadb => &MARIADB,
        Kind::Mysql => &MYSQL,
    };
    shared_in(place, &Options::new(kind).tls(Tls::Server))
}

fn shared_in(place: &'static OnceLock<Server>, options: &Options) -> &'static Server {
    place.get_or_init(|| match Server::start(options) {
        Ok(server) => server,
        Err(problem) => panic!("{problem}"),
    })
}
