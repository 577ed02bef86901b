//! Flights: at most one piece of work per decision address in this replica,
//! shared by everybody who asks for it, detached from all of them. Knows
//! nothing of ledgers and providers. Called by `service.rs`.

use std::collections::HashMap;
use std::future::Future;
use std::sync::Arc;

use agon_service_kit::tasks::{TaskKind, Tasks};
use parking_lot::Mutex;
use tokio::sync::watch;

use crate::decision::{DecisionAddress, RequestDigest};

/// All flights of a replica. `T` is what comes out of one.
pub struct Flights<T> {
    tasks: Tasks,
    book: Mutex<Book<T>>,
}

struct Book<T> {
    next_number: u64,
    in_air: HashMap<DecisionAddress, Flight<T>>,
}

struct Flight<T> {
    number: u64,
    digest: RequestDigest,
    landing: watch::Sender<Option<T>>,
}

/// No result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FlightError {
    /// The address is in flight for another request.
    Conflict(RequestDigest),
    /// The work ended without a result: it panicked, or ran into the end of a
    /// shutdown.
    Lost,
}

impl<T: Clone + Send + Sync + 'static> Flights<T> {
    /// No flights yet; they will run under `tasks`, which lets them finish
    /// when it shuts down.
    pub fn new(tasks: Tasks) -> Self {
        let book = Mutex::new(Book {
            next_number: 0,
            in_air: HashMap::new(),
        });
        Self { tasks, book }
    }

    /// Joins the flight to this address, or starts it with `work`. Dropping
    /// the returned future leaves the flight alone; the work may ask its
    /// [`Passengers`] whether anybody is left.
    /// Who starts it carries it, so that it needs no task of its own unless he
    /// leaves before its end. It is made before the future is polled, which
    /// therefore holds next to nothing: thousands wait at once.
    pub fn board<W, S>(
        self: &Arc<Self>,
        address: DecisionAddress,
        digest: RequestDigest,
        work: S,
    ) -> impl Future<Output = Result<T, FlightError>> + Send + use<T, W, S>
    where
        S: FnOnce(Passengers<T>) -> W,
        W: Future<Output = T> + Send + 'static,
    {
        let boarding = self.join_or_enter(address, digest);
        let boarded = boarding.map(|boarding| match boarding {
            Boarding::Joined(landed) => (landed, None),
            Boarding::First(passengers, landed) => {
                let pilot = Pilot(passengers.clone());
                // Boxed here: whoever wraps a future by value makes room for it
                // once more, and thousands of these wait at once.
                let work = Box::pin(work(passengers));
                let work = self.tasks.carry(TaskKind::WORK, "decision", async move {
                    let outcome = work.await;
                    pilot.land(outcome);
                });
                (landed, Some(work))
            }
        });
        async move {
            let (mut landed, work) = boarded?;
            if let Some(work) = work {
                // However it ends: what came of it is in the landing.
                work.await;
            }
            let outcome = landed.wait_for(Option::is_some).await;
            outcome
                .ok()
                .and_then(|landed| landed.clone())
                .ok_or(FlightError::Lost)
        }
    }

    fn join_or_enter(
        self: &Arc<Self>,
        address: DecisionAddress,
        digest: RequestDigest,
    ) -> Result<Boarding<T>, FlightError> {
        let mut book = self.book.lock();
        if let Some(flight) = book.in_air.get(&address) {
            if flight.digest != digest {
                return Err(FlightError::Conflict(flight.digest.clone()));
            }
            return Ok(Boarding::Joined(flight.landing.subscribe()));
        }
        let (landing, landed) = watch::channel(None);
        let number = book.next_number;
        book.next_number += 1;
        let flight = Flight {
            number,
            digest,
            landing: landing.clone(),
        };
        book.in_air.insert(address.clone(), flight);
        let passengers = Passengers {
            flights: Arc::clone(self),
            address,
            number,
            landing,
        };
        Ok(Boarding::First(passengers, landed))
    }
}

enum Boarding<T> {
    First(Passengers<T>, watch::Receiver<Option<T>>),
    Joined(watch::Receiver<Option<T>>),
}

/// Those who wait for a flight.
pub struct Passengers<T> {
    flights: Arc<Flights<T>>,
    address: DecisionAddress,
    number: u64,
    landing: watch::Sender<Option<T>>,
}

