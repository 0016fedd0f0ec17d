//! Sizes of the database and its tables, read once when the run has ended.
//!
//! The logical size is the size that the server reports: `pg_total_relation_size` on PostgreSQL,
//! `FILE_SIZE` of the tablespace on MySQL and MariaDB (`DATA_LENGTH` is an estimate that is empty
//! after a load), the length of the file on SQLite.
//!
//! The allocated size is the size of the blocks that the server's files occupy, if the files are
//! visible from here. Otherwise it is `ALLOCATED_SIZE` on MySQL and MariaDB. On PostgreSQL, which
//! does not report an allocated size, it is then the logical size. Files are taken for the server's
//! files only if their lengths agree with the reported ones, because the folder of a server on
//! another machine may also exist on this one.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use base::with_suffix;
use driver::{Connection, Table};
use record::ComponentKind;
use record::metric::storage;

use super::session::{QueryFailure, SampledSession};
use super::text::text;
use crate::sample::Sample;

/// Size of the blocks that `stat` counts, in bytes (stat(2)).
const BLOCK_BYTES: u64 = 512;

/// Maximum number of segments of a PostgreSQL file. The largest possible table, of 32 TiB, has
/// fewer.
const MOST_SEGMENTS: u32 = 100_000;

/// Query for the size of the database, and for the twenty largest tables and their files: those of
/// the table itself, of its indexes and of its out-of-line values.
const POSTGRES_SIZES_QUERY: &str = "select name, pg_total_relation_size(oid), \
    (select string_agg(pg_relation_filepath(part.oid), ' ') from pg_class part \
        where part.oid = any (own) or part.oid in \
            (select indexrelid from pg_index where indrelid = any (own))) \
    from (select c.oid, array[c.oid, c.reltoastrelid] as own, \
            case when n.nspname = 'public' then c.relname \
                else n.nspname || '.' || c.relname end as name \
        from pg_class c join pg_namespace n on n.oid = c.relnamespace \
        where c.relkind in ('r', 'm') and n.nspname !~ '^pg_' \
            and n.nspname <> 'information_schema' \
        order by pg_relation_size(c.oid) desc, name limit 20) largest \
    union all select '', pg_database_size(oid), 'base/' || oid \
    from pg_database where datname = current_database()";

/// Query for the data folder, which only administrators may read.
const POSTGRES_FOLDER_QUERY: &str = "select current_setting('data_directory')";

/// Returns the query for the size of the database, and for the twenty largest tables with their
/// tablespaces, of MySQL or MariaDB. Each partition of a table has a tablespace of its own, which
/// counts for the database only. MariaDB writes the names of tablespaces as those of files: the
/// tablespaces of the database `a-b` begin with `a@002db/`.
fn mysql_sizes_query(is_mariadb: bool) -> String {
    let (tablespaces, database) = match is_mariadb {
        true => ("innodb_sys_tablespaces", "convert(database() using filename)"),
        false => ("innodb_tablespaces", "database()"),
    };
    format!(
        "select '', sum(file_size), sum(allocated_size), null \
         from information_schema.{tablespaces} \
         where substring_index(name, '/', 1) = cast({database} as binary) \
         union all (select t.table_name, s.file_size, s.allocated_size, \
            concat(@@datadir, s.name, '.ibd') \
         from information_schema.tables t join information_schema.{tablespaces} s \
            on s.name = concat(t.table_schema, '/', t.table_name) \
         where t.table_schema = database() and t.table_type = 'BASE TABLE' \
         order by s.file_size desc, t.table_name limit 20)"
    )
}

/// Space that files take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Extent {
    /// Sum of the lengths of the files, in bytes.
    length: u64,
    /// Size of the blocks that the files occupy, in bytes. It is smaller than `length` if a file
    /// has holes.
    allocated: u64,
}

