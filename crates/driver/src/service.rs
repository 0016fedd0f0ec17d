//! A networked database as described by a URL, and the time limits of its sessions.

use std::cell::Cell;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use base::{Class, Code, Endpoint, NodeId, Secret, Secrets, Target, UrlOption};
use net::{
    Address, Addresses, Channel, ClientTls, FoundPassword, Host, Options, PasswordFile,
    PasswordOwner, ReceiveMemory, file_for_any_host, find_password, reason_for_ignored_file,
};
use rt::{Rt, within};

use crate::activity_counters::OwnTraffic;
use crate::error::Error;
use crate::session_ids::SessionIds;
use crate::table::ShortTables;

/// The words for a login in messages about a timeout.
pub(crate) const LOGGING_IN: &str = "complete a login";

/// The words for preparing a statement in messages about a timeout.
pub(crate) const PREPARING: &str = "prepare a statement";

/// The words for the first answer of a session in messages about a timeout.
pub(crate) const ANSWERING: &str = "answer a first statement (a pooler may be full)";

/// The words for reading the settings in messages about a timeout.
pub(crate) const REPORTING_SETTINGS: &str = "report its settings";

/// Builds the error for a connection on which the answer to an earlier statement is outstanding.
/// That answer would be taken for the answer to the next statement.
pub(crate) fn unread_answer(address: &Address) -> Error {
    Error::disconnect_naming_server(format!(
        "{address} still owes the answer to an earlier statement; `connect-timeout=` allows more"
    ))
}

/// Constants of one kind of database.
pub(crate) struct ServiceKind {
    /// Name in messages.
    pub(crate) name: &'static str,
    /// Default port.
    pub(crate) port: u16,
    /// Password file of the database's own clients.
    pub(crate) password_file: PasswordFile,
    /// Names of the options that only URLs of this kind have.
    pub(crate) options: &'static [&'static str],
}

/// A login that a server refuses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RefusedLogin<'a> {
    /// The server's message, without passwords.
    pub(crate) message: &'a str,
    /// The remedy; may be empty.
    pub(crate) remedy: &'a str,
    /// True if a wrong or missing password may be the reason.
    pub(crate) is_of_password: bool,
}

/// The servers of a URL, and the login for them.
#[derive(Debug)]
pub(crate) struct Service {
    kind: &'static str,
    pub(crate) addresses: Addresses,
    /// The password for each address, if any.
    passwords: Vec<Option<Secret>>,
    /// The passwords, to be removed from texts that the servers send.
    pub(crate) secrets: Secrets,
    /// The reason why a password file is ignored, and a remedy; `None` if the file was read, or is
    /// not needed.
    ignored: Option<String>,
    pub(crate) options: Options,
    pub(crate) tls: ClientTls,
    pub(crate) user: String,
    pub(crate) database: Option<String>,
    /// The memory that all sessions together may use for received bytes.
    receive_memory: ReceiveMemory,
    /// The memory that all sessions together may use for short results that are not measured.
    pub(crate) short_tables: ShortTables,
    /// Counters of Assay's own traffic outside of requests, over all sessions.
    pub(crate) own_traffic: OwnTraffic,
    /// Ids of the sessions at each address.
    pub(crate) session_ids: Vec<SessionIds>,
    /// For each address, true if it has answered a new session.
    answered: Vec<AtomicBool>,
    /// For each address, true if it has greeted a client.
    greeted: Vec<AtomicBool>,
    /// True from time zero on, after a run has opened its initial connections.
    has_begun: AtomicBool,
}

/// A login at a server, for other programs.
#[derive(Clone, Debug)]
pub struct Login {
    /// The host; `localhost` for a socket.
    pub host: String,
    /// The port; `None` for a socket.
    pub port: Option<u16>,
    /// The Unix domain socket, if the URL names one.
    pub socket: Option<PathBuf>,
    /// The user.
    pub user: String,
    /// The database, if the URL names one.
    pub database: Option<String>,
    /// The password, if there is one.
    pub password: Option<Secret>,
    /// The passwords of all addresses, to be removed from texts that the programs write.
    pub secrets: Secrets,
}

/// A flag for servers that speak first: true between the accepted connection and the greeting.
#[derive(Debug, Default)]
pub(crate) struct AwaitedGreeting(Cell<bool>);

impl AwaitedGreeting {
    /// Records that the server has accepted the connection.
    pub(crate) fn begin(&self) {
        self.0.set(true);
    }
}

