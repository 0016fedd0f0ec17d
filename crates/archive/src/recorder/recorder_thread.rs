//! The recorder's thread: processing of messages and timing of transactions.
//!
//! In real time an interval is written as soon as every lane has passed it: one transaction per
//! second. In virtual time some dozens of intervals share a transaction, or hundreds if few
//! requests arrive in them. If a write fails, the lanes are notified, further deliveries are
//! emptied and returned, and the record keeps the committed rows. The failure is recorded as the
//! end of the run, if that can still be written.

use std::mem;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::time::Duration;

use base::{Clock, Monotonic, Nanos, Secrets, Stamp};
use record::{
    ClientSample, ComponentKind, Delivery, End, EndKind, Event, EventKind, Grid, Header, Interval,
    LateBatch, ObservedComponent, Pace, Reading, Returned,
};

use super::barrier::{CompleteInterval, IntervalBarrier};
use super::live::LiveView;
use super::outlet::{ExternalFact, Lane, Message, RecordHealth};
use super::process;
use super::run_sums::RunSums;
use crate::error::{RecordError, RowError};
use crate::writer::Writer;

/// The longest time that data stay unsaved in real time if no interval is completed. This time is
/// longer than an interval, whose completion normally triggers the transaction.
const UNSAVED: Nanos = Nanos::from_millis(1_500);

/// The smallest number of intervals per transaction in virtual time.
const INTERVALS_IN_VIRTUAL: u32 = 64;

/// The largest number of intervals per transaction in virtual time: in a quiet run, a transaction
/// costs more than its rows.
const MOST_INTERVALS_IN_VIRTUAL: u32 = 1_024;

/// The number of arrivals that end a transaction in virtual time, if it has its smallest number of
/// intervals.
const ARRIVALS_IN_VIRTUAL: u64 = 2_000;

/// The number of batches of late answers that are collected before their rows are read.
const BATCHES: usize = 32;

/// The largest number of events in a record.
const EVENTS: u64 = 10_000;

/// The number of events in a record from which first errors are dropped: the errors of many parts
/// then leave room for all other events.
const EVENTS_BEFORE_FIRST_ERROR: u64 = EVENTS / 2;

/// The largest size of an event's text, in bytes.
const EVENT_TEXT: usize = 4_096;

/// The number of bytes at the end of a shortened text that are always kept: they contain an error's
/// code.
const EVENT_END: usize = 64;

/// The mark for text that was left out.
const ELLIPSIS: &str = "…";

/// The state of the recorder's thread.
pub(super) struct RecorderThread {
    grid: Grid,
    pace: Pace,
    sums: RunSums,
    barrier: IntervalBarrier,
    /// Channels that return memory to the lanes, by lane number.
    lanes: Vec<SyncSender<Returned>>,
    /// Number of lanes that have reported their statements with rows. Each lane does so at its end.
    finished_lanes: usize,
    late: Vec<(Lane, Box<LateBatch>)>,
    /// Number of events in the record.
    events: u64,
    dropped_events: u64,
    /// Intervals completed since the last transaction.
    complete: u32,
    /// Last interval up to which everything is saved.
    saved: Option<Interval>,
    /// Number of arrivals up to the last transaction.
    saved_arrivals: u64,
    /// Time since which there are unsaved data.
    unsaved_since: Option<Stamp>,
    /// End of the run once it is known; the inner value is `None` if there was no run.
    run_end: Option<Option<End>>,
    health: Arc<RecordHealth>,
    live: LiveView,
    /// Secrets to remove from texts that may come from a server: texts of events and of the end,
    /// settings, excerpts, names of observed tables, and names of metrics, which may be statements.
    secrets: Secrets,
    /// Secrets of eight characters or more, to remove from names of settings. Such a name may
    /// contain the name of a table.
    distinct: Secrets,
}

impl RecorderThread {
    pub(super) fn new(
        writer: Writer,
        header: &Header,
        health: Arc<RecordHealth>,
        live: LiveView,
    ) -> RecorderThread {
        RecorderThread {
            grid: header.grid(),
            pace: header.pace,
            sums: RunSums::new(writer, header),
            barrier: IntervalBarrier::default(),
            lanes: Vec::new(),
            finished_lanes: 0,
            late: Vec::new(),
            events: 0,
            dropped_events: 0,
            complete: 0,
            saved: None,
            saved_arrivals: 0,
            unsaved_since: None,
            run_end: None,
            health,
            live,
            secrets: Secrets::default(),
            distinct: Secrets::default(),
        }
    }