impl Extent {
    /// Adds a file; `None` if the file is not visible.
    fn add(&mut self, file: &Path) -> Option<()> {
        let metadata = fs::metadata(file).ok().filter(fs::Metadata::is_file)?;
        self.length += metadata.len();
        self.allocated += metadata.blocks() * BLOCK_BYTES;
        Some(())
    }

    /// Returns the allocated bytes if the total length of the files is within 12.5 % of the length
    /// that the server reports; otherwise `None`. The two may differ because the server keeps
    /// writing.
    fn allocated_if_length_matches(self, reported_length: u64) -> Option<u64> {
        (self.length.abs_diff(reported_length) <= reported_length / 8).then_some(self.allocated)
    }
}

/// Returns the extent of a file of PostgreSQL with its segments, and its maps of free space and
/// visibility ("Database File Layout" in the manual). `None` if the file is not visible.
fn relation_extent(base: &Path) -> Option<Extent> {
    let mut extent = Extent::default();
    extent.add(base)?;
    for segment in 1..MOST_SEGMENTS {
        if extent.add(&with_suffix(base, &format!(".{segment}"))).is_none() {
            break;
        }
    }
    for fork in ["_fsm", "_vm", "_init"] {
        // Small tables do not have these maps.
        let _ = extent.add(&with_suffix(base, fork));
    }
    Some(extent)
}

/// Returns the extent of the files in a folder, without those in subfolders; `None` if the folder
/// cannot be read.
fn folder_extent(path: &Path) -> Option<Extent> {
    let mut extent = Extent::default();
    for entry in fs::read_dir(path).ok()? {
        // A file may be removed while the folder is read.
        let _ = extent.add(&entry.ok()?.path());
    }
    Some(extent)
}

/// Reads the sizes of a PostgreSQL database.
pub(super) async fn read_postgres<C: Connection>(
    session: &mut SampledSession<C>,
    sample: &mut Sample,
) -> Result<(), QueryFailure> {
    let Some(tables) = session.query_unless_refused(POSTGRES_SIZES_QUERY).await? else {
        return Ok(());
    };
    let root = session.query_unless_refused(POSTGRES_FOLDER_QUERY).await?;
    let root = root.as_ref().and_then(Table::single).map(PathBuf::from);
    for row in &tables.rows {
        let (name, files) = (text(row, 0), text(row, 2));
        let Some(logical) = parse_bytes(text(row, 1)) else { continue };
        let extent = root.as_deref().and_then(|root| match name {
            "" => folder_extent(&root.join(files)),
            _ => files.split(' ').map(|file| relation_extent(&root.join(file))).sum(),
        });
        let allocated = extent
            .and_then(|extent| extent.allocated_if_length_matches(logical))
            .unwrap_or(logical);
        report_sizes(sample, name, logical, allocated);
    }
    Ok(())
}

/// Reads the sizes of a database of MySQL or MariaDB.
pub(super) async fn read_mysql<C: Connection>(
    session: &mut SampledSession<C>,
    is_mariadb: bool,
    sample: &mut Sample,
) -> Result<(), QueryFailure> {
    let Some(tables) = session.query_unless_refused(&mysql_sizes_query(is_mariadb)).await? else {
        return Ok(());
    };
    for row in &tables.rows {
        let [logical, reported_allocated] = [1, 2].map(|column| parse_bytes(text(row, column)));
        let Some(logical) = logical else { continue };
        let mut file = Extent::default();
        let measured = file
            .add(Path::new(text(row, 3)))
            .and_then(|()| file.allocated_if_length_matches(logical));
        let allocated = measured.or(reported_allocated).unwrap_or(logical);
        report_sizes(sample, text(row, 0), logical, allocated);
    }
    Ok(())
}

