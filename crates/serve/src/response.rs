//! Answers to requests.

use std::fmt::Write as _;

use crate::events::EventSource;
use crate::policy::Policy;

/// The status of an answer (RFC 9110, section 15; RFC 6585).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The page.
    Ok,
    /// The form was accepted; another page shows the result.
    SeeOther,
    /// The request is not valid HTTP/1.1, or its address or its form is invalid.
    BadRequest,
    /// The token, the host or the site is wrong.
    Forbidden,
    /// There is no such page.
    NotFound,
    /// The method is neither GET nor HEAD, nor POST to a page that takes a form.
    MethodNotAllowed,
    /// The request did not arrive in time.
    RequestTimeout,
    /// The page cannot be made from the records that the request names.
    Conflict,
    /// The body has no declared length.
    LengthRequired,
    /// The body is too long.
    ContentTooLarge,
    /// The address is too long.
    UriTooLong,
    /// The body is not a form.
    UnsupportedMediaType,
    /// The head is too long, or has too many fields.
    HeadTooLarge,
    /// The page cannot be made because of an error of the server.
    InternalError,
    /// Too many connections are open.
    Unavailable,
    /// The version of HTTP is not supported.
    VersionNotSupported,
}

impl Status {
    /// Returns the code of the status.
    pub fn code(self) -> u16 {
        self.code_and_reason().0
    }

    /// Returns the reason phrase of the status.
    pub(crate) fn reason(self) -> &'static str {
        self.code_and_reason().1
    }

    fn code_and_reason(self) -> (u16, &'static str) {
        match self {
            Status::Ok => (200, "OK"),
            Status::SeeOther => (303, "See Other"),
            Status::BadRequest => (400, "Bad Request"),
            Status::Forbidden => (403, "Forbidden"),
            Status::NotFound => (404, "Not Found"),
            Status::MethodNotAllowed => (405, "Method Not Allowed"),
            Status::RequestTimeout => (408, "Request Timeout"),
            Status::Conflict => (409, "Conflict"),
            Status::LengthRequired => (411, "Length Required"),
            Status::ContentTooLarge => (413, "Content Too Large"),
            Status::UriTooLong => (414, "URI Too Long"),
            Status::UnsupportedMediaType => (415, "Unsupported Media Type"),
            Status::HeadTooLarge => (431, "Request Header Fields Too Large"),
            Status::InternalError => (500, "Internal Server Error"),
            Status::Unavailable => (503, "Service Unavailable"),
            Status::VersionNotSupported => (505, "HTTP Version Not Supported"),
        }
    }
}

/// The answer to a request.
pub enum Answer {
    /// A status and a text, sent as a whole.
    Page(Response),
    /// Events, until their source ends or the viewer has gone.
    Events(Box<dyn EventSource>),
}

impl From<Response> for Answer {
    fn from(response: Response) -> Answer {
        Answer::Page(response)
    }
}

/// A status and a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// Status.
    pub status: Status,
    media: &'static str,
    body: String,
    /// Query of the page that shows the result of a form.
    see_query: Option<&'static str>,
    /// Methods of the page, if the method of the request is not one of them.
    allow: Option<&'static str>,
    /// Referrer policy of the page.
    referrer: &'static str,
}

/// The usual referrer policy: the address, which contains the token, is not sent to other servers.
const NO_REFERRER: &str = "no-referrer";

impl Response {
    /// Creates an answer that is a page of HTML.
    pub fn page(status: Status, html: String) -> Response {
        Response { media: "text/html; charset=utf-8", ..Response::text(status, html) }
    }

    /// Creates an answer that is an HTML page with a form to send to this server. Under the policy
    /// `no-referrer`, a browser would withhold the origin of the form, too (Fetch Standard, section
    /// "Origin header"), and the server would refuse the form.
    pub fn page_with_form(html: String) -> Response {
        Response { referrer: "same-origin", ..Response::page(Status::Ok, html) }
    }

    /// Creates the answer to a form that was accepted: the browser gets the page at the same
    /// address with this query.
    pub fn see_other(query: &'static str) -> Response {
        Response { see_query: Some(query), ..Response::text(Status::SeeOther, String::new()) }
    }

