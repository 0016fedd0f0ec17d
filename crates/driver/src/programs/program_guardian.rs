//! A guard process that ends running programs when this process is killed.

use std::sync::{Mutex, OnceLock};

use guardian::Guardian;

/// The guardian of all programs of a driver. It is started with the first connection or the first
/// program, whichever comes first.
///
/// If no guardian can be started, programs keep running when this process is killed.
#[derive(Debug, Default)]
pub(super) struct ProgramGuardian(OnceLock<Option<Mutex<Guardian>>>);

/// A program group registered with the guardian until this is dropped.
pub(super) struct GuardedGroup<'a> {
    guardian: Option<&'a Mutex<Guardian>>,
    leader: u32,
}

impl ProgramGuardian {
    /// Starts the guardian, unless it is already running. Returns `None` if it cannot be started.
    pub(super) fn begin(&self) -> Option<&Mutex<Guardian>> {
        self.0.get_or_init(|| Guardian::of_processes().ok().map(Mutex::new)).as_ref()
    }

    /// Registers the group of a program that has just been started.
    pub(super) fn register(&self, leader: u32) -> GuardedGroup<'_> {
        let guardian = self.begin();
        if let Some(guardian) = guardian {
            guardian.lock().expect("nothing panics under the lock").register_group(leader);
        }
        GuardedGroup { guardian, leader }
    }
}

impl Drop for GuardedGroup<'_> {
    fn drop(&mut self) {
        if let Some(guardian) = self.guardian {
            guardian.lock().expect("nothing panics under the lock").unregister_group(self.leader);
        }
    }
}
