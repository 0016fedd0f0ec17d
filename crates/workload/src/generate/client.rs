//! `client()`: the number of the client that sends the request.

/// Returns the client that sends a request: client c of n sends requests c, c + n, ….
#[inline]
pub(crate) fn number(clients: u32, request: u64) -> i64 {
    (request % u64::from(clients.max(1))) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_send_requests_in_turn() {
        let clients: Vec<i64> = (0..8).map(|request| number(3, request)).collect();
        assert_eq!(clients, [0, 1, 2, 0, 1, 2, 0, 1]);
        assert_eq!(number(1, u64::MAX), 0);
        assert_eq!(number(u32::MAX, u64::MAX), 0);
    }
}
