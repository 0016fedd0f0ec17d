//! The files that are read for a run or an experiment, for its record.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use base::{Endpoint, Secrets, Target};
use record::{InputFile, LONGEST_KEPT_TEXT};
use sha2::{Digest, Sha256};
use workload::Plan;

use crate::complain::Complaint;
use crate::experiment_file::ExperimentFile;
use crate::workload_file::WorkloadFile;
use crate::workload_folder::folder_of;

/// The number of bytes that are read at once.
const CHUNK_SIZE: usize = 1 << 16;

/// Reads the files of a workload: the file itself, those that were read with it, and the inputs of
/// its jobs.
///
/// # Errors
/// A file can no longer be read.
pub(crate) fn of_workload(file: &WorkloadFile) -> Result<Vec<InputFile>, Complaint> {
    let reader = InputReader::new(&file.path, [&file.plan]);
    reader.read([reader.workload_files(&file.path, &file.parts), inputs(file)].concat())
}

/// Reads the files of an experiment: the file itself, and the files of every arm's workload.
///
/// # Errors
/// A file can no longer be read.
pub(crate) fn of_experiment(file: &ExperimentFile) -> Result<Vec<InputFile>, Complaint> {
    let plans = file.experiment.arm_points().iter().map(|arm| &arm.plan);
    let reader = InputReader::new(&file.path, plans.clone());
    let mut named = reader.workload_files(&file.path, &file.parts);
    named.extend(plans.flat_map(|plan| inputs(&file.workload_of(plan.clone()))));
    reader.read(named)
}

/// A file to be read.
#[derive(Clone, Debug, PartialEq, Eq)]
struct FileToRead {
    path: PathBuf,
    /// True if the text of the file is never recorded.
    is_secret: bool,
}

/// Returns the inputs of the jobs of a workload.
fn inputs(file: &WorkloadFile) -> Vec<FileToRead> {
    let feeds = file.plan.jobs_and_parts().filter_map(|job| job.requests().feed.as_ref());
    let named =
        feeds.map(|feed| FileToRead { path: file.files.input(&feed.file), is_secret: false });
    named.collect()
}

/// A reader of the files of one run or experiment.
struct InputReader {
    /// The folder of the workload file or experiment file, to which recorded paths are relative.
    folder: PathBuf,
    /// Values that no recorded text may contain.
    secrets: Vec<Secrets>,
    /// True if a plan has a secret, or a URL with a password. A value that the command line
    /// replaces is in no plan, and does not count here even if it is in the files.
    has_password: bool,
}

impl InputReader {
    fn new<'p>(first: &Path, plans: impl IntoIterator<Item = &'p Plan>) -> InputReader {
        let plans: Vec<&Plan> = plans.into_iter().collect();
        InputReader {
            folder: folder_of(first),
            secrets: plans.iter().map(|plan| plan.secrets()).collect(),
            has_password: plans
                .iter()
                .any(|plan| !plan.secrets().is_empty() || targets(plan).any(has_password)),
        }
    }

    /// Returns the file of a workload and the files that were read with it.
    fn workload_files(&self, first: &Path, parts: &[PathBuf]) -> Vec<FileToRead> {
        let all = std::iter::once(first).chain(parts.iter().map(PathBuf::as_path));
        let is_secret = self.has_password;
        all.map(|path| FileToRead { path: path.to_owned(), is_secret }).collect()
    }

    /// Reads every file once. Pipes, which cannot be read again, and files that no longer exist are
    /// left out.
    fn read(&self, mut named: Vec<FileToRead>) -> Result<Vec<InputFile>, Complaint> {
        named.sort_by(|one, other| one.path.cmp(&other.path));
        named.dedup_by(|one, other| one.path == other.path);
        let regular = named
            .iter()
            .filter(|one| fs::metadata(&one.path).is_ok_and(|metadata| metadata.is_file()));
        let file = |one: &FileToRead| {
            self.read_one(one).map_err(|error| {
                Complaint::new(format!("cannot read `{}`: {error}", one.path.display()))
                    .help("leave the files of a workload alone until its run has begun")
            })
        };
        regular.map(file).collect()
    }

    fn read_one(&self, named: &FileToRead) -> io::Result<InputFile> {
        let Content { bytes, sha256, beginning } = Content::read(&named.path)?;
        let is_kept = bytes <= LONGEST_KEPT_TEXT && !named.is_secret;
        let text =
            is_kept.then_some(beginning).and_then(|beginning| String::from_utf8(beginning).ok());
        let path = named.path.strip_prefix(&self.folder).unwrap_or(&named.path);
        Ok(InputFile {
            path: path.display().to_string(),
            bytes,
            sha256,
            text: text.filter(|text| !self.has_secret(text)),
        })
    }

    /// Returns true if a text has a secret of the plans, or a password in a URL. The second test is
    /// needed because a URL that the command line replaces is in no plan, so its password is not
    /// among their secrets.
    fn has_secret(&self, text: &str) -> bool {
        let is_secret = |secrets: &Secrets| secrets.hide(text) != text;
        self.secrets.iter().any(is_secret) || has_url_with_password(text)
    }
}

