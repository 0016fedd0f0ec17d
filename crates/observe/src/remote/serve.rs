//! The remote side: `assay observe --stdio`, started by an `assay` on another machine.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::sync::{Arc, Mutex, PoisonError};

use base::{Clock, Monotonic, Nanos};
use record::metric::generator;
use record::{ComponentKind, MeasuredSide, ObservedComponent, Reading};

use super::clock::ClockReference;
use super::protocol::{self, RemoteRequest};
use crate::environment::Root;
use crate::sample::Sample;
use crate::scope::{Scope, ServerLocation, ServerOption};
use crate::watch::Watch;

/// Maximum number of bytes of a request.
const MAX_REQUEST_BYTES: u64 = 256;

/// Returns the scope of an observation for an `assay` on another machine: this machine, and the
/// processes of the database. These listen on the given ports or have the given ids.
pub fn scope(every: Nanos, ports: Vec<u16>, servers: Vec<u32>) -> Scope {
    let processes = servers.into_iter().map(ServerLocation::Process);
    let servers = ports.into_iter().map(ServerLocation::Port).chain(processes).collect();
    Scope { every, servers, server_option: ServerOption::None, ..Scope::default() }
}

/// Reports samples of this machine until the input ends, as lines in the format of the module
/// `protocol`.
///
/// # Errors
/// Input or output failed, or the operating system cannot start a thread.
pub fn serve(
    scope: Scope,
    input: impl Read,
    output: impl Write + Send + 'static,
) -> io::Result<()> {
    let clock = ClockReference::now();
    let output = Arc::new(Mutex::new(output));
    let host = Root::system().line("proc/sys/kernel/hostname").unwrap_or_default();
    write_line(&output, &protocol::greeting(&host, clock.now_ns()))?;
    let mut watch = None;
    let mut input = BufReader::new(input);
    loop {
        let mut line = Vec::new();
        if input.by_ref().take(MAX_REQUEST_BYTES).read_until(b'\n', &mut line)? == 0 {
            watch.into_iter().for_each(Watch::end);
            return Ok(());
        }
        match RemoteRequest::parse(&line) {
            Some(RemoteRequest::Ping(number)) => {
                write_line(&output, &protocol::pong(number, clock.now_ns()))?;
            }
            Some(RemoteRequest::Begin) if watch.is_none() => {
                let output = Arc::clone(&output);
                watch = Some(Watch::begin(Monotonic.now(), scope.clone(), move |_, sample| {
                    let sample = without_generator(sample);
                    // If the output is closed, so is the input, which ends this program.
                    let _ = write_line(&output, &protocol::sample(clock.now_ns(), &sample));
                })?);
            }
            Some(RemoteRequest::Begin) | None => {}
        }
    }
}

fn write_line(output: &Mutex<impl Write>, line: &str) -> io::Result<()> {
    let mut output = output.lock().unwrap_or_else(PoisonError::into_inner);
    output.write_all(line.as_bytes())?;
    output.flush()
}

/// Returns a sample without readings of the load generator, which runs on another machine. Here
/// such readings would describe this process. Of these readings, only the cost of observing is
/// retained.
fn without_generator(sample: Sample) -> Sample {
    let is_here = |name: &str| match ObservedComponent::parse(name).map(|component| component.kind)
    {
        Some(
            ComponentKind::Lane(_)
            | ComponentKind::Database
            | ComponentKind::Storage
            | ComponentKind::Table(_)
            | ComponentKind::Processes(MeasuredSide::Generator)
            | ComponentKind::Pooler(_)
            | ComponentKind::Sockets(MeasuredSide::Generator)
            | ComponentKind::Cgroup(MeasuredSide::Generator),
        )
        | None => false,
        Some(
            ComponentKind::Host
            | ComponentKind::Processor(_)
            | ComponentKind::Disk(_)
            | ComponentKind::Interface(_)
            | ComponentKind::Processes(MeasuredSide::Server)
            | ComponentKind::Upstream
            | ComponentKind::Role(_)
            | ComponentKind::Program(_)
            | ComponentKind::Sockets(MeasuredSide::Server)
            | ComponentKind::Cgroup(MeasuredSide::Server)
            | ComponentKind::Sessions
            | ComponentKind::Waits
            | ComponentKind::Locks
            | ComponentKind::Statements
            | ComponentKind::Background
            | ComponentKind::Statistics,
        ) => true,
    };
    let is_cost = |reading: &Reading| reading.series.metric == generator::OBSERVING.name;
    let is_sent = |reading: &Reading| is_here(&reading.series.component) || is_cost(reading);
    let Sample { mut readings, mut missing } = sample;
    readings.retain(is_sent);
    missing.retain(|missing| !is_of_generator(&missing.what));
    Sample { readings, missing }
}

/// Returns true if a component, with or without a metric after its name, belongs to the load
/// generator.
fn is_of_generator(what: &str) -> bool {
    let side = MeasuredSide::Generator;
    let kinds =
        [ComponentKind::Processes(side), ComponentKind::Sockets(side), ComponentKind::Cgroup(side)];
    kinds.iter().any(|kind| {
        let rest = what.strip_prefix(&kind.to_string());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use super::super::protocol::RemoteMessage;
    use super::*;

    #[test]
    fn server_greets_answers_and_samples_until_the_input_ends() {
        let (mut here, there) = UnixStream::pair().unwrap();
        let output = there.try_clone().unwrap();
        let scope = scope(Nanos::from_millis(100), Vec::new(), Vec::new());
        let serving = std::thread::spawn(move || serve(scope, there, output));
        here.write_all(b"ping 7\nwhat?\nbegin\nbegin\n").unwrap();
        let mut lines = BufReader::new(here.try_clone().unwrap()).split(b'\n');
        let mut next =
            || lines.next().map(|line| RemoteMessage::parse(&line.unwrap()).expect("a line"));
        assert!(matches!(next(), Some(RemoteMessage::Greeting { version: protocol::VERSION, .. })));
        assert!(matches!(next(), Some(RemoteMessage::Pong { number: 7, clock: 1.. })));
        let Some(RemoteMessage::Sample { at, sample }) = next() else { panic!("a sample comes") };
        let has = |component: &str, metric: &str| {
            let is = |r: &Reading| r.series.component == component && r.series.metric == metric;
            sample.readings.iter().any(is)
        };
        assert!(at > 0 && has("host", "busy") && has("generator", "observing"), "{sample:?}");
        assert!(!has("generator", "threads"), "{sample:?}");
        here.shutdown(std::net::Shutdown::Write).unwrap();
        assert!(std::iter::from_fn(next).all(|said| matches!(said, RemoteMessage::Sample { .. })));
        serving.join().unwrap().unwrap();
    }

    #[test]
    fn missing_data_of_the_generator_is_left_out() {
        let kept = ["disk generator-data", "interface generator0", "program generator", "server"];
        let left_out = ["generator", "generator read-bytes", "cgroup generator throttled"];
        let mut sample = Sample::default();
        kept.iter().chain(&left_out).for_each(|what| sample.missing(what, "no permission"));
        let missing = without_generator(sample).missing;
        assert_eq!(missing.iter().map(|missing| &missing.what).collect::<Vec<_>>(), kept);
    }
}