    /// Processes messages until the run and every lane have ended, or until all senders have been
    /// dropped.
    pub(super) fn run(mut self, receiver: &Receiver<Message>) -> Result<(), RecordError> {
        self.process_all(receiver).and_then(|()| self.close()).map_err(|failure| {
            self.health.fail();
            self.discard_all(receiver);
            let error = failure.into_write_error(self.sums.writer.path());
            self.mark_as_failed(&error);
            error
        })
    }

    fn is_over(&self) -> bool {
        self.run_end.is_some() && self.barrier.is_empty()
    }

    fn process_all(&mut self, receiver: &Receiver<Message>) -> Result<(), RowError> {
        while !self.is_over() {
            match self.next(receiver) {
                Ok(message) => self.process(message)?,
                Err(RecvTimeoutError::Timeout) => self.save()?,
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        Ok(())
    }

    fn next(&self, receiver: &Receiver<Message>) -> Result<Message, RecvTimeoutError> {
        match (self.pace, self.unsaved_since) {
            (Pace::Real, Some(since)) => {
                let left = UNSAVED.saturating_sub(Monotonic.now().since(since));
                // A channel that is never empty would have no timeout.
                if left == Nanos::ZERO {
                    return Err(RecvTimeoutError::Timeout);
                }
                receiver.recv_timeout(Duration::from_nanos(left.0))
            }
            (Pace::Real, None) | (Pace::Virtual, _) => {
                receiver.recv().map_err(|_| RecvTimeoutError::Disconnected)
            }
        }
    }

    fn process(&mut self, message: Message) -> Result<(), RowError> {
        if self.unsaved_since.is_none() {
            self.unsaved_since = Some(Monotonic.now());
        }
        match message {
            Message::Opened(lane, returns) => self.open(lane, returns),
            Message::Delivered(lane, delivery) => self.process_delivery(lane, delivery)?,
            Message::DeliveredTogether(lane, deliveries) => {
                let mut deliveries = deliveries.into_iter();
                deliveries.try_for_each(|delivery| self.process_delivery(lane, delivery))?;
            }
            Message::Noted(note) => self.process_fact(note)?,
            Message::Closed(lane, lost) => {
                self.barrier.close(lane);
                if lost > 0 {
                    self.add_loss(lane, lost)?;
                }
                self.process_complete_intervals()?;
            }
            Message::End(end) => self.run_end = Some(end),
        }
        Ok(())
    }

    fn process_delivery(&mut self, lane: Lane, delivery: Delivery) -> Result<(), RowError> {
        match delivery {
            Delivery::Cell(mut cell) => {
                self.sums.add_cell(&mut cell)?;
                self.return_memory(lane, Returned::Cell(cell));
                Ok(())
            }
            Delivery::Late(batch) => {
                self.late.push((lane, batch));
                if self.late.len() >= BATCHES { self.add_late() } else { Ok(()) }
            }
            Delivery::Gauges { lane: _, interval, gauges } => {
                self.barrier.report(lane, interval, gauges);
                self.process_complete_intervals()
            }
            Delivery::Event(event) => self.add_event(event),
            Delivery::WithRows(sets) => {
                self.sums.add_with_rows(&sets);
                self.finished_lanes += 1;
                Ok(())
            }
        }
    }

    fn open(&mut self, lane: Lane, returns: SyncSender<Returned>) {
        debug_assert_eq!(lane.0 as usize, self.lanes.len(), "lanes are numbered as they open");
        if self.live.counts_times() {
            self.sums.count_times();
        }
        self.lanes.push(returns);
        self.barrier.open(lane);
    }

    /// Processes the intervals that every lane has passed.
    fn process_complete_intervals(&mut self) -> Result<(), RowError> {
        let mut last = None;
        while let Some(CompleteInterval { interval, gauges }) = self.barrier.next_complete() {
            self.sums.set_gauges(interval, gauges.as_deref())?;
            self.complete += 1;
            last = Some(interval);
        }
        let Some(interval) = last else { return Ok(()) };
        self.add_late()?;
        if !self.is_time_to_save() {
            return Ok(());
        }
        self.live.show(self.sums.live_figures(interval));
        if let Some(sample) = self.sample() {
            self.sums.writer.add_client(self.grid.end(interval), &sample)?;
        }
        self.save()
    }

    /// Returns true if a transaction is to be ended. In virtual time this depends on its content
    /// alone: records must be reproducible.
    fn is_time_to_save(&self) -> bool {
        let is_busy = || self.sums.arrivals() - self.saved_arrivals >= ARRIVALS_IN_VIRTUAL;
        match self.pace {
            Pace::Real => true,
            Pace::Virtual if self.complete < INTERVALS_IN_VIRTUAL => false,
            Pace::Virtual => self.complete >= MOST_INTERVALS_IN_VIRTUAL || is_busy(),
        }
    }

    fn save(&mut self) -> Result<(), RowError> {
        self.add_late()?;
        self.sums.save()?;
        self.saved_arrivals = self.sums.arrivals();
        self.saved = self.barrier.last_complete();
        self.complete = 0;
        self.unsaved_since = None;
        Ok(())
    }

    fn add_late(&mut self) -> Result<(), RowError> {
        let batches = mem::take(&mut self.late);
        self.sums.add_late(batches.iter().map(|(_, batch)| &**batch))?;
        for (lane, mut batch) in batches {
            batch.reset();
            self.return_memory(lane, Returned::Late(batch));
        }
        Ok(())
    }

    fn add_event(&mut self, event: Event) -> Result<(), RowError> {
        let most = match event.kind {
            EventKind::FirstError => EVENTS_BEFORE_FIRST_ERROR,
            _ => EVENTS,
        };
        if self.events >= most {
            self.dropped_events += 1;
            return Ok(());
        }
        self.events += 1;
        let Event { at, account, kind, error, text } = event;
        let text = shorten(self.secrets.hide(&text));
        self.sums.writer.add_event(&Event { at, account, kind, error, text })
    }

    fn add_loss(&mut self, lane: Lane, lost: u64) -> Result<(), RowError> {
        let at = self.barrier.last_complete().map_or(Nanos::ZERO, |last| self.grid.end(last));
        let text = format!(
            "lane {} handed over faster than the record could be written: {lost} parts of it are \
             missing",
            lane.0
        );
        self.add_event(Event {
            at,
            account: None,
            kind: EventKind::RecorderFailed,
            error: None,
            text,
        })
    }

    fn process_fact(&mut self, note: ExternalFact) -> Result<(), RowError> {
        let writer = &mut self.sums.writer;
        match note {
            ExternalFact::TimeZero(zero) => {
                let sample = self.sample();
                let writer = &mut self.sums.writer;
                writer.set_time_zero(zero)?;
                sample.map_or(Ok(()), |sample| writer.add_client(Nanos::ZERO, &sample))
            }
            ExternalFact::Hide(secrets) => {
                self.distinct = secrets.clone().distinct();
                self.secrets = secrets;
                Ok(())
            }
            ExternalFact::Setting(name, value) => {
                writer.set_setting(&self.distinct.hide(&name), &self.secrets.hide(&value))
            }
            ExternalFact::File(file) => writer.add_file(&file),
            ExternalFact::Load(load) => {
                let sample = self.sample();
                self.sums.writer.set_load(&load, sample.as_ref())
            }
            ExternalFact::Event(event) => self.add_event(event),
            ExternalFact::Excerpt(excerpt) => {
                writer.set_excerpt(&excerpt.limit(|text| self.secrets.hide(text)))
            }
            ExternalFact::Readings(at, readings) => {
                writer.add_readings(at, &hide_secrets(&self.secrets, readings))
            }
            ExternalFact::LoadReadings { table, at, readings } => {
                writer.add_load_readings(&table, at, &hide_secrets(&self.secrets, readings))
            }
            ExternalFact::OpLog(outcome) => writer.set_op_log(&outcome),
        }
    }

    /// Returns the resource usage of this process; `None` in virtual time, whose records must be
    /// reproducible.
    fn sample(&self) -> Option<ClientSample> {
        match self.pace {
            Pace::Real => Some(process::sample()),
            Pace::Virtual => None,
        }
    }

    /// Returns memory to its lane. The memory is freed if the lane has ended, or its channel is
    /// full.
    fn return_memory(&self, lane: Lane, returned: Returned) {
        let _ = self.lanes[lane.0 as usize].try_send(returned);
    }

    fn close(&mut self) -> Result<(), RowError> {
        self.process_complete_intervals()?;
        self.add_late()?;
        match self.run_end.clone().flatten() {
            Some(end) => {
                let end = End { text: self.secrets.hide(&end.text), ..end };
                if self.finished_lanes == self.lanes.len() {
                    self.sums.write_with_rows()?;
                }
                self.sums.seal(&end, self.dropped_events)
            }
            None => {
                self.sums.writer.flush_bins()?;
                self.sums.save()
            }
        }
    }

    /// Empties all further deliveries, and returns their memory to the lanes.
    fn discard_all(&mut self, receiver: &Receiver<Message>) {
        while !self.is_over() {
            match receiver.recv() {
                Ok(Message::Opened(lane, returns)) => self.open(lane, returns),
                Ok(Message::Closed(lane, _)) => self.barrier.close(lane),
                Ok(Message::Delivered(lane, delivery)) => self.discard(lane, delivery),
                Ok(Message::DeliveredTogether(lane, deliveries)) => {
                    deliveries.into_iter().for_each(|delivery| self.discard(lane, delivery));
                }
                Ok(Message::Noted(_)) => {}
                Ok(Message::End(end)) => self.run_end = Some(end),
                Err(_) => break,
            }
        }
    }

    /// Empties a delivery, and returns its memory to the lane.
    fn discard(&self, lane: Lane, delivery: Delivery) {
        match delivery {
            Delivery::Cell(mut cell) => {
                cell.tally.reset();
                self.return_memory(lane, Returned::Cell(cell));
            }
            Delivery::Late(mut batch) => {
                batch.reset();
                self.return_memory(lane, Returned::Late(batch));
            }
            Delivery::Gauges { .. } | Delivery::Event(_) | Delivery::WithRows(_) => {}
        }
    }

    /// Tries to record the reason why the record ends early.
    fn mark_as_failed(&mut self, error: &RecordError) {
        let at = self.saved.map_or(Nanos::ZERO, |last| self.grid.end(last));
        let cause = std::error::Error::source(error);
        let text = cause.map_or_else(|| error.to_string(), ToString::to_string);
        let end = End { at, kind: EndKind::RecorderFailed, text };
        // The disk that refused a row may refuse the end too. The record then looks as if the run
        // had been killed, and only the returned error gives the reason.
        let _ = self.sums.writer.seal_as_is(&end);
    }
}

/// Returns a text of at most [`EVENT_TEXT`] bytes, shortened in the middle.
fn shorten(mut text: String) -> String {
    if text.len() > EVENT_TEXT {
        let begin = text.floor_char_boundary(EVENT_TEXT - EVENT_END - ELLIPSIS.len());
        let end = text.ceil_char_boundary(text.len() - EVENT_END);
        text.replace_range(begin..end, ELLIPSIS);
    }
    text
}

/// Removes secrets from the names of the readings' metrics and tables.
fn hide_secrets(secrets: &Secrets, mut readings: Vec<Reading>) -> Vec<Reading> {
    if !secrets.is_empty() {
        for Reading { series, .. } in &mut readings {
            series.metric = secrets.hide(&series.metric);
            let component = ObservedComponent::parse(&series.component);
            if let Some(ObservedComponent { place, kind: ComponentKind::Table(name) }) = component {
                let kind = ComponentKind::Table(secrets.hide(&name));
                series.component = ObservedComponent { place, kind }.to_string();
            }
        }
    }
    readings
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;

    use super::*;
    use crate::support::{TestFolder, header};

    #[test]
    fn due_save_comes_before_the_next_message() {
        let place = TestFolder::new("due-save");
        let header = header();
        let writer = Writer::create(&place.path("run.assay"), &header).unwrap();
        let (health, live) = (Arc::default(), LiveView::default());
        let mut recorder = RecorderThread::new(writer, &header, health, live);
        let (sender, receiver) = sync_channel(1);
        sender.send(Message::End(None)).unwrap();
        recorder.unsaved_since = Some(Stamp(Monotonic.now().0.saturating_sub(UNSAVED.0)));
        assert_eq!(recorder.next(&receiver).unwrap_err(), RecvTimeoutError::Timeout);
        recorder.save().unwrap();
        assert!(matches!(recorder.next(&receiver), Ok(Message::End(None))));
    }

    #[test]
    fn long_text_keeps_its_begin_and_its_end() {
        for filling in ["x", "é", "日", "🚀"] {
            for length in [EVENT_TEXT - 1, EVENT_TEXT, EVENT_TEXT + 1, 4 * EVENT_TEXT] {
                let middle = filling.repeat(length / filling.len());
                let whole = format!("first words {middle} last words (42P01)");
                let kept = shorten(whole.clone());
                let is_cut = whole.len() > EVENT_TEXT;
                assert_eq!((kept.len() > EVENT_TEXT, kept == whole), (false, !is_cut));
                assert!(kept.starts_with("first words "), "{kept:.40}");
                assert!(kept.ends_with(" last words (42P01)"), "{filling} {length}");
                assert_eq!(kept.contains(ELLIPSIS), is_cut);
            }
        }
        let short = "as it is (42P01)".to_owned();
        assert_eq!(shorten(short.clone()), short);
    }
}
