//! Durable flushes per second of a disk, which limit the commits that wait for a flush.
//!
//! A flush is a write that continues where the previous write ended, followed by an `fdatasync`.
//! Databases write their logs in this way: most databases overwrite existing bytes of a file
//! ([`WritePattern::Rewrite`]), some append to a growing file ([`WritePattern::Append`]), whose new
//! length must be flushed as well.
//!
//! Invariant: the file has no name when it is written to, so it disappears with this process,
//! however the process ends.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use base::{Clock, Monotonic, Nanos};
use engine::Stop;
use observe::environment::{Root, read};
use record::environment::host;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, fdatasync, fstatvfs, openat, unlinkat};
use rustix::io::Errno;

/// Duration of the measurement of one pattern and size.
const MEASUREMENT_TIME: Nanos = Nanos::from_millis(1_000);

/// Divisor of [`MEASUREMENT_TIME`] in a quick calibration.
const QUICK_DIVISOR: u64 = 3;

/// Maximum number of bytes that one measurement writes, in a full and in a quick calibration.
/// Without this limit, a fast disk would write many gigabytes and delay all other programs that use
/// it.
const MAX_WRITTEN: u64 = 1 << 30;
const MAX_WRITTEN_IF_QUICK: u64 = 256 << 20;

/// Sizes of a flush, in bytes: a page of PostgreSQL, a page of InnoDB, and two larger commits.
const FLUSH_SIZES: [usize; 4] = [8 << 10, 16 << 10, 128 << 10, 1 << 20];

/// Length of the file that is rewritten, in bytes; the length of a log segment of PostgreSQL.
const REWRITTEN_BYTES: u64 = 16 << 20;

/// Length of an appended file at which the measurement ends, in bytes.
const MAX_APPENDED_BYTES: u64 = 64 << 20;

/// File systems that store files in memory, or on a different disk than a database would use.
const NOT_DURABLE: [&str; 3] = ["tmpfs", "ramfs", "overlay"];

/// The parameters of a measurement.
pub struct DiskOptions {
    /// The folder to measure; the file is created on the file system of this folder.
    pub folder: PathBuf,
    /// True if each measurement lasts only a third of the usual time.
    pub is_quick: bool,
    /// A request to stop early.
    pub stop: Stop,
}

/// The figures of a disk.
#[derive(Clone, Debug, PartialEq)]
pub struct DiskFigures {
    /// The absolute path of the folder.
    pub folder: PathBuf,
    /// The type of the folder's file system, or `unknown`.
    pub file_system: String,
    /// The device that holds the file system, or `unknown`.
    pub device: String,
    /// The medium of the device: `solid-state`, `rotating` or `unknown`.
    pub medium: String,
    /// Flushes by pattern and size; the first rewrites the smallest page in place.
    pub flushes: Vec<FlushFigures>,
}

impl DiskFigures {
    /// Returns true if the file system stores files in memory, or on a different disk than a
    /// database would use.
    pub fn is_misleading(&self) -> bool {
        NOT_DURABLE.contains(&self.file_system.as_str())
    }
}

/// The position of the writes in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WritePattern {
    /// Over bytes that were written before; the length of the file does not change.
    Rewrite,
    /// At the end of the file, which grows.
    Append,
}

impl WritePattern {
    /// Both patterns, in the order in which they are measured.
    pub const ALL: [WritePattern; 2] = [WritePattern::Rewrite, WritePattern::Append];

    /// Returns the name of the pattern in the JSON document.
    pub fn name(self) -> &'static str {
        match self {
            WritePattern::Rewrite => "rewrite",
            WritePattern::Append => "append",
        }
    }
}

/// The measurements of successive flushes of one pattern and size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlushFigures {
    /// The position of the writes in the file.
    pub pattern: WritePattern,
    /// Number of bytes of each flush.
    pub bytes: u64,
    /// Number of flushes.
    pub count: u64,
    /// Flushes per second.
    pub per_s: f64,
    /// Median time of a flush, including the write.
    pub p50: Nanos,
    /// p99 of the time of a flush.
    pub p99: Nanos,
    /// Longest time of a flush.
    pub max: Nanos,
}

/// A reason why a disk could not be measured.
#[derive(Debug)]
pub enum DiskProblem {
    /// The folder is missing, is not a folder, or may not be written to.
    Folder(PathBuf, io::Error),
    /// The file system has not enough space: free bytes, then needed bytes.
    NoSpace(PathBuf, u64, u64),
    /// A write or a flush failed.
    Write(PathBuf, io::Error),
    /// The user interrupted the measurement.
    Interrupted,
}

impl std::fmt::Display for DiskProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            DiskProblem::Folder(folder, error) => {
                write!(f, "cannot create a file in `{}`: {error}", folder.display())
            }
            DiskProblem::NoSpace(folder, free, needed) => {
                let (folder, free, needed) = (folder.display(), free >> 20, needed >> 20);
                write!(f, "`{folder}` has {free} MiB of free space; the measurement needs {needed}")
            }
            DiskProblem::Write(folder, error) => {
                write!(f, "cannot write to a file in `{}`: {error}", folder.display())
            }
            DiskProblem::Interrupted => {
                f.write_str("interrupted before the end of the measurement")
            }
        }
    }
}