    /// Creates an answer with the numbers of a run in version 0.0.4 of Prometheus's text format.
    pub fn metrics(text: String) -> Response {
        let media = "text/plain; version=0.0.4; charset=utf-8";
        Response { media, ..Response::text(Status::Ok, text) }
    }

    /// Creates an answer that is a plain text, which a browser never takes for markup.
    pub fn text(status: Status, text: impl Into<String>) -> Response {
        let (media, body) = ("text/plain; charset=utf-8", text.into());
        Response { status, media, body, see_query: None, allow: None, referrer: NO_REFERRER }
    }

    /// Creates a refusal with its reason.
    pub fn refusal(status: Status, reason: &str) -> Response {
        let (code, words) = status.code_and_reason();
        Response::text(status, format!("{code} {words}\n\n{reason}\n"))
    }

    /// Creates the refusal of a method; `takes_a_form` is true if a form may be sent to the page.
    pub(crate) fn method_not_allowed(reason: &str, takes_a_form: bool) -> Response {
        let allow = Some(if takes_a_form { "GET, HEAD, POST" } else { "GET, HEAD" });
        Response { allow, ..Response::refusal(Status::MethodNotAllowed, reason) }
    }

    /// Returns the bytes of the answer; the head alone if it is the answer to HEAD.
    pub(crate) fn bytes(&self, is_head: bool, policy: &Policy) -> Vec<u8> {
        let mut out = self.head(policy);
        if !is_head {
            out.push_str(&self.body);
        }
        out.into_bytes()
    }

    fn head(&self, policy: &Policy) -> String {
        let Response { status, media, body, see_query, allow, referrer } = self;
        let mut out = String::with_capacity(512 + body.len());
        write_common_fields(&mut out, *status, media, policy);
        let _ = write!(out, "Referrer-Policy: {referrer}\r\n");
        if let Some(methods) = allow {
            let _ = write!(out, "Allow: {methods}\r\n");
        }
        if let Some(query) = see_query {
            let _ = write!(out, "Location: ?{query}\r\n");
        }
        let _ = write!(out, "Content-Length: {}\r\n\r\n", body.len());
        out
    }
}

/// Returns the head of an answer that is a stream of events.
pub(crate) fn event_stream_head(policy: &Policy) -> String {
    let mut out = String::new();
    write_common_fields(&mut out, Status::Ok, "text/event-stream", policy);
    let _ = write!(out, "Referrer-Policy: {NO_REFERRER}\r\n\r\n");
    out
}

/// Writes the status line and the fields that all answers have.
fn write_common_fields(out: &mut String, status: Status, media: &str, policy: &Policy) {
    let _ = write!(
        out,
        "HTTP/1.1 {} {}\r\n\
         Content-Type: {media}\r\n\
         Connection: close\r\n\
         Cache-Control: no-store\r\n\
         Content-Security-Policy: {policy}\r\n\
         X-Content-Type-Options: nosniff\r\n\
         Cross-Origin-Resource-Policy: same-origin\r\n",
        status.code(),
        status.reason()
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answer_to_head_has_the_length_and_not_the_body() {
        let response = Response::page(Status::Ok, "<p>é</p>".to_owned());
        let text =
            |is_head| String::from_utf8(response.bytes(is_head, &Policy::default())).unwrap();
        let (head, whole) = (text(true), text(false));
        assert!(head.starts_with("HTTP/1.1 200 OK\r\n") && head.ends_with("\r\n\r\n"), "{head}");
        assert!(head.contains("\r\nContent-Length: 9\r\n"), "{head}");
        assert_eq!(whole, format!("{head}<p>é</p>"));
    }

    #[test]
    fn refusal_is_plain_text_with_its_code() {
        let refusal = Response::method_not_allowed("<b>no</b>", false);
        let text = String::from_utf8(refusal.bytes(false, &Policy::default())).unwrap();
        assert!(text.contains("\r\nAllow: GET, HEAD\r\n"), "{text}");
        assert!(text.contains("\r\nContent-Type: text/plain; charset=utf-8\r\n"), "{text}");
        assert!(text.ends_with("405 Method Not Allowed\n\n<b>no</b>\n"), "{text}");
    }
}
