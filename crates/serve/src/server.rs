//! The server: a listening socket and a bounded number of threads.

use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use crate::access::Access;
use crate::address::{HostNames, ListenAddress, Range};
use crate::connection;
use crate::route::Pages;
use crate::site::{Limits, Site, Turn};
use crate::token::Token;

/// Failures to accept a connection, one after the other, after which the server gives up.
const MOST_FAILURES: u32 = 100;

/// Pause after a failure to accept a connection, such as too many open files.
const AFTER_FAILURE: Duration = Duration::from_millis(100);

/// The settings of a server.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Address to listen at.
    pub listen: ListenAddress,
    /// Limits of connections.
    pub limits: Limits,
    /// Source of styles that pages may use, for the content security policy: `'sha256-…'`.
    pub style: &'static str,
}

/// A server that listens.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    access: Access,
    limits: Limits,
    style: &'static str,
}

impl Server {
    /// Listens at an address; connections wait until [`Server::run`].
    ///
    /// # Errors
    /// The address is in use, not of this machine, or not known.
    pub fn bind(settings: Settings, token: Token) -> io::Result<Server> {
        let Settings { listen, limits, style } = settings;
        let listener = TcpListener::bind((listen.host.as_str(), listen.port))?;
        let address = listener.local_addr()?;
        let is_loopback = address.ip().is_loopback();
        let range = if is_loopback { Range::Loopback } else { Range::Network };
        let access = Access { hosts: HostNames { range, name: listen.host }, token };
        Ok(Server { listener, address, access, limits, style })
    }

    /// Returns true if only this machine can reach the server.
    pub fn is_local(&self) -> bool {
        self.access.hosts.range == Range::Loopback
    }

    /// Returns the address of the first page, with the token. It is that of the loopback if the
    /// server listens at all addresses of this machine.
    pub fn url(&self) -> String {
        let ip = match self.address.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
            ip => ip,
        };
        let address = SocketAddr::new(ip, self.address.port());
        format!("http://{address}/{}/", self.access.token.as_str())
    }

    /// Answers requests for as long as the program runs.
    ///
    /// # Errors
    /// The socket cannot accept connections any more.
    pub fn run(self, pages: Arc<dyn Pages>) -> io::Result<()> {
        let Server { listener, address: _, access, limits, style } = self;
        let site = Arc::new(Site::new(access, limits, style, pages));
        let mut failures = 0;
        loop {
            match listener.accept() {
                Ok((stream, _)) => {
                    failures = 0;
                    serve(stream, &site);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if failures == MOST_FAILURES => return Err(error),
                Err(_) => {
                    failures += 1;
                    std::thread::park_timeout(AFTER_FAILURE);
                }
            }
        }
    }
}

/// Answers a connection on a thread of its own, or refuses it if there are too many.
fn serve(mut stream: TcpStream, site: &Arc<Site>) {
    let Some(turn) = Turn::take(site) else {
        // A viewer that has gone needs no answer.
        let _ = connection::refuse(&mut stream, site);
        return;
    };
    let thread = std::thread::Builder::new().name("viewer".to_owned());
    // A thread that cannot be started drops the connection.
    let _ = thread.spawn(move || {
        let _ = connection::serve(&mut stream, turn.site());
    });
}