impl std::error::Error for DiskProblem {}

/// Measures the disk of a folder, in about eight seconds, or in a third of that for a quick
/// calibration. Calls `on_step` with the name of each measurement before the measurement begins.
///
/// # Errors
/// The folder cannot hold the file, a flush fails, or the user interrupts.
pub fn calibrate_disk(
    options: &DiskOptions,
    on_step: &mut dyn FnMut(&str),
) -> Result<DiskFigures, DiskProblem> {
    let of_folder = |error| DiskProblem::Folder(options.folder.clone(), error);
    let folder = options.folder.canonicalize().map_err(of_folder)?;
    let disk = Disk { folder: &folder, options };
    disk.check_space()?;
    let mut flushes = Vec::new();
    for pattern in WritePattern::ALL {
        for bytes in FLUSH_SIZES {
            on_step(&format!("flushes of {} KiB, {}", bytes >> 10, pattern.name()));
            flushes.push(disk.flushes(pattern, bytes)?);
        }
    }
    let facts = read(&Root::system(), &folder);
    let fact = |name: &str| {
        let found = facts.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.clone()).unwrap_or_default()
    };
    Ok(DiskFigures {
        file_system: fact(host::STORAGE_FILE_SYSTEM),
        device: fact(host::STORAGE_DEVICE),
        medium: fact(host::STORAGE_MEDIUM),
        folder,
        flushes,
    })
}

/// The folder to measure, with the options.
struct Disk<'a> {
    folder: &'a Path,
    options: &'a DiskOptions,
}

impl Disk<'_> {
    fn check_space(&self) -> Result<(), DiskProblem> {
        let file = self.file()?;
        let space = fstatvfs(&file).map_err(|error| self.unwritable(error.into()))?;
        let free = space.f_bavail.saturating_mul(space.f_frsize);
        match free < MAX_APPENDED_BYTES {
            true => {
                Err(DiskProblem::NoSpace(self.options.folder.clone(), free, MAX_APPENDED_BYTES))
            }
            false => Ok(()),
        }
    }

    fn file(&self) -> Result<File, DiskProblem> {
        unnamed_file(self.folder)
            .map_err(|error| DiskProblem::Folder(self.options.folder.clone(), error))
    }

    fn unwritable(&self, error: io::Error) -> DiskProblem {
        DiskProblem::Write(self.options.folder.clone(), error)
    }

    /// Measures flushes of one pattern and size until a limit is reached: the time, the number of
    /// written bytes, or the length of an appended file.
    fn flushes(&self, pattern: WritePattern, bytes: usize) -> Result<FlushFigures, DiskProblem> {
        let file = self.file()?;
        if pattern == WritePattern::Rewrite {
            self.fill(&file)?;
        }
        let block = vec![0x5a; bytes];
        let (lasts, most) = match self.options.is_quick {
            true => (Nanos(MEASUREMENT_TIME.0 / QUICK_DIVISOR), MAX_WRITTEN_IF_QUICK),
            false => (MEASUREMENT_TIME, MAX_WRITTEN),
        };
        let mut times = Vec::new();
        let begun = Monotonic.now();
        let mut offset = 0;
        loop {
            if self.options.stop.is_requested() {
                return Err(DiskProblem::Interrupted);
            }
            let before = Monotonic.now();
            self.flush(&file, &block, offset)?;
            let after = Monotonic.now();
            times.push(after.since(before));
            offset += bytes as u64;
            if pattern == WritePattern::Rewrite {
                offset %= REWRITTEN_BYTES;
            }
            let written = times.len() as u64 * bytes as u64;
            if after.since(begun) >= lasts || written >= most || offset >= MAX_APPENDED_BYTES {
                return Ok(figures(pattern, bytes, times, after.since(begun)));
            }
        }
    }

    /// Fills the file for [`WritePattern::Rewrite`], with a flush after each MiB.
    fn fill(&self, file: &File) -> Result<(), DiskProblem> {
        let block = vec![0xa5; 1 << 20];
        for offset in (0..REWRITTEN_BYTES).step_by(block.len()) {
            self.flush(file, &block, offset)?;
        }
        Ok(())
    }

    fn flush(&self, file: &File, block: &[u8], offset: u64) -> Result<(), DiskProblem> {
        file.write_all_at(block, offset).map_err(|error| self.unwritable(error))?;
        fdatasync(file).map_err(|error| self.unwritable(error.into()))
    }
}