/// Reports the sizes of an SQLite database: the length of its file, and the disk space of this file
/// and of the files that SQLite keeps next to it.
pub(super) fn report_sqlite(file: &Path, sample: &mut Sample) {
    let mut extent = Extent::default();
    if extent.add(file).is_none() {
        return;
    }
    let logical = extent.length;
    for suffix in ["-wal", "-journal"] {
        // At most one of these files exists at a time.
        let _ = extent.add(&with_suffix(file, suffix));
    }
    report_sizes(sample, "", logical, extent.allocated);
}

/// Reports the sizes of a table, or of the whole database if `table` is empty.
fn report_sizes(sample: &mut Sample, table: &str, logical: u64, allocated: u64) {
    let kind = match table {
        "" => ComponentKind::Storage,
        table => ComponentKind::Table(table.to_owned()),
    };
    sample.read(&kind, storage::LOGICAL, logical as f64);
    sample.read(&kind, storage::ALLOCATED, allocated as f64);
}

/// Parses a number of bytes, which SQL may return as a decimal number.
fn parse_bytes(text: &str) -> Option<u64> {
    text.split('.').next()?.parse().ok()
}

impl std::iter::Sum for Extent {
    fn sum<I: Iterator<Item = Extent>>(all: I) -> Extent {
        all.fold(Extent::default(), |one, other| Extent {
            length: one.length + other.length,
            allocated: one.allocated + other.allocated,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Seek, SeekFrom, Write};

    use super::*;

    /// A folder that is removed when the test ends.
    struct TestFolder(PathBuf);

    impl TestFolder {
        fn new(name: &str) -> TestFolder {
            let path = std::env::temp_dir().join(format!("assay-{name}-{}", std::process::id()));
            fs::create_dir(&path).unwrap();
            TestFolder(path)
        }

        /// Writes a file with a hole of 1 MiB before its last block.
        fn sparse(&self, name: &str) -> PathBuf {
            let path = self.0.join(name);
            let mut file = fs::File::create(&path).unwrap();
            file.seek(SeekFrom::Start(1 << 20)).unwrap();
            file.write_all(&[1; 4_096]).unwrap();
            file.sync_all().unwrap();
            path
        }
    }

    impl Drop for TestFolder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn file_with_a_hole_occupies_fewer_bytes_than_it_is_long() {
        let place = TestFolder::new("sizes-hole");
        let file = place.sparse("t.ibd");
        let mut extent = Extent::default();
        extent.add(&file).unwrap();
        assert_eq!(extent.length, (1 << 20) + 4_096);
        assert!((4_096..1 << 19).contains(&extent.allocated), "{extent:?}");
    }

    #[test]
    fn relation_has_its_segments_and_maps() {
        let place = TestFolder::new("sizes-segments");
        for name in ["7", "7.1", "7.2", "7_fsm", "70", "7.4"] {
            fs::write(place.0.join(name), [0; 100]).unwrap();
        }
        assert_eq!(relation_extent(&place.0.join("7")).map(|extent| extent.length), Some(400));
        assert_eq!(relation_extent(&place.0.join("8")), None);
        assert_eq!(folder_extent(&place.0).map(|extent| extent.length), Some(600));
    }

    #[test]
    fn files_of_another_server_are_not_believed() {
        let extent = Extent { length: 1_000, allocated: 400 };
        assert_eq!(extent.allocated_if_length_matches(1_100), Some(400));
        assert_eq!(extent.allocated_if_length_matches(2_000), None);
        assert_eq!(extent.allocated_if_length_matches(10), None);
    }

    #[test]
    fn size_of_sqlite_covers_its_log() {
        let place = TestFolder::new("sizes-sqlite");
        let file = place.sparse("a.db");
        fs::write(place.0.join("a.db-wal"), [1; 8_192]).unwrap();
        let mut sample = Sample::default();
        report_sqlite(&file, &mut sample);
        let values: Vec<f64> = sample.readings.iter().map(|reading| reading.value).collect();
        assert_eq!(values[0], f64::from((1 << 20) + 4_096));
        assert!(values[1] >= 8_192.0 && values[1] < values[0], "{values:?}");
    }
}
