//! The sums over all lanes, on their way to the disk.
//!
//! Recently used rows are in memory; the others are on disk, and are read again for very late
//! answers. A row in memory is always complete: writing it replaces the one on disk.

use std::mem;

use record::{
    Cell, Counts, End, Ends, Gauge, Grid, Header, Histograms, Interval, JobIndex, Kind, Late,
    LateBatch, Live, LiveJob,
};

use super::cache::{Cache, Evicted};
use crate::error::Trouble;
use crate::writer::{Second, Writer};

/// The number of seconds per job in memory, without their histograms.
const SECONDS: usize = 128;

/// The number of histogram rows per job in memory: the current and the previous one, which receives
/// late answers. Each takes about half a megabyte.
const ROWS: usize = 2;

/// The number of empty histograms per job that are kept for reuse.
const SPARES: usize = 1;

/// The sums of all deliveries, and the writer of the record.
pub(super) struct RunSums {
    grid: Grid,
    jobs: Vec<JobSums>,
    seconds: Cache<Second>,
    rows: Cache<Histograms>,
    pub(super) writer: Writer,
}

struct JobSums {
    statements: u16,
    /// The last second and the first interval of the last row: later ones cannot be on disk.
    last_second: Option<Interval>,
    last_row: Option<Interval>,
    counts: Counts,
    ends: Ends,
    /// Empty histograms for reuse, at most [`SPARES`].
    spares: Vec<Histograms>,
}

impl RunSums {
    pub(super) fn new(writer: Writer, header: &Header) -> RunSums {
        let jobs: Vec<JobSums> = header
            .jobs
            .iter()
            .map(|job| JobSums {
                statements: job.statements.len() as u16,
                last_second: None,
                last_row: None,
                counts: Counts::default(),
                ends: Ends::default(),
                spares: Vec::new(),
            })
            .collect();
        RunSums {
            grid: header.grid(),
            seconds: Cache::new(SECONDS * jobs.len()),
            rows: Cache::new(ROWS * jobs.len()),
            jobs,
            writer,
        }
    }

    /// Adds a cell and empties it.
    pub(super) fn add_cell(&mut self, cell: &mut Cell) -> Result<(), Trouble> {
        let Cell { job, interval, ref mut tally } = *cell;
        let books = &mut self.jobs[usize::from(job.0)];
        books.counts.merge(&tally.counts);
        books.ends.merge(&tally.ends);
        let second = self.second(job, interval)?;
        second.counts.merge(&tally.counts);
        second.ends.merge(&tally.ends);
        second.failures.merge(&tally.failures);
        if !tally.histograms.are_empty() {
            self.add_histograms(job, interval, &mut tally.histograms)?;
        }
        tally.reset();
        Ok(())
    }

    /// Adds histograms. Those that begin a row are not copied but swapped for empty ones.
    fn add_histograms(
        &mut self,
        job: JobIndex,
        interval: Interval,
        histograms: &mut Histograms,
    ) -> Result<(), Trouble> {
        let row = self.grid.row(interval);
        if self.jobs[usize::from(job.0)].last_row < Some(row) {
            let full = mem::replace(histograms, self.spare(job));
            self.open_row(job, row, full)
        } else {
            self.row(job, row)?.merge(histograms);
            Ok(())
        }
    }

