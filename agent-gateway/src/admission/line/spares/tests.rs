//! Grants at hand in a whole lane on the embedded limiter, which counts how often
//! it is asked: they save trips, cover the call, and all come back.

use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use async_trait::async_trait;

use super::*;
use crate::GatewayConfig;
use crate::admission::line::{Admitted, Grant};
use crate::admission::{
    AdmissionError, Batch, Candidate, Charge, EmbeddedLimiter, KeyOutlook, Limiter, Verdict,
};
use crate::health::KeyHealth;
use crate::health::breaker::BreakerSettings;
use crate::lanes::{Lane, LaneTerms};
use crate::providers::{Scripted, Signals};

/// Calls after which a team that comes without pause has grants at hand.
const UNTIL_KNOWN: usize = 100;

#[derive(Default)]
struct Counting {
    limiter: EmbeddedLimiter,
    trips: AtomicU64,
    /// Grants, and its answers never come.
    is_mute: AtomicBool,
}

#[async_trait]
impl Limiter for Counting {
    async fn reserve(&self, batch: &Batch<'_>) -> Result<Verdict, AdmissionError> {
        self.trips.fetch_add(1, Ordering::Relaxed);
        let verdict = self.limiter.reserve(batch).await;
        if self.is_mute.load(Ordering::Relaxed) {
            std::future::pending::<()>().await;
        }
        verdict
    }

    async fn settle(
        &self,
        reservation: &Reservation,
        used: &Charge,
        cost: u64,
        signals: &Signals,
    ) -> Result<(), AdmissionError> {
        self.limiter.settle(reservation, used, cost, signals).await
    }

    async fn hold(
        &self,
        pool: &str,
        lane: &str,
        key: &KeyId,
        hold: Duration,
    ) -> Result<(), AdmissionError> {
        self.limiter.hold(pool, lane, key, hold).await
    }

    async fn outlook(
        &self,
        pool: &str,
        lane: &str,
        keys: &[Candidate],
    ) -> Result<Vec<KeyOutlook>, AdmissionError> {
        self.limiter.outlook(pool, lane, keys).await
    }
}

/// A lane that is being served.
struct Served {
    lane: Arc<Lane>,
    limiter: Arc<Counting>,
    named: u64,
}

impl Served {
    fn start(limits: &str) -> Self {
        let config = format!(
            "[providers.p]\nbase_url = 'http://127.0.0.1:9/v1'\nlimits = {limits}\n\
             [models.m]\nprovider = 'p'"
        );
        let config = GatewayConfig::parse("test.toml", &config).unwrap();
        let model = config.resolve("m").unwrap();
        let (pool, _) = model.read_keys().unwrap();
        let keys = pool.keys().iter().map(|key| LaneKey {
            key: Arc::clone(key),
            limits: model.provider.limits,
            lane_limits: model.limits,
            health: Arc::new(KeyHealth::new(BreakerSettings::default(), false)),
        });
        let terms = LaneTerms {
            keys: keys.collect(),
            burst: model.provider.burst,
            charge: model.provider.charge,
            provider: Arc::new(Scripted::echo()),
        };
        let limiter = Arc::new(Counting::default());
        let shared: Arc<dyn Limiter> = Arc::clone(&limiter) as _;
        let lane = Arc::new(Lane::new("p", "m", "owner", shared, terms));
        let served = Arc::clone(&lane);
        tokio::spawn(async move { served.line.serve(&served).await });
        Self {
            lane,
            limiter,
            named: 0,
        }
    }

    fn want(&mut self, tokens: u64) -> Box<Want> {
        let charge = Charge {
            requests: 1,
            tokens,
            ..Charge::default()
        };
        self.named += 1;
        Box::new(Want {
            attempt: format!("owner-{}", self.named),
            charges: Charges {
                now: charge,
                most: charge,
                cost: tokens,
            },
            lasts: Duration::from_secs(60),
            except: Vec::new(),
            has_alternative: false,
            patience: Duration::ZERO,
            only_now: false,
            only_with_store: false,
        })
    }

    async fn call(&mut self, tokens: u64) -> Box<Grant> {
        let want = self.want(tokens);
        match self.lane.admit(&place(), want).await {
            Admitted::Granted(grant) => grant,
            _ => panic!("not granted"),
        }
    }

    /// Calls one after the other, each settled as it was reserved.
    async fn calls(&mut self, number: usize, tokens: u64) {
        for _ in 0..number {
            let grant = self.call(tokens).await;
            let Reservation { charge, share, .. } = &grant.reservation;
            let limiter = self.limiter.as_ref();
            let signals = Signals::default();
            let settled = limiter.settle(&grant.reservation, charge, share.cost, &signals);
            settled.await.unwrap();
            // The asker shares the thread.
            tokio::task::yield_now().await;
        }
    }

    fn trips(&self) -> u64 {
        self.limiter.trips.load(Ordering::Relaxed)
    }

    async fn outlook(&self) -> KeyOutlook {
        let key = &self.lane.terms().keys[0];
        let keys = [key.candidate(Instant::now())];
        let outlook = self.limiter.outlook("p", "m", &keys).await;
        outlook.unwrap().remove(0)
    }

