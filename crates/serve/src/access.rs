//! Decision about who may see a page.

use crate::address::HostNames;
use crate::head::Head;
use crate::response::{Response, Status};
use crate::route::Route;
use crate::token::Token;

/// The conditions that a request must meet.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    /// Names of this machine.
    pub(crate) hosts: HostNames,
    /// Beginning of every path, if it has one.
    pub(crate) token: Option<Token>,
}

impl Access {
    /// Returns the route that a request may see. The host is checked first: a page of another site
    /// learns nothing else.
    pub(crate) fn route(&self, head: &Head) -> Result<Route, Response> {
        let forbidden = |reason: &str| Err(Response::refusal(Status::Forbidden, reason));
        if !self.hosts.contain(&head.host) {
            return forbidden(
                "the Host of the request is not this machine: use the address that `assay` \
                 printed",
            );
        }
        if self.is_of_another_site(head) {
            return forbidden("the request comes from a page of another site");
        }
        if !matches!(head.method.as_str(), "GET" | "HEAD") {
            let reason = "pages are only read, with GET or HEAD";
            return Err(Response::refusal(Status::MethodNotAllowed, reason));
        }
        let path = head.path.strip_prefix('/').unwrap_or_default();
        let Some(token) = &self.token else { return Route::parse(path, &head.query) };
        let (word, rest) = match path.split_once('/') {
            Some((word, rest)) => (word, Some(rest)),
            None => (path, None),
        };
        if !token.is(word) {
            return forbidden(
                "the token in the address is missing or wrong: use the whole address that `assay` \
                 printed; each start has another one",
            );
        }
        let Some(rest) = rest else {
            let reason = "write a / at the end of the address";
            return Err(Response::refusal(Status::NotFound, reason));
        };
        Route::parse(rest, &head.query)
    }

    fn is_of_another_site(&self, head: &Head) -> bool {
        let own = format!("http://{}", head.host);
        let is_other = |origin: &String| !origin.eq_ignore_ascii_case(&own);
        head.origin.as_ref().is_some_and(is_other) || head.is_fetched_by_another_site
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::address::Range;

    fn access(token: Option<Token>) -> Access {
        Access { hosts: HostNames { range: Range::Loopback, name: "localhost".to_owned() }, token }
    }

    /// Generates requests of parts that occur in them, of any characters, and of both.
    fn any_request() -> impl Strategy<Value = Vec<u8>> {
        let parts = [
            "GET ",
            "POST ",
            "/",
            "report/",
            "overlay?a=",
            "&b=",
            "%",
            "%2e%2e",
            "?q=",
            "page=",
            " HTTP/1.1\r\n",
            "Host: ",
            "127.0.0.1",
            "[::1]",
            ":80",
            "\r\n",
            "Origin: ",
            "http://",
            "Content-Length: ",
            "99999999999999999999",
            "Transfer-Encoding: chunked",
            "\r\n\r\n",
        ];
        let part = prop_oneof![
            8 => proptest::sample::select(parts.to_vec()).prop_map(|part| part.as_bytes().to_vec()),
            1 => proptest::collection::vec(any::<u8>(), 0..8),
        ];
        proptest::collection::vec(part, 0..20).prop_map(|parts| parts.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]
        #[test]
        fn requests_of_any_bytes_are_answered_or_refused(
            bytes in any_request(),
            whole in "GET [ -~]{0,30} HTTP/1.1\r\nHost: [ -~]{0,20}\r\n\r\n",
        ) {
            let token = Token::random().unwrap();
            for bytes in [&bytes[..], whole.as_bytes()] {
                if let Ok(Some(head)) = Head::parse(bytes) {
                    let route = access(Some(token.clone())).route(&head);
                    prop_assert!(route.is_err(), "{route:?} without the token");
                    let _ = access(None).route(&head);
                }
            }
        }
    }
}
