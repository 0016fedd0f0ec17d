//! Thinning of the samples of long runs.
//!
//! In the first two hours of a run every sample becomes a row. Later samples of a series are
//! merged: one row represents the samples of a [bin](SampleBins), with their least and largest
//! value. A counter that was reset within the bin has up to two more rows, and the last sample of
//! a series has a row of its own.
//!
//! The rows of a gauge have the same mean as its samples, if each row is weighted by the time since
//! the previous row, and each sample by the time since the previous sample. The rows of a counter
//! have the same growth as its samples, resets included. The memory of an open bin does not depend
//! on its number of samples.

use std::collections::BTreeMap;

use base::Nanos;

use crate::sample_kind::SampleKind;

/// Length of the first part of a run, in which every sample is kept. Later samples are merged into
/// bins.
pub const UNMERGED_PERIOD: Nanos = Nanos::from_secs(7_200);

/// Approximate maximum number of bins of a run with a planned end, from which the bin length
/// follows. A run of a week has bins of ten minutes.
const MOST_BINS: u64 = 1_008;

/// A minute. Bin lengths are whole minutes.
const MINUTE: Nanos = Nanos::from_secs(60);

/// Length of the bins of a run without a planned end.
const LENGTH_WITHOUT_END: Nanos = Nanos::from_secs(600);

/// The division of the time after [`UNMERGED_PERIOD`] into bins.
///
/// A bin ends at a whole multiple of the bin length after time zero, and includes that instant. No
/// bin extends across the beginning of the window or the planned end of the run, so samples of the
/// window are not merged with other samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampleBins {
    length: Nanos,
    cuts: [Nanos; 2],
}

/// A bin of a run, identified by its number and by how many of the two cuts (the beginning of the
/// window and the planned end of the run) come before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SampleBin {
    number: u64,
    cuts: usize,
}

impl SampleBins {
    /// Returns the bins of a run with this warm-up and duration (`None`: until interrupted).
    pub fn new(warmup: Nanos, duration: Option<Nanos>) -> SampleBins {
        let length = duration.map_or(LENGTH_WITHOUT_END, |duration| {
            let minutes = duration.0.div_ceil(MOST_BINS).div_ceil(MINUTE.0);
            Nanos(MINUTE.0 * minutes.max(1))
        });
        SampleBins { length, cuts: [warmup, duration.unwrap_or(warmup)] }
    }

    /// Returns the length of a bin.
    pub fn length(self) -> Nanos {
        self.length
    }

    /// Returns the bin of a sample at an instant; `None` if samples of that time are not merged.
    pub fn of(self, at: Nanos) -> Option<SampleBin> {
        (at > UNMERGED_PERIOD).then(|| SampleBin {
            number: at.0.div_ceil(self.length.0),
            cuts: self.cuts.iter().filter(|cut| at > **cut).count(),
        })
    }
}

/// The extremes of the samples that one row represents.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SampleRange {
    /// Instant of the row.
    pub at: Nanos,
    /// Number of samples.
    pub samples: u32,
    /// Smallest value of a gauge. For a counter or a drifting value, the smallest growth per second
    /// between two neighbouring samples.
    pub least: f64,
    /// Largest value of a gauge; largest growth per second of a counter or a drifting value.
    pub most: f64,
}

/// A row of a series, which represents one sample, or the merged samples of a bin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ThinnedRow {
    /// Instant of the last sample; in a series of longest times, instant of the longest one.
    pub at: Nanos,
    /// Mean of a gauge; last value of a counter, label or drifting value; largest value of a series
    /// of longest times.
    pub value: f64,
    /// The extremes, if the row represents samples that differ.
    pub range: Option<SampleRange>,
}

/// A sample: its instant and its value.
type Sample = (Nanos, f64);

/// The open bins of all series of a run.
#[derive(Clone, Debug)]
pub struct Thinning {
    bins: SampleBins,
    series: BTreeMap<i64, SeriesThinning>,
}

impl Thinning {
    /// Creates a thinning without series.
    pub fn new(bins: SampleBins) -> Thinning {
        Thinning { bins, series: BTreeMap::new() }
    }

    /// Takes a sample of the series with this number, and adds the rows that it completes to
    /// `rows`. Within a bin, the value of a sample that is not later than the previous one replaces
    /// the value of the previous one.
    pub fn add(
        &mut self,
        series: i64,
        kind: SampleKind,
        sample: Sample,
        rows: &mut Vec<ThinnedRow>,
    ) {
        let open = self.series.entry(series).or_insert(SeriesThinning::new(kind));
        open.add(self.bins, sample, rows);
    }

    /// Ends all open bins, and returns their rows with the numbers of the series. The last sample
    /// of each open bin becomes a row of its own, because it may have been taken after the end of
    /// the run.
    pub fn end(&mut self) -> Vec<(i64, ThinnedRow)> {
        let mut ended = Vec::new();
        for (number, series) in &mut self.series {
            let mut rows = Vec::new();
            series.end(&mut rows);
            ended.extend(rows.into_iter().map(|row| (*number, row)));
        }
        ended
    }
}

/// The open bin of a series.
#[derive(Clone, Debug)]
struct SeriesThinning {
    kind: SampleKind,
    /// The last sample that became a row, or that the open bin has merged.
    before: Option<Sample>,
    open: Option<OpenBin>,
}

#[derive(Clone, Debug)]
struct OpenBin {
    bin: SampleBin,
    merged: MergedSamples,
    /// The last sample, which is not merged yet.
    last: Sample,
}

