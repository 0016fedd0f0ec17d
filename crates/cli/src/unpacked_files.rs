//! The files whose text a record contains, unpacked to be read again.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use base::units::grouped;
use guardian::TemporaryFolder;
use record::{InputFile, LONGEST_KEPT_TEXT};

use crate::args::{FileArgs, UnpackedRecord};
use crate::complain::Complaint;
use crate::input_files;
use crate::reading::EXPERIMENT_FILE;

/// The files of a record in a temporary folder, which is removed with this value.
pub(crate) struct UnpackedFiles {
    folder: TemporaryFolder,
    /// The file that is run.
    main_file: PathBuf,
}

impl UnpackedFiles {
    /// Writes the files of a record into a temporary folder. A file whose text is not in the record
    /// is copied from the current folder, if the file there has the same content. `name` is the
    /// path in the recorded command: the file that is run, or the folder that contains it.
    ///
    /// # Errors
    /// The record does not contain the file that is run; it does not contain the text of another
    /// file, and the current folder does not have the same file; a file lies outside of the folder
    /// of the workload; or the temporary folder cannot be written.
    pub(crate) fn unpack(files: &[InputFile], name: &Path) -> Result<UnpackedFiles, Complaint> {
        let is_recorded = |name: &Path| files.iter().any(|file| Path::new(&file.path) == name);
        let names = [name, Path::new(EXPERIMENT_FILE)];
        let Some(main_file) = names.into_iter().find(|name| is_recorded(name)) else {
            let sentence = format!("the record does not keep the file `{}`", name.display());
            let help = "it was made by an older version: run the file itself again";
            return Err(Complaint::new(sentence).help(help));
        };
        let folder = TemporaryFolder::new(&std::env::temp_dir(), "assay-repeat");
        let folder = folder.map_err(|error| {
            let parent = std::env::temp_dir();
            Complaint::new(format!("cannot create a folder in `{}`: {error}", parent.display()))
                .help("set TMPDIR to a folder that can be written")
        })?;
        for file in files {
            unpack_one(file, folder.path())?;
        }
        let main_file = folder.path().join(main_file);
        Ok(UnpackedFiles { folder, main_file })
    }

    /// Makes the arguments name the unpacked file instead of the file that the record's command
    /// names. The unpacked file is removed with this value.
    pub(crate) fn replace_file(&self, args: &mut FileArgs, record: &Path) {
        debug_assert!(self.main_file.starts_with(self.folder.path()), "it is one of the files");
        args.unpacked = Some(UnpackedRecord {
            record: record.to_owned(),
            file: std::mem::replace(&mut args.file, self.main_file.clone()),
            folder: self.folder.path().to_owned(),
        });
    }
}

fn unpack_one(file: &InputFile, folder: &Path) -> Result<(), Complaint> {
    let path = Path::new(&file.path);
    // The record may come from an untrusted source: no name may lead out of the folder.
    if !file.is_inside() {
        let sentence = format!("`{}` lies outside of the folder of the workload", file.path);
        let help = "run the file itself: files elsewhere are not unpacked from a record";
        return Err(Complaint::new(sentence).help(help));
    }
    let to = folder.join(path);
    let made = to.parent().map_or(Ok(()), fs::create_dir_all);
    let written = made.and_then(|()| match &file.text {
        Some(text) => fs::write(&to, text).map(|()| FileOrigin::InRecord),
        None => copy_if_same(path, &to, &file.sha256),
    });
    match written {
        Ok(FileOrigin::InRecord | FileOrigin::InCurrentFolder) => Ok(()),
        Ok(FileOrigin::Different) => {
            let sentence = format!("`{}` here is not the file that was read", file.path);
            Err(Complaint::new(sentence).help(remedy(file)))
        }
        Ok(FileOrigin::Missing) => {
            Err(Complaint::new(reason_not_recorded(file)).help(remedy(file)))
        }
        Err(error) => Err(Complaint::new(format!("cannot unpack `{}`: {error}", file.path))
            .help("set TMPDIR to a folder with room that can be written")),
    }
}

/// The origin of an unpacked file, or the reason why a file was not copied.
enum FileOrigin {
    /// The record has its text.
    InRecord,
    /// A file that was copied from the current folder.
    InCurrentFolder,
    /// Not copied: the file of this name in the current folder has different content.
    Different,
    /// Not copied: the current folder has no file of this name.
    Missing,
}

/// Copies a file of the current folder, if it has this hash.
fn copy_if_same(from: &Path, to: &Path, sha256: &str) -> io::Result<FileOrigin> {
    match input_files::sha256(from) {
        Ok(hash) if hash == sha256 => fs::copy(from, to).map(|_| FileOrigin::InCurrentFolder),
        Ok(_) => Ok(FileOrigin::Different),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(FileOrigin::Missing),
        Err(error) => Err(error),
    }
}

fn reason_not_recorded(file: &InputFile) -> String {
    let (path, bytes) = (&file.path, file.bytes);
    match bytes > LONGEST_KEPT_TEXT {
        true => format!("the record does not keep `{path}`, which has {} bytes", grouped(bytes)),
        false => {
            format!("the record does not keep `{path}`: it has a password, or is not UTF-8 text")
        }
    }
}

fn remedy(file: &InputFile) -> String {
    format!("put the file with the SHA-256 {} into the current folder", file.sha256)
}