/// Creates a file without a name. If the file system or the kernel does not support this, creates a
/// file with a name and unlinks it at once.
fn unnamed_file(folder: &Path) -> io::Result<File> {
    let mode = Mode::RUSR | Mode::WUSR;
    let flags = OFlags::RDWR | OFlags::CLOEXEC;
    match openat(CWD, folder, flags | OFlags::TMPFILE, mode) {
        // By open(2), the file system (EOPNOTSUPP) or the kernel (EISDIR) does not support
        // `O_TMPFILE`.
        Err(Errno::OPNOTSUPP | Errno::ISDIR) => {}
        opened => return Ok(File::from(opened?)),
    }
    let path = folder.join(format!(".assay-disk-{}", std::process::id()));
    let file = openat(CWD, &path, flags | OFlags::CREATE | OFlags::EXCL, mode)?;
    unlinkat(CWD, &path, AtFlags::empty())?;
    Ok(File::from(file))
}

fn figures(
    pattern: WritePattern,
    bytes: usize,
    mut times: Vec<Nanos>,
    lasted: Nanos,
) -> FlushFigures {
    times.sort_unstable();
    // The nearest-rank quantile, which is always one of the measured times.
    let quantile = |q: f64| {
        let rank = (times.len() as f64 * q).ceil() as usize;
        times[rank.clamp(1, times.len()) - 1]
    };
    FlushFigures {
        pattern,
        bytes: bytes as u64,
        count: times.len() as u64,
        per_s: times.len() as f64 * 1e9 / lasted.0.max(1) as f64,
        p50: quantile(0.5),
        p99: quantile(0.99),
        max: quantile(1.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use guardian::TemporaryFolder;

    fn options(folder: &Path) -> DiskOptions {
        DiskOptions { folder: folder.to_owned(), is_quick: true, stop: Stop::default() }
    }

    fn folder() -> TemporaryFolder {
        TemporaryFolder::new(&std::env::temp_dir(), "assay-disk-test").unwrap()
    }

    fn names(folder: &Path) -> usize {
        std::fs::read_dir(folder).unwrap().count()
    }

    #[test]
    fn flushes_of_each_pattern_and_size_are_measured() {
        let folder = folder();
        let mut reported = Vec::new();
        let mut on_step = |what: &str| {
            reported.push(what.to_owned());
            assert_eq!(names(folder.path()), 0, "the file has a name: {what}");
        };
        let figures = calibrate_disk(&options(folder.path()), &mut on_step).unwrap();
        assert_eq!(reported.len(), 8);
        let most = MAX_WRITTEN_IF_QUICK;
        assert!(figures.flushes.iter().all(|it| it.count * it.bytes <= most), "{figures:?}");
        assert_eq!(reported[0], "flushes of 8 KiB, rewrite");
        assert_eq!(figures.flushes.len(), 8);
        for flushes in &figures.flushes {
            assert!(flushes.count > 0 && flushes.per_s > 0.0, "{flushes:?}");
            assert!(Nanos::ZERO < flushes.p50 && flushes.p50 <= flushes.p99, "{flushes:?}");
            assert!(flushes.p99 <= flushes.max, "{flushes:?}");
            let grown = flushes.count * flushes.bytes;
            assert!(
                flushes.pattern == WritePattern::Rewrite || grown <= MAX_APPENDED_BYTES,
                "{flushes:?}"
            );
        }
        assert_ne!((figures.file_system.as_str(), figures.device.as_str()), ("", ""));
        assert_eq!(names(folder.path()), 0);
    }

    #[test]
    fn interrupted_measurement_has_no_figures() {
        let folder = folder();
        let options = options(folder.path());
        options.stop.interrupt();
        let ended = calibrate_disk(&options, &mut |_| {});
        assert!(matches!(ended, Err(DiskProblem::Interrupted)), "{ended:?}");
    }

    #[test]
    fn missing_folder_is_refused() {
        for path in ["/no/such/folder", "/proc/self/status", "/proc"] {
            let ended = calibrate_disk(&options(Path::new(path)), &mut |_| {});
            assert!(matches!(ended, Err(DiskProblem::Folder(..))), "{path}: {ended:?}");
        }
    }

    #[test]
    fn quantiles_are_times_that_occurred() {
        let times = (1..=200).rev().map(Nanos).collect();
        let figures = figures(WritePattern::Append, 8, times, Nanos::from_millis(100));
        assert_eq!((figures.p50, figures.p99, figures.max), (Nanos(100), Nanos(198), Nanos(200)));
        assert!((figures.per_s - 2_000.0).abs() < 1e-6, "{figures:?}");
        let one = super::figures(WritePattern::Append, 8, vec![Nanos(7)], Nanos(7));
        assert_eq!((one.p50, one.p99, one.max), (Nanos(7), Nanos(7), Nanos(7)));
    }

    #[test]
    fn file_systems_without_a_disk_are_misleading() {
        let figures = |file_system: &str| DiskFigures {
            folder: PathBuf::from("/x"),
            file_system: file_system.to_owned(),
            device: String::new(),
            medium: String::new(),
            flushes: Vec::new(),
        };
        assert!(figures("tmpfs").is_misleading() && figures("overlay").is_misleading());
        assert!(!figures("ext4").is_misleading() && !figures("unknown").is_misleading());
    }
}
