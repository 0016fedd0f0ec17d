//! Tests of the server as seen by a browser, by a careless program and by an attacker: each faulty
//! request receives the right answer.

#![allow(clippy::unwrap_used, reason = "helpers of tests may, as tests do")]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use base::Nanos;
use serve::{
    Answer, Event, EventSource, Fields, Limits, Pages, Policy, Response, Route, Server, Settings,
    Status, Token,
};

/// Pages whose content is their route.
struct Echo;

impl Pages for Echo {
    fn answer(&self, route: &Route) -> Answer {
        let response = match route {
            Route::Events => return Answer::Events(Box::new(Numbers(0))),
            Route::Report { record, .. } if record == "long" => {
                Response::page(Status::Ok, "x".repeat(1 << 20))
            }
            Route::Report { record, .. } if record == "panic" => panic!("planted"),
            route => Response::page(Status::Ok, format!("{route:?}")),
        };
        response.into()
    }

    fn accept_form(&self, route: &Route, form: &Fields) -> Answer {
        match form.value("see") {
            Some(_) => Response::see_other("added").into(),
            None => Response::page_with_form(format!("{route:?} {form:?}")).into(),
        }
    }
}

/// A source of two numbers, a keep-alive message and an end.
struct Numbers(u32);

impl EventSource for Numbers {
    fn next(&mut self) -> Option<Event> {
        self.0 += 1;
        match self.0 {
            1 | 2 => Some(Event::Message(self.0.to_string())),
            3 => Some(Event::KeepAlive),
            4 => Some(Event::End("over".to_owned())),
            _ => None,
        }
    }
}

/// Pages that wait for the test.
struct Held {
    arrived: SyncSender<()>,
    go: std::sync::Mutex<Receiver<()>>,
}

impl Pages for Held {
    fn answer(&self, _: &Route) -> Answer {
        self.arrived.send(()).unwrap();
        self.go.lock().unwrap().recv().unwrap();
        Response::page(Status::Ok, "held".to_owned()).into()
    }
}

/// A server on a free port; its thread ends with the test program.
struct Running {
    address: SocketAddr,
    token: String,
}

impl Running {
    fn new() -> Running {
        Running::with(Limits::default(), Arc::new(Echo))
    }

    fn with(limits: Limits, pages: Arc<dyn Pages>) -> Running {
        let listen = "127.0.0.1:0".parse().unwrap();
        let token = Token::random().unwrap();
        let word = token.as_str().to_owned();
        let policy = Policy { style: Some("'sha256-x'"), script: None };
        let token = Some(token);
        let settings = Settings { listen, limits, token, policy, takes_forms: true };
        let server = Server::bind(settings).unwrap();
        assert!(server.is_local());
        let url = server.url();
        let rest = url.strip_prefix("http://").unwrap();
        let (address, path) = rest.split_once('/').unwrap();
        assert_eq!(path, format!("{word}/"));
        let address = address.parse().unwrap();
        std::thread::spawn(move || server.run(pages));
        Running { address, token: word }
    }

    fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).unwrap()
    }

    /// Sends bytes and returns the whole answer.
    fn send(&self, request: &str) -> String {
        let mut stream = self.connect();
        stream.write_all(request.as_bytes()).unwrap();
        answer(&mut stream)
    }

    /// Sends a GET for a path after the token, with further header fields.
    fn get(&self, path: &str, fields: &str) -> String {
        let Running { address, token } = self;
        self.send(&format!("GET /{token}/{path} HTTP/1.1\r\nHost: {address}\r\n{fields}\r\n"))
    }

    /// Sends a form to a path after the token, with the server's own origin and these further
    /// header fields.
    fn post(&self, path: &str, fields: &str, body: &str) -> String {
        let Running { address, token } = self;
        let length = body.len();
        self.send(&format!(
            "POST /{token}/{path} HTTP/1.1\r\nHost: {address}\r\nOrigin: http://{address}\r\n\
             Content-Length: {length}\r\n{fields}\r\n{body}"
        ))
    }

    /// Requests a page until it is answered; returns false after 100,000 requests without a page.
    fn answers_again(&self) -> bool {
        (0..100_000).any(|_| self.get("", "").starts_with("HTTP/1.1 200 "))
    }
}

/// Returns the answer, up to the end or the reset of the connection.
fn answer(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    String::from_utf8(bytes).unwrap()
}

