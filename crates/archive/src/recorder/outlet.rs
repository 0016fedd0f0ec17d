//! The lanes' side of the recorder.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};

use base::{Nanos, Secrets, WallTime};
use record::{
    Delivery, End, Event, Excerpt, InputFile, Load, OpLogReport, Outlet, Pace, Reading, Returned,
};

/// The maximum number of deliveries that a lane stores while the recorder is busy, in a run with at
/// most 128 jobs. It is enough for a minute with up to seven jobs, and for about four seconds with
/// 128. One more delivery makes the record fail.
const BACKLOG: usize = 512;

/// The same maximum per job, in a run with more than 128 jobs.
const BACKLOG_PER_JOB: usize = 4;

/// The number of deliveries that a lane in virtual time hands over together: in a quiet run, waking
/// the recorder costs far more than its work for one delivery.
const BATCH_DELIVERIES: usize = 64;

/// The maximum number of cells and batches of late answers among these deliveries. Each cell takes
/// about half a megabyte.
const BATCH_CELLS: usize = 4;

/// The number of emptied cells and batches of late answers that may be pending for a lane; further
/// ones are freed.
const RETURNS: usize = 128;

/// The number of emptied cells per job that may be pending in a run with very many jobs: a lane
/// delivers the cells of all jobs at once.
const RETURNS_PER_JOB: usize = 2;

/// The limits of pending data between a lane and the recorder.
#[derive(Clone, Copy, Debug)]
pub(super) struct PendingLimits {
    backlog: usize,
    returns: usize,
}

impl PendingLimits {
    /// Returns the limits for a run with this many jobs. In virtual time a lane has no backlog and
    /// waits.
    pub(super) fn new(pace: Pace, jobs: usize) -> PendingLimits {
        let backlog = match pace {
            Pace::Real => BACKLOG.max(jobs * BACKLOG_PER_JOB),
            Pace::Virtual => 0,
        };
        PendingLimits { backlog, returns: RETURNS.max(jobs * RETURNS_PER_JOB) }
    }
}

/// The number of a lane, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Lane(pub(super) u32);

/// A message to the recorder's thread.
#[derive(Debug)]
pub(super) enum Message {
    /// A lane begins. The channel returns emptied memory to the lane for reuse.
    Opened(Lane, SyncSender<Returned>),
    /// A delivery of a lane in real time.
    Delivered(Lane, Delivery),
    /// Deliveries of a lane in virtual time, in their order.
    DeliveredTogether(Lane, Vec<Delivery>),
    /// A lane has ended, with the number of deliveries for which there was no room.
    Closed(Lane, u64),
    /// A fact from outside the lanes.
    Noted(ExternalFact),
    /// The end of the run, or `None` if there was no run and the file will be removed.
    End(Option<End>),
}

/// A fact from outside the lanes.
#[derive(Debug)]
pub(super) enum ExternalFact {
    Hide(Secrets),
    TimeZero(WallTime),
    Setting(String, String),
    File(InputFile),
    Load(Load),
    Event(Event),
    Excerpt(Excerpt),
    Readings(Nanos, Vec<Reading>),
    LoadReadings { table: String, at: Nanos, readings: Vec<Reading> },
    OpLog(OpLogReport),
}

/// The state of the record, shared with the lanes.
#[derive(Debug, Default)]
pub(super) struct RecordHealth {
    is_broken: AtomicBool,
}

impl RecordHealth {
    pub(super) fn fail(&self) {
        self.is_broken.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_broken(&self) -> bool {
        self.is_broken.load(Ordering::Relaxed)
    }
}

/// Deliveries of a lane in virtual time that are to be handed over together.
#[derive(Default)]
struct DeliveryBatch {
    deliveries: Vec<Delivery>,
    cells: usize,
}

impl DeliveryBatch {
    /// Adds a delivery, and returns true if the deliveries are to be handed over. An event is
    /// handed over at once, because the order of events and of facts from outside the lanes is the
    /// order in which they are sent.
    fn add(&mut self, delivery: Delivery) -> bool {
        let is_event = matches!(delivery, Delivery::Event(_));
        self.cells += usize::from(matches!(delivery, Delivery::Cell(_) | Delivery::Late(_)));
        self.deliveries.push(delivery);
        is_event || self.cells >= BATCH_CELLS || self.deliveries.len() >= BATCH_DELIVERIES
    }
}

/// The outlet of a lane to the recorder. Dropping it ends the lane, and waits until the recorder
/// has received everything.
pub struct RecorderOutlet {
    lane: Lane,
    pace: Pace,
    batch: DeliveryBatch,
    sender: SyncSender<Message>,
    returns: Receiver<Returned>,
    backlog: VecDeque<Message>,
    limits: PendingLimits,
    lost: u64,
    health: Arc<RecordHealth>,
}

impl RecorderOutlet {
    pub(super) fn open(
        lane: Lane,
        pace: Pace,
        limits: PendingLimits,
        sender: SyncSender<Message>,
        health: Arc<RecordHealth>,
    ) -> RecorderOutlet {
        let (to_lane, returns) = sync_channel(limits.returns);
        let backlog = VecDeque::with_capacity(limits.backlog);
        if sender.send(Message::Opened(lane, to_lane)).is_err() {
            health.fail();
        }
        let batch = DeliveryBatch::default();
        RecorderOutlet { lane, pace, batch, sender, returns, backlog, limits, lost: 0, health }
    }