impl ServiceKind {
    /// Checks a URL. Opens no connection, and reads none of the files that the URL names. `take`
    /// receives the options that only this kind has.
    ///
    /// # Errors
    /// The problem with the URL.
    pub(crate) fn check<'t>(
        &self,
        target: &'t Target,
        take: impl FnMut(UrlOption<'t>) -> Result<(), Error>,
    ) -> Result<Options, Error> {
        if let Some(name) = with_a_zero_byte(target) {
            return Err(Error::url(format!("the {name} in the URL has a zero byte (`%00`)")));
        }
        if let Some(error) = self.path_as_host(target) {
            return Err(error);
        }
        if let (Some(socket), Some(host)) = (target.option("socket"), host_of(target)) {
            return Err(Error::url(format!(
                "`socket={socket}` and the host `{host}` exclude each other: leave out one of the \
                 two"
            )));
        }
        Options::parse(self.name, &target.options, self.options, take)
    }

    /// Returns an error if a host is a path: other clients name a Unix socket in this way.
    fn path_as_host(&self, target: &Target) -> Option<Error> {
        let Endpoint::Network { addresses, .. } = &target.endpoint else { return None };
        let base::HostPort { host, port } = addresses.iter().find(|it| it.host.starts_with('/'))?;
        let socket = match self.password_file {
            PasswordFile::PgPass => format!("{host}/.s.PGSQL.{}", port.unwrap_or(self.port)),
            PasswordFile::MyCnf => host.clone(),
        };
        Some(Error::url(format!(
            "the host `{host}` is a path: for a Unix socket, write `socket={socket}` and no host"
        )))
    }

    /// Reads a URL and the files that it names. `take` receives the options that only this kind
    /// has.
    ///
    /// # Errors
    /// The problem with the URL or a file.
    pub(crate) fn open<'t>(
        &self,
        target: &'t Target,
        take: impl FnMut(UrlOption<'t>) -> Result<(), Error>,
    ) -> Result<Service, Error> {
        let options = self.check(target, take)?;
        let addresses = Addresses::of(target, self.port, options.socket.clone());
        let modes = addresses.all().iter().map(|address| options.tls_mode_for(address));
        let tls = ClientTls::new(&options, &modes.collect::<Vec<_>>())?;
        let (user, password, database) = match &target.endpoint {
            Endpoint::Network { user, password, database, .. } => (user, password, database),
            Endpoint::Temporary | Endpoint::File(_) | Endpoint::Named(_) => (&None, &None, &None),
        };
        let user = user.clone().unwrap_or_else(user_of_this_process);
        let name = database.as_deref().unwrap_or(&user);
        let password_at = |address| match password {
            Some(password) => FoundPassword::given(password.clone()),
            None => find_password(
                self.password_file,
                PasswordOwner { address, database: name, user: &user },
            ),
        };
        let (mut passwords, mut ignored) = (Vec::new(), None);
        for found in addresses.all().iter().map(password_at) {
            passwords.push(found.password);
            ignored = ignored.or(found.ignored);
        }
        let shown = addresses.all().iter().map(Address::host).chain([user.as_str(), name]);
        let secrets = Secrets::of_login(passwords.iter().flatten(), &shown.collect::<Vec<_>>());
        let database = database.clone();
        let unset = || addresses.all().iter().map(|_| AtomicBool::default()).collect();
        let (answered, greeted) = (unset(), unset());
        let session_ids = addresses.all().iter().map(|_| SessionIds::default()).collect();
        Ok(Service {
            kind: self.name,
            addresses,
            passwords,
            secrets,
            ignored,
            options,
            tls,
            user,
            database,
            receive_memory: ReceiveMemory::default(),
            short_tables: ShortTables::default(),
            own_traffic: OwnTraffic::default(),
            session_ids,
            answered,
            greeted,
            has_begun: AtomicBool::default(),
        })
    }

    /// Returns the reason why the password file is not read for a URL, and a remedy; `None` if it
    /// is read, or is not needed.
    pub(crate) fn reason_for_ignored_file(&self, target: &Target) -> Option<String> {
        match &target.endpoint {
            Endpoint::Network { password: None, .. } => reason_for_ignored_file(self.password_file),
            Endpoint::Network { password: Some(_), .. }
            | Endpoint::Temporary
            | Endpoint::File(_)
            | Endpoint::Named(_) => None,
        }
    }