    /// Until nothing is taken but for calls that were made.
    async fn all_back(&self, calls: u64) {
        let began = Instant::now();
        loop {
            let outlook = self.outlook().await;
            if outlook.in_flight == 0 {
                assert_eq!(outlook.requests_of_day[0], calls);
                return;
            }
            assert!(began.elapsed() < Duration::from_secs(20), "{outlook:?}");
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
}

fn place() -> Place {
    Place {
        team: "team".into(),
        weight: 1.0,
        priority: 0,
        experiment: "e".into(),
        session: "s".into(),
    }
}

const WIDE: &str = "{ requests_per_minute = 1_000_000, concurrency = 100_000 }";

#[tokio::test]
async fn team_that_comes_without_pause_saves_trips_and_pays_only_its_calls() {
    let mut served = Served::start(WIDE);
    served.calls(10, 5).await;
    assert_eq!(served.trips(), 10, "nobody knew of them");
    served.calls(UNTIL_KNOWN, 5).await;
    let before = served.trips();
    served.calls(400, 5).await;
    let trips = served.trips() - before;
    assert!(trips <= 100, "{trips} trips for 400 calls");
    served.all_back(10 + UNTIL_KNOWN as u64 + 400).await;
}

#[tokio::test]
async fn larger_call_gets_what_it_needs() {
    let mut served = Served::start("{ tokens_per_minute = 100_000_000 }");
    served.calls(UNTIL_KNOWN, 5).await;
    for tokens in [500, 5, 5_000, 50] {
        let grant = served.call(tokens).await;
        assert!(grant.reservation.charge.tokens >= tokens);
        served.lane.line.returns.add(grant.reservation);
    }
    served.lane.line.wake();
    served.all_back(UNTIL_KNOWN as u64).await;
}

#[tokio::test]
async fn nothing_is_at_hand_where_limits_are_near() {
    let mut served = Served::start("{ concurrency = 4 }");
    // Three of the four places are taken throughout.
    let mut kept = Vec::new();
    for _ in 0..3 {
        kept.push(served.call(5).await);
    }
    let before = served.trips();
    served.calls(UNTIL_KNOWN, 5).await;
    let outlook = served.outlook().await;
    assert_eq!(outlook.in_flight, 3);
    // Each asked for itself, beside the vain tries to fetch more.
    assert!(served.trips() - before >= UNTIL_KNOWN as u64);
}

#[tokio::test]
async fn key_that_is_recalled_serves_nobody_from_what_was_at_hand() {
    let mut served = Served::start(WIDE);
    served.calls(UNTIL_KNOWN, 5).await;
    let key = served.lane.terms().keys[0].key.id.clone();
    assert!(served.lane.line.spares.next_stale().is_some());
    served.lane.line.recall(Some(&KeyId::from("another")));
    assert!(served.lane.line.spares.next_stale().is_some());
    served.lane.line.recall(Some(&key));
    assert!(served.lane.line.spares.next_stale().is_none());
    served.all_back(UNTIL_KNOWN as u64).await;
}

#[tokio::test]
async fn caller_that_goes_at_once_leaves_nothing_behind() {
    let mut served = Served::start(WIDE);
    served.calls(UNTIL_KNOWN, 5).await;
    for _ in 0..20 {
        let want = served.want(5);
        drop(served.lane.admit(&place(), want));
    }
    served.all_back(UNTIL_KNOWN as u64).await;
}

#[tokio::test]
async fn closed_lane_gives_everything_back() {
    let mut served = Served::start(WIDE);
    served.calls(UNTIL_KNOWN, 5).await;
    assert!(served.lane.line.spares.next_stale().is_some());
    served.lane.line.close();
    served.all_back(UNTIL_KNOWN as u64).await;
}

#[tokio::test]
async fn lane_that_closes_while_a_lone_caller_asks_leaves_nothing_behind() {
    let mut served = Served::start(WIDE);
    served.limiter.is_mute.store(true, Ordering::Relaxed);
    let want = served.want(5);
    let here = place();
    {
        let mut alone = pin!(served.lane.admit(&here, want));
        assert!(futures_util::poll!(&mut alone).is_pending());
        assert_eq!(served.outlook().await.in_flight, 1);
        served.lane.line.close();
        // The asker sees it before the caller leaves.
        tokio::task::yield_now().await;
    }
    served.all_back(0).await;
}

#[tokio::test]
async fn what_is_at_hand_goes_to_those_who_wait() {
    const PLACES: usize = 80;
    let mut served = Served::start("{ concurrency = 80 }");
    served.calls(UNTIL_KNOWN, 5).await;
    assert!(served.lane.line.spares.next_stale().is_some());
    let other = Place {
        team: "other".into(),
        ..place()
    };
    let wants: Vec<_> = (0..PLACES).map(|_| served.want(5)).collect();
    let admitted = wants
        .into_iter()
        .map(|want| served.lane.admit(&other, want));
    let all = futures_util::future::join_all(admitted);
    let all = tokio::time::timeout(Duration::from_secs(20), all).await;
    let granted = |admitted: &Admitted| matches!(admitted, Admitted::Granted(_));
    assert!(all.expect("somebody waits in vain").iter().all(granted));
}
