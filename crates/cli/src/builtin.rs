//! The workload files that come with the program.
//!
//! [`ALL`] is their only list. A test checks that it holds every file of the folder `workloads/`.

/// A file that comes with the program.
pub(crate) struct Builtin {
    /// Name of the file in the folder `workloads/`.
    pub(crate) file: &'static str,
    /// The content of the file.
    pub(crate) text: &'static str,
}

/// The extension of workload files. All other files are inputs of a workload file.
const EXTENSION: &str = ".ini";

macro_rules! builtin {
    ($file:literal) => {
        Builtin { file: $file, text: include_str!(concat!("../../../workloads/", $file)) }
    };
}

/// The files in recommended reading order; inputs follow their workload.
pub(crate) const ALL: &[Builtin] = &[
    builtin!("hello.ini"),
    builtin!("open.ini"),
    builtin!("queue.ini"),
    builtin!("think.ini"),
    builtin!("timetable.ini"),
    builtin!("waves.ini"),
    builtin!("transfer.ini"),
    builtin!("mix.ini"),
    builtin!("session.ini"),
    builtin!("records.ini"),
    builtin!("records.csv"),
    builtin!("replay.ini"),
    builtin!("replay.log"),
    builtin!("values.ini"),
    builtin!("places.ini"),
    builtin!("conditions.ini"),
    builtin!("faults.ini"),
    builtin!("dialects.ini"),
    builtin!("results.ini"),
    builtin!("mixed.ini"),
    builtin!("mixed-dbbench.ini"),
    builtin!("mixed-mariadb.ini"),
    builtin!("shop.ini"),
    builtin!("accounts.ini"),
];

impl Builtin {
    /// Returns the name for the command line; a workload's name lacks its `.ini`.
    pub(crate) fn name(&self) -> &'static str {
        self.file.strip_suffix(EXTENSION).unwrap_or(self.file)
    }

    /// Returns a one-line summary: the first line of the file, if it is a comment, without its
    /// period. Inputs have none.
    pub(crate) fn summary(&self) -> Option<&'static str> {
        let comment = self.text.lines().next()?.strip_prefix("; ")?;
        Some(comment.strip_suffix('.').unwrap_or(comment))
    }
}

/// Finds a file by its name, with or without `.ini`.
pub(crate) fn find(name: &str) -> Option<&'static Builtin> {
    ALL.iter().find(|builtin| builtin.file == name || builtin.name() == name)
}

/// Returns the known name that is most similar to an unknown one.
pub(crate) fn nearest(name: &str) -> Option<&'static str> {
    let name = name.strip_suffix(EXTENSION).unwrap_or(name);
    base::closest(name, ALL.iter().map(Builtin::name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    /// Compares a list with the folder; returns a message for each file that only one of them has.
    fn differences(listed: &[&str], folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap();
        let present: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        let is_listed = |file: &&String| listed.contains(&file.as_str());
        let missing = present.iter().filter(|file| !is_listed(file));
        let missing = missing.map(|file| format!("write builtin!({file:?}) into the list"));
        let is_present = |file: &&&str| present.iter().any(|present| present == **file);
        let gone = listed.iter().filter(|file| !is_present(file));
        missing.chain(gone.map(|file| format!("there is no {file}"))).collect()
    }

    #[test]
    fn the_list_has_every_file_of_the_folder_once() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../workloads");
        let files: Vec<&str> = ALL.iter().map(|builtin| builtin.file).collect();
        assert_eq!(differences(&files, &folder), [""; 0]);
        let mut once = files.clone();
        once.sort_unstable();
        once.dedup();
        assert_eq!(once.len(), files.len());
        let wrong = [&files[1..], &["nothing.ini"]].concat();
        let complaints = ["write builtin!(\"hello.ini\") into the list", "there is no nothing.ini"];
        assert_eq!(differences(&wrong, &folder), complaints);
    }

    #[test]
    fn workload_idea_fits_one_line() {
        for builtin in ALL.iter().filter(|builtin| builtin.file.ends_with(EXTENSION)) {
            let summary = builtin.summary().unwrap_or_default();
            assert!((20..=100).contains(&summary.len()), "{}: `{summary}`", builtin.file);
        }
    }

    #[test]
    fn workload_is_found_with_and_without_its_extension() {
        for (name, file) in [("hello", "hello.ini"), ("hello.ini", "hello.ini")] {
            assert_eq!(find(name).map(|builtin| builtin.file), Some(file));
        }
        assert_eq!(find("records.csv").map(Builtin::name), Some("records.csv"));
        assert!(find("helo").is_none());
        assert_eq!((nearest("helo.ini"), nearest("something")), (Some("hello"), None));
    }
}
