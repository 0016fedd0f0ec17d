//! Storage of the record: its file system, and the device that holds the file system.
//!
//! The device matters if the database uses it too, because writing the record then adds to the
//! measured disk activity.

use std::path::{Path, PathBuf};

use base::without_passwords;
use record::environment::host;

use super::fact::Fact;
use super::memory::bracketed_word;
use super::root::Root;

pub(super) fn facts(root: &Root, folder: &Path) -> [Fact; 5] {
    let text = root.text("proc/self/mountinfo").unwrap_or_default();
    let mount = mount_of(&text, folder);
    let of = |part: fn(&Mount) -> String| mount.as_ref().map(part);
    let queue =
        |name: &str| mount.as_ref().and_then(|mount| queue_attribute(root, &mount.number, name));
    [
        (host::STORAGE_FILE_SYSTEM, of(|mount| mount.file_system.clone())),
        // A FUSE file system may show an address with a password as its device.
        (host::STORAGE_DEVICE, of(|mount| without_passwords(&mount.device))),
        (host::STORAGE_OPTIONS, of(|mount| mount.options.clone())),
        (host::STORAGE_MEDIUM, queue("rotational").as_deref().and_then(medium)),
        (host::STORAGE_SCHEDULER, queue("scheduler").as_deref().and_then(bracketed_word)),
    ]
}

/// A line of `/proc/self/mountinfo`, as described in `proc_pid_mountinfo(5)`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Mount {
    path: PathBuf,
    /// Device number as `major:minor`.
    number: String,
    options: String,
    file_system: String,
    device: String,
}

/// Returns the mount that contains a folder, which is the one with the longest matching path. If
/// several mounts have the same path, the last one hides the others.
fn mount_of(text: &str, folder: &Path) -> Option<Mount> {
    let holding =
        text.lines().filter_map(parse_mount).filter(|mount| folder.starts_with(&mount.path));
    holding.max_by_key(|mount| mount.path.components().count())
}

fn parse_mount(line: &str) -> Option<Mount> {
    let (first, second) = line.split_once(" - ")?;
    let first: Vec<&str> = first.split(' ').collect();
    let mut second = second.split(' ');
    let [_, _, number, _, at, options, ..] = first.as_slice() else { return None };
    Some(Mount {
        path: PathBuf::from(unescape(at)),
        number: (*number).to_owned(),
        options: (*options).to_owned(),
        file_system: second.next()?.to_owned(),
        device: unescape(second.next()?),
    })
}

/// Replaces the escape sequences of spaces and similar characters: a backslash and three octal
/// digits.
fn unescape(text: &str) -> String {
    let escapes = [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")];
    escapes.iter().fold(text.to_owned(), |text, (escape, plain)| text.replace(escape, plain))
}

/// Reads an attribute of a block device's queue. A partition uses the queue of its disk, whose
/// folder is the parent of the partition's folder.
fn queue_attribute(root: &Root, number: &str, name: &str) -> Option<String> {
    let (major, minor) = number.split_once(':')?;
    let (major, minor): (u32, u32) = (major.parse().ok()?, minor.parse().ok()?);
    let folder = format!("sys/dev/block/{major}:{minor}");
    ["queue", "../queue"].iter().find_map(|queue| root.line(&format!("{folder}/{queue}/{name}")))
}

fn medium(rotational: &str) -> Option<String> {
    let word = match rotational {
        "0" => "solid-state",
        "1" => "rotating",
        _ => return None,
    };
    Some(word.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::tests::TestRoot;

    const MOUNTS: &str = "\
        22 27 0:21 / /proc rw,relatime - proc proc rw\n\
        27 1 254:0 / / rw,noatime shared:1 master:2 - ext4 /dev/vda rw,discard\n\
        28 27 0:44 / /home rw,relatime - tmpfs covered rw\n\
        29 27 8:17 / /home rw,nodev - xfs /dev/sdb1 rw\n\
        30 27 0:50 / /my\\040disk rw - fuse https://ann:secret@example.org/x rw\n";

    fn check(folder: &str, expected: [Option<&str>; 5]) {
        let planted = TestRoot::new()
            .with("proc/self/mountinfo", MOUNTS)
            .with("sys/dev/block/254:0/queue/rotational", "0\n")
            .with("sys/dev/block/254:0/queue/scheduler", "none [mq-deadline] kyber\n")
            .with("sys/dev/block/8:17/partition", "1\n")
            .with("sys/dev/block/queue/rotational", "1\n");
        let found = facts(&planted.root, Path::new(folder)).map(|(_, value)| value);
        assert_eq!(found, expected.map(|value| value.map(str::to_owned)), "{folder}");
    }

    #[test]
    fn the_deepest_mount_that_is_not_covered_counts() {
        let root = [Some("ext4"), Some("/dev/vda"), Some("rw,noatime"), Some("solid-state")];
        let [a, b, c, d] = root;
        check("/var/tmp", [a, b, c, d, Some("mq-deadline")]);
        check("/homes", [a, b, c, d, Some("mq-deadline")]);
        let home = [Some("xfs"), Some("/dev/sdb1"), Some("rw,nodev"), Some("rotating"), None];
        check("/home/ann", home);
    }

    #[test]
    fn mount_password_is_not_recorded() {
        let device = Some("https://ann:******@example.org/x");
        check("/my disk/a", [Some("fuse"), device, Some("rw"), None, None]);
    }

    #[test]
    fn missing_folder_has_unknown_storage() {
        check("relative", [None; 5]);
        for line in ["", " - ", "1 2 3:4 / / rw", "1 2 3:4 / / rw - ext4", "1 - ext4 /dev/vda"] {
            assert_eq!(parse_mount(line), None, "{line}");
        }
    }
}
