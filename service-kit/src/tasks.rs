//! Starts tasks under supervision: a kind says what a failure means and what shutdown means,
//! panics are caught and reported, and shutdown waits for what must finish until a deadline.
//! It restarts nothing: a supervisor that knows the work does that, from the task's [`TaskEnd`].
//! Every long-lived task of every service starts here.

use std::any::Any;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::error::Error;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::FutureExt as _;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::task_tracker::{TaskTracker, TaskTrackerToken};
use tracing::{error, warn};

mod carried;

pub use carried::Carried;

/// How long after the deadline aborted tasks get to unwind; dropping a future is quick.
const ABORT_GRACE: Duration = Duration::from_millis(500);

/// The tasks of one process (or of one in-process service). Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Tasks {
    inner: Arc<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    tracker: TaskTracker,
    /// Cancelled when shutdown begins.
    stopping: CancellationToken,
    /// Cancelled when the deadline of the shutdown has passed.
    overdue: CancellationToken,
    book: Mutex<Book>,
}

/// Which tasks run, and the failure that stopped the process, if one did.
#[derive(Debug, Default)]
struct Book {
    next_number: u64,
    running: BTreeMap<u64, TaskStatus>,
    fatal: Option<TaskFailure>,
}

/// What a task's failure and the process's shutdown mean for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaskKind {
    /// What an error or a panic means.
    pub on_failure: OnFailure,
    /// What shutdown means.
    pub on_shutdown: OnShutdown,
}

/// What an error or a panic of a task means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnFailure {
    /// It is logged; everything else goes on.
    Log,
    /// The service makes no sense without it: shut everything down.
    StopProcess,
}

/// What shutdown means to a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnShutdown {
    /// It watches [`Tasks::shutdown_token`] and gets until the deadline to come to a safe point.
    Finish,
    /// It is dropped at its next await.
    Abort,
}

impl TaskKind {
    /// A server or the main loop of a service.
    pub const SERVICE: Self = Self {
        on_failure: OnFailure::StopProcess,
        on_shutdown: OnShutdown::Finish,
    };
    /// A piece of work among many, such as a session: its failure is its own, its end is awaited.
    pub const WORK: Self = Self {
        on_failure: OnFailure::Log,
        on_shutdown: OnShutdown::Finish,
    };
    /// Something that may stop at any time: upkeep, sampling, watching.
    pub const UPKEEP: Self = Self {
        on_failure: OnFailure::Log,
        on_shutdown: OnShutdown::Abort,
    };
}

/// How a task ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskEnd {
    /// By itself, well.
    Done,
    /// With an error, printed with its causes.
    Failed(String),
    /// By a panic, with its message.
    Panicked(String),
    /// Dropped by shutdown.
    Aborted,
}

/// A running task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskStatus {
    /// The name it was started under.
    pub name: Cow<'static, str>,
    /// The kind it was started under.
    pub kind: TaskKind,
}

/// The failure of a task without which the process cannot go on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("task {name} failed: {reason}")]
pub struct TaskFailure {
    /// The task.
    pub name: Cow<'static, str>,
    /// Its error or panic message.
    pub reason: String,
}

/// What a task's future may return: nothing, or a result whose error is reported.
pub trait TaskOutcome {
    /// The error with its causes, or `None` when all went well.
    fn failure(self) -> Option<String>;
}

impl TaskOutcome for () {
    fn failure(self) -> Option<String> {
        None
    }
}

impl<E: Into<Box<dyn Error + Send + Sync>>> TaskOutcome for Result<(), E> {
    fn failure(self) -> Option<String> {
        self.err().map(|error| with_causes(error.into().as_ref()))
    }
}

impl Tasks {
    /// No tasks yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Starts a task. The handle may be dropped; awaiting it tells how the task ended.
    pub fn spawn<F>(
        &self,
        kind: TaskKind,
        name: impl Into<Cow<'static, str>>,
        future: F,
    ) -> JoinHandle<TaskEnd>
    where
        F: Future + Send + 'static,
        F::Output: TaskOutcome + Send,
    {
        self.spawn_on(&Handle::current(), kind, name, future)
    }

    /// The same on the threads of another runtime, where whatever it starts runs, too.
    pub fn spawn_on<F>(
        &self,
        threads: &Handle,
        kind: TaskKind,
        name: impl Into<Cow<'static, str>>,
        future: F,
    ) -> JoinHandle<TaskEnd>
    where
        F: Future + Send + 'static,
        F::Output: TaskOutcome + Send,
    {
        threads.spawn(self.supervise(kind, name.into(), future))
    }

