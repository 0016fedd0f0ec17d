//! Access control for pages.

use crate::address::HostNames;
use crate::head::{Head, Initiator};
use crate::response::{Response, Status};
use crate::route::Route;
use crate::token::Token;

/// The conditions that a request must meet.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    /// Names of this machine.
    pub(crate) hosts: HostNames,
    /// Token with which every path must begin; `None` if the server has no token.
    pub(crate) token: Option<Token>,
    /// True if the server accepts forms.
    pub(crate) takes_forms: bool,
}

impl Access {
    /// Returns the route that a request may see or send a form to, or else the refusal. The host is
    /// checked first, so a page of another site learns nothing else.
    pub(crate) fn route(&self, head: &Head) -> Result<Route, Response> {
        let forbidden = |reason: &str| Err(Response::refusal(Status::Forbidden, reason));
        if !self.hosts.contains(&head.host) {
            return forbidden(
                "the Host of the request is not this machine: use the address that `assay` \
                 printed",
            );
        }
        if self.is_of_another_site(head) {
            return forbidden("the request comes from a page of another site");
        }
        let is_form = head.is_post();
        if !(matches!(head.method.as_str(), "GET" | "HEAD") || is_form && self.takes_forms) {
            let (reason, takes_a_form) = match self.takes_a_form(head) {
                true => ("this page is read with GET or HEAD, and takes a form with POST", true),
                false => ("pages are only read here, with GET or HEAD", false),
            };
            return Err(Response::method_not_allowed(reason, takes_a_form));
        }
        let path = head.path.strip_prefix('/').unwrap_or_default();
        let page = match &self.token {
            Some(token) => after_token(token, path)?,
            None => path,
        };
        match Route::parse(page, &head.query)? {
            route if is_form && !route.takes_a_form() => {
                let reason = "this page is only read, with GET or HEAD";
                Err(Response::method_not_allowed(reason, false))
            }
            _ if is_form && head.origin.is_none() => {
                let host = &head.host;
                forbidden(&format!("the form has no `Origin`: send `Origin: http://{host}`"))
            }
            route => Ok(route),
        }
    }

    /// Returns true if a form may be sent to the address of a request. The token in the address is
    /// not checked: the result depends only on the rest of the address.
    fn takes_a_form(&self, head: &Head) -> bool {
        let path = head.path.strip_prefix('/').unwrap_or_default();
        let rest = match &self.token {
            Some(_) => path.split_once('/').map(|(_, rest)| rest),
            None => Some(path),
        };
        let route = rest.and_then(|rest| Route::parse(rest, &head.query).ok());
        self.takes_forms && route.is_some_and(|route| route.takes_a_form())
    }

    /// Returns true if the browser says that a page of another site sends the request. Following a
    /// link from another site to this one is allowed, and does not count.
    fn is_of_another_site(&self, head: &Head) -> bool {
        let own = format!("http://{}", head.host);
        let is_own = |origin: &String| origin.eq_ignore_ascii_case(&own);
        let is_origin_own = head.origin.as_ref().is_none_or(is_own);
        let is_initiator_own = match head.initiator {
            Initiator::Own => true,
            Initiator::VisitFromOtherSite => !head.is_post(),
            Initiator::FetchByOtherSite => false,
        };
        !(is_origin_own && is_initiator_own)
    }
}

/// Returns the part of a path after the token and its `/`, or else the refusal.
fn after_token<'p>(token: &Token, path: &'p str) -> Result<&'p str, Response> {
    let (word, rest) = match path.split_once('/') {
        Some((word, rest)) => (word, Some(rest)),
        None => (path, None),
    };
    if !token.matches(word) {
        let reason = "the token in the address is missing or wrong: use the whole address that \
                      `assay` printed; each start has another one";
        return Err(Response::refusal(Status::Forbidden, reason));
    }
    let reason = "write a / at the end of the address";
    rest.ok_or_else(|| Response::refusal(Status::NotFound, reason))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::address::Range;

    fn access(token: Option<Token>) -> Access {
        let hosts = HostNames { range: Range::Loopback, name: "localhost".to_owned() };
        Access { hosts, token, takes_forms: true }
    }

    #[test]
    fn only_forms_of_own_pages_are_accepted_with_or_without_a_token() {
        let token = Token::random().unwrap();
        check_forms(access(Some(token.clone())), &format!("{}/", token.as_str()));
        check_forms(access(None), "");
    }

    /// Checks forms that are sent to pages whose addresses begin with `token`.
    fn check_forms(access: Access, token: &str) {
        let status = |access: &Access, path: &str, fields: &str| {
            let text = format!("POST /{token}{path} HTTP/1.1\r\nHost: localhost:1\r\n{fields}\r\n");
            let head = Head::parse(text.as_bytes()).unwrap().unwrap();
            access.route(&head).map(|_| ()).map_err(|refusal| refusal.status)
        };
        let own = "Origin: http://localhost:1\r\n";
        assert_eq!(status(&access, "notes/r.assay", own), Ok(()));
        for fields in [
            "",
            "Origin: null\r\n",
            "Origin: http://evil.example\r\n",
            "Origin: http://localhost:2\r\n",
            "Origin: https://localhost:1\r\n",
            &format!("{own}Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\n"),
            &format!("{own}Sec-Fetch-Site: same-site\r\nSec-Fetch-Mode: navigate\r\n"),
        ] {
            let found = status(&access, "notes/r.assay", fields);
            assert_eq!(found, Err(Status::Forbidden), "{fields}");
        }
        for path in ["", "report/r.assay", "overlay?a=x&b=y", "events", "metrics"] {
            for fields in [own, ""] {
                assert_eq!(status(&access, path, fields), Err(Status::MethodNotAllowed), "{path}");
            }
        }
        let read_only = Access { takes_forms: false, ..access };
        assert_eq!(status(&read_only, "notes/r.assay", own), Err(Status::MethodNotAllowed));
    }

    /// Generates requests from typical parts, from arbitrary characters, and from a mixture of
    /// both.
    fn any_request() -> impl Strategy<Value = Vec<u8>> {
        let parts = [
            "GET ",
            "POST ",
            "/",
            "report/",
            "notes/",
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
