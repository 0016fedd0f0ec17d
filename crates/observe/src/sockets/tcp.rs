//! TCP connections: `struct inet_diag_req_v2` and `inet_diag_msg` of `linux/inet_diag.h`, and
//! `struct tcp_info` of `linux/tcp.h` (RFC 4898 defines most of its fields).

use std::net::SocketAddr;

use super::connection::{Connection, ConnectionCounters, Family};
use super::netlink::{Attributes, attribute, network_u16_at, u32_at, u64_at};

/// The attribute that contains `struct tcp_info`, `INET_DIAG_INFO`.
const INFO_ATTRIBUTE: u16 = 2;

/// The attribute that contains the filter of a request, `INET_DIAG_REQ_BYTECODE`.
const FILTER_ATTRIBUTE: u16 = 1;

/// Protocol number, `IPPROTO_TCP`.
const TCP: u8 = 6;

/// Bit of the established state, `1 << TCP_ESTABLISHED`.
const ESTABLISHED: u32 = 1 << 1;

/// Lengths of `struct inet_diag_sockid` and of `struct inet_diag_msg`, in bytes.
const SOCKET_ID_BYTES: usize = 48;
const MESSAGE_BYTES: usize = 72;

/// Encodes a request for the established connections that have one of these ports on either side.
pub(super) fn request(family: Family, ports: &[u16]) -> Vec<u8> {
    let mut request = vec![family.number(), TCP, 1 << (INFO_ATTRIBUTE - 1), 0];
    request.extend(ESTABLISHED.to_ne_bytes());
    request.extend([0; SOCKET_ID_BYTES]);
    request.extend(attribute(FILTER_ATTRIBUTE, &port_filter(ports)));
    request
}

/// Encodes a request for all established connections.
pub(super) fn request_for_all(family: Family) -> Vec<u8> {
    let mut request = vec![family.number(), TCP, 1 << (INFO_ATTRIBUTE - 1), 0];
    request.extend(ESTABLISHED.to_ne_bytes());
    request.extend([0; SOCKET_ID_BYTES]);
    request
}

/// Encodes a request for the socket of a connection.
pub(super) fn request_for(connection: &Connection) -> Vec<u8> {
    let mut request = vec![connection.family.number(), TCP, 1 << (INFO_ATTRIBUTE - 1), 0];
    request.extend(ESTABLISHED.to_ne_bytes());
    request.extend(connection.identity);
    request
}

/// The kind of a comparison in `struct inet_diag_bc_op`.
#[derive(Clone, Copy)]
enum Comparison {
    LocalAtLeast = 2,
    LocalAtMost = 3,
    RemoteAtLeast = 4,
    RemoteAtMost = 5,
}

/// Length of an operation in bytes. A comparison consists of two operations, of which the second
/// holds the port.
const OPERATION_BYTES: usize = 4;

/// Length in bytes of the part of a filter for one port: two ranges, each followed by a jump to the
/// end.
const BYTES_PER_PORT: usize = 2 * (2 * 2 * OPERATION_BYTES + OPERATION_BYTES);

/// Encodes a filter that accepts a socket if its local or its remote port is one of `ports`. Each
/// operation moves execution forward by its `yes` or its `no` value, in bytes. A socket is accepted
/// if execution arrives exactly at the end, and rejected if execution passes the end.
fn port_filter(ports: &[u16]) -> Vec<u8> {
    let length = ports.len() * BYTES_PER_PORT + OPERATION_BYTES;
    let mut program: Vec<u8> = Vec::with_capacity(length);
    for port in ports {
        for pair in [
            [Comparison::LocalAtLeast, Comparison::LocalAtMost],
            [Comparison::RemoteAtLeast, Comparison::RemoteAtMost],
        ] {
            let [at_least, at_most] = pair;
            // If the comparison fails, execution continues after the jump.
            compare(&mut program, at_least, *port, 5 * OPERATION_BYTES);
            compare(&mut program, at_most, *port, 3 * OPERATION_BYTES);
            let left = length - program.len();
            jump(&mut program, left);
        }
    }
    jump(&mut program, 2 * OPERATION_BYTES);
    program
}

fn compare(program: &mut Vec<u8>, comparison: Comparison, port: u16, otherwise: usize) {
    operation(program, comparison as u8, 2 * OPERATION_BYTES, otherwise);
    operation(program, 0, 0, usize::from(port));
}

/// Appends `INET_DIAG_BC_JMP`, which always moves execution forward by its `no` value.
fn jump(program: &mut Vec<u8>, by: usize) {
    operation(program, 1, OPERATION_BYTES, by);
}

fn operation(program: &mut Vec<u8>, code: u8, yes: usize, no: usize) {
    program.push(code);
    program.push(u8::try_from(yes).unwrap_or(0));
    program.extend(u16::try_from(no).unwrap_or(0).to_ne_bytes());
}

