//! What the gateway adds to a call, with every limit on but none in the way: time
//! at a thousand requests a second, the most requests a second, memory. The same
//! calls are made straight to the provider before and after, in the same run: by
//! the same client over the gateway's OpenAI door, where nothing but the gateway
//! lies between, and over gRPC as workers make them.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::task::JoinSet;

use crate::load::{Ask, Crowd};
use crate::report::{self, quantile};
use crate::simulated::Simulated;
use crate::stand::{Client, Config, Stand, for_seconds};

const REQUESTS_PER_SECOND: u64 = 1_000;

/// Pools by number of keys: each of them is looked at for every call.
const POOLS: [(&str, usize); 2] = [("single", 1), ("pool", 4)];

const WARM_UP_SECONDS: u64 = 4;
const STRAIGHT_SECONDS: u64 = 6;
const THROUGH_SECONDS: u64 = 15;
const CLOSED_SECONDS: u64 = 10;

const LIMITS: &str = "limits = { requests_per_minute = 100_000_000, \
    input_tokens_per_minute = 1_000_000_000_000, output_tokens_per_minute = 1_000_000_000_000, \
    tokens_per_minute = 1_000_000_000_000, requests_per_day = 10_000_000_000, concurrency = 10_000 }";

/// Milliseconds of calls, by quantile.
struct Took {
    p50: f64,
    p99: f64,
    sent: usize,
    failed: usize,
}

/// Measures and prints.
pub async fn measure() {
    let server = Simulated::start(&[]);
    let mut config = Config::new();
    for (pool, keys) in POOLS {
        config.provider(pool, &server, keys, LIMITS);
        config.add(&format!("[models.{pool}]\nprovider = '{pool}'"));
    }
    let stand = Stand::start(1, config);

    for (pool, keys) in POOLS {
        let _ = through(&stand, pool, "warm", WARM_UP_SECONDS).await;
        let first = straight(&server, STRAIGHT_SECONDS).await;
        let url = &stand.replicas[0].http_url;
        let _ = over_http(url, pool, WARM_UP_SECONDS).await;
        let by_openai = over_http(url, pool, THROUGH_SECONDS).await;
        let by_grpc = through(&stand, pool, "open", THROUGH_SECONDS).await;
        let second = straight(&server, STRAIGHT_SECONDS).await;
        tell_times("OpenAI door", keys, &[&first, &second], &by_openai);
        tell_times("gRPC", keys, &[&first, &second], &by_grpc);
    }
    for callers in [64, 256] {
        let (rate, seconds) = closed(&stand, callers).await;
        report::bar(
            &format!("requests/s with {callers} callers"),
            &format!("{rate:.0}"),
            "3,000",
            rate >= 3_000.0,
        );
        report::note(&format!(
            "each took p50 {:.1} ms, p99 {:.1} ms (LiteLLM on such a machine: 149 requests/s at \
             64 callers, p99 763 ms)",
            quantile(&seconds, 0.5) * 1e3,
            quantile(&seconds, 0.99) * 1e3
        ));
    }
    let memory = stand.replicas[0].memory() as f64 / 1e6;
    report::bar(
        "memory of the gateway after all that",
        &format!("{memory:.0} MB"),
        "150 MB",
        memory <= 150.0,
    );
    stand.tell_oddities();
}

fn tell_times(door: &str, keys: usize, straight: &[&Took; 2], through: &Took) {
    let p50 = (straight[0].p50 + straight[1].p50) / 2.0;
    let p99 = (straight[0].p99 + straight[1].p99) / 2.0;
    let own = [through.p50 - p50, through.p99 - p99];
    for (name, own, whole, bare, bar) in [
        ("p50", own[0], through.p50, p50, 0.7),
        ("p99", own[1], through.p99, p99, 2.0),
    ] {
        report::bar(
            &format!(
                "time of the gateway at {REQUESTS_PER_SECOND} requests/s, {door}, pool of {keys}, \
                 {name}"
            ),
            &format!("{own:.2} ms (through it {whole:.2} ms, straight {bare:.2} ms)"),
            &format!("{bar} ms"),
            own <= bar,
        );
    }
    let times = own[0] / p50;
    report::bar(
        &format!("the same against the straight call, {door}, pool of {keys}"),
        &format!("{times:.1} times"),
        "4 times",
        times <= 4.0,
    );
    let failed: usize = straight.iter().map(|took| took.failed).sum();
    report::note(&format!(
        "{} calls through the gateway ({} failed), {} straight ({failed} failed); the makers of \
         load share the two cores",
        through.sent,
        through.failed,
        straight[0].sent + straight[1].sent,
    ));
}

