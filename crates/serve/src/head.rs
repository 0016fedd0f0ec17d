//! The fields in the head of a request that determine the answer.

use httparse::{Error, Header, Request, Status as Parsed};

use crate::response::{Response, Status};

/// Maximum number of fields of a head; browsers send about 20.
const MOST_FIELDS: usize = 64;

/// Maximum declared length of a body, in bytes. Only the body of a `POST` is read; the body of any
/// other request is ignored.
const LONGEST_BODY: u64 = 64 << 10;

/// The head of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    /// Method.
    pub(crate) method: String,
    /// Path, without the query.
    pub(crate) path: String,
    /// Query; empty if there is none.
    pub(crate) query: String,
    /// Value of `Host`.
    pub(crate) host: String,
    /// Value of `Origin`: the site of the page that sends the request, if the browser names it.
    pub(crate) origin: Option<String>,
    /// Relation to the page that caused the request, if the browser names it.
    pub(crate) initiator: Initiator,
    /// Length of the head itself, in bytes.
    pub(crate) length: usize,
    /// Declared length of the body, in bytes; `None` if none is declared.
    pub(crate) body_length: Option<usize>,
    /// True if the media type of the body is that of a form.
    pub(crate) is_form: bool,
}

/// The initiator of a request, as the browser says (Fetch Metadata Request Headers).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Initiator {
    /// A page of this server, or the user; also if the program or browser does not say.
    Own,
    /// A link, a form or a frame of another site leads to this page.
    VisitFromOtherSite,
    /// A page of another site fetches this one, for example by a script or as an image.
    FetchByOtherSite,
}

/// The media type of a form's body.
const FORM: &str = "application/x-www-form-urlencoded";

impl Head {
    /// Returns true if the method is `POST`, with which a browser sends a form.
    pub(crate) fn is_post(&self) -> bool {
        self.method == "POST"
    }

    /// Parses a head, or returns the refusal of the request; `None` if the head is incomplete.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Option<Head>, Response> {
        let mut fields = [httparse::EMPTY_HEADER; MOST_FIELDS];
        let mut request = Request::new(&mut fields);
        match request.parse(bytes) {
            Ok(Parsed::Complete(length)) => Head::from_request(&request, length).map(Some),
            Ok(Parsed::Partial) => Ok(None),
            Err(error) => Err(syntax_refusal(error)),
        }
    }

    fn from_request(request: &Request<'_, '_>, length: usize) -> Result<Head, Response> {
        let target = request.path.unwrap_or_default();
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        if !path.starts_with('/') {
            return Err(bad_request("the address does not begin with /"));
        }
        let fields = Fields(&*request.headers);
        let Some(host) = fields.single_value("Host")? else {
            return Err(bad_request("the request names no Host"));
        };
        let body_length = body_length(&fields)?;
        let is_cross_site = fields
            .single_value("Sec-Fetch-Site")?
            .is_some_and(|site| !matches!(site, "same-origin" | "none"));
        let is_visit = fields.single_value("Sec-Fetch-Mode")?.is_none_or(|mode| mode == "navigate");
        Ok(Head {
            method: request.method.unwrap_or_default().to_owned(),
            path: path.to_owned(),
            query: query.to_owned(),
            host: host.to_owned(),
            origin: fields.single_value("Origin")?.map(str::to_owned),
            initiator: match (is_cross_site, is_visit) {
                (false, _) => Initiator::Own,
                (true, true) => Initiator::VisitFromOtherSite,
                (true, false) => Initiator::FetchByOtherSite,
            },
            length,
            body_length,
            is_form: fields.single_value("Content-Type")?.is_some_and(is_form),
        })
    }
}

fn is_form(media: &str) -> bool {
    let media = media.split_once(';').map_or(media, |(media, _)| media);
    media.trim().eq_ignore_ascii_case(FORM)
}

/// Returns the declared length of the body; `None` if there is none. Refuses a body that is too
/// long, an invalid length, and a Transfer-Encoding, which declares no length.
fn body_length(fields: &Fields<'_>) -> Result<Option<usize>, Response> {
    if fields.single_value("Transfer-Encoding")?.is_some() {
        let reason = "the body has no declared length";
        return Err(Response::refusal(Status::LengthRequired, reason));
    }
    let Some(length) = fields.single_value("Content-Length")? else { return Ok(None) };
    let is_number = !length.is_empty() && length.bytes().all(|byte| byte.is_ascii_digit());
    // A number with too many digits for `u64` is still a number, and too large.
    match (is_number, length.parse::<u64>()) {
        (false, _) => Err(bad_request("the Content-Length is not a number")),
        (true, Ok(length)) if length <= LONGEST_BODY => Ok(Some(length as usize)),
        (true, _) => {
            let reason = format!("a body may have {LONGEST_BODY} bytes");
            Err(Response::refusal(Status::ContentTooLarge, &reason))
        }
    }
}

