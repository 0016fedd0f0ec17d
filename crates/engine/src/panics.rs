//! Handling of panics during a run.
//!
//! A panic is a bug in this program. It ends the run, and the run reports it. Otherwise the run
//! would wait for the task that panicked, and the effect would look like a slow database. A
//! [`PanicGuard`] notices a panic that unwinds past the guard; the message of the panic is
//! available where the task or the thread is joined.

use std::panic::{AssertUnwindSafe, catch_unwind};

use rt::Panic;

/// A guard that calls a function if a panic unwinds past it.
pub(crate) struct PanicGuard<F: FnMut()>(F);

impl<F: FnMut()> PanicGuard<F> {
    /// Creates a guard. `on_panic` is called during unwinding and must not panic.
    pub(crate) fn new(on_panic: F) -> PanicGuard<F> {
        PanicGuard(on_panic)
    }
}

impl<F: FnMut()> Drop for PanicGuard<F> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            (self.0)();
        }
    }
}

/// Returns the message of a panic.
pub(crate) fn panic_message(panic: &Panic) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("something panicked without a message").to_owned()
}

/// Calls a function. Returns its result, or the message if it panicked.
pub(crate) fn catch_panic<T>(something: impl FnOnce() -> T) -> Result<T, String> {
    // Callers do not use state that the function may have left inconsistent.
    catch_unwind(AssertUnwindSafe(something)).map_err(|panic| panic_message(&panic))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panic_message_is_extracted() {
        assert_eq!(catch_panic(|| 1), Ok(1));
        assert_eq!(catch_panic(|| panic!("a text")), Err::<(), _>("a text".to_owned()));
        assert_eq!(catch_panic(|| panic!("number {}", 7)), Err::<(), _>("number 7".to_owned()));
        let mute = catch_panic(|| std::panic::panic_any(7));
        assert_eq!(mute, Err::<(), _>("something panicked without a message".to_owned()));
    }

    #[test]
    fn guard_calls_its_function_only_on_a_panic() {
        let mut calls = 0;
        drop(PanicGuard::new(|| calls += 1));
        assert_eq!(calls, 0);
        let unwound = catch_panic(|| {
            let _guard = PanicGuard::new(|| calls += 1);
            panic!("unwinds");
        });
        assert_eq!((unwound, calls), (Err::<(), _>("unwinds".to_owned()), 1));
    }
}