    /// Sends the deliveries that are to be handed over together, and waits until the recorder has
    /// room for them.
    fn hand_over(&mut self) {
        let DeliveryBatch { deliveries, cells: _ } = std::mem::take(&mut self.batch);
        if deliveries.is_empty() {
            return;
        }
        if self.sender.send(Message::DeliveredTogether(self.lane, deliveries)).is_err() {
            self.health.fail();
        }
    }

    /// Sends as much of the backlog as the recorder accepts without waiting.
    fn catch_up(&mut self) {
        while let Some(message) = self.backlog.pop_front() {
            match self.sender.try_send(message) {
                Ok(()) => {}
                Err(TrySendError::Full(message)) => return self.backlog.push_front(message),
                Err(TrySendError::Disconnected(_)) => self.health.fail(),
            }
        }
    }

    fn store(&mut self, message: Message) {
        if self.backlog.len() < self.limits.backlog {
            self.backlog.push_back(message);
        } else {
            self.lost += 1;
            self.health.fail();
        }
    }
}

impl Outlet for RecorderOutlet {
    fn deliver(&mut self, delivery: Delivery) {
        match self.pace {
            Pace::Virtual => {
                if self.batch.add(delivery) {
                    self.hand_over();
                }
            }
            Pace::Real => {
                self.catch_up();
                self.store(Message::Delivered(self.lane, delivery));
                self.catch_up();
            }
        }
    }

    fn take_returned(&mut self) -> Option<Returned> {
        self.returns.try_recv().ok()
    }

    fn is_broken(&self) -> bool {
        self.health.is_broken()
    }
}

impl Drop for RecorderOutlet {
    fn drop(&mut self) {
        self.hand_over();
        let backlog = std::mem::take(&mut self.backlog);
        for message in backlog.into_iter().chain([Message::Closed(self.lane, self.lost)]) {
            // Sending fails only if the recorder crashed, which `finish` reports.
            let _ = self.sender.send(message);
        }
    }
}

#[cfg(test)]
mod tests {
    use base::AccountId;

    use super::*;

    /// One message has many deliveries, or a few cells: waking the recorder for each interval would
    /// cost more than processing the interval.
    #[test]
    fn quiet_lane_in_virtual_time_hands_over_many_intervals_at_once() {
        let (sender, receiver) = sync_channel(64);
        let limits = PendingLimits::new(Pace::Virtual, 1);
        let mut outlet =
            RecorderOutlet::open(Lane(0), Pace::Virtual, limits, sender, Arc::default());
        let gauges = |interval| Delivery::Gauges { lane: 0, interval, gauges: Vec::new() };
        let cell = |interval| {
            let tally = record::Tally::new(0);
            Delivery::Cell(Box::new(record::Cell { account: AccountId(0), interval, tally }))
        };
        (0..2 * BATCH_DELIVERIES as u32 + 1).for_each(|interval| outlet.deliver(gauges(interval)));
        (0..BATCH_CELLS as u32).for_each(|interval| outlet.deliver(cell(interval)));
        outlet.deliver(gauges(500));
        drop(outlet);
        let mut sizes = Vec::new();
        for message in receiver {
            if let Message::DeliveredTogether(_, deliveries) = message {
                sizes.push(deliveries.len());
            }
        }
        assert_eq!(sizes, [BATCH_DELIVERIES, BATCH_DELIVERIES, 1 + BATCH_CELLS, 1]);
    }

    /// Simultaneous deliveries of many jobs are not lost while the recorder is busy.
    #[test]
    fn queue_has_room_for_the_parts_of_all_jobs() {
        for jobs in [1, 2_000] {
            let (sender, receiver) = sync_channel(4);
            let health = Arc::new(RecordHealth::default());
            let limits = PendingLimits::new(Pace::Real, jobs);
            let mut outlet =
                RecorderOutlet::open(Lane(0), Pace::Real, limits, sender, Arc::clone(&health));
            let gauges = || Delivery::Gauges { lane: 0, interval: 0, gauges: Vec::new() };
            (0..3 * jobs).for_each(|_| outlet.deliver(gauges()));
            assert!(!health.is_broken(), "{jobs} jobs");
            (0..jobs.max(BACKLOG) * 2).for_each(|_| outlet.deliver(gauges()));
            assert!(health.is_broken(), "the room has an end");
            drop(receiver);
        }
    }
}