/// Fields of a head.
struct Fields<'a>(&'a [Header<'a>]);

impl<'a> Fields<'a> {
    /// Returns the value of a field that may occur at most once.
    fn single_value(&self, name: &str) -> Result<Option<&'a str>, Response> {
        let mut values = self.0.iter().filter(|field| field.name.eq_ignore_ascii_case(name));
        let Some(field) = values.next() else { return Ok(None) };
        if values.next().is_some() {
            return Err(bad_request(&format!("the request has {name} twice")));
        }
        match std::str::from_utf8(field.value) {
            Ok(value) => Ok(Some(value.trim())),
            Err(_) => Err(bad_request(&format!("{name} is not a text"))),
        }
    }
}

fn syntax_refusal(error: Error) -> Response {
    match error {
        Error::TooManyHeaders => {
            Response::refusal(Status::HeadTooLarge, "the request has too many header fields")
        }
        Error::Version => {
            Response::refusal(Status::VersionNotSupported, "this server speaks HTTP/1.1")
        }
        Error::HeaderName | Error::HeaderValue | Error::NewLine | Error::Status | Error::Token => {
            bad_request("the request is not HTTP/1.1")
        }
    }
}

fn bad_request(reason: &str) -> Response {
    Response::refusal(Status::BadRequest, reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Option<Head>, Status> {
        Head::parse(text.as_bytes()).map_err(|refusal| refusal.status)
    }

    #[test]
    fn head_is_read_once_it_is_complete() {
        let text = "GET /t/?q=a HTTP/1.1\r\nhost: h:1\r\nOrigin: http://h:1\r\n\r\n";
        for end in 0..text.len() {
            assert_eq!(parse(&text[..end]), Ok(None), "{end}");
        }
        let head = parse(text).unwrap().unwrap();
        assert_eq!((head.method.as_str(), head.path.as_str()), ("GET", "/t/"));
        assert_eq!((head.query.as_str(), head.host.as_str()), ("q=a", "h:1"));
        assert_eq!(head.origin.as_deref(), Some("http://h:1"));
        assert_eq!((head.length, head.body_length, head.is_form), (text.len(), None, false));
    }

    #[test]
    fn body_is_a_form_if_its_type_says_so() {
        for (media, expected) in [
            ("application/x-www-form-urlencoded", true),
            ("Application/X-WWW-Form-Urlencoded; charset=utf-8", true),
            ("application/x-www-form-urlencodedx", false),
            ("text/plain", false),
            ("multipart/form-data; boundary=x", false),
        ] {
            let text = format!(
                "POST / HTTP/1.1\r\nHost: a\r\nContent-Type: {media}\r\nContent-Length: 3\r\n\
                 \r\na=b"
            );
            let head = parse(&text).unwrap().unwrap();
            assert_eq!((head.is_form, head.body_length), (expected, Some(3)), "{media}");
            assert_eq!(&text[head.length..], "a=b");
        }
    }

    #[test]
    fn wrong_heads_are_refused_with_their_status() {
        for (text, expected) in [
            ("GET / HTTP/1.1\r\n\r\n", Status::BadRequest),
            ("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", Status::BadRequest),
            ("GET http://a/ HTTP/1.1\r\nHost: a\r\n\r\n", Status::BadRequest),
            ("GET / HTTP/2.0\r\nHost: a\r\n\r\n", Status::VersionNotSupported),
            ("\u{16}\u{3}\u{1}\u{2}", Status::BadRequest),
            ("GET / HTTP/1.1\r\nHost: a\r\n folded: b\r\n\r\n", Status::BadRequest),
            (
                "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 65537\r\n\r\n",
                Status::ContentTooLarge,
            ),
            ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n", Status::BadRequest),
            (
                "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n",
                Status::LengthRequired,
            ),
        ] {
            assert_eq!(parse(text), Err(expected), "{text}");
        }
        let long = "99999999999999999999999";
        let long = format!("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: {long}\r\n\r\n");
        assert_eq!(parse(&long), Err(Status::ContentTooLarge));
        let many = "x: y\r\n".repeat(MOST_FIELDS + 1);
        let many = format!("GET / HTTP/1.1\r\n{many}\r\n");
        assert_eq!(parse(&many), Err(Status::HeadTooLarge));
    }

    #[test]
    fn fetches_of_other_sites_are_distinguished_from_visits() {
        for (site, mode, expected) in [
            ("cross-site", "navigate", Initiator::VisitFromOtherSite),
            ("none", "navigate", Initiator::Own),
            ("same-origin", "cors", Initiator::Own),
            ("cross-site", "no-cors", Initiator::FetchByOtherSite),
            ("same-site", "cors", Initiator::FetchByOtherSite),
        ] {
            let text = format!(
                "GET / HTTP/1.1\r\nHost: a\r\nSec-Fetch-Site: {site}\r\nSec-Fetch-Mode: {mode}\r\n\
                 \r\n"
            );
            let head = parse(&text).unwrap().unwrap();
            assert_eq!(head.initiator, expected, "{site} {mode}");
        }
    }
}
