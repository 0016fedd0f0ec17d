//! The lanes' side of the recorder.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};

use base::{Nanos, Secrets, WallTime};

use crate::delivery::{Delivery, Event, Outlet, Returned};
use crate::facts::{End, Load, Pace, Reading};
use crate::spool::OpLogTold;

/// How many deliveries a lane keeps while the recorder is busy: those of a minute, or of a few
/// seconds when there are very many jobs. One more, and the record counts as broken.
const BACKLOG: usize = 512;

/// How many deliveries of each job find room in any case.
const BACKLOG_PER_JOB: usize = 4;

/// How many cells and batches may be on their way back to a lane; what finds no room is freed.
const RETURNS: usize = 128;

/// How many cells of each job may be in any case: a lane hands over those of all jobs at once.
const RETURNS_PER_JOB: usize = 2;

/// How much may be on its way between a lane and the recorder.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    backlog: usize,
    returns: usize,
}

impl Room {
    /// The room for a run with so many jobs. In virtual time a lane waits instead.
    pub(super) fn new(pace: Pace, jobs: usize) -> Room {
        let backlog = match pace {
            Pace::Real => BACKLOG.max(jobs * BACKLOG_PER_JOB),
            Pace::Virtual => 0,
        };
        Room { backlog, returns: RETURNS.max(jobs * RETURNS_PER_JOB) }
    }
}

/// A lane by its number, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Lane(pub(super) u32);

/// What reaches the recorder's thread.
#[derive(Debug)]
pub(super) enum Message {
    /// A lane begins and takes back what it may use again.
    Opened(Lane, SyncSender<Returned>),
    /// A lane hands something over.
    Delivered(Lane, Delivery),
    /// A lane has ended; so many deliveries found no room.
    Closed(Lane, u64),
    /// A fact.
    Noted(Note),
    /// The run has ended, like this; or there was none.
    End(Option<End>),
}

/// A fact that becomes known on the way.
#[derive(Debug)]
pub(super) enum Note {
    Hide(Secrets),
    TimeZero(WallTime),
    Setting(String, String),
    Load(Load),
    Event(Event),
    Readings(Nanos, Vec<Reading>),
    LoadReadings { table: String, at: Nanos, readings: Vec<Reading> },
    OpLog(OpLogTold),
}

/// Whether the record can still be kept.
#[derive(Debug, Default)]
pub(super) struct Health {
    is_broken: AtomicBool,
}

impl Health {
    pub(super) fn fail(&self) {
        self.is_broken.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_broken(&self) -> bool {
        self.is_broken.load(Ordering::Relaxed)
    }
}

/// Where a lane hands over its part of the record. Dropping it says that the lane has ended, and
/// waits until the recorder has taken everything.
pub struct RecorderOutlet {
    lane: Lane,
    pace: Pace,
    sender: SyncSender<Message>,
    returns: Receiver<Returned>,
    backlog: VecDeque<Message>,
    room: Room,
    lost: u64,
    health: Arc<Health>,
}

impl RecorderOutlet {
    pub(super) fn open(
        lane: Lane,
        pace: Pace,
        room: Room,
        sender: SyncSender<Message>,
        health: Arc<Health>,
    ) -> RecorderOutlet {
        let (to_lane, returns) = sync_channel(room.returns);
        let backlog = VecDeque::with_capacity(room.backlog);
        if sender.send(Message::Opened(lane, to_lane)).is_err() {
            health.fail();
        }
        RecorderOutlet { lane, pace, sender, returns, backlog, room, lost: 0, health }
    }

    /// Hands over as much of the backlog as the recorder takes without waiting.
    fn catch_up(&mut self) {
        while let Some(message) = self.backlog.pop_front() {
            match self.sender.try_send(message) {
                Ok(()) => {}
                Err(TrySendError::Full(message)) => return self.backlog.push_front(message),
                Err(TrySendError::Disconnected(_)) => self.health.fail(),
            }
        }
    }

    fn keep(&mut self, message: Message) {
        if self.backlog.len() < self.room.backlog {
            self.backlog.push_back(message);
        } else {
            self.lost += 1;
            self.health.fail();
        }
    }
}

impl Outlet for RecorderOutlet {
    fn deliver(&mut self, delivery: Delivery) {
        let message = Message::Delivered(self.lane, delivery);
        match self.pace {
            Pace::Virtual => {
                if self.sender.send(message).is_err() {
                    self.health.fail();
                }
            }
            Pace::Real => {
                self.catch_up();
                self.keep(message);
                self.catch_up();
            }
        }
    }

    fn returned(&mut self) -> Option<Returned> {
        self.returns.try_recv().ok()
    }

    fn is_broken(&self) -> bool {
        self.health.is_broken()
    }
}

impl Drop for RecorderOutlet {
    fn drop(&mut self) {
        let backlog = std::mem::take(&mut self.backlog);
        for message in backlog.into_iter().chain([Message::Closed(self.lane, self.lost)]) {
            // Nobody takes it only if the recorder crashed, and then `finish` says so.
            let _ = self.sender.send(message);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// However many jobs hand over at once, a recorder that is busy for a moment loses nothing.
    #[test]
    fn there_is_room_for_the_parts_of_all_jobs() {
        for jobs in [1, 2_000] {
            let (sender, receiver) = sync_channel(4);
            let health = Arc::new(Health::default());
            let room = Room::new(Pace::Real, jobs);
            let mut outlet =
                RecorderOutlet::open(Lane(0), Pace::Real, room, sender, Arc::clone(&health));
            let gauges = || Delivery::Gauges { lane: 0, interval: 0, gauges: Vec::new() };
            (0..3 * jobs).for_each(|_| outlet.deliver(gauges()));
            assert!(!health.is_broken(), "{jobs} jobs");
            (0..jobs.max(BACKLOG) * 2).for_each(|_| outlet.deliver(gauges()));
            assert!(health.is_broken(), "the room has an end");
            drop(receiver);
        }
    }
}
