//! Signal handling: the first Ctrl-C ends the run cleanly, the second ends it at once, and the
//! third ends the program without waiting for the run.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use engine::Stop;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;

use crate::complain::Complaint;
use crate::display::Interruption;
use crate::exit::Exit;

/// Maximum time that the program takes to end after the second signal: long enough to close the
/// record and print the answer, unless something hangs.
const END_GRACE: Duration = Duration::from_secs(2);

/// The effect of the first Ctrl-C.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FirstInterrupt {
    /// The run ends, as after any other first signal.
    EndsRun,
    /// No effect.
    Ignored,
}

/// Handles SIGINT, SIGTERM and the loss of the terminal (SIGHUP) for the rest of the program's
/// life. Announces the effects of the first and the second signal through `announce`; the third
/// signal ends the program. A SIGHUP counts only if it is the first signal.
///
/// # Errors
/// The operating system refuses a handler or a thread.
pub(crate) fn listen(
    stop: Stop,
    announce: impl Fn(Interruption) + Send + 'static,
) -> Result<(), Complaint> {
    listen_with(FirstInterrupt::EndsRun, stop, announce)
}

/// Handles the same signals as [`listen`] beside an observed program, and ignores the first Ctrl-C:
/// the terminal sends it to the program too, and the observation ends with the program.
///
/// # Errors
/// As for [`listen`].
pub(crate) fn listen_beside_program(
    stop: Stop,
    announce: impl Fn(Interruption) + Send + 'static,
) -> Result<(), Complaint> {
    listen_with(FirstInterrupt::Ignored, stop, announce)
}

fn listen_with(
    first: FirstInterrupt,
    stop: Stop,
    announce: impl Fn(Interruption) + Send + 'static,
) -> Result<(), Complaint> {
    let mut signals = install_handlers().map_err(|error| {
        Complaint::new(format!("cannot handle signals: {error}"))
            .help("allow more open files: `ulimit -n` shows the limit")
    })?;
    let thread = std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        let mut before = 0;
        let mut ignores_interrupt = first == FirstInterrupt::Ignored;
        for signal in signals.forever() {
            if signal == SIGINT && std::mem::take(&mut ignores_interrupt) {
                continue;
            }
            // The loss of a terminal may be signalled twice, by the kernel and by the shell.
            if signal == SIGHUP && before > 0 {
                continue;
            }
            match before {
                0 => {
                    stop.interrupt();
                    announce(Interruption::Finishing);
                }
                1 => {
                    stop.interrupt_at_once();
                    announce(Interruption::AtOnce);
                    std::thread::spawn(end_after_grace);
                }
                _ => end_now(),
            }
            before += 1;
        }
    });
    thread.map(drop).map_err(|error| Complaint::of_thread("signals", &error))
}

/// Installs the handlers. SIGHUP gets none if the program was started with this signal ignored.
fn install_handlers() -> io::Result<Signals> {
    let signals = Signals::new([SIGINT, SIGTERM])?;
    if !ignores_hangup() {
        signals.add_signal(SIGHUP)?;
    }
    Ok(signals)
}

/// Makes a write beyond the limit on the size of files (`ulimit -f`) an error, which is reported
/// like the error of a full disk. Without a handler, the signal would end the program (signal(7)).
///
/// # Errors
/// The operating system refuses a handler.
pub(crate) fn survive_file_size_limit() -> io::Result<()> {
    signal_hook::flag::register(SIGXFSZ, Arc::default()).map(drop)
}

/// Returns true if the program was started by `nohup` or similar, to outlive its terminal.
fn ignores_hangup() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask & 1 << (SIGHUP - 1) != 0)
}

/// Ends the program after [`END_GRACE`].
fn end_after_grace() {
    let (_nobody_sends, receiver) = sync_channel::<()>(0);
    let _ = receiver.recv_timeout(END_GRACE);
    end_now()
}

/// Ends the program without waiting for anything; the record is complete up to its last second.
#[expect(clippy::disallowed_methods, reason = "the user asked for the end twice")]
fn end_now() -> ! {
    std::process::exit(Exit::Interrupted.code().into())
}
