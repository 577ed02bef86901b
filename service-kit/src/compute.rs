//! Work that takes processor time, on as many threads as there are processors and apart from those
//! that serve: however much of it waits, heartbeats and streams go on, and what takes long is not
//! made slower by what comes after it.

use std::sync::OnceLock;
use std::thread::available_parallelism;

use tokio::runtime::{Builder, Handle, Runtime};
use tokio_util::task::AbortOnDropHandle;
use tracing::warn;

use crate::tasks::panic_message;

/// Short work of every service: checks, packing, digests.
pub static SHORT: Pool = Pool::new("compute");

/// Threads for one kind of work, which is begun about in the order in which it comes. They start
/// with the first of it and serve the whole process.
pub struct Pool {
    name: &'static str,
    threads: OnceLock<Option<Runtime>>,
}

/// The work panicked: with what message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Panicked(pub String);

impl Pool {
    /// A pool whose threads are called `name`.
    pub const fn new(name: &'static str) -> Self {
        Self {
            name,
            threads: OnceLock::new(),
        }
    }

    /// What `work` comes to. It is never begun for a caller who has gone before.
    ///
    /// # Errors
    /// It panicked.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Panicked> {
        let done = AbortOnDropHandle::new(self.handle().spawn(async move { work() }));
        done.await.map_err(|error| match error.try_into_panic() {
            Ok(panic) => Panicked(panic_message(&*panic)),
            Err(stopped) => Panicked(stopped.to_string()),
        })
    }

    /// For tasks that compute between what they wait for, and whatever they start.
    pub fn handle(&self) -> Handle {
        match self.threads.get_or_init(|| self.start()) {
            Some(runtime) => runtime.handle().clone(),
            None => Handle::current(),
        }
    }

    fn start(&self) -> Option<Runtime> {
        let mut threads = Builder::new_multi_thread();
        threads.worker_threads(available_parallelism().map_or(1, usize::from));
        threads.thread_name(self.name).enable_all();
        let started = threads.build();
        if let Err(error) = &started {
            warn!(%error, threads = self.name, "cannot start threads; those that serve are used");
        }
        started.ok()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread::{self, available_parallelism};

    use super::*;

    #[tokio::test]
    async fn work_is_done_elsewhere_and_a_panic_is_a_value() {
        static POOL: Pool = Pool::new("tested");
        let name = || thread::current().name().unwrap_or_default().to_owned();
        let done = POOL.run(name).await;
        assert!(done.unwrap().starts_with("tested"));
        let panicked = POOL.run(|| panic!("out of {}", "rope")).await;
        assert_eq!(panicked, Err::<(), _>(Panicked("out of rope".to_owned())));
        assert_eq!(POOL.run(|| 7).await, Ok(7));
    }

    #[tokio::test]
    async fn no_more_is_begun_than_there_are_processors_and_nothing_for_who_has_gone() {
        static POOL: Pool = Pool::new("bounded");
        let most = available_parallelism().unwrap().get();
        let (begun, beginnings) = mpsc::channel();
        let mut opens = Vec::new();
        let mut waiting = Vec::new();
        for number in 0..most + 2 {
            let (open, gate) = mpsc::channel::<()>();
            opens.push(open);
            let begun = begun.clone();
            waiting.push(Box::pin(POOL.run(move || {
                begun.send(number).unwrap();
                let _ = gate.recv();
            })));
        }
        for one in &mut waiting {
            assert!(futures_util::poll!(one).is_pending());
        }
        let first: Vec<usize> = (0..most).map(|_| beginnings.recv().unwrap()).collect();
        // One of those that wait is given up: only the other is begun.
        let given_up = (0..).find(|number| !first.contains(number)).unwrap();
        drop(waiting.remove(given_up));
        drop(opens);
        for one in waiting {
            one.await.unwrap();
        }
        drop(begun);
        let left = (0..most + 2).find(|number| *number != given_up && !first.contains(number));
        assert_eq!(beginnings.iter().collect::<Vec<_>>(), [left.unwrap()]);
    }
}
