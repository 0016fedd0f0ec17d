//! Would a results file take the place of something that is needed?
//!
//! A results file is emptied before the run. Under another name, or through a link, it may be a
//! database, a file that requests are made of, the workload itself, or another output of the run.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use base::{Diagnostic, Endpoint, Target};
use workload::{Job, Plan};

/// A file that is not to be overwritten, and what it is in words.
struct Precious {
    path: PathBuf,
    what: String,
}

/// Complains about the first results file that is a precious one too: what the plan reads and asks,
/// the workload file, and `more`, each with what it is in words.
///
/// # Errors
/// Two keys or options name one file.
pub(crate) fn apart(
    plan: &Plan,
    folder: &Path,
    workload: &Path,
    more: &[(&Path, &str)],
) -> Result<(), Diagnostic> {
    let mut precious = precious(plan, folder);
    precious.push(Precious { path: workload.to_owned(), what: "the workload file".to_owned() });
    for (path, what) in more {
        precious.push(Precious { path: (*path).to_owned(), what: (*what).to_owned() });
    }
    for job in &plan.jobs {
        let Some(results) = &job.results else { continue };
        let path = folder.join(results);
        if let Some(other) = precious.iter().find(|other| is_same(&path, &other.path)) {
            return Err(collision(job, results, &other.what));
        }
        let what = format!("the results file of [{}]", job.section());
        precious.push(Precious { path, what });
    }
    Ok(())
}

/// What a plan reads, and the databases that it asks.
fn precious(plan: &Plan, folder: &Path) -> Vec<Precious> {
    let feeds = plan.jobs.iter().filter_map(|job| {
        let path = folder.join(&job.feed.as_ref()?.file);
        Some(Precious { path, what: format!("the file that [{}] reads", job.section()) })
    });
    let named = plan.targets.iter().map(|named| &named.target);
    let databases = plan.target.iter().chain(named).filter_map(database);
    feeds.chain(databases).collect()
}

/// The file of a database inside this process.
fn database(target: &Target) -> Option<Precious> {
    match &target.endpoint {
        Endpoint::File(path) => {
            Some(Precious { path: path.clone(), what: "the database of the run".to_owned() })
        }
        _ => None,
    }
}

fn collision(job: &Job, results: &str, what: &str) -> Diagnostic {
    let section = job.section();
    let message = format!("the results file `{results}` of [{section}] is {what}, and is emptied");
    Diagnostic::error(job.span, message).help("give the results a file of their own")
}

/// Whether two paths lead to one file. One that is not there yet is known by its folder.
fn is_same(one: &Path, other: &Path) -> bool {
    match (std::fs::metadata(one), std::fs::metadata(other)) {
        // A pipe or a device may have several ends.
        (Ok(one), Ok(other)) => one.is_file() && is_same_file(&one, &other),
        (Err(_), Err(_)) => {
            place(one).is_some_and(|place_of_one| Some(place_of_one) == place(other))
        }
        (Ok(_), Err(_)) | (Err(_), Ok(_)) => false,
    }
}

fn is_same_file(one: &Metadata, other: &Metadata) -> bool {
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

/// Where a file would be made.
fn place(path: &Path) -> Option<PathBuf> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new(".")).canonicalize().ok()?;
    Some(folder.join(path.file_name()?))
}
