//! Goes through many things with all processors: some are taken ahead and worked on at once, and what
//! comes of them is handed out in their order. What is under way is bounded in bytes, so that a few
//! large ones are worked on one after the other. Called by whatever goes through the sessions of runs.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::Result as Caught;
use std::thread::available_parallelism;

use agon_service_kit::compute::SHORT;

/// Things that are worked on together: starting that costs as much as a short one.
const TOGETHER: usize = 32;

/// Of so many bytes there are enough together.
const BYTES_TOGETHER: u64 = 256 * 1024;

/// Bytes under way with which nothing more is taken.
const MOST_BYTES: u64 = 4 * 1024 * 1024;

type Work<T, R> = Arc<dyn Fn(T) -> R + Send + Sync>;

/// Some things that are worked on.
struct UnderWay<R> {
    bytes: u64,
    results: Receiver<Caught<Vec<R>>>,
}

/// What is taken ahead of where one is.
pub struct Ahead<T, R> {
    work: Work<T, R>,
    /// What is put together, not begun yet.
    next: Vec<T>,
    next_bytes: u64,
    under_way: VecDeque<UnderWay<R>>,
    /// How many such may be under way. Kept, because to count processors the system reads files.
    most: usize,
    done: std::vec::IntoIter<R>,
}

impl<T: Send + 'static, R: Send + 'static> Ahead<T, R> {
    /// Nothing yet, of which this is to be made.
    pub fn new(work: impl Fn(T) -> R + Send + Sync + 'static) -> Self {
        Self {
            work: Arc::new(work),
            next: Vec::new(),
            next_bytes: 0,
            under_way: VecDeque::new(),
            most: 2 * available_parallelism().map_or(1, usize::from),
            done: Vec::new().into_iter(),
        }
    }

    /// Whether so much is under way that nothing more should be added.
    pub fn is_full(&self) -> bool {
        let bytes: u64 = self.under_way.iter().map(|some| some.bytes).sum();
        self.under_way.len() > self.most || bytes + self.next_bytes >= MOST_BYTES
    }

    /// Adds one, which takes about so many bytes.
    pub fn add(&mut self, one: T, bytes: u64) {
        self.next.push(one);
        self.next_bytes += bytes;
        if self.next.len() >= TOGETHER || self.next_bytes >= BYTES_TOGETHER {
            self.begin();
        }
    }

    fn begin(&mut self) {
        let (things, bytes) = (std::mem::take(&mut self.next), self.next_bytes);
        self.next_bytes = 0;
        let work = Arc::clone(&self.work);
        let (sender, results) = sync_channel(1);
        SHORT.handle().spawn(async move {
            let all = || things.into_iter().map(|one| work(one)).collect();
            // Whoever wanted it may have stopped.
            let _ = sender.send(catch_unwind(AssertUnwindSafe(all)));
        });
        self.under_way.push_back(UnderWay { bytes, results });
    }

    /// What came of the next one; waits for it. `None` where nothing is left.
    ///
    /// # Panics
    /// The work panicked.
    pub fn next(&mut self) -> Option<R> {
        loop {
            if let Some(one) = self.done.next() {
                return Some(one);
            }
            if self.under_way.is_empty() && !self.next.is_empty() {
                self.begin();
            }
            let some = self.under_way.pop_front()?;
            match some.results.recv() {
                Ok(Ok(done)) => self.done = done.into_iter(),
                Ok(Err(panic)) => resume_unwind(panic),
                // The threads are gone, as at the end of the process.
                Err(_) => return None,
            }
        }
    }
}

/// What comes of each of `things`, in their order; `bytes` says how large one is.
pub fn in_order<T: Send + 'static, R: Send + 'static>(
    things: impl Iterator<Item = T>,
    bytes: impl Fn(&T) -> u64,
    work: impl Fn(T) -> R + Send + Sync + 'static,
) -> impl Iterator<Item = R> {
    let (mut things, mut ahead) = (things.fuse(), Ahead::new(work));
    std::iter::from_fn(move || {
        while !ahead.is_full() {
            let Some(one) = things.next() else {
                break;
            };
            let bytes = bytes(&one);
            ahead.add(one, bytes);
        }
        ahead.next()
    })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    #[test]
    fn everything_comes_in_its_order_whatever_it_weighs() {
        for bytes in [0, 1, 100_000, MOST_BYTES, 10 * MOST_BYTES] {
            let doubled = in_order(0..1_000_u32, |_| bytes, |one| one * 2);
            assert!(doubled.eq((0..1_000).map(|one| one * 2)), "{bytes} bytes");
        }
    }

    #[test]
    fn no_more_is_taken_than_may_be_under_way() {
        let taken = Arc::new(AtomicU64::new(0));
        let count = Arc::clone(&taken);
        let large = (0..100_u64).inspect(move |_| {
            count.fetch_add(1, Ordering::Relaxed);
        });
        let worked = in_order(large, |_| MOST_BYTES / 2, |one| one);
        for (handed_out, _) in worked.enumerate() {
            let ahead = taken.load(Ordering::Relaxed) - handed_out as u64;
            assert!(ahead <= 2, "{ahead} at {handed_out}");
        }
        assert_eq!(taken.load(Ordering::Relaxed), 100);
    }

    #[test]
    fn a_panic_reaches_whoever_wanted_what_comes_of_it() {
        let work = |one: u32| {
            assert_ne!(one, 70, "a fault in the work");
            one
        };
        let mut worked = in_order(0..100, |_| 1, work);
        let panicked = catch_unwind(AssertUnwindSafe(|| worked.by_ref().last()));
        assert!(panicked.is_err());
    }
}