#[track_caller]
fn assert_code(answer: &str, code: u16) {
    assert!(answer.starts_with(&format!("HTTP/1.1 {code} ")), "{code}: {answer:.500}");
}

#[test]
fn pages_have_a_strict_security_policy() {
    let answer = Running::new().get("?q=a+b", "");
    assert_code(&answer, 200);
    for field in [
        "Content-Security-Policy: default-src 'none'; style-src 'sha256-x'; base-uri 'none'; \
         form-action 'self'; frame-ancestors 'none'\r\n",
        "X-Content-Type-Options: nosniff\r\n",
        "Referrer-Policy: no-referrer\r\n",
        "Cross-Origin-Resource-Policy: same-origin\r\n",
        "Cache-Control: no-store\r\n",
    ] {
        assert!(answer.contains(field), "{field}: {answer}");
    }
    assert!(!answer.contains("Access-Control-Allow"), "{answer}");
    assert!(answer.ends_with("Home { search: \"a b\", page: 1 }"), "{answer}");
}

#[test]
fn wrong_token_is_forbidden() {
    let server = Running::new();
    let address = server.address;
    for path in ["/", "/wrong/", "/report/r.assay", &format!("/{}0/", server.token), "/favicon.ico"]
    {
        let answer = server.send(&format!("GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n"));
        assert_code(&answer, 403);
        assert!(!answer.contains(&server.token), "{answer}");
    }
}

#[test]
fn name_of_another_site_for_this_machine_is_forbidden() {
    let server = Running::new();
    let request = format!("GET /{}/ HTTP/1.1\r\nHost: evil.example:80\r\n\r\n", server.token);
    let answer = server.send(&request);
    assert_code(&answer, 403);
    assert!(answer.contains("the Host of the request is not this machine"), "{answer}");
    let forwarded = format!("GET /{}/ HTTP/1.1\r\nHost: localhost:9000\r\n\r\n", server.token);
    assert_code(&server.send(&forwarded), 200);
}

#[test]
fn page_of_another_site_is_forbidden() {
    let server = Running::new();
    for fields in [
        "Origin: http://evil.example\r\n",
        "Origin: null\r\n",
        "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\n",
    ] {
        assert_code(&server.get("", fields), 403);
    }
    assert_code(&server.get("", &format!("Origin: http://{}\r\n", server.address)), 200);
    assert_code(&server.get("", "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\n"), 200);
}

const FORM: &str = "Content-Type: application/x-www-form-urlencoded\r\n";

#[test]
fn form_of_own_page_is_accepted() {
    let server = Running::new();
    let answer = server.post("notes/a/r.assay", FORM, "text=a+%C3%A9%26b&author=ann");
    assert_code(&answer, 200);
    assert!(answer.contains("\r\nReferrer-Policy: same-origin\r\n"), "{answer}");
    assert!(answer.contains("record: \"a/r.assay\""), "{answer}");
    assert!(answer.contains("(\"text\", \"a é&b\"), (\"author\", \"ann\")"), "{answer}");
    let answer = server.post("notes/r.assay", FORM, "see=1");
    assert_code(&answer, 303);
    assert!(answer.contains("\r\nLocation: ?added\r\n"), "{answer}");
    // The largest form arrives in many pieces.
    let long = format!("text={}", "x".repeat((64 << 10) - 5));
    assert_code(&server.post("notes/r.assay", FORM, &long), 200);
}

