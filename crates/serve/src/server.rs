//! The server: a listening socket and a bounded number of threads.

use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use crate::access::Access;
use crate::address::{HostNames, ListenAddress, Range};
use crate::busy::refuse;
use crate::connection;
use crate::policy::Policy;
use crate::route::Pages;
use crate::site::{Limits, OpenConnection, Site};
use crate::token::Token;

/// Maximum number of consecutive failures to accept a connection; after one more, the server gives
/// up.
const MOST_FAILURES: u32 = 100;

/// Pause after a failure to accept a connection, such as too many open files.
const PAUSE_AFTER_FAILURE: Duration = Duration::from_millis(100);

/// The settings of a server.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Address to listen on.
    pub listen: ListenAddress,
    /// Limits of connections.
    pub limits: Limits,
    /// Token with which the path of every request begins; without one, anyone who can reach the
    /// server can see the pages.
    pub token: Option<Token>,
    /// Content security policy.
    pub policy: Policy,
    /// True if [forms](Pages::accept_form) may be sent; otherwise, pages can only be read.
    pub takes_forms: bool,
}

/// A server that listens.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    access: Access,
    limits: Limits,
    policy: Policy,
}

impl Server {
    /// Listens on an address; connections wait until [`Server::run`].
    ///
    /// # Errors
    /// The address is in use, does not belong to this machine, or is unknown.
    pub fn bind(settings: Settings) -> io::Result<Server> {
        let Settings { listen, limits, token, policy, takes_forms } = settings;
        let listener = TcpListener::bind((listen.host.as_str(), listen.port))?;
        let address = listener.local_addr()?;
        let is_loopback = address.ip().is_loopback();
        let range = if is_loopback { Range::Loopback } else { Range::Network };
        let hosts = HostNames { range, name: listen.host };
        let access = Access { hosts, token, takes_forms };
        Ok(Server { listener, address, access, limits, policy })
    }

    /// Returns true if only this machine can reach the server.
    pub fn is_local(&self) -> bool {
        self.access.hosts.range == Range::Loopback
    }

    /// Returns the URL of the first page, with the token if there is one. If the server listens on
    /// all addresses of this machine, the URL has the loopback address.
    pub fn url(&self) -> String {
        let ip = match self.address.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
            ip => ip,
        };
        let address = SocketAddr::new(ip, self.address.port());
        match &self.access.token {
            Some(token) => format!("http://{address}/{}/", token.as_str()),
            None => format!("http://{address}/"),
        }
    }

    /// Answers requests for as long as the program runs.
    ///
    /// # Errors
    /// The socket cannot accept connections any more.
    pub fn run(self, pages: Arc<dyn Pages>) -> io::Result<()> {
        let (listener, site) = self.into_listener_and_site(pages);
        accept(&listener, &site)
    }

    /// Answers requests on a thread of its own for as long as the program runs.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub fn start(self, pages: Arc<dyn Pages>) -> io::Result<Viewers> {
        let (listener, site) = self.into_listener_and_site(pages);
        let viewers = Viewers(Arc::clone(&site));
        let thread = std::thread::Builder::new().name("serve".to_owned());
        // The error of the server is dropped: it must not end the run that the pages show.
        thread.spawn(move || accept(&listener, &site))?;
        Ok(viewers)
    }

    fn into_listener_and_site(self, pages: Arc<dyn Pages>) -> (TcpListener, Arc<Site>) {
        let Server { listener, address: _, access, limits, policy } = self;
        (listener, Arc::new(Site::new(access, limits, policy, pages)))
    }
}

/// The viewers of a server that runs on a thread of its own.
pub struct Viewers(Arc<Site>);

impl Viewers {
    /// Waits until all answers are sent and no connection is open, but not longer than `span`.
    pub fn drain(&self, span: Duration) {
        self.0.drain(span);
    }
}

fn accept(listener: &TcpListener, site: &Arc<Site>) -> io::Result<()> {
    let mut failures = 0;
    loop {
        match listener.accept() {
            Ok((stream, _)) => {
                failures = 0;
                serve(stream, site);
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if failures == MOST_FAILURES => return Err(error),
            Err(_) => {
                failures += 1;
                std::thread::park_timeout(PAUSE_AFTER_FAILURE);
            }
        }
    }
}

/// Answers a connection on a thread of its own, or refuses it if there are too many.
fn serve(mut stream: TcpStream, site: &Arc<Site>) {
    let Some(open) = OpenConnection::register(site, &stream) else {
        // A viewer that has gone needs no answer.
        let _ = refuse(&mut stream, &site.policy);
        return;
    };
    let thread = std::thread::Builder::new().name("viewer".to_owned());
    // A thread that cannot be started drops the connection.
    let _ = thread.spawn(move || {
        let _ = connection::serve(&mut stream, &open);
    });
}
