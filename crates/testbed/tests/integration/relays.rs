//! Tests of simulated network faults.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};

use base::{Clock, Monotonic, Nanos};
use testbed::{Direction, Relay};

/// Starts a server that echoes its input.
fn echo() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for client in listener.incoming() {
            let mut client = client.expect("a client");
            std::thread::spawn(move || {
                let mut reader = client.try_clone().expect("a handle");
                // Ends when the client closes the connection, or when the relay cuts it.
                let _ = std::io::copy(&mut reader, &mut client);
            });
        }
    });
    address
}

/// Sends this number of bytes and reads until all of them have come back, or until the connection
/// ends. Returns the number of bytes that came back.
fn round_trip(client: &mut TcpStream, bytes: usize) -> usize {
    // The connection may be cut while bytes are sent.
    let _ = client.write_all(&vec![7; bytes]);
    let mut back = vec![0; bytes];
    let mut length = 0;
    while length < bytes {
        match client.read(&mut back[length..]) {
            Ok(0) | Err(_) => break,
            Ok(read) => length += read,
        }
    }
    assert!(back[..length].iter().all(|byte| *byte == 7));
    length
}

#[test]
fn a_relay_passes_bytes_on_and_counts_them() {
    let relay = Relay::start(echo()).unwrap();
    let mut client = TcpStream::connect(relay.address()).unwrap();
    assert_eq!(round_trip(&mut client, 200_000), 200_000);
    assert_eq!(relay.bytes_passed(Direction::ToServer), 200_000);
    // The relay counts bytes after it has sent them: the last ones may be counted later.
    drop(client);
    let are_counted = || relay.bytes_passed(Direction::ToClient) == 200_000;
    crate::support::wait_until("all are counted", are_counted);
}

#[test]
fn connection_is_cut_after_a_given_byte() {
    for direction in [Direction::ToServer, Direction::ToClient] {
        let relay = Relay::start(echo()).unwrap();
        let mut other = TcpStream::connect(relay.address()).unwrap();
        let mut client = TcpStream::connect(relay.address()).unwrap();
        relay.cut_after(direction, 11);
        assert_eq!(round_trip(&mut client, 5), 5);
        let back = round_trip(&mut client, 20);
        // Bytes that reached the server may or may not have come back when both sides are cut.
        assert!(if direction == Direction::ToClient { back == 6 } else { back <= 6 }, "{back}");
        assert_eq!(relay.bytes_passed(direction), 11);
        assert_eq!(round_trip(&mut other, 20), 20);
    }
}

#[test]
fn all_connections_are_cut_at_once() {
    let relay = Relay::start(echo()).unwrap();
    let mut client = TcpStream::connect(relay.address()).unwrap();
    assert_eq!(round_trip(&mut client, 5), 5);
    relay.cut();
    assert_eq!(round_trip(&mut client, 5), 0);
}

#[test]
fn new_connections_are_refused_and_accepted_again() {
    let relay = Relay::start(echo()).unwrap();
    let mut client = TcpStream::connect(relay.address()).unwrap();
    assert_eq!(round_trip(&mut client, 5), 5);
    relay.refuse_connections();
    let refused = TcpStream::connect(relay.address()).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
    assert_eq!(round_trip(&mut client, 5), 5);
    relay.accept_connections();
    let mut again = TcpStream::connect(relay.address()).unwrap();
    assert_eq!(round_trip(&mut again, 5), 5);
}

#[test]
fn delays_stalls_and_bandwidth_limits_take_effect() {
    let relay = Relay::start(echo()).unwrap();
    let mut client = TcpStream::connect(relay.address()).unwrap();
    let mut at_least = |span: Nanos, begin: &dyn Fn()| {
        let start = Monotonic.now();
        begin();
        assert_eq!(round_trip(&mut client, 1_000), 1_000);
        assert!(Monotonic.now().since(start) >= span);
    };
    at_least(Nanos::from_millis(40), &|| relay.set_delay(Nanos::from_millis(20)));
    relay.set_delay(Nanos::ZERO);
    at_least(Nanos::from_millis(100), &|| relay.set_bandwidth(Some(20_000)));
    relay.set_bandwidth(None);
    at_least(Nanos::from_millis(300), &|| relay.stall(Nanos::from_millis(300)));
}
