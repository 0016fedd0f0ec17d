//! Handles with which a gate and a lane reach a client.

use std::cell::Cell;

use base::Stamp;
use record::Request;
use rt::{Rt, Slot, Timer};
use workload::PartId;

use crate::feed::Input;

/// A handle to a client: the slot for its instructions and the timers that end its waits.
pub(crate) struct ClientHandle {
    pub(crate) instructions: Slot<Instruction>,
    /// Timer that ends a closed client's pause between two requests.
    pause: Timer,
    pause_ends: Cell<Stamp>,
    /// Timer that ends work in flight that takes too long: a request, an attempt to connect, the
    /// pause before such an attempt, the closing of a request's own connection, or the wait for
    /// room in a results file.
    pub(crate) expiry: Timer,
    expires: Cell<Stamp>,
}

impl ClientHandle {
    pub(crate) fn new(rt: &Rt) -> ClientHandle {
        let (pause, expiry) = (rt.timer(), rt.timer());
        ClientHandle {
            instructions: Slot::default(),
            pause,
            pause_ends: Cell::new(Stamp::NEVER),
            expiry,
            expires: Cell::new(Stamp::NEVER),
        }
    }

    /// Waits until `at`, or until an earlier time set by [`ClientHandle::end_pause_by`].
    pub(crate) async fn pause_until(&self, at: Stamp) {
        self.pause_ends.set(at);
        self.pause.arm(at);
        self.pause.fired().await;
        self.pause_ends.set(Stamp::NEVER);
    }

    /// Ends the current pause at `at`, unless it ends earlier.
    pub(crate) fn end_pause_by(&self, at: Stamp) {
        if self.pause_ends.get() != Stamp::NEVER && at < self.pause_ends.get() {
            self.pause_ends.set(at);
            self.pause.arm(at);
        }
    }

    /// Sets `at` as the time at which work in flight is abandoned, and replaces the previous time.
    /// [`Stamp::NEVER`] means that work is not abandoned. A client for which no other time is ever
    /// set touches no timer.
    #[inline]
    pub(crate) fn expire_at(&self, at: Stamp) {
        if at != Stamp::NEVER || self.expires.get() != Stamp::NEVER {
            self.expires.set(at);
            self.expiry.arm(at);
        }
    }

    /// Abandons work in flight at `at`, unless an earlier time is set.
    pub(crate) fn expire_by(&self, at: Stamp) {
        if at < self.expires.get() {
            self.expire_at(at);
        }
    }
}

/// A request on its way to a client, with its input.
pub(crate) struct DueRequest {
    pub(crate) request: Request,
    /// The part of the job to which the request belongs.
    pub(crate) part: PartId,
    /// The input records that the request takes from a file.
    pub(crate) input: Option<Input>,
}

/// An instruction to an idle client.
pub(crate) enum Instruction {
    /// Serve this request, which was assigned at this instant.
    Serve(DueRequest, Stamp),
    /// End: nothing is left to do.
    Leave,
}
