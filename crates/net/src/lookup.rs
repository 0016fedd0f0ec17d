//! Lookup of host names.

use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};

use tokio::sync::oneshot;

/// Returns the addresses of a host, in the order in which to try them.
///
/// The lookup blocks and therefore runs on a separate thread. It is repeated for each connection,
/// because the host may move.
pub(crate) async fn resolve(host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    if let Ok(ip) = host.parse::<IpAddr>() {
        return Ok(vec![SocketAddr::new(ip, port)]);
    }
    let (sender, receiver) = oneshot::channel();
    let name = host.to_owned();
    std::thread::Builder::new().name("resolve".to_owned()).spawn(move || {
        let found = (name.as_str(), port).to_socket_addrs().map(Iterator::collect);
        // The caller may no longer wait for the result.
        let _ = sender.send(found);
    })?;
    receiver.await.unwrap_or_else(|_| Err(io::Error::other("looking up the name failed")))
}
