//! Tasks: futures that run concurrently with the one that started them.

use std::any::Any;
use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker, ready};

use crate::tasks::Tasks;

/// A started task. Awaiting it returns its result; a panic inside it propagates to the awaiting
/// task.
pub struct Task<T>(Rc<RefCell<TaskState<T>>>);

/// The payload of a task's panic.
pub type Panic = Box<dyn Any + Send>;

struct TaskState<T> {
    result: Option<Result<T, Panic>>,
    waker: Option<Waker>,
}

pub(crate) fn spawn<T: 'static>(
    tasks: &Tasks,
    future: impl Future<Output = T> + 'static,
) -> Task<T> {
    let outcome = Rc::new(RefCell::new(TaskState { result: None, waker: None }));
    let shared = Rc::clone(&outcome);
    // The future is boxed: an async block that awaited it by value would store it twice.
    let mut future = Box::pin(future);
    tasks.spawn(poll_fn(move |context| {
        let result = ready!(poll_caught(future.as_mut(), context));
        let mut outcome = shared.borrow_mut();
        outcome.result = Some(result);
        if let Some(waker) = outcome.waker.take() {
            waker.wake();
        }
        Poll::Ready(())
    }));
    Task(outcome)
}

/// Polls a future, catching a panic. A future that has panicked must not be polled again.
fn poll_caught<F: Future>(
    future: Pin<&mut F>,
    context: &mut Context<'_>,
) -> Poll<Result<F::Output, Panic>> {
    match catch_unwind(AssertUnwindSafe(|| future.poll(context))) {
        Ok(poll) => poll.map(Ok),
        Err(panic) => Poll::Ready(Err(panic)),
    }
}

impl<T> Task<T> {
    /// Waits for the result, or for the panic that ended the task, which does not propagate.
    ///
    /// # Errors
    /// The payload of the task's panic.
    pub async fn outcome(mut self) -> Result<T, Panic> {
        poll_fn(|context| self.poll_outcome(context)).await
    }

    fn poll_outcome(&mut self, context: &mut Context<'_>) -> Poll<Result<T, Panic>> {
        let mut outcome = self.0.borrow_mut();
        match outcome.result.take() {
            Some(result) => Poll::Ready(result),
            None => {
                outcome.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl<T> Future for Task<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        self.poll_outcome(context)
            .map(|outcome| outcome.unwrap_or_else(|panic| resume_unwind(panic)))
    }
}

/// Lets every other task that is ready run first.
pub async fn yield_now() {
    let mut yielded = false;
    poll_fn(|context| {
        if std::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
