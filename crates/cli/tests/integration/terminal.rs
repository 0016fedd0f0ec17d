//! Tests of the live view, on a pseudo-terminal.

use std::fs::File;
use std::io::Read;
use std::process::{Command, Stdio};

use nix::pty::{Winsize, openpty};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::support::{CommandResult, MM1, TestFolder};

/// The terminal output of a run, and its result.
pub(crate) struct Shown {
    pub(crate) screen: String,
    pub(crate) ran: CommandResult,
}

/// Runs a program whose stdout is a terminal with this many columns, and returns the output.
fn answer_on_a_terminal(command: &mut Command, columns: u16) -> String {
    let size = Winsize { ws_row: 40, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    let pty = openpty(&size, None).unwrap();
    command.env("NO_COLOR", "1").stdout(pty.slave).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    command.stdout(Stdio::null());
    let (mut terminal, mut bytes, mut piece) = (File::from(pty.master), Vec::new(), [0; 4_096]);
    // A terminal whose other end is closed reports an error instead of the end of the file.
    while let Ok(count @ 1..) = terminal.read(&mut piece) {
        bytes.extend_from_slice(&piece[..count]);
    }
    child.wait().unwrap();
    String::from_utf8(bytes).unwrap().replace("\r\n", "\n")
}

/// Runs a program whose stderr is a terminal.
pub(crate) fn on_a_terminal(command: &mut Command) -> Shown {
    until_seen(command, &[])
}

/// Runs a program whose stderr is a terminal, and interrupts it each time the next of `words`
/// appears on that terminal.
fn until_seen(command: &mut Command, words: &[&str]) -> Shown {
    let size = Winsize { ws_row: 40, ws_col: 120, ws_xpixel: 0, ws_ypixel: 0 };
    let pty = openpty(&size, None).unwrap();
    command.env("TERM", "xterm-256color").stdout(Stdio::piped()).stderr(pty.slave);
    let mut child = command.spawn().unwrap();
    // The parent's copy of the program's end of the terminal is closed: otherwise the reader would
    // not notice when the program closes its own.
    command.stderr(Stdio::null());
    let mut answer = child.stdout.take().unwrap();
    let reader = std::thread::spawn(move || {
        let mut stdout = String::new();
        answer.read_to_string(&mut stdout).unwrap();
        stdout
    });
    let mut terminal = File::from(pty.master);
    let mut bytes = Vec::new();
    let mut wanted = words.iter().peekable();
    let mut piece = [0; 4_096];
    // A terminal whose other end is closed reports an error instead of the end of the file.
    while let Ok(count @ 1..) = terminal.read(&mut piece) {
        bytes.extend_from_slice(&piece[..count]);
        let seen = String::from_utf8_lossy(&bytes);
        if wanted.next_if(|words| seen.contains(**words)).is_some() {
            kill(Pid::from_raw(i32::try_from(child.id()).unwrap()), Signal::SIGINT).unwrap();
        }
    }
    let code = child.wait().unwrap().code().unwrap_or(-1);
    let screen = String::from_utf8(bytes).unwrap();
    let stdout = reader.join().unwrap();
    Shown { ran: CommandResult { code, stdout, stderr: screen.clone() }, screen }
}

const READ: &str = "duration = 1m\n[read]\nquery = select 1\nrate = 100\n";

#[test]
fn the_live_view_draws_and_cleans_up() {
    let place = TestFolder::with(READ);
    let mut command = place.command(&["run", "w.ini", "--url", MM1, "--out", "r.assay"]);
    let shown = until_seen(&mut command, &["achieved/s"]);
    let screen = &shown.screen;
    for words in ["w.ini on sim:mm1?service=1ms", "measuring, 00:0", "of 01:00, 00:5", "in flight"]
    {
        assert!(screen.contains(words), "{words}: {screen:?}");
    }
    // The series of throughput and p99 begin with a bar of full height.
    for words in ["read  achieved/s █", "p99 █"] {
        assert!(screen.contains(words), "{words}: {screen:?}");
    }
    // Lines are overwritten, and finally removed. The line of the busiest component appears below
    // the others once that component is known.
    let (erase, up) = ("\u{1b}[J", ["\u{1b}[5A", "\u{1b}[6A"]);
    assert!(screen.contains("\u{1b}[K"), "{screen:?}");
    assert!(up.iter().any(|up| screen.ends_with(&format!("\r{up}{erase}"))), "{screen:?}");
    // The answer is on stdout, which is not a terminal, and has no colours.
    let ran = shown.ran.expect(130);
    assert!(ran.stdout.contains("[read]") && !ran.stdout.contains('\u{1b}'), "{}", ran.stdout);
}

#[test]
fn full_answer_fits_the_terminal_and_a_pipe_gets_a_hundred_columns() {
    let place = TestFolder::with(READ);
    let run = ["run", "w.ini", "--virtual", "--url", MM1, "--out", "r.assay", "--quiet"];
    place.assay(&run).expect(0);
    let report = ["report", "r.assay", "--full"];
    let piped = place.assay(&report).expect(0).stdout;
    assert!(piped.contains("stddev"), "{piped}");
    let shown = answer_on_a_terminal(&mut place.command(&report), 70);
    for line in shown.lines().filter(|line| !line.starts_with("  assay ")) {
        assert!(line.chars().count() <= 70, "{line}");
    }
    assert!(shown.contains("p99") && !shown.contains("stddev"), "{shown}");
    for columns in [100, 213] {
        assert_eq!(answer_on_a_terminal(&mut place.command(&report), columns), piped);
    }
}

#[test]
fn last_screen_of_an_answer_has_verdict_limiter_and_result() {
    let place = TestFolder::with(&format!("{READ}slo = p99 < 1s\n"));
    let run = ["run", "w.ini", "--virtual", "--url", MM1, "--out", "r.assay", "--quiet"];
    place.assay(&run).expect(0);
    let report = ["report", "r.assay"];
    let piped = place.assay(&report).expect(0).stdout;
    assert!(piped.lines().count() <= 40, "{piped}");
    assert_eq!(answer_on_a_terminal(&mut place.command(&report), 80), piped, "a pipe gets 80");
    let lines: Vec<&str> = piped.lines().collect();
    let screen = lines[lines.len() - 24..].join("\n");
    for words in
        ["\nVALID: ", "\nThroughput not limited: ", "\nread  offered 100/s", "\nEvery SLO is met"]
    {
        assert!(screen.contains(words), "{words}: {screen}");
    }
    for columns in [60, 213] {
        let shown = answer_on_a_terminal(&mut place.command(&report), columns);
        let widest = shown.lines().filter(|line| !line.contains("  assay "));
        let widest = widest.map(|line| line.chars().count()).max().unwrap();
        assert!(widest <= usize::from(columns.min(100)), "{shown}");
    }
}

#[test]
fn the_live_view_says_that_the_run_is_ending_and_how_to_end_it_at_once() {
    let place = TestFolder::with("duration = 1m\n[read]\nquery = select 1\nconcurrency = 2\n");
    let url = "sim:md1?service=90s";
    let mut command = place.command(&["run", "w.ini", "--url", url, "--out", "r.assay"]);
    let words = ["achieved/s", "Ctrl-C once more ends it at once"];
    let shown = until_seen(&mut command, &words);
    let lead = "ending the run: open requests are finished; ";
    assert!(shown.screen.contains(&format!("\n{lead}{}", words[1])), "{:?}", shown.screen);
    shown.ran.expect(130);
}

#[test]
fn quiet_run_draws_nothing() {
    let place = TestFolder::with(READ);
    let args = ["run", "w.ini", "--virtual", "--url", MM1, "--out", "r.assay", "--quiet"];
    assert_eq!(on_a_terminal(&mut place.command(&args)).screen, "");
}

#[test]
fn argument_in_a_complaint_cannot_act_on_the_terminal() {
    let place = TestFolder::with(READ);
    let name = "a\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}31m\u{202e}\r\nerror: forged";
    for args in [
        &["run", "w.ini", name][..],
        &[name],
        &["run", "w.ini", "--duration", name],
        &["run", name],
        &["report", name],
    ] {
        let shown = on_a_terminal(&mut place.command(args));
        // The terminal writes line ends as two characters.
        let screen = shown.screen.replace("\r\n", "\n");
        for sequence in ["\u{1b}]", "\u{1b}[2J", "\u{7}", "\u{9b}", "\u{202e}", "\r"] {
            assert!(!screen.contains(sequence), "{args:?}: {screen:?}");
        }
        assert!(!screen.lines().skip(1).any(|line| line.starts_with("error:")), "{screen}");
        shown.ran.expect(2);
    }
}

#[test]
fn messages_are_coloured_on_a_terminal_unless_disabled() {
    let place = TestFolder::with("[read]\nquery = select 1\nrat = 1\n");
    let check = ["check", "w.ini"];
    let coloured = on_a_terminal(&mut place.command(&check));
    assert!(coloured.screen.contains("\u{1b}["), "{:?}", coloured.screen);
    let plain = on_a_terminal(place.command(&check).env("NO_COLOR", "1"));
    assert!(!plain.screen.contains('\u{1b}'), "{:?}", plain.screen);
    assert!(plain.screen.contains("unknown key `rat`"), "{:?}", plain.screen);
    let usage = on_a_terminal(place.command(&["run", "--nonsense"]).env("NO_COLOR", "1"));
    assert!(!usage.screen.contains('\u{1b}'), "{:?}", usage.screen);
}