/// Returns the SHA-256 of a file, in hexadecimal.
///
/// # Errors
/// The file cannot be read.
pub(crate) fn sha256(path: &Path) -> io::Result<String> {
    Content::read(path).map(|content| content.sha256)
}

/// The content of a file.
struct Content {
    /// Size of the file, in bytes.
    bytes: u64,
    /// SHA-256 of the file, in hexadecimal.
    sha256: String,
    /// Beginning of the file, at most [`LONGEST_KEPT_TEXT`] bytes; the whole file if the file is
    /// not longer.
    beginning: Vec<u8>,
}

impl Content {
    fn read(path: &Path) -> io::Result<Content> {
        let mut file = File::open(path)?;
        let (mut hash, mut bytes, mut beginning) = (Sha256::new(), 0, Vec::new());
        let mut piece = vec![0; CHUNK_SIZE];
        loop {
            let read = match file.read(&mut piece) {
                Ok(0) => break,
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            hash.update(&piece[..read]);
            bytes += read as u64;
            if bytes <= LONGEST_KEPT_TEXT {
                beginning.extend_from_slice(&piece[..read]);
            }
        }
        let sha256 = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Content { bytes, sha256, beginning })
    }
}

/// Returns the targets of a plan.
fn targets(plan: &Plan) -> impl Iterator<Item = &Target> {
    plan.target.iter().chain(plan.targets.iter().map(|named| &named.target))
}

/// Returns true if a text has a URL with a password: `://USER:PASSWORD@`.
fn has_url_with_password(text: &str) -> bool {
    let login = |rest: &str| {
        let url = rest.split(char::is_whitespace).next().unwrap_or_default();
        url.rsplit_once('@').is_some_and(|(login, _)| login.contains(':'))
    };
    text.split("://").skip(1).any(login)
}

fn has_password(target: &Target) -> bool {
    matches!(&target.endpoint, Endpoint::Network { password: Some(_), .. })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reader(url: &str, folder: &Path) -> InputReader {
        let text = format!("url = {url}\n[a]\nquery = select 1\n");
        let (plan, _) = workload::plan(&text, &workload::Overrides::default());
        InputReader::new(&folder.join("a.ini"), [&plan.unwrap()])
    }

    #[test]
    fn file_is_recorded_with_its_hash_and_its_text_if_short() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::create_dir(path("in")).unwrap();
        fs::write(path("a.ini"), "abc").unwrap();
        fs::write(path("in/long.csv"), vec![b'1'; 1_000_001]).unwrap();
        fs::write(path("in/binary.csv"), [0xff]).unwrap();
        let reader = reader("sqlite:", folder.path());
        let parts = ["in/long.csv", "in/binary.csv", "in/long.csv", "gone"].map(path);
        let files = reader.read(reader.workload_files(&path("a.ini"), &parts)).unwrap();
        let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(paths, ["a.ini", "in/binary.csv", "in/long.csv"]);
        // FIPS 180-2, appendix B.1.
        let known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!((files[0].sha256.as_str(), files[0].bytes), (known, 3));
        let texts: Vec<Option<&str>> = files.iter().map(|file| file.text.as_deref()).collect();
        assert_eq!(texts, [Some("abc"), None, None]);
        assert_eq!(files[2].bytes, 1_000_001);
    }

    #[test]
    fn text_of_a_workload_file_is_not_recorded_if_a_url_has_a_password() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.ini");
        fs::write(&path, "url = ${url}").unwrap();
        for (url, is_kept) in [("postgres://ann@h/d", true), ("postgres://ann:hunter2@h/d", false)]
        {
            let reader = reader(url, folder.path());
            let files = reader.read(reader.workload_files(&path, &[])).unwrap();
            assert_eq!(files[0].text.is_some(), is_kept, "{url}");
        }
    }

    #[test]
    fn text_with_the_password_of_a_replaced_url_is_not_recorded() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.ini");
        let reader = reader("sim:mm1", folder.path());
        for (url, is_kept) in [
            ("postgres://ann@h:5432/d", true),
            ("postgres://ann:hunter2@h/d", false),
            ("postgres://ann:${pw}@h/d", false),
            ("postgres://ann:a/b?c@h/d # text", false),
            ("sim:mm1", true),
        ] {
            fs::write(&path, format!("url = {url}\n[a]\nquery = select 1\n")).unwrap();
            let files = reader.read(reader.workload_files(&path, &[])).unwrap();
            assert_eq!(files[0].text.is_some(), is_kept, "{url}");
        }
    }
}
