//! The lanes' side of the recorder.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};

use base::WallTime;

use crate::delivery::{Delivery, Outlet, Returned};
use crate::facts::{End, Load, Pace};

/// How many deliveries a lane keeps while the recorder is busy: with three jobs those of two
/// minutes. One more, and the record counts as broken.
const BACKLOG: usize = 512;

/// How many cells and batches may be on their way back to a lane; what finds no room is freed.
const RETURNS: usize = 128;

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
    TimeZero(WallTime),
    Setting(String, String),
    Load(Load),
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
    lost: u64,
    health: Arc<Health>,
}

impl RecorderOutlet {
    pub(super) fn open(
        lane: Lane,
        pace: Pace,
        sender: SyncSender<Message>,
        health: Arc<Health>,
    ) -> RecorderOutlet {
        let (to_lane, returns) = sync_channel(RETURNS);
        let backlog = match pace {
            Pace::Real => VecDeque::with_capacity(BACKLOG),
            Pace::Virtual => VecDeque::new(),
        };
        if sender.send(Message::Opened(lane, to_lane)).is_err() {
            health.fail();
        }
        RecorderOutlet { lane, pace, sender, returns, backlog, lost: 0, health }
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
        if self.backlog.len() < BACKLOG {
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
