//! The first Ctrl-C ends the run cleanly, the second at once.

use std::io;
use std::io::Write;

use engine::Stop;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::exit::Exit;

/// Listens for SIGINT and SIGTERM for the rest of the program's life.
///
/// # Errors
/// The operating system refuses a handler.
pub(crate) fn listen(stop: Stop) -> io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        for (count, _) in signals.forever().enumerate() {
            if count > 0 {
                end_now();
            }
            stop.interrupt();
            let _ = writeln!(
                io::stderr(),
                "\nending the run: what is under way is finished; once more ends it at once"
            );
        }
    })?;
    Ok(())
}

/// Ends the program without waiting for anything. The record is whole up to its last second.
#[expect(clippy::disallowed_methods, reason = "the user asked for the end twice")]
fn end_now() -> ! {
    std::process::exit(Exit::Interrupted.code().into())
}