impl SeriesThinning {
    fn new(kind: SampleKind) -> SeriesThinning {
        SeriesThinning { kind, before: None, open: None }
    }

    fn add(&mut self, bins: SampleBins, sample: Sample, rows: &mut Vec<ThinnedRow>) {
        if let Some(open) = &mut self.open {
            if sample.0 <= open.last.0 {
                open.last.1 = sample.1;
                return;
            }
            self.before = Some(open.merged.add(self.kind, self.before, open.last));
            if bins.of(sample.0) == Some(open.bin) {
                open.last = sample;
                return;
            }
            open.merged.write(self.kind, rows);
        }
        self.open = bins.of(sample.0).map(|bin| {
            let since = self.before.map(|(at, _)| at);
            OpenBin { bin, merged: MergedSamples::new(since, sample), last: sample }
        });
        if self.open.is_none() {
            self.before = Some(sample);
            rows.push(ThinnedRow { at: sample.0, value: sample.1, range: None });
        }
    }

    fn end(&mut self, rows: &mut Vec<ThinnedRow>) {
        let Some(OpenBin { merged, last, .. }) = self.open.take() else { return };
        if merged.samples > 0 {
            merged.write(self.kind, rows);
        }
        self.before = Some(last);
        rows.push(ThinnedRow { at: last.0, value: last.1, range: None });
    }
}

/// The merged samples of a bin.
#[derive(Clone, Debug)]
struct MergedSamples {
    /// Instant of the last sample before the bin; `None` if the series has no earlier sample.
    since: Option<Nanos>,
    samples: u32,
    /// Sum of the values of a gauge, each multiplied by its weight: the time since the previous
    /// sample, in seconds.
    sum: f64,
    weight: f64,
    least: f64,
    most: f64,
    last: Sample,
    longest: Sample,
    reset: Option<CounterReset>,
}

/// The last reset of a counter in a bin.
#[derive(Clone, Copy, Debug)]
struct CounterReset {
    /// The last sample before the reset. Its value is the one that the counter would have had
    /// without the earlier resets in the same bin.
    peak: Sample,
    /// The first sample after the reset.
    restart: Sample,
}

impl MergedSamples {
    fn new(since: Option<Nanos>, first: Sample) -> MergedSamples {
        MergedSamples {
            since,
            samples: 0,
            sum: 0.0,
            weight: 0.0,
            least: f64::INFINITY,
            most: f64::NEG_INFINITY,
            last: first,
            longest: first,
            reset: None,
        }
    }

    /// Merges a sample and returns it; `before` is the previous sample.
    fn add(&mut self, kind: SampleKind, before: Option<Sample>, sample: Sample) -> Sample {
        let (at, value) = sample;
        let since_before = before.map(|(before, _)| at.saturating_sub(before).as_secs_f64());
        match kind {
            SampleKind::Gauge => {
                // The first sample of a series covers no time, so its weight is minimal.
                let weight = since_before.unwrap_or_default().max(1e-9);
                self.sum += weight * value;
                self.weight += weight;
                self.extend(value);
            }
            SampleKind::Counter | SampleKind::Drift => {
                if let (Some(before), Some(time_s)) = (before, since_before.filter(|it| *it > 0.0))
                {
                    self.extend(self.growth(kind, before, sample) / time_s);
                    if kind == SampleKind::Counter && value < before.1 {
                        self.reset = Some(self.reset_at(before, sample));
                    }
                }
            }
            SampleKind::Longest if value > self.longest.1 => self.longest = sample,
            SampleKind::Longest | SampleKind::Label => {}
        }
        self.samples += 1;
        self.last = sample;
        sample
    }

    fn extend(&mut self, value: f64) {
        self.least = self.least.min(value);
        self.most = self.most.max(value);
    }

    /// Returns the growth between two samples. After a reset, the growth is the whole new count.
    fn growth(&self, kind: SampleKind, before: Sample, sample: Sample) -> f64 {
        match kind == SampleKind::Counter && sample.1 < before.1 {
            true => sample.1.max(0.0),
            false => sample.1 - before.1,
        }
    }

    fn reset_at(&self, before: Sample, restart: Sample) -> CounterReset {
        let counted = self.reset.map_or(before.1, |CounterReset { peak, restart }| {
            peak.1 + restart.1.max(0.0) + (before.1 - restart.1)
        });
        CounterReset { peak: (before.0, counted), restart }
    }

    fn write(&self, kind: SampleKind, rows: &mut Vec<ThinnedRow>) {
        let single = |(at, value): Sample| ThinnedRow { at, value, range: None };
        if let Some(CounterReset { peak, restart }) = self.reset {
            // The previous row may already hold this sample.
            let peak = Some(peak).filter(|peak| Some(peak.0) != self.since);
            rows.extend(peak.map(single));
            rows.extend((restart.0 < self.last.0).then(|| single(restart)));
        }
        let (at, value) = match kind {
            SampleKind::Gauge if self.least < self.most => (self.last.0, self.sum / self.weight),
            SampleKind::Longest => self.longest,
            SampleKind::Gauge | SampleKind::Counter | SampleKind::Drift | SampleKind::Label => {
                self.last
            }
        };
        let MergedSamples { samples, least, most, .. } = *self;
        let range = (least < most).then_some(SampleRange { at, samples, least, most });
        rows.push(ThinnedRow { at, value, range });
    }
}

#[cfg(test)]
mod tests;