#[test]
fn other_forms_are_refused_before_they_are_read() {
    let server = Running::new();
    let Running { address, token } = &server;
    let post = |path: &str, fields: &str, body: &str| {
        let head = format!("POST {path} HTTP/1.1\r\nHost: {address}\r\n{fields}");
        server.send(&format!("{head}{FORM}\r\n{body}"))
    };
    let (path, own) = (format!("/{token}/notes/r.assay"), format!("Origin: http://{address}\r\n"));
    let sized = "Content-Length: 3\r\n";
    // Forms without a token, from another site, and without a statement of their site.
    assert_code(&post("/notes/r.assay", &format!("{own}{sized}"), "a=b"), 403);
    for origin in ["", "Origin: null\r\n", "Origin: http://evil.example\r\n"] {
        assert_code(&post(&path, &format!("{origin}{sized}"), "a=b"), 403);
    }
    let unsaid = post(&path, sized, "a=b");
    let remedy = format!("the form has no `Origin`: send `Origin: http://{address}`");
    assert!(unsaid.contains(&remedy), "{unsaid}");
    let visit = "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\n";
    assert_code(&post(&path, &format!("{own}{visit}{sized}"), "a=b"), 403);
    // Forms to pages that take none.
    assert_code(&server.post("", FORM, "a=b"), 405);
    assert_code(&server.post("report/r.assay", FORM, "a=b"), 405);
    assert_code(&post(&format!("/{token}/"), sized, "a=b"), 405);
    // Forms without a length, too long, of a different type, cut off, and impossible to decode.
    assert_code(&post(&path, &own, ""), 411);
    let long = format!("{own}Content-Length: 65537\r\n");
    assert_code(&post(&path, &long, "a=b"), 413);
    assert_code(&server.post("notes/r.assay", "Content-Type: text/plain\r\n", "a=b"), 415);
    assert_code(&server.post("notes/r.assay", "", "a=b"), 415);
    assert_code(&server.post("notes/r.assay", FORM, "a=%zz"), 400);
    assert_code(&server.post("notes/r.assay", FORM, "a=%ff"), 400);
    let mut cut = server.connect();
    let head = format!("POST {path} HTTP/1.1\r\nHost: {address}\r\n{own}{FORM}{sized}\r\na");
    cut.write_all(head.as_bytes()).unwrap();
    cut.shutdown(std::net::Shutdown::Write).unwrap();
    assert_code(&answer(&mut cut), 400);
}

#[test]
fn slow_form_times_out() {
    let limits = Limits { request: Nanos::from_millis(50), ..Limits::default() };
    let server = Running::with(limits, Arc::new(Echo));
    let Running { address, token } = &server;
    let head = format!("POST /{token}/notes/r HTTP/1.1\r\nHost: {address}\r\n");
    let fields = format!("Origin: http://{address}\r\n{FORM}Content-Length: 9\r\n\r\na=b");
    assert_code(&server.send(&format!("{head}{fields}")), 408);
}

#[test]
fn only_reading_methods_are_allowed() {
    let server = Running::new();
    let Running { address, token } = &server;
    for method in ["PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "get"] {
        let body = "Content-Length: 3\r\n\r\na=b";
        let answer =
            server.send(&format!("{method} /{token}/ HTTP/1.1\r\nHost: {address}\r\n{body}"));
        assert_code(&answer, 405);
        assert!(answer.contains("\r\nAllow: GET, HEAD\r\n"), "{answer}");
        let answer = server.send(&format!(
            "{method} /{token}/notes/r.assay HTTP/1.1\r\nHost: {address}\r\n{body}"
        ));
        assert_code(&answer, 405);
        assert!(answer.contains("\r\nAllow: GET, HEAD, POST\r\n"), "{answer}");
    }
    let form = server.post("report/r.assay", FORM, "a=b");
    assert!(form.contains("\r\nAllow: GET, HEAD\r\n"), "{form}");
    let answer = server.send(&format!("HEAD /{token}/ HTTP/1.1\r\nHost: {address}\r\n\r\n"));
    assert_code(&answer, 200);
    assert!(answer.ends_with("\r\n\r\n"), "{answer}");
}

#[test]
fn sizes_are_bounded() {
    let server = Running::new();
    let Running { address, token } = &server;
    let long = "x".repeat(20_000);
    assert_code(&server.send(&format!("GET /{long}")), 414);
    assert_code(&server.get("", &format!("Cookie: {long}\r\n")), 431);
    assert_code(&server.get("", &"a: b\r\n".repeat(100)), 431);
    let head = format!("POST /{token}/ HTTP/1.1\r\nHost: {address}\r\n");
    assert_code(&server.send(&format!("{head}Content-Length: 1000000\r\n\r\n{long}")), 413);
    assert_code(&server.send(&format!("{head}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n")), 411);
}

#[test]
fn malformed_requests_are_refused() {
    let server = Running::new();
    let Running { address, token } = &server;
    assert_code(&server.send("\u{16}\u{3}\u{1}\u{0}\u{a5}"), 400);
    assert_code(&server.send(&format!("GET /{token}/ HTTP/1.1\r\n\r\n")), 400);
    assert_code(&server.get("%zz", ""), 400);
    assert_code(&server.get("overlay?a=x", ""), 400);
    assert_code(&server.get("nothing", ""), 404);
    assert_code(&server.send(&format!("GET /{token} HTTP/1.1\r\nHost: {address}\r\n\r\n")), 404);
    assert_code(&server.send(&format!("GET /{token}/ HTTP/3.0\r\nHost: {address}\r\n\r\n")), 505);
}

