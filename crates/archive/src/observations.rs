//! The rows of observations, during a run and during the loads before it.
//!
//! Every sample of the first two hours has a row. Later samples are merged in bins ([`Thinning`]),
//! and written when their bin has ended. This bounds the memory of a long run and, if the run has a
//! planned end, its number of rows. A killed run lacks the samples of the bins that were open.

use std::collections::BTreeMap;

use base::Nanos;
use record::{
    ClientSample, Header, Reading, SampleBin, SampleBins, SampleKind, Series, ThinnedRow, Thinning,
};
use rusqlite::Connection;

use crate::error::RowError;
use crate::v1;

/// The series of a record, and their open bins.
pub(crate) struct Observations {
    bins: SampleBins,
    /// The series that have a row in the table `series`; the index is the number of the series.
    series: Vec<(Series, SampleKind)>,
    of_run: Thinning,
    /// The open bins of loads, by table.
    of_loads: BTreeMap<String, Thinning>,
    /// The last sample of the load generator's resource usage in a bin that is open.
    client: Option<(SampleBin, Nanos, ClientSample)>,
    /// Rows of one series that are to be written.
    rows: Vec<ThinnedRow>,
}

impl Observations {
    pub(crate) fn new(header: &Header) -> Observations {
        let bins = SampleBins::new(header.warmup, header.duration);
        Observations {
            bins,
            series: Vec::new(),
            of_run: Thinning::new(bins),
            of_loads: BTreeMap::new(),
            client: None,
            rows: Vec::new(),
        }
    }

    /// Adds a sample of the load generator's resource usage. Of the samples in a bin, only the last
    /// is written.
    pub(crate) fn add_client(
        &mut self,
        to: &Connection,
        at: Nanos,
        sample: &ClientSample,
    ) -> Result<(), RowError> {
        let bin = self.bins.of(at);
        if let Some((_, at, sample)) = self.client.take_if(|(open, ..)| Some(*open) != bin) {
            v1::Client::write(to, at, &sample)?;
        }
        match bin {
            None => v1::Client::write(to, at, sample)?,
            Some(bin) => self.client = Some((bin, at, *sample)),
        }
        Ok(())
    }

    /// Adds observations at an instant of the run. A value that is not finite is left out.
    pub(crate) fn add(
        &mut self,
        to: &Connection,
        at: Nanos,
        readings: &[Reading],
    ) -> Result<(), RowError> {
        for Reading { series, value } in finite(readings) {
            let (number, kind) = self.number(to, series)?;
            self.of_run.add(number, kind, (at, *value), &mut self.rows);
            self.rows.drain(..).try_for_each(|row| write(to, number, row))?;
        }
        Ok(())
    }

    /// Adds observations made during the load of a table; `at` is the time since the load began. A
    /// value that is not finite is left out.
    pub(crate) fn add_of_load(
        &mut self,
        to: &Connection,
        table: &str,
        at: Nanos,
        readings: &[Reading],
    ) -> Result<(), RowError> {
        for Reading { series, value } in finite(readings) {
            let (number, kind) = self.number(to, series)?;
            let open = self.of_loads.entry(table.to_owned());
            let open = open.or_insert_with(|| Thinning::new(SampleBins::new(Nanos::ZERO, None)));
            open.add(number, kind, (at, *value), &mut self.rows);
            let mut rows = self.rows.drain(..);
            rows.try_for_each(|row| write_of_load(to, table, number, row))?;
        }
        Ok(())
    }

    /// Writes the rows of all open bins.
    pub(crate) fn end(&mut self, to: &Connection) -> Result<(), RowError> {
        if let Some((_, at, sample)) = self.client.take() {
            v1::Client::write(to, at, &sample)?;
        }
        for (table, open) in &mut self.of_loads {
            let mut rows = open.end().into_iter();
            rows.try_for_each(|(number, row)| write_of_load(to, table, number, row))?;
        }
        self.of_run.end().into_iter().try_for_each(|(number, row)| write(to, number, row))
    }

    /// Returns the number and the kind of a series, adding the series if it is new.
    fn number(&mut self, to: &Connection, series: &Series) -> Result<(i64, SampleKind), RowError> {
        if let Some(number) = self.series.iter().position(|(known, _)| known == series) {
            return Ok((number as i64, self.series[number].1));
        }
        let (number, kind) = (self.series.len() as i64, SampleKind::of(series));
        v1::SeriesRow::write(to, number, series)?;
        self.series.push((series.clone(), kind));
        Ok((number, kind))
    }
}

/// Returns the finite readings: SQLite stores no NaN, and an infinity would spoil every sum.
fn finite(readings: &[Reading]) -> impl Iterator<Item = &Reading> {
    readings.iter().filter(|reading| reading.value.is_finite())
}

fn write(to: &Connection, series: i64, row: ThinnedRow) -> Result<(), RowError> {
    v1::SampleRow::write(to, series, row.at, row.value)?;
    row.range.map_or(Ok(()), |range| v1::SampleRangeRow::write(to, series, &range))
}

/// Writes a row of a load, without the extremes of samples: no chart shows these rows over time.
fn write_of_load(
    to: &Connection,
    table: &str,
    series: i64,
    row: ThinnedRow,
) -> Result<(), RowError> {
    v1::LoadSampleRow::write(to, table, series, row.at, row.value)
}
