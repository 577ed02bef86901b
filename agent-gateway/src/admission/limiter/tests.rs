//! The limiter over a store whose answers get lost, and whose changes arrive late: what was granted
//! counts once, and what was given up is refused.

use std::collections::BTreeMap;

use async_trait::async_trait;

use super::books::ProcessCalls;
use super::store::{Changed, Document};
use super::*;
use crate::admission::{Ask, KeyLimits, Share};

#[test]
fn time_never_runs_backwards_and_a_clock_that_was_set_back_is_believed() {
    assert_eq!(common_time(1_000.0, 0.0), 1_000.0);
    assert_eq!(common_time(1_000.0, 31_000.0), 31_000.0);
    assert_eq!(common_time(1_000.0, 3_600_000.0), 1_000.0);
}

/// What becomes of the next exchange.
#[derive(Clone, Copy)]
enum Fate {
    /// It arrives, its answer does not.
    AnswerLost,
    /// It arrives later, with [`Shaky::arrive`].
    Late,
}

#[derive(Default)]
struct Shaky {
    documents: Mutex<BTreeMap<String, (String, String)>>,
    next: Mutex<Option<Fate>>,
    late: Mutex<Vec<(Vec<Document>, String)>>,
    exchanges: Mutex<usize>,
    /// How much later than at first the clock says that it is.
    later_ms: Mutex<f64>,
}

impl Shaky {
    fn replace(&self, documents: &[Document], version: &str) -> Vec<Changed> {
        let mut stored = self.documents.lock();
        let mut changed = Vec::new();
        for (index, document) in documents.iter().enumerate() {
            let (version, text) = stored.get(&document.name).cloned().unwrap_or_default();
            if version != document.version {
                changed.push(Changed {
                    index,
                    version,
                    text,
                });
            }
        }
        if changed.is_empty() {
            for document in documents {
                if let Some(text) = &document.text {
                    let kept = (version.to_owned(), text.clone());
                    stored.insert(document.name.clone(), kept);
                }
            }
        }
        changed
    }

    /// Everything late arrives now; answers whether any of it was taken.
    fn arrive(&self) -> bool {
        let late = std::mem::take(&mut *self.late.lock());
        late.iter()
            .any(|(documents, version)| self.replace(documents, version).is_empty())
    }
}

#[async_trait]
impl LimitStore for Shaky {
    fn process(&self) -> &str {
        "own"
    }

    fn now_ms(&self) -> f64 {
        1e12 + *self.later_ms.lock()
    }

    fn keeps_unlimited(&self) -> bool {
        true
    }

    fn is_lost(&self, _process: &str, _calls: &ProcessCalls, _now_ms: f64) -> bool {
        false
    }

    async fn exchange(
        &self,
        _provider: &str,
        documents: &[Document],
        version: &str,
    ) -> Result<Vec<Changed>, StoreError> {
        assert!(!documents.is_empty(), "an exchange of nothing");
        *self.exchanges.lock() += 1;
        match self.next.lock().take() {
            None => return Ok(self.replace(documents, version)),
            Some(Fate::AnswerLost) => {
                let _ = self.replace(documents, version);
            }
            Some(Fate::Late) => {
                let copies = documents.iter().map(|document| Document {
                    name: document.name.clone(),
                    version: document.version.clone(),
                    text: document.text.clone(),
                });
                let late = (copies.collect(), version.to_owned());
                self.late.lock().push(late);
            }
        }
        Err(StoreError::unknown_answer("keep limits"))
    }
}

fn over(store: &Arc<Shaky>) -> Limiter {
    let store: Arc<dyn LimitStore> = Arc::<Shaky>::clone(store);
    Limiter::keeping(Some(store))
}

fn keys() -> [Candidate; 1] {
    [key("a", 6_000)]
}

fn key(name: &str, requests_per_minute: u64) -> Candidate {
    Candidate {
        key: KeyId::from(name),
        limits: KeyLimits {
            requests_per_minute: Some(requests_per_minute),
            ..KeyLimits::default()
        },
        lane_limits: KeyLimits::default(),
        room: None,
    }
}

fn request() -> Charge {
    Charge {
        requests: 1,
        ..Charge::default()
    }
}

async fn ask(limiter: &Limiter, attempt: &str) -> Result<Option<Reservation>, StoreError> {
    ask_with(limiter, attempt, &keys()).await
}

async fn ask_with(
    limiter: &Limiter,
    attempt: &str,
    candidates: &[Candidate],
) -> Result<Option<Reservation>, StoreError> {
    let asks = [Ask {
        attempt: attempt.to_owned(),
        charge: request(),
        most: request(),
        lasts: Duration::from_secs(60),
        share: Share {
            team: "team".to_owned(),
            weight: 1.0,
            cost: 1,
        },
        except: Vec::new(),
    }];
    let batch = Batch {
        pool: "pool",
        lane: "lane",
        asker: "asker",
        burst: Duration::from_secs(1),
        candidates,
        asks: &asks,
        waiting: &[("team".to_owned(), 1.0)],
    };
    let verdict = limiter.reserve(&batch).await?;
    Ok(verdict.granted.into_iter().next().flatten())
}

/// Requests that were taken, and calls in flight.
async fn seen(limiter: &Limiter) -> (u64, u64) {
    let seen = limiter.outlook("pool", "lane", &keys()).await.unwrap();
    (seen[0].key_wide[0].used, seen[0].in_flight)
}

