//! A private server from its start to its end.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use base::{Address, Endpoint, Nanos, Secret, Target, TargetKind};
use rustix::process::Signal;

use crate::folder::{Folder, random_hex};
use crate::process::{Process, log_to, run, tail};
use crate::programs::{Account, own_name};
use crate::{Kind, Options, Problem, mariadb, postgres};

/// Who logs in. It may do everything: the server is there for it alone.
pub(crate) const USER: &str = "assay";

/// The database that is there for the user.
pub(crate) const DATABASE: &str = "assay";

/// How long a server may take until it answers.
const LONGEST_START: Nanos = Nanos::from_secs(120);

/// How long a server may take to end of itself before it is killed.
const LONGEST_STOP: Nanos = Nanos::from_secs(30);

/// How many ports are tried. One that was free may be taken before the server has it.
const TRIES: usize = 5;

/// What servers say of a port that is taken, in their C locale.
const TAKEN: &str = "Address already in use";

/// Ports below those that Linux gives to outgoing connections, so that a server that is stopped
/// for a while finds its port again.
const PORTS: std::ops::Range<u16> = 10_000..32_000;

/// The file with all that the server said.
const LOG: &str = "server.log";

/// A way to end a server.
pub(crate) struct Ending {
    pub(crate) signal: Signal,
    /// Its name for setpriv(1) and kill(1).
    pub(crate) name: &'static str,
}

/// Where a server lives.
pub(crate) struct Site {
    /// Its folder.
    pub(crate) path: PathBuf,
    /// Its port on 127.0.0.1.
    pub(crate) port: u16,
    /// As whom it runs.
    pub(crate) account: Account,
    /// As whom we run.
    pub(crate) owner: String,
}

/// A database server of one's own: in a temporary folder, on a free port of 127.0.0.1 and a Unix
/// socket, with a user `assay` that may do everything and a database `assay`. Dropped, nothing is
/// left of it; nor is if this process is killed.
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
    site: Site,
    password: Secret,
    /// `None` while it is stopped.
    process: Option<Process>,
    folder: Folder,
}

impl Server {
    /// Starts a server and waits until it answers, for two minutes at most.
    ///
    /// # Errors
    /// A program is not installed, the options are not the server's, or it does not become ready;
    /// the message has the server's own last words.
    pub fn start(options: &Options) -> Result<Server, Problem> {
        options.check()?;
        let accounts = match options.kind {
            Kind::Postgres => &postgres::ACCOUNTS,
            Kind::Mariadb => &mariadb::ACCOUNTS,
        };
        let account = Account::for_server(accounts)?;
        let folder = Folder::new(&account)?;
        let path = folder.path().to_owned();
        let site = Site { path, port: free_port()?, account, owner: own_name()? };
        let password = Secret::new(random_hex(16)?);
        let options = options.clone();
        let mut server = Server { options, site, password, process: None, folder };
        server.initialise()?;
        server.launch_somewhere()?;
        server.welcome()?;
        Ok(server)
    }

    /// Which server this is.
    pub fn kind(&self) -> Kind {
        self.options.kind
    }

    /// Its URL over TCP, with the password.
    pub fn url(&self) -> Target {
        self.target(Vec::new())
    }

    /// Its URL over the Unix socket, whose path is the option `socket`.
    pub fn url_over_socket(&self) -> Target {
        self.target(vec![("socket".to_owned(), self.socket().display().to_string())])
    }

    fn target(&self, options: Vec<(String, String)>) -> Target {
        let kind = match self.options.kind {
            Kind::Postgres => TargetKind::Postgres,
            Kind::Mariadb => TargetKind::Mysql,
        };
        let address = Address { host: "127.0.0.1".to_owned(), port: Some(self.site.port) };
        let endpoint = Endpoint::Network {
            user: Some(USER.to_owned()),
            password: Some(self.password.clone()),
            addresses: vec![address],
            database: Some(DATABASE.to_owned()),
        };
        Target { kind, endpoint, options }
    }

    /// The password of its user `assay`.
    pub fn password(&self) -> &Secret {
        &self.password
    }

