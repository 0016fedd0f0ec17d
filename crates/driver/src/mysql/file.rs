//! Files for `LOAD DATA LOCAL`. A server gets only the file that the running statement itself
//! names.

use std::io::{self, Read};

use base::{Class, Code};
use confine::Files;
use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::script;
use crate::Error;

/// Size of the pieces in which a file is read and sent, in bytes.
const PIECE: usize = 128 << 10;

/// Maximum number of pieces read ahead.
const PIECES_READ_AHEAD: usize = 4;

/// The files that the server may request during the running statement.
#[derive(Clone, Copy, Debug)]
pub(super) struct AllowedFiles<'a> {
    /// The statement's text; empty if it loads no file.
    pub(super) statement: &'a str,
    /// The files that a statement may name.
    pub(super) files: &'a Files,
}

impl AllowedFiles<'_> {
    /// Opens the file that the server requests, if the statement names it.
    ///
    /// # Errors
    /// The statement does not name the file, or the operating system has no thread for reading it.
    pub(super) fn open(self, wanted: &[u8]) -> Result<Pieces, Error> {
        let named = script::loaded_file(self.statement);
        match named.filter(|named| named.as_bytes() == wanted) {
            Some(name) => Pieces::of(self.files.clone(), name.to_owned()),
            None => {
                let wanted = String::from_utf8_lossy(wanted);
                Err(error(format!(
                    "the server requested the file `{}`, which the running statement does not name",
                    wanted.escape_debug().take(200).collect::<String>()
                )))
            }
        }
    }
}

/// The pieces of a file in order, read by a separate thread, because a slow disk must delay nothing
/// else.
pub(super) struct Pieces {
    name: String,
    pieces: Receiver<io::Result<Vec<u8>>>,
}

impl Pieces {
    fn of(files: Files, name: String) -> Result<Pieces, Error> {
        let (sender, pieces) = channel(PIECES_READ_AHEAD);
        let wanted = name.clone();
        std::thread::Builder::new()
            .name("load-file".to_owned())
            .spawn(move || read(&files, &wanted, &sender))
            .map_err(|cause| unreadable(&name, &cause))?;
        Ok(Pieces { name, pieces })
    }

    /// Returns the next piece, or `None` at the end.
    ///
    /// # Errors
    /// The file cannot be opened or read.
    pub(super) async fn next(&mut self) -> Result<Option<Vec<u8>>, Error> {
        let piece = self.pieces.recv().await.transpose();
        piece.map_err(|cause| unreadable(&self.name, &cause))
    }
}

/// Reads to the end, or until the receiver is gone.
fn read(files: &Files, name: &str, pieces: &Sender<io::Result<Vec<u8>>>) {
    let mut file = match files.open(name) {
        Ok(file) => file,
        Err(cause) => {
            let _ = pieces.blocking_send(Err(cause));
            return;
        }
    };
    loop {
        let mut piece = Vec::with_capacity(PIECE);
        let read = file.by_ref().take(PIECE as u64).read_to_end(&mut piece);
        let piece = match read {
            Ok(0) => return,
            Ok(_) => Ok(piece),
            Err(cause) => Err(cause),
        };
        let is_last = piece.is_err();
        if pieces.blocking_send(piece).is_err() || is_last {
            return;
        }
    }
}

fn unreadable(name: &str, cause: &io::Error) -> Error {
    error(format!("the file `{name}` cannot be read: {cause}"))
}

fn error(message: String) -> Error {
    Error::new(Class::Statement, Code::new("file"), message)
}
