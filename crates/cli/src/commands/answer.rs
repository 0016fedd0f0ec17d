//! From a record to what is printed on stdout.

use std::io::{ErrorKind, IsTerminal, Write};
use std::path::Path;

use analyze::HowEnded;
use record::{Archive, RecordError};
use report::{About, Style, View};

use crate::args::AnswerArgs;
use crate::complain::{Complaint, is_styled};
use crate::exit::Exit;

/// How wide an answer is where nobody says.
const WIDTH: usize = 100;

/// Reads a record, prints its answer and says what it means for the exit code.
pub(crate) fn give(path: &Path, args: AnswerArgs) -> Result<Exit, Complaint> {
    let (view, ended) = view(path).map_err(|error| Complaint::of(&error))?;
    if args.json {
        let document = report::json(&view);
        let text =
            serde_json::to_string_pretty(&document).map_err(|error| Complaint::of(&error))?;
        print(&format!("{text}\n"))?;
    } else {
        let stdout = std::io::stdout();
        let style = Style { color: stdout.is_terminal() && is_styled(&stdout), width: WIDTH };
        print(&report::text(&view, &style))?;
    }
    Ok(Exit::of_run(ended, &view.summary, args.strict))
}

fn view(path: &Path) -> Result<(View, Option<HowEnded>), RecordError> {
    let archive = Archive::open(path)?;
    let evidence = lab::evidence(&archive)?;
    let summary = analyze::summarize(&evidence);
    let ended = evidence.ended;
    Ok((View { about: About::of(&archive)?, summary, evidence }, ended))
}

/// Writes to stdout. A reader that has seen enough is no error.
pub(crate) fn print(text: &str) -> Result<(), Complaint> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(Complaint::new(format!("cannot write to stdout: {error}"))),
    }
}