    /// Its TCP port on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.site.port
    }

    /// The path of its Unix socket.
    pub fn socket(&self) -> PathBuf {
        match self.options.kind {
            Kind::Postgres => postgres::socket(&self.site),
            Kind::Mariadb => mariadb::socket(&self.site),
        }
    }

    /// Its temporary folder.
    pub fn folder(&self) -> &Path {
        &self.site.path
    }

    /// The number of its first process; `None` while it does not run.
    pub fn pid(&self) -> Option<u32> {
        self.process.as_ref().map(Process::pid)
    }

    /// All that it has said so far.
    pub fn log(&self) -> String {
        let bytes = std::fs::read(self.site.path.join(LOG)).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Runs statements as the administrator, with the database's own client program. Returns the
    /// rows: values are separated by tabs, and null is `NULL`.
    ///
    /// # Errors
    /// The client program is not installed, or its words if a statement failed.
    pub fn sql(&self, text: &str) -> Result<String, Problem> {
        self.ask(DATABASE, text)
    }

    fn ask(&self, database: &str, text: &str) -> Result<String, Problem> {
        match self.options.kind {
            Kind::Postgres => run("psql", postgres::client(&self.site, database)?, text),
            Kind::Mariadb => run("mariadb", mariadb::client(&self.site, database)?, text),
        }
    }

    /// Kills all its processes (SIGKILL), as a crash would. [`Server::restart`] brings it back.
    pub fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.kill();
            self.folder.ended(process.pid());
        }
    }

    /// Stops all its processes where they are (SIGSTOP): its sessions stay open, and nothing
    /// answers.
    pub fn freeze(&mut self) {
        if let Some(process) = &self.process {
            process.freeze();
        }
    }

    /// Lets a frozen server go on.
    pub fn thaw(&mut self) {
        if let Some(process) = &self.process {
            process.thaw();
        }
    }

    /// Ends the server as its manual says; its data stay for [`Server::restart`].
    pub fn stop(&mut self) {
        match self.options.kind {
            Kind::Postgres => self.end(&postgres::STOP),
            Kind::Mariadb => self.end(&mariadb::STOP),
        }
    }

    /// Ends the server if it runs, and starts it again on the same port with the same data.
    ///
    /// # Errors
    /// It does not become ready; the message has the server's own last words.
    pub fn restart(&mut self) -> Result<(), Problem> {
        self.stop();
        self.launch()
    }

    fn end(&mut self, ending: &Ending) {
        if let Some(mut process) = self.process.take() {
            process.thaw();
            process.signal(ending.signal);
            if process.wait(LONGEST_STOP).is_none() {
                process.kill();
            }
            self.folder.ended(process.pid());
        }
    }

    fn initialise(&self) -> Result<(), Problem> {
        match self.options.kind {
            Kind::Postgres => postgres::initialise(&self.site, &self.options),
            Kind::Mariadb => mariadb::initialise(&self.site),
        }
    }

    /// Starts the server, on another port if its own was taken in the meantime.
    fn launch_somewhere(&mut self) -> Result<(), Problem> {
        for _ in 1..TRIES {
            match self.launch() {
                Err(problem) if problem.words().contains(TAKEN) => self.site.port = free_port()?,
                outcome => return outcome,
            }
        }
        self.launch()
    }

    /// Starts the server and waits until it is ready.
    fn launch(&mut self) -> Result<(), Problem> {
        let (name, ending, mut command) = match self.options.kind {
            Kind::Postgres => {
                ("postgres", postgres::DISCARD, postgres::server(&self.site, &self.options)?)
            }
            Kind::Mariadb => {
                ("mariadbd", mariadb::DISCARD, mariadb::server(&self.site, &self.options)?)
            }
        };
        let said = self.log().len();
        log_to(&mut command, &self.site.path.join(LOG))?;
        let mut process = Process::start(command).map_err(Problem::of(format!("start {name}")))?;
        self.folder.started(process.pid(), ending.name);
        let pid = process.pid();
        let outcome = process.until(LONGEST_START, || match self.options.kind {
            Kind::Postgres => postgres::is_ready(&self.site, pid),
            Kind::Mariadb => mariadb::is_ready(&self.log_since(said)),
        });
        let Err(has_ended) = outcome else {
            self.process = Some(process);
            return Ok(());
        };
        process.kill();
        self.folder.ended(pid);
        let (program, words) = (name.to_owned(), tail(&self.log_since(said)));
        Err(match has_ended {
            true => Problem::Ended { program, words },
            false => Problem::Slow { program, limit: LONGEST_START, words },
        })
    }

    /// What it said after the first `bytes`.
    fn log_since(&self, bytes: usize) -> String {
        self.log().get(bytes..).unwrap_or_default().to_owned()
    }

    /// Makes the user and the database.
    fn welcome(&self) -> Result<(), Problem> {
        let password = self.password.expose();
        match self.options.kind {
            Kind::Postgres => {
                let text = postgres::welcome(&self.options, password);
                self.ask(postgres::FIRST_DATABASE, &text)
            }
            Kind::Mariadb => {
                let text = mariadb::welcome(&self.options, password);
                self.ask(mariadb::FIRST_DATABASE, &text)
            }
        }
        .map(drop)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        match self.options.kind {
            Kind::Postgres => self.end(&postgres::DISCARD),
            Kind::Mariadb => self.end(&mariadb::DISCARD),
        }
    }
}

/// A port of 127.0.0.1 on which nobody listens.
fn free_port() -> Result<u16, Problem> {
    for _ in 0..1_000 {
        let random = u16::from_str_radix(&random_hex(2)?, 16).unwrap_or_default();
        let port = PORTS.start + random % (PORTS.end - PORTS.start);
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return Ok(port);
        }
    }
    Err(Problem::refused(format!(
        "no port of 127.0.0.1 from {} to {} is free",
        PORTS.start,
        PORTS.end - 1
    )))
}

/// A server with its defaults that all tests of this process share. It is started when it is first
/// asked for, and ends with the process. Who shares it makes tables with names of their own.
///
/// # Panics
/// The server cannot be started.
pub fn shared(kind: Kind) -> &'static Server {
    static POSTGRES: OnceLock<Server> = OnceLock::new();
    static MARIADB: OnceLock<Server> = OnceLock::new();
    let place = match kind {
        Kind::Postgres => &POSTGRES,
        Kind::Mariadb => &MARIADB,
    };
    place.get_or_init(|| match Server::start(&Options::new(kind)) {
        Ok(server) => server,
        Err(problem) => panic!("{problem}"),
    })
}