#[test]
fn slow_request_times_out() {
    let limits = Limits { request: Nanos::from_millis(50), ..Limits::default() };
    let server = Running::with(limits, Arc::new(Echo));
    assert_code(&server.send("GET / HTTP/1.1\r\nHost"), 408);
    // The bytes arrive one by one; the time limit applies to the whole request.
    let mut stream = server.connect();
    stream.set_read_timeout(Some(Duration::from_millis(1))).unwrap();
    let mut first = [0u8; 12];
    let is_answered = (0..10_000).any(|_| {
        let _ = stream.write_all(b"x");
        stream.read_exact(&mut first).is_ok()
    });
    assert!(is_answered && &first == b"HTTP/1.1 408", "{}", String::from_utf8_lossy(&first));
}

#[test]
fn server_answers_after_viewers_disappear() {
    let server = Running::new();
    let Running { address, token } = &server;
    for request in
        ["", "GET", &format!("GET /{token}/report/long HTTP/1.1\r\nHost: {address}\r\n\r\n")]
    {
        for _ in 0..100 {
            let mut stream = server.connect();
            // A connection that was refused may be reset already.
            let _ = stream.write_all(request.as_bytes());
        }
    }
    // The number of clients that have gone exceeds the limit of connections.
    assert!(server.answers_again());
}

#[test]
fn page_that_panics_frees_its_connection() {
    let limits = Limits { connections: 1, ..Limits::default() };
    let server = Running::with(limits, Arc::new(Echo));
    assert_eq!(server.get("report/panic", ""), "");
    assert!(server.answers_again());
}

#[test]
fn more_connections_than_the_limit_are_refused() {
    let (arrived, arrives) = sync_channel(1);
    let (go, going) = sync_channel(1);
    let held = Held { arrived, go: std::sync::Mutex::new(going) };
    let limits = Limits { connections: 1, ..Limits::default() };
    let server = Running::with(limits, Arc::new(held));
    let Running { address, token } = &server;
    let mut first = server.connect();
    let request = format!("GET /{token}/ HTTP/1.1\r\nHost: {address}\r\n\r\n");
    first.write_all(request.as_bytes()).unwrap();
    arrives.recv().unwrap();
    // This client sends no request, so nothing can reset its connection before the answer is read.
    assert_code(&answer(&mut server.connect()), 503);
    go.send(()).unwrap();
    assert!(answer(&mut first).ends_with("held"));
}

#[test]
fn connection_without_a_request_gives_way() {
    let limits = Limits { connections: 2, ..Limits::default() };
    let server = Running::with(limits, Arc::new(Echo));
    let (mut first, mut second) = (server.connect(), server.connect());
    second.write_all(b"GET / HTTP/1.1\r\n").unwrap();
    assert_code(&server.get("", ""), 200);
    assert_code(&answer(&mut first), 503);
    // The rest of an incomplete request is still awaited, until another connection needs its place.
    second.write_all(format!("Host: {}\r\n\r\n", server.address).as_bytes()).unwrap();
    assert_code(&answer(&mut second), 403);
}

#[test]
fn connection_with_a_refused_request_gives_way() {
    let limits = Limits { connections: 1, ..Limits::default() };
    let server = Running::with(limits, Arc::new(Echo));
    let mut refused = server.connect();
    let request = format!("GET /wrong/ HTTP/1.1\r\nHost: {}\r\n\r\n", server.address);
    refused.write_all(request.as_bytes()).unwrap();
    let mut first = [0u8; 12];
    refused.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"HTTP/1.1 403");
    // The server still waits for the viewer of the refused connection to close it.
    assert_code(&server.get("", ""), 200);
    drop(refused);
}