    /// Returns the password file if its entry for a server of the URL on another machine applies to
    /// any host; otherwise `None`. Ignores `ASSAY_PASSWORD`, which takes precedence over the file.
    pub(crate) fn password_file_for_any_host(&self, target: &Target) -> Option<PathBuf> {
        let Endpoint::Network { user, password: None, database, .. } = &target.endpoint else {
            return None;
        };
        let user = user.clone().unwrap_or_else(user_of_this_process);
        let database = database.as_deref().unwrap_or(&user);
        let addresses = Addresses::of(target, self.port, None);
        let elsewhere = addresses.all().iter().filter(|address| !address.is_local());
        let mut owners = elsewhere.map(|address| PasswordOwner { address, database, user: &user });
        owners.find_map(|owner| file_for_any_host(self.password_file, owner))
    }
}

impl Service {
    /// Opens a channel without TLS to the address of `node`, or to `peer` if given.
    ///
    /// # Errors
    /// As for [`Channel::connect`].
    pub(crate) async fn connect(
        &self,
        rt: &Rt,
        node: NodeId,
        peer: Option<SocketAddr>,
    ) -> Result<Channel, Error> {
        let any = Host::Any { within: self.options.connect_timeout };
        let host = peer.map_or(any, Host::Exactly);
        let address = &self.addresses.all()[node.index()];
        let connected = Channel::connect(rt, address, host, &self.receive_memory).await;
        connected.map_err(|error| {
            // A URL need not name the user, so the message includes the user that was chosen.
            let message = format!("user `{}` {}", self.user, error.message());
            Error::new(error.class(), error.code(), message)
        })
    }

    /// Returns the password for the address of `node`; `None` without one.
    pub(crate) fn password(&self, node: NodeId) -> Option<&Secret> {
        self.passwords[node.index()].as_ref()
    }

    /// Returns the login at the first address; `None` if there is none.
    pub(crate) fn login(&self) -> Option<Login> {
        let address = self.addresses.all().first()?;
        let (port, socket) = match address {
            Address::Tcp(_, port) => (Some(*port), None),
            Address::Unix(path) => (None, Some(path.clone())),
        };
        Some(Login {
            host: address.host().to_owned(),
            port,
            socket,
            user: self.user.clone(),
            database: self.database.clone(),
            password: self.passwords.first()?.clone(),
            secrets: self.secrets.clone(),
        })
    }

    /// Runs a step of a session within the connect timeout; `doing` names the server's task in the
    /// error message.
    ///
    /// # Errors
    /// Class `Disconnect` when the time is over.
    pub(crate) async fn in_time<T>(
        &self,
        rt: &Rt,
        node: NodeId,
        doing: &str,
        session: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        let limit = self.options.connect_timeout;
        // Boxed: a login is large, and each enclosing future would reserve space for it.
        let session = within(rt, limit, Box::pin(session)).await;
        session.unwrap_or_else(|| Err(self.too_late(node, doing)))
    }

    /// Runs the login at a server that speaks first, within the connect timeout.
    ///
    /// # Errors
    /// Class `Disconnect` when the time is over. A server that has never sent anything by then may
    /// be of a different kind, which waits until its client has sent something.
    pub(crate) async fn await_greeting<T>(
        &self,
        rt: &Rt,
        node: NodeId,
        silence: &AwaitedGreeting,
        login: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        let limit = self.options.connect_timeout;
        match within(rt, limit, Box::pin(login)).await {
            Some(login) => login,
            None if silence.0.get() => Err(self.silent_server(node)),
            None => Err(self.too_late(node, LOGGING_IN)),
        }
    }

    /// Records that the server `node` has greeted a client, and so is of the kind that the URL
    /// names.
    pub(crate) fn note_greeting(&self, node: NodeId, silence: &AwaitedGreeting) {
        silence.0.set(false);
        self.greeted[node.index()].store(true, Ordering::Relaxed);
    }

    /// Records that a run has opened its initial connections.
    pub(crate) fn end_opening(&self) {
        self.has_begun.store(true, Ordering::Relaxed);
    }

