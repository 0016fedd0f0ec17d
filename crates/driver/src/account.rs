//! What a server counts by itself: the account by which a client's counts are checked.
//!
//! A reading is taken before the measured phase and one behind it. The difference holds all that
//! the server did in between, and with it what Assay asked beside requests: logins, preparations,
//! the readings themselves. So each reading says how much of that there was until then.

use std::sync::atomic::{AtomicU64, Ordering};

/// A number at an instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Count {
    /// What is counted.
    pub metric: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// How much there is.
    pub value: f64,
}

impl Count {
    /// So much of it.
    pub(crate) fn of(metric: &'static str, unit: &'static str, value: f64) -> Count {
        Count { metric, unit, value }
    }
}

/// What the sessions of a driver have asked beside requests. Shared by all of them.
#[derive(Debug)]
pub(crate) struct Beside {
    logins: AtomicU64,
    preparations: AtomicU64,
    texts: AtomicU64,
    farewells: AtomicU64,
    /// How many sessions others had when that was first asked; [`u64::MAX`] before.
    strangers: AtomicU64,
}

impl Default for Beside {
    fn default() -> Beside {
        let none = || AtomicU64::new(0);
        Beside {
            logins: none(),
            preparations: none(),
            texts: none(),
            farewells: none(),
            strangers: AtomicU64::new(u64::MAX),
        }
    }
}

impl Beside {
    /// A session has begun.
    pub(crate) fn logged_in(&self) {
        self.logins.fetch_add(1, Ordering::Relaxed);
    }

    /// A statement was prepared.
    pub(crate) fn prepared(&self) {
        self.preparations.fetch_add(1, Ordering::Relaxed);
    }

    /// A text that is no part of a request was run.
    pub(crate) fn ran_text(&self) {
        self.texts.fetch_add(1, Ordering::Relaxed);
    }

    /// A session said that it ends.
    pub(crate) fn said_farewell(&self) {
        self.farewells.fetch_add(1, Ordering::Relaxed);
    }

    /// What PostgreSQL counts as a transaction each: the look at the user that ends a login, a
    /// preparation, and a text.
    pub(crate) fn transactions(&self) -> u64 {
        let Beside { logins, preparations, texts, farewells: _, strangers: _ } = self;
        [logins, preparations, texts].into_iter().map(|count| count.load(Ordering::Relaxed)).sum()
    }

    /// The texts.
    pub(crate) fn texts(&self) -> u64 {
        self.texts.load(Ordering::Relaxed)
    }

    /// The sessions that said that they end.
    pub(crate) fn farewells(&self) -> u64 {
        self.farewells.load(Ordering::Relaxed)
    }

    /// Whether that was ever asked.
    pub(crate) fn knows_strangers(&self) -> bool {
        self.strangers.load(Ordering::Relaxed) != u64::MAX
    }

    /// How many sessions others had when this was first called, which was told so.
    pub(crate) fn strangers(&self, now: u64) -> u64 {
        let order = Ordering::Relaxed;
        match self.strangers.compare_exchange(u64::MAX, now, order, order) {
            Ok(_) => now,
            Err(before) => before,
        }
    }
}
