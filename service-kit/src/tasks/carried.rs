//! A supervised piece of work that whoever waits for it polls himself, and that goes on as a
//! task of its own when nobody does. Made by `Tasks::carry` only.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::runtime::Handle;

use super::TaskEnd;

type Work = Pin<Box<dyn Future<Output = TaskEnd> + Send>>;

/// Work in the hands of the one who waits for it.
#[must_use = "dropped at once it is a task; spawn it as one"]
pub struct Carried {
    /// Absent when it has ended.
    work: Option<Work>,
}

impl Carried {
    pub(super) fn new(work: impl Future<Output = TaskEnd> + Send + 'static) -> Self {
        Self {
            work: Some(Box::pin(work)),
        }
    }
}

impl Future for Carried {
    type Output = TaskEnd;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<TaskEnd> {
        let Some(work) = &mut self.work else {
            return Poll::Pending;
        };
        let ended = work.as_mut().poll(context);
        if ended.is_ready() {
            self.work = None;
        }
        ended
    }
}

impl Drop for Carried {
    fn drop(&mut self) {
        if let (Some(work), Ok(runtime)) = (self.work.take(), Handle::try_current()) {
            runtime.spawn(work);
        }
    }
}