/// Calls through the gateway, whoever has been answered meanwhile.
async fn through(stand: &Stand, pool: &str, crowd: &str, seconds: u64) -> Took {
    let ask = Ask::small(&format!("{pool}-{crowd}"), "default", pool);
    let clients: Vec<Client> = (0..8).map(|_| stand.client(0)).collect();
    open_loop(seconds, |number| {
        let mut client = clients[number % clients.len()].clone();
        let request = ask.request(number / 100, (number % 100) as u32);
        async move { client.decide(request).await.is_ok() }
    })
    .await
}

/// The same calls without the gateway.
async fn straight(server: &Simulated, seconds: u64) -> Took {
    over_http(&server.base_url(), "straight", seconds).await
}

/// Calls in OpenAI's protocol, to the gateway or to the provider itself.
async fn over_http(base_url: &str, model: &str, seconds: u64) -> Took {
    let client = reqwest::Client::builder().build().expect("a client");
    let url = format!("{base_url}/chat/completions");
    let ask = Ask::small("http", "default", model);
    open_loop(seconds, |number| {
        let request = ask.request(number / 100, (number % 100) as u32);
        let body = json!({
            "model": request.model,
            "messages": [{"role": "user", "content": request.messages[0].content}],
            "max_tokens": request.max_output_tokens,
        });
        let call = client.post(&url).bearer_auth("bench-straight").json(&body);
        async move {
            match call.send().await {
                Ok(response) => response.status().is_success() && response.bytes().await.is_ok(),
                Err(_) => false,
            }
        }
    })
    .await
}

/// Starts calls at an even pace, whether or not earlier ones are done. A call's
/// time begins when it is sent, so that the clock of this loop is not counted.
async fn open_loop<F>(seconds: u64, call: impl Fn(usize) -> F) -> Took
where
    F: Future<Output = bool> + Send + 'static,
{
    let pace = Duration::from_secs(1) / REQUESTS_PER_SECOND as u32;
    let took = Arc::new(Mutex::new(Vec::new()));
    let mut calls = JoinSet::new();
    let mut ticks = tokio::time::interval(pace);
    for number in 0..(REQUESTS_PER_SECOND * seconds) as usize {
        ticks.tick().await;
        let (call, took) = (call(number), Arc::clone(&took));
        calls.spawn(async move {
            let began = Instant::now();
            let answered = call.await;
            let milliseconds = began.elapsed().as_secs_f64() * 1e3;
            let mut took = took.lock().unwrap_or_else(PoisonError::into_inner);
            took.push((milliseconds, answered));
        });
        while calls.try_join_next().is_some() {}
    }
    while calls.join_next().await.is_some() {}
    let took = took.lock().unwrap_or_else(PoisonError::into_inner);
    let mut answered: Vec<f64> = took
        .iter()
        .filter(|call| call.1)
        .map(|call| call.0)
        .collect();
    answered.sort_by(f64::total_cmp);
    Took {
        p50: quantile(&answered, 0.5),
        p99: quantile(&answered, 0.99),
        sent: took.len(),
        failed: took.len() - answered.len(),
    }
}

/// So many callers, each asking when it is answered: calls per second, and the
/// seconds of each.
async fn closed(stand: &Stand, callers: usize) -> (f64, Vec<f64>) {
    let crowd = if callers < 100 { "few" } else { "many" };
    let ask = Ask::small(crowd, "default", POOLS[1].0);
    let crowd = Crowd::send(&ask, callers, None, |_| vec![stand.client(0)]);
    for_seconds(2).await;
    let _ = crowd.counts.take_seconds();
    let (before, began) = (crowd.counts.answered(), Instant::now());
    for_seconds(CLOSED_SECONDS).await;
    let answered = crowd.counts.answered() - before;
    let rate = answered as f64 / began.elapsed().as_secs_f64();
    crowd.counts.tell_wrong();
    (rate, crowd.counts.take_seconds())
}
