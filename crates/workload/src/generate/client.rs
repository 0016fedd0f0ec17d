//! `client()`: the number of the client that sends the request.

use super::{Arguments, Family, Rest, Spec, Stage};
use crate::expr::{Refused, Site, Type};

pub(super) static SPEC: Spec = Spec {
    name: "client",
    parameters: &[],
    rest: Rest::Nothing,
    stage: Stage::Clients,
    build,
    doc: "the number of the client, from 0; only in a closed job (the number of the request modulo \
          `concurrency`)",
    example: "client()",
};

/// Returns the client that sends a request: client c of n sends requests c, c + n, ….
#[inline]
pub(super) fn number(clients: u32, request: u64) -> i64 {
    (request % u64::from(clients.max(1))) as i64
}

fn build(arguments: &Arguments<'_>) -> Result<(Family, Type), Refused> {
    match arguments.scope.site {
        Site::Request(_, Some(clients)) => Ok((Family::Client(clients), Type::Int)),
        // Such calls are refused earlier.
        Site::Request(_, None) | Site::Row(_) | Site::Fixed(_) => Err(Refused(None)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::golden::error;

    #[test]
    fn clients_take_turns() {
        let clients: Vec<i64> = (0..8).map(|request| number(3, request)).collect();
        assert_eq!(clients, [0, 1, 2, 0, 1, 2, 0, 1]);
        assert_eq!(number(1, u64::MAX), 0);
        assert_eq!(number(u32::MAX, u64::MAX), 0);
    }

    #[test]
    fn rows_have_no_client() {
        error("client()", "only clients of a closed job have numbers");
        error("client(1)", "only clients of a closed job have numbers");
    }
}
