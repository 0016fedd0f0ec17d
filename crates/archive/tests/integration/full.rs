//! Full disks and slow disks.

use std::io::Read;
use std::path::Path;
use std::process::Command;

use archive::{Archive, Recorder};
use record::{Delivery, EndKind, Gauge, Outlet, Pace};
use rusqlite::Connection;

use crate::killed::{child, path_of_child};
use crate::support::{READ, Scenario, TestFolder, chain, end, header, keep_step, ledgers};

/// Records in real time, as fast as the disk allows, until it is full; prints the error.
fn record_until_full(path: &Path) {
    let header = header(Pace::Real);
    let recorder = Recorder::create(path, &header).unwrap();
    let live = recorder.live();
    let scenario = Scenario { seconds: 2_000, ..Scenario::QUICK };
    scenario.run(ledgers(&header, 1, || recorder.outlet()), |_, second| {
        keep_step(&recorder, &live, second);
    });
    println!("broken {}", recorder.is_broken());
    println!("because {}", chain(&recorder.finish(end()).unwrap_err()));
}

#[test]
fn a_full_disk_ends_the_run_and_leaves_what_was_written() {
    if let Some(path) = path_of_child() {
        return record_until_full(path.as_ref());
    }
    let place = TestFolder::new("full");
    let name = "full::a_full_disk_ends_the_run_and_leaves_what_was_written";
    // A file size limit of 1 MB simulates the full disk. The signal that it sends is ignored,
    // because it would kill the process.
    let limited = |command: Command| {
        let mut shell = Command::new("sh");
        let limit = "trap '' XFSZ; ulimit -f 2000; exec \"$0\" \"$@\"";
        shell.args(["-c", limit]).arg(command.get_program()).args(command.get_args());
        shell
    };
    let mut child = child(name, &place.record(), limited);
    let mut said = String::new();
    child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(child.wait().unwrap().success(), "{said}");
    assert!(said.contains("broken true"), "{said}");
    assert!(said.contains("because cannot continue to write the record `"), "{said}");
    assert!(said.contains("with --out: "), "the cause follows: {said}");

    let archive = Archive::open(&place.record()).unwrap();
    let rows = archive.intervals(READ).unwrap();
    assert!(rows.len() > 20 && rows.len() < 2_000, "{}", rows.len());
    assert!(rows[..rows.len() - 2].iter().all(|row| row.counts.open() == 0));
    let kind = archive.end().map(|end| end.kind);
    assert!(matches!(kind, None | Some(EndKind::RecorderFailed)), "{kind:?}");
}

#[test]
fn a_slow_disk_delays_rows_and_never_a_lane() {
    let place = TestFolder::new("slow");
    let header = header(Pace::Real);
    let recorder = Recorder::create(&place.record(), &header).unwrap();
    let mut outlet = recorder.outlet();
    // A reader delays the transaction, as an unresponsive disk would.
    let reader = Connection::open(place.record()).unwrap();
    reader.execute_batch("begin; select count(*) from meta").unwrap();
    let mut handed_over = 0u32;
    while !outlet.is_broken() {
        let gauges = vec![Gauge::default(); 2];
        outlet.deliver(Delivery::Gauges { lane: 0, interval: handed_over, gauges });
        handed_over += 1;
    }
    assert!(handed_over > 512, "the lane keeps what finds no room: {handed_over}");
    assert!(recorder.is_broken());
    reader.execute_batch("commit").unwrap();
    drop(outlet);
    recorder.finish(end()).unwrap();
    let archive = Archive::open(&place.record()).unwrap();
    assert_eq!(archive.intervals(READ).unwrap().len() as u32, handed_over - 1);
    let events = archive.events().unwrap();
    assert!(events[0].text.contains("1 parts of it are missing"), "{events:?}");
}