#[test]
fn unfinished_viewer_delays_the_end_for_a_limited_time() {
    let (arrived, arrives) = sync_channel(1);
    let (go, going) = sync_channel(1);
    let held = Held { arrived, go: std::sync::Mutex::new(going) };
    let listen = "127.0.0.1:0".parse().unwrap();
    let (limits, policy) = (Limits::default(), Policy::default());
    let settings = Settings { listen, limits, token: None, policy, takes_forms: false };
    let server = Server::bind(settings).unwrap();
    let url = server.url();
    let address = url.trim_start_matches("http://").trim_end_matches('/').to_owned();
    let viewers = server.start(Arc::new(held)).unwrap();
    let mut viewer = TcpStream::connect(&address).unwrap();
    viewer.write_all(format!("GET / HTTP/1.1\r\nHost: {address}\r\n\r\n").as_bytes()).unwrap();
    arrives.recv().unwrap();
    // The page is not made before `go`: without a limit, this wait would never end.
    viewers.drain(Duration::from_millis(10));
    let reader = std::thread::spawn(move || answer(&mut viewer));
    go.send(()).unwrap();
    // The wait ends with the answer, long before its limit.
    viewers.drain(Duration::MAX);
    assert!(reader.join().unwrap().ends_with("held"));
}

#[test]
fn port_in_use_is_an_error() {
    let server = Running::new();
    let listen = server.address.to_string().parse().unwrap();
    let (limits, policy) = (Limits::default(), Policy::default());
    let settings = Settings { listen, limits, token: None, policy, takes_forms: false };
    let error = Server::bind(settings).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::AddrInUse);
}

#[test]
fn events_are_sent_until_their_source_ends() {
    let answer = Running::new().get("events", "Accept: text/event-stream\r\n");
    assert_code(&answer, 200);
    assert!(answer.contains("\r\nContent-Type: text/event-stream\r\n"), "{answer}");
    let (_, events) = answer.split_once("\r\n\r\n").unwrap();
    assert_eq!(events, "data: 1\n\ndata: 2\n\n:\n\nevent: end\ndata: over\n\n");
}

/// Events without end.
struct Endless;

impl EventSource for Endless {
    fn next(&mut self) -> Option<Event> {
        Some(Event::Message("x".repeat(10_000)))
    }
}

impl Pages for Endless {
    fn answer(&self, _: &Route) -> Answer {
        Answer::Events(Box::new(Endless))
    }
}

#[test]
fn viewers_of_events_that_disappear_or_stall_free_their_connections() {
    let limits = Limits { connections: 1, answer: Nanos::from_millis(50), ..Limits::default() };
    let server = Running::with(limits, Arc::new(Endless));
    let Running { address, token } = &server;
    let request = format!("GET /{token}/events HTTP/1.1\r\nHost: {address}\r\n\r\n");
    let mut gone = server.connect();
    gone.write_all(request.as_bytes()).unwrap();
    drop(gone);
    let stalled = begins(&server, &request);
    // The stalled viewer reads nothing more: its connection ends after the limit, and the next one
    // gets its thread.
    let next = begins(&server, &request);
    drop((stalled, next));
}

/// Sends the request on new connections until one of them gets a thread and the answer `200 OK`.
/// Returns this connection, from which the first bytes of the answer have been read.
fn begins(server: &Running, request: &str) -> TcpStream {
    for _ in 0..1_000_000 {
        // A busy machine may have no port for another connection yet.
        let Ok(mut stream) = TcpStream::connect(server.address) else { continue };
        let mut first = [0u8; 15];
        let sent = stream.write_all(request.as_bytes());
        if sent.and_then(|()| stream.read_exact(&mut first)).is_ok() && &first == b"HTTP/1.1 200 OK"
        {
            return stream;
        }
    }
    panic!("no connection became free");
}

#[test]
fn server_without_a_token_still_checks_host_and_site() {
    let listen = "127.0.0.1:0".parse().unwrap();
    let (limits, policy) = (Limits::default(), Policy::default());
    let settings = Settings { listen, limits, token: None, policy, takes_forms: false };
    let server = Server::bind(settings).unwrap();
    let url = server.url();
    let address = url.trim_start_matches("http://").trim_end_matches('/').parse().unwrap();
    let _viewers = server.start(Arc::new(Echo)).unwrap();
    let server = Running { address, token: String::new() };
    let ask = |host: &str| server.send(&format!("GET /metrics HTTP/1.1\r\nHost: {host}\r\n\r\n"));
    assert!(ask(&address.to_string()).ends_with("Metrics"));
    assert_code(&ask("evil.example"), 403);
    assert_code(&ask(&format!("{address}\r\nOrigin: http://evil.example")), 403);
}