#[tokio::test]
async fn what_was_granted_counts_once_when_the_answer_is_lost() {
    let store = Arc::new(Shaky::default());
    let limiter = over(&store);
    ask(&limiter, "first").await.unwrap().unwrap();
    *store.next.lock() = Some(Fate::AnswerLost);
    ask(&limiter, "second").await.unwrap_err();
    assert_eq!(seen(&limiter).await, (2, 2));
    let held = ask(&limiter, "second").await.unwrap().unwrap();
    assert_eq!(seen(&limiter).await, (2, 2));
    *store.next.lock() = Some(Fate::AnswerLost);
    let (unused, nothing) = (Charge::default(), Signals::default());
    let settle = || limiter.settle(&held, &unused, 0, &nothing);
    settle().await.unwrap_err();
    settle().await.unwrap();
    assert_eq!(seen(&limiter).await, (1, 1));
    assert_eq!(seen(&over(&store)).await, (1, 1));
}

#[tokio::test]
async fn granted_call_whose_key_has_gone_goes_to_another_one() {
    let store = Arc::new(Shaky::default());
    let limiter = over(&store);
    *store.next.lock() = Some(Fate::AnswerLost);
    ask(&limiter, "first").await.unwrap_err();
    let left = [key("b", 6_000)];
    let granted = ask_with(&limiter, "first", &left).await.unwrap().unwrap();
    assert_eq!(granted.key, left[0].key);
    assert_eq!(seen(&limiter).await, (0, 0));
    let seen = limiter.outlook("pool", "lane", &left).await.unwrap();
    assert_eq!((seen[0].key_wide[0].used, seen[0].in_flight), (1, 1));
}

#[tokio::test]
async fn limits_refill_though_the_clock_was_set_back_by_an_hour() {
    let store = Arc::new(Shaky::default());
    let limiter = over(&store);
    let keys = [key("a", 60)];
    let takes = async |from: u32| {
        let mut taken = 0;
        while ask_with(&limiter, &format!("{from} {taken}"), &keys)
            .await
            .unwrap()
            .is_some()
        {
            taken += 1;
        }
        taken
    };
    assert!(takes(0).await > 0);
    *store.later_ms.lock() = -3_600_000.0;
    assert_eq!(takes(1).await, 0);
    *store.later_ms.lock() += 10_000.0;
    assert!(takes(2).await > 0);
}

#[tokio::test]
async fn change_that_arrives_late_is_refused() {
    let store = Arc::new(Shaky::default());
    let limiter = over(&store);
    ask(&limiter, "first").await.unwrap().unwrap();
    for (attempt, taken) in [("second", 2), ("third", 3)] {
        *store.next.lock() = Some(Fate::Late);
        ask(&limiter, attempt).await.unwrap_err();
        // Nobody else has changed anything: only what was found out stands against it.
        assert_eq!(seen(&limiter).await.0, taken - 1);
        assert!(!store.arrive(), "{attempt}");
        ask(&limiter, attempt).await.unwrap().unwrap();
        assert_eq!(seen(&limiter).await, (taken, taken));
    }
}

#[tokio::test]
async fn look_that_is_not_answered_stops_nobody() {
    let store = Arc::new(Shaky::default());
    let limiter = over(&store);
    for attempt in ["first", "second"] {
        *store.next.lock() = Some(Fate::AnswerLost);
        limiter.outlook("pool", "lane", &keys()).await.unwrap_err();
        ask(&limiter, attempt).await.unwrap().unwrap();
    }
    assert_eq!(seen(&limiter).await, (2, 2));
}

#[tokio::test]
async fn asker_that_goes_away_while_the_store_is_asked_leaves_nothing_behind() {
    let store = Arc::new(Shaky::default());
    let limiter = over(&store);
    *store.next.lock() = Some(Fate::AnswerLost);
    ask(&limiter, "first").await.unwrap_err();
    let settled = Settled {
        reservation: ask(&limiter, "first").await.unwrap().unwrap(),
        used: Charge::default(),
        cost: 0,
        signals: Signals::default(),
    };
    // Dropped before it has looked at the store.
    let provider = limiter.provider("pool");
    let busy = provider.state.lock().await;
    let mut going =
        Box::pin(limiter.note("pool", Note::Settled(Box::new(settled)), Duration::ZERO));
    assert!(futures_util::poll!(&mut going).is_pending());
    drop(going);
    drop(busy);
    // Whoever comes next takes the note.
    assert_eq!(seen(&limiter).await, (0, 0));
}

#[tokio::test(start_paused = true)]
async fn settlement_that_can_wait_goes_with_the_next_question_or_alone_when_there_is_none() {
    const WITHIN: Duration = Duration::from_millis(5);
    let store = Arc::new(Shaky::default());
    let limiter = over(&store);
    let held = ask(&limiter, "first").await.unwrap().unwrap();
    let other = ask(&limiter, "second").await.unwrap().unwrap();
    let exchanges = || std::mem::take(&mut *store.exchanges.lock());
    exchanges();
    let (unused, nothing) = (Charge::default(), Signals::default());
    let settle = |held| limiter.settle_within(WITHIN, held, &unused, 0, &nothing);

    let mut settling = Box::pin(settle(&held));
    assert!(futures_util::poll!(&mut settling).is_pending());
    ask(&limiter, "third").await.unwrap().unwrap();
    assert_eq!(exchanges(), 1, "both in one");
    let began = tokio::time::Instant::now();
    settling.await.unwrap();
    assert_eq!(began.elapsed(), Duration::ZERO, "it was told already");

    let began = tokio::time::Instant::now();
    settle(&other).await.unwrap();
    assert_eq!(began.elapsed(), WITHIN);
    assert_eq!(exchanges(), 1);
    assert_eq!(seen(&limiter).await, (1, 1));
}
