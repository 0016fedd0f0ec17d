//! The workload files that come with the program: which are there, and which one was meant?
//!
//! [`ALL`] is the one list of them. It holds every file of the folder `workloads/`, as a test makes
//! sure of.

/// A file that comes with the program.
pub(crate) struct Builtin {
    /// Its name in the folder `workloads/`.
    pub(crate) file: &'static str,
    /// What is in it.
    pub(crate) text: &'static str,
}

/// What the names of workload files end with. All other files are read by one of these.
const EXTENSION: &str = ".ini";

macro_rules! builtin {
    ($file:literal) => {
        Builtin { file: $file, text: include_str!(concat!("../../../workloads/", $file)) }
    };
}

/// In the order in which they are best read; what a workload reads stands behind it.
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
    /// The name that the user calls it by: that of a workload needs no `.ini`.
    pub(crate) fn name(&self) -> &'static str {
        self.file.strip_suffix(EXTENSION).unwrap_or(self.file)
    }

    /// What it is about: the first sentence of its comment. A file that another one reads has none.
    pub(crate) fn idea(&self) -> Option<&'static str> {
        let comment = self.text.lines().next()?.strip_prefix("; ")?;
        Some(comment.strip_suffix('.').unwrap_or(comment))
    }
}

/// The file with this name, with or without `.ini`.
pub(crate) fn find(name: &str) -> Option<&'static Builtin> {
    ALL.iter().find(|builtin| builtin.file == name || builtin.name() == name)
}

/// The name that was probably meant by one that there is not.
pub(crate) fn nearest(name: &str) -> Option<&'static str> {
    let name = name.strip_suffix(EXTENSION).unwrap_or(name);
    base::closest(name, ALL.iter().map(Builtin::name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    /// The names of the files in the folder that are not in a list, and the other way round.
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
    fn a_workload_has_an_idea_that_fits_into_a_line() {
        for builtin in ALL.iter().filter(|builtin| builtin.file.ends_with(EXTENSION)) {
            let idea = builtin.idea().unwrap_or_default();
            assert!((20..=100).contains(&idea.len()), "{}: `{idea}`", builtin.file);
        }
    }

    #[test]
    fn a_name_is_found_with_and_without_its_ending() {
        for (name, file) in [("hello", "hello.ini"), ("hello.ini", "hello.ini")] {
            assert_eq!(find(name).map(|builtin| builtin.file), Some(file));
        }
        assert_eq!(find("records.csv").map(Builtin::name), Some("records.csv"));
        assert!(find("helo").is_none());
        assert_eq!((nearest("helo.ini"), nearest("something")), (Some("hello"), None));
    }
}