/// Parses the connection of a message.
pub(super) fn parse_connection(message: &[u8]) -> Option<Connection> {
    let identity = message.get(4..4 + SOCKET_ID_BYTES)?;
    let family = Family::from_number(*message.first()?)?;
    let end = |port: usize, address: usize| {
        let port = network_u16_at(identity, port)?;
        Some(SocketAddr::new(family.address(identity.get(address..)?)?, port))
    };
    let mut key = [0; 40];
    // Both ports, both addresses and the inode of the socket.
    key.get_mut(..36)?.copy_from_slice(identity.get(..36)?);
    key.get_mut(36..)?.copy_from_slice(message.get(68..72)?);
    let attributes = Attributes(message.get(MESSAGE_BYTES..)?);
    let info = attributes.filter(|(kind, _)| *kind == INFO_ATTRIBUTE).map(|(_, info)| info).next();
    // Only bytes that have not been sent wait here; bytes that were sent and not acknowledged do
    // not. Kernels report the two separately from version 4.6 on.
    let unsent = info.and_then(|info| u32_at(info, 144));
    Some(Connection {
        key,
        family,
        identity: identity.try_into().ok()?,
        is_established: message.get(1).is_some_and(|state| *state == 1),
        inode: u32_at(message, 68)?,
        local: end(0, 4)?,
        remote: end(2, 20)?,
        receive_queue: u32_at(message, 56)?,
        send_queue: unsent.or(u32_at(message, 60))?,
        counters: info.map(parse_counters).unwrap_or_default(),
    })
}

/// Parses the counters of `struct tcp_info`, which is shorter in older kernels.
fn parse_counters(info: &[u8]) -> ConnectionCounters {
    let micros = |place: usize| u64_at(info, place);
    ConnectionCounters {
        busy: micros(168),
        receiver_limited: micros(176),
        buffer_limited: micros(184),
        round_trip: u32_at(info, 68).filter(|micros| *micros > 0),
        // If nothing was measured, the kernel reports the largest number.
        round_trip_least: u32_at(info, 148).filter(|micros| *micros > 0 && *micros < u32::MAX),
        retransmits: u32_at(info, 100).map(u64::from),
        data_sent: u32_at(info, 156).map(u64::from),
        data_received: u32_at(info, 152).map(u64::from),
        bytes_sent: micros(120),
        bytes_received: micros(128),
        since_sent_ms: u32_at(info, 44),
        since_received_ms: u32_at(info, 52),
        since_acknowledged_ms: u32_at(info, 56),
        unacknowledged: u32_at(info, 24),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Encodes a message of the kernel.
    pub(in crate::sockets) fn message(local: u16, remote: u16, inode: u32, busy: u64) -> Vec<u8> {
        let mut message = vec![2, 1, 0, 0];
        message.extend(local.to_be_bytes());
        message.extend(remote.to_be_bytes());
        message.extend([127; 44]);
        for number in [0, 11, 22, 0, inode] {
            message.extend(u32::to_ne_bytes(number));
        }
        let mut info = vec![0; 232];
        info[44..48].copy_from_slice(&u32::to_ne_bytes(12));
        info[52..56].copy_from_slice(&u32::to_ne_bytes(16));
        info[56..60].copy_from_slice(&u32::to_ne_bytes(14));
        info[24..28].copy_from_slice(&u32::to_ne_bytes(1));
        info[120..128].copy_from_slice(&u64::to_ne_bytes(700));
        info[128..136].copy_from_slice(&u64::to_ne_bytes(800));
        info[68..72].copy_from_slice(&u32::to_ne_bytes(150));
        info[100..104].copy_from_slice(&u32::to_ne_bytes(3));
        info[144..148].copy_from_slice(&u32::to_ne_bytes(20));
        info[148..152].copy_from_slice(&u32::to_ne_bytes(70));
        info[152..156].copy_from_slice(&u32::to_ne_bytes(8));
        info[156..160].copy_from_slice(&u32::to_ne_bytes(9));
        info[168..176].copy_from_slice(&busy.to_ne_bytes());
        info[176..184].copy_from_slice(&u64::to_ne_bytes(40));
        info[184..192].copy_from_slice(&u64::to_ne_bytes(50));
        message.extend(attribute(8, &[0]));
        message.extend([0; 3]);
        message.extend(attribute(INFO_ATTRIBUTE, &info));
        message
    }

    #[test]
    fn a_connection_is_read_out_of_its_message() {
        let found = parse_connection(&message(5_432, 40_000, 9, 30)).unwrap();
        assert_eq!((found.local.port(), found.remote.port()), (5_432, 40_000));
        assert_eq!((found.receive_queue, found.send_queue), (11, 20));
        let expected = ConnectionCounters {
            busy: Some(30),
            receiver_limited: Some(40),
            buffer_limited: Some(50),
            round_trip: Some(150),
            round_trip_least: Some(70),
            retransmits: Some(3),
            data_sent: Some(9),
            data_received: Some(8),
            bytes_sent: Some(700),
            bytes_received: Some(800),
            since_sent_ms: Some(12),
            since_received_ms: Some(16),
            since_acknowledged_ms: Some(14),
            unacknowledged: Some(1),
        };
        assert_eq!(found.counters, expected);
        let other = parse_connection(&message(5_432, 40_000, 10, 30)).unwrap();
        assert_ne!(found.key, other.key, "another socket has another inode");
    }

    #[test]
    fn truncated_message_gives_less_or_nothing() {
        let whole = message(1, 2, 3, 4);
        for length in 0..whole.len() {
            let found = parse_connection(&whole[..length]);
            assert_eq!(found.is_some(), length >= MESSAGE_BYTES, "{length}");
            let tells_no_more = |found: Connection| {
                found.counters == ConnectionCounters::default() && found.send_queue == 22
            };
            assert!(found.is_none_or(tells_no_more), "{length}");
        }
        let short = parse_counters(&[1; 104]);
        assert_eq!((short.busy, short.retransmits.is_some()), (None, true));
    }

    #[test]
    fn filter_length_matches_its_jumps() {
        for count in 0..9 {
            assert_eq!(
                port_filter(&vec![7; count]).len(),
                count * BYTES_PER_PORT + OPERATION_BYTES
            );
        }
    }
}