impl<T> Clone for Passengers<T> {
    fn clone(&self) -> Self {
        Self {
            flights: Arc::clone(&self.flights),
            address: self.address.clone(),
            number: self.number,
            landing: self.landing.clone(),
        }
    }
}

impl<T> Passengers<T> {
    /// Completes when nobody waits any more; from then on nobody can join, and
    /// who asks next starts another flight.
    pub async fn all_gone(&self) {
        loop {
            self.landing.closed().await;
            let mut book = self.flights.book.lock();
            // Under the lock nobody can join between the look and the removal.
            if self.landing.receiver_count() == 0 {
                self.strike_out(&mut book);
                return;
            }
        }
    }

    fn strike_out(&self, book: &mut Book<T>) {
        if book
            .in_air
            .get(&self.address)
            .is_some_and(|flight| flight.number == self.number)
        {
            book.in_air.remove(&self.address);
        }
    }
}

/// Takes the flight out of the book however it ends.
struct Pilot<T>(Passengers<T>);

impl<T> Pilot<T> {
    fn land(self, outcome: T) {
        self.0.landing.send_replace(Some(outcome));
    }
}

impl<T> Drop for Pilot<T> {
    fn drop(&mut self) {
        let mut book = self.0.flights.book.lock();
        self.0.strike_out(&mut book);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use tokio::sync::oneshot;

    use super::*;

    fn address() -> DecisionAddress {
        DecisionAddress {
            session_id: "s".into(),
            seat: 0,
            index: 0,
        }
    }

    fn digest(text: &str) -> RequestDigest {
        text.to_owned().into()
    }

    fn flights() -> Arc<Flights<u64>> {
        Arc::new(Flights::new(Tasks::new()))
    }

    #[tokio::test]
    async fn everybody_shares_one_flight() {
        let (flights, started) = (flights(), Arc::new(AtomicU64::new(0)));
        let asks = (0..20).map(|_| {
            let started = Arc::clone(&started);
            flights.board(address(), digest("d"), move |_| async move {
                tokio::task::yield_now().await;
                started.fetch_add(1, Ordering::SeqCst)
            })
        });
        let outcomes = futures_util::future::join_all(asks).await;
        assert!(outcomes.into_iter().all(|outcome| outcome == Ok(0)));
        assert!(flights.book.lock().in_air.is_empty());
    }

    #[tokio::test]
    async fn other_request_in_flight_is_a_conflict() {
        let flights = flights();
        let (_keep, gate) = oneshot::channel::<()>();
        let first = flights.board(address(), digest("d"), |_| async {
            let _ = gate.await;
            1
        });
        tokio::pin!(first);
        assert!(futures_util::poll!(first.as_mut()).is_pending());
        let other = flights.board(address(), digest("e"), |_| async { 2 }).await;
        assert_eq!(other, Err(FlightError::Conflict(digest("d"))));
    }

    #[tokio::test]
    async fn work_goes_on_when_every_caller_is_gone() {
        let flights = flights();
        let (done, finished) = oneshot::channel();
        let (open, gate) = oneshot::channel::<()>();
        {
            let caller = flights.board(address(), digest("d"), |_| async {
                let _ = gate.await;
                let _ = done.send(());
                1
            });
            tokio::pin!(caller);
            assert!(futures_util::poll!(caller.as_mut()).is_pending());
        }
        open.send(()).unwrap();
        finished.await.unwrap();
    }

    #[tokio::test]
    async fn abandoned_flight_cannot_be_joined() {
        let flights = flights();
        let (told, gone) = oneshot::channel();
        {
            let caller = flights.board(address(), digest("d"), |passengers| async move {
                passengers.all_gone().await;
                let _ = told.send(());
                std::future::pending().await
            });
            tokio::pin!(caller);
            assert!(futures_util::poll!(caller.as_mut()).is_pending());
        }
        gone.await.unwrap();
        let next = flights.board(address(), digest("d"), |_| async { 2 }).await;
        assert_eq!(next, Ok(2));
    }

    #[tokio::test]
    async fn panic_is_told_and_leaves_nothing_behind() {
        let flights = flights();
        let lost = flights
            .board(address(), digest("d"), |_| async { panic!("boom") })
            .await;
        assert_eq!(lost, Err(FlightError::Lost));
        let next = flights.board(address(), digest("d"), |_| async { 2 }).await;
        assert_eq!(next, Ok(2));
    }
}
