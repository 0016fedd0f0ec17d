//! `assay note`: adds the note of a reviewer to a record.

use archive::add_note;
use base::{WallTime, printable};
use record::{Note, NoteError};

use crate::args::NoteArgs;
use crate::commands::answer;
use crate::complain::Complaint;
use crate::exit::Exit;
use crate::user;

pub(crate) fn note(args: &NoteArgs) -> Result<Exit, Complaint> {
    let author = args.author.clone().unwrap_or_else(user::name);
    let note = Note::by(&author, &args.text, WallTime::now());
    let note = note.map_err(|error| Complaint::new(error.to_string()).help(remedy(error)))?;
    add_note(&args.record, &note).map_err(|error| Complaint::of(&error))?;
    let record = args.record.display().to_string();
    let Note { at, text, author } = note;
    let author = author.unwrap_or_default();
    answer::print(&format!("{}: {at}, {author}: {text}\n", printable(&record)))?;
    Ok(Exit::Success)
}

fn remedy(error: NoteError) -> &'static str {
    match error {
        NoteError::Empty => "write a sentence: assay note R.assay 'TEXT'",
        NoteError::TooLong { .. } => {
            "write the details elsewhere, and where they are into the note"
        }
        NoteError::Control => "write plain text",
        NoteError::Author => "name the author with --author NAME",
    }
}