    /// Waits for the answer to a statement of a new session, within the connect timeout; `doing`
    /// names the server's task in the error message.
    ///
    /// # Errors
    /// On timeout, class `TooManyConnections` with [`Code::NO_SESSION`] if the run is still opening
    /// its sessions and this address has answered an earlier session: a pooler accepts more clients
    /// than it has sessions for. Otherwise class `Disconnect`, with [`Error::is_unanswered`]: in a
    /// run, only the answers to other sessions distinguish a full pooler from a stopped server.
    pub(crate) async fn session_in_time<T>(
        &self,
        rt: &Rt,
        node: NodeId,
        doing: &str,
        answer: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        let answered = &self.answered[node.index()];
        match within(rt, self.options.connect_timeout, Box::pin(answer)).await {
            Some(answer) => {
                answered.fetch_or(answer.is_ok(), Ordering::Relaxed);
                answer
            }
            None if answered.load(Ordering::Relaxed) && !self.has_begun.load(Ordering::Relaxed) => {
                Err(self.no_session(node))
            }
            None => Err(Error::unanswered(self.too_late(node, doing).message())),
        }
    }

    fn no_session(&self, node: NodeId) -> Error {
        let words = format!(
            "{} accepted a client, and had no session for it within {}, like a pooler with fewer \
             sessions than clients; enlarge the pool, or ask for fewer \
             connections or `writers`; `connect-timeout=` allows more",
            self.addresses.all()[node.index()],
            self.options.connect_timeout
        );
        Error::new(Class::TooManyConnections, Code::NO_SESSION, words)
    }

    fn silent_server(&self, node: NodeId) -> Error {
        let other_kind = match self.greeted[node.index()].load(Ordering::Relaxed) {
            true => String::new(),
            false => format!(
                ", although a {} server speaks first; if PostgreSQL listens there, write \
                 `postgres://`",
                self.kind
            ),
        };
        Error::disconnect(format!(
            "{} accepted the connection and sent nothing within {}{other_kind}; \
             `connect-timeout=` allows more",
            self.addresses.all()[node.index()],
            self.options.connect_timeout
        ))
    }

    fn too_late(&self, node: NodeId, doing: &str) -> Error {
        Error::disconnect(format!(
            "{} did not {doing} within {}; `connect-timeout=` allows more",
            self.addresses.all()[node.index()],
            self.options.connect_timeout
        ))
    }

    /// Formats a refusal of the server: the server, the login, the server's message and a remedy.
    pub(crate) fn refusal(&self, address: &Address, refused: &RefusedLogin<'_>) -> String {
        let RefusedLogin { message, remedy, is_of_password } = *refused;
        let user = &self.user;
        let database = match &self.database {
            Some(database) => format!(", database `{database}`"),
            None => String::new(),
        };
        let kind = self.kind;
        let remedy = if remedy.is_empty() { String::new() } else { format!("; {remedy}") };
        let ignored = match &self.ignored {
            Some(why) if is_of_password => format!("; {why}"),
            Some(_) | None => String::new(),
        };
        format!("{kind} at {address} refuses user `{user}`{database}: {message}{remedy}{ignored}")
    }
}

/// Returns the hosts of a URL, separated by commas; `None` for the default host.
fn host_of(target: &Target) -> Option<String> {
    let Endpoint::Network { addresses, .. } = &target.endpoint else { return None };
    let none = [base::HostPort { host: "localhost".to_owned(), port: None }];
    let hosts = addresses.iter().map(ToString::to_string);
    (*addresses != none).then(|| hosts.collect::<Vec<_>>().join(","))
}

/// Returns the name of a part of the URL that contains a zero byte, which no protocol can carry;
/// `None` if no part does.
fn with_a_zero_byte(target: &Target) -> Option<&str> {
    let Endpoint::Network { user, password, addresses, database } = &target.endpoint else {
        return None;
    };
    let own = [("user", user), ("database", database)].into_iter();
    let own = own.filter_map(|(name, value)| Some((name, value.as_deref()?)));
    let password = password.iter().map(|password| ("password", password.expose()));
    let hosts = addresses.iter().map(|address| ("host", address.host.as_str()));
    let options = target.options.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let mut all = own.chain(password).chain(hosts).chain(options);
    all.find_map(|(name, value)| value.contains('\0').then_some(name))
}

/// Returns the user name that databases' own clients use by default.
fn user_of_this_process() -> String {
    let given = ["USER", "LOGNAME"].iter().find_map(|name| std::env::var(name).ok());
    let known = || {
        let user = nix::unistd::User::from_uid(nix::unistd::Uid::effective());
        user.ok().flatten().map(|user| user.name)
    };
    given.or_else(known).unwrap_or_else(|| "root".to_owned())
}