    /// Adds requests with late answers.
    pub(super) fn add_late<'a>(
        &mut self,
        batches: impl Iterator<Item = &'a LateBatch> + Clone,
    ) -> Result<(), Trouble> {
        for (job, interval) in batches.clone().flat_map(LateBatch::arrivals) {
            self.jobs[usize::from(job.0)].counts.arrivals += 1;
            self.second(job, interval)?.counts.arrivals += 1;
        }
        // In the order of rows: each row is read from disk only once.
        let mut requests: Vec<Late<'_>> = batches.flat_map(LateBatch::requests).collect();
        requests.sort_by_key(|late| (late.job, late.start));
        requests.iter().try_for_each(|late| self.add_request(late))
    }

    fn add_request(&mut self, late: &Late<'_>) -> Result<(), Trouble> {
        let Late { job, start, end, sample, statements } = *late;
        let row = self.grid.row(start);
        let overflows = self.row(job, row)?.record_request(sample, statements);
        let second = self.second(job, start)?;
        second.counts.record(sample);
        second.counts.overflows += overflows;
        second.failures.record(sample);
        self.second(job, end)?.ends.record(sample);
        let books = &mut self.jobs[usize::from(job.0)];
        books.counts.record(sample);
        books.counts.overflows += overflows;
        books.ends.record(sample);
        Ok(())
    }

    /// Stores the gauges of the jobs at the end of an interval.
    pub(super) fn set_gauges(
        &mut self,
        interval: Interval,
        gauges: Option<&[Gauge]>,
    ) -> Result<(), Trouble> {
        for place in 0..self.jobs.len() {
            let gauge = gauges.and_then(|gauges| gauges.get(place));
            self.second(JobIndex(place as u16), interval)?.gauge = gauge.copied();
        }
        Ok(())
    }

    /// Returns the figures of an interval for a display.
    pub(super) fn picture(&self, interval: Interval) -> Live {
        let length = self.grid.end(interval).saturating_sub(self.grid.start(interval));
        let per_s = |count: u64| count as f64 / length.as_secs_f64();
        let picture_of = |(place, books): (usize, &JobSums)| {
            let job = JobIndex(place as u16);
            let second = self.seconds.peek((interval, job));
            let response = self.rows.peek((self.grid.row(interval), job));
            let quantile = |q| response.and_then(|row| row.times(Kind::Response).quantile(q));
            LiveJob {
                offered_per_s: per_s(second.map_or(0, |second| second.counts.arrivals)),
                achieved_per_s: per_s(second.map_or(0, |second| second.ends.completed)),
                p50: quantile(0.5),
                p99: quantile(0.99),
                errors: books.counts.balance.errors(),
                gauge: second.and_then(|second| second.gauge),
            }
        };
        let jobs = self.jobs.iter().enumerate().map(picture_of).collect();
        Live { interval, at: self.grid.end(interval), jobs }
    }

    /// Writes every changed row and commits.
    pub(super) fn save(&mut self) -> Result<(), Trouble> {
        self.write()?;
        self.writer.commit()
    }

    /// Writes everything and marks the record as that of a completed run.
    pub(super) fn seal(&mut self, end: &End, events_dropped: u64) -> Result<(), Trouble> {
        self.write()?;
        let sums: Vec<_> = self.jobs.iter().map(|books| (books.counts, books.ends)).collect();
        self.writer.seal(end, &sums, events_dropped)?;
        self.writer.commit()
    }

    fn write(&mut self) -> Result<(), Trouble> {
        let RunSums { seconds, rows, writer, .. } = self;
        for ((interval, job), second) in seconds.take_unsaved() {
            writer.save_second(job, interval, second)?;
        }
        for ((interval, job), row) in rows.take_unsaved() {
            writer.save_histograms(job, interval, row)?;
        }
        Ok(())
    }

    fn second(&mut self, job: JobIndex, interval: Interval) -> Result<&mut Second, Trouble> {
        let key = (interval, job);
        if self.seconds.peek(key).is_none() {
            let books = &mut self.jobs[usize::from(job.0)];
            let is_new = books.last_second < Some(interval);
            let second = if is_new {
                books.last_second = Some(interval);
                Second::default()
            } else {
                self.writer.load_second(job, interval)?
            };
            if let Some(Evicted { key, value, is_saved: false }) = self.seconds.insert(key, second)
            {
                self.writer.save_second(key.1, key.0, &value)?;
            }
        }
        Ok(self.seconds.touch(key).expect("it was put there if it was not there"))
    }

    fn row(&mut self, job: JobIndex, row: Interval) -> Result<&mut Histograms, Trouble> {
        let key = (row, job);
        if self.rows.peek(key).is_none() {
            let mut histograms = self.spare(job);
            if self.jobs[usize::from(job.0)].last_row >= Some(row) {
                self.writer.load_histograms(job, row, &mut histograms)?;
            }
            self.open_row(job, row, histograms)?;
        }
        Ok(self.rows.touch(key).expect("it was put there if it was not there"))
    }

    fn open_row(
        &mut self,
        job: JobIndex,
        row: Interval,
        histograms: Histograms,
    ) -> Result<(), Trouble> {
        let books = &mut self.jobs[usize::from(job.0)];
        books.last_row = books.last_row.max(Some(row));
        if let Some(evicted) = self.rows.insert((row, job), histograms) {
            let Evicted { key: (row, job), value: mut histograms, is_saved } = evicted;
            if !is_saved {
                self.writer.save_histograms(job, row, &histograms)?;
            }
            let spares = &mut self.jobs[usize::from(job.0)].spares;
            if spares.len() < SPARES {
                histograms.reset();
                spares.push(histograms);
            }
        }
        Ok(())
    }

    fn spare(&mut self, job: JobIndex) -> Histograms {
        let books = &mut self.jobs[usize::from(job.0)];
        books.spares.pop().unwrap_or_else(|| Histograms::new(books.statements))
    }
}