    /// As [`Tasks::spawn`], but without a task of its own as long as the caller polls it:
    /// that saves two changes of tasks and the room for one. Dropped before its end it goes on
    /// as a task, unless there is no runtime any more.
    pub fn carry<F>(&self, kind: TaskKind, name: impl Into<Cow<'static, str>>, future: F) -> Carried
    where
        F: Future + Send + 'static,
        F::Output: TaskOutcome + Send,
    {
        Carried::new(self.supervise(kind, name.into(), future))
    }

    /// A future under supervision, from now on until it ends or is dropped.
    fn supervise<F>(
        &self,
        kind: TaskKind,
        name: Cow<'static, str>,
        future: F,
    ) -> impl Future<Output = TaskEnd> + Send + use<F>
    where
        F: Future + Send + 'static,
        F::Output: TaskOutcome + Send,
    {
        let number = self.book().enter(TaskStatus {
            name: name.clone(),
            kind,
        });
        let running = RunningTask {
            tasks: self.clone(),
            number,
            _tracked: self.inner.tracker.token(),
        };
        let stop = match kind.on_shutdown {
            OnShutdown::Abort => self.inner.stopping.clone(),
            OnShutdown::Finish => self.inner.overdue.clone(),
        };
        // Boxed, because each of what wraps it would make room for it twice.
        let caught = AssertUnwindSafe(Box::pin(future)).catch_unwind();
        async move {
            let running = running;
            let end = match stop.run_until_cancelled_owned(caught).await {
                None => TaskEnd::Aborted,
                Some(Err(panic)) => TaskEnd::Panicked(panic_message(panic.as_ref())),
                Some(Ok(outcome)) => outcome.failure().map_or(TaskEnd::Done, TaskEnd::Failed),
            };
            running.tasks.report(&TaskStatus { name, kind }, &end);
            end
        }
    }

    /// Cancelled when shutdown begins; tasks of kind [`OnShutdown::Finish`] watch it.
    pub fn shutdown_token(&self) -> CancellationToken {
        self.inner.stopping.clone()
    }

    /// Waits for `signal` or for a fatal task failure, then shuts down within `deadline`.
    pub async fn run_until<S: Future>(
        &self,
        signal: S,
        deadline: Duration,
    ) -> Result<(), TaskFailure> {
        tokio::select! {
            _ = signal => {}
            () = self.inner.stopping.cancelled() => {}
        }
        self.shutdown(deadline).await
    }

    /// Begins shutdown, waits for the tasks until `deadline` from now, drops the rest and names
    /// them in the log. Returns the failure that stopped the process, if one did.
    pub async fn shutdown(&self, deadline: Duration) -> Result<(), TaskFailure> {
        self.inner.stopping.cancel();
        self.inner.tracker.close();
        if tokio::time::timeout(deadline, self.inner.tracker.wait())
            .await
            .is_err()
        {
            let late: Vec<_> = self.status().into_iter().map(|task| task.name).collect();
            warn!(?deadline, tasks = ?late, "tasks did not finish in time and are dropped");
            self.inner.overdue.cancel();
            if tokio::time::timeout(ABORT_GRACE, self.inner.tracker.wait())
                .await
                .is_err()
            {
                warn!("tasks that never await are left behind");
            }
        }
        self.book().fatal.clone().map_or(Ok(()), Err)
    }

    /// The tasks that run now, oldest first.
    pub fn status(&self) -> Vec<TaskStatus> {
        self.book().running.values().cloned().collect()
    }

    fn report(&self, status: &TaskStatus, end: &TaskEnd) {
        let TaskStatus { name, kind } = status;
        let reason = match end {
            TaskEnd::Done | TaskEnd::Aborted => return,
            TaskEnd::Failed(reason) => reason.clone(),
            TaskEnd::Panicked(message) => format!("panicked: {message}"),
        };
        match kind.on_failure {
            OnFailure::Log => warn!(task = %name, %reason, "task failed"),
            OnFailure::StopProcess => {
                error!(task = %name, %reason, "task failed, shutting down");
                let failure = TaskFailure {
                    name: name.clone(),
                    reason,
                };
                self.book().fatal.get_or_insert(failure);
                self.inner.stopping.cancel();
            }
        }
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        // Nothing panics while holding the book, and a poisoned one would still be right.
        self.inner
            .book
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Book {
    fn enter(&mut self, status: TaskStatus) -> u64 {
        let number = self.next_number;
        self.next_number += 1;
        self.running.insert(number, status);
        number
    }
}

/// Takes a task out of the book however it ends, also when its handle is aborted.
struct RunningTask {
    tasks: Tasks,
    number: u64,
    /// Shutdown waits for it; released after it is out of the book.
    _tracked: TaskTrackerToken,
}

impl Drop for RunningTask {
    fn drop(&mut self) {
        self.tasks.book().running.remove(&self.number);
    }
}

/// The message of a caught panic.
pub fn panic_message(panic: &(dyn Any + Send)) -> String {
    if let Some(text) = panic.downcast_ref::<&str>() {
        (*text).to_owned()
    } else if let Some(text) = panic.downcast_ref::<String>() {
        text.clone()
    } else {
        "a panic without a message".to_owned()
    }
}

/// An error and its causes in one line; a cause that only says again what stands there is left out.
pub fn with_causes(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let said = inner.to_string();
        if !text.contains(&said) {
            text.push_str(": ");
            text.push_str(&said);
        }
        cause = inner.source();
    }
    text
}

#[cfg(test)]
mod tests;
