//! Redis away: killed under load and started again after twenty seconds, and not
//! there yet when the gateway starts. Looks at the provider's limits, at a budget
//! that is spent meanwhile, at what callers are told and at the way back.

use std::time::{Duration, Instant};

use agon_tests::redis::{RedisServer, free_port};

use crate::load::{Ask, Counts, Crowd, ask_until_answered};
use crate::money::{cost_nanodollars, priced_model};
use crate::report::{self, percent};
use crate::simulated::Simulated;
use crate::stand::{Config, Replica, Stand, for_seconds};

/// Of the only key: 50 calls a second.
const REQUESTS_PER_MINUTE: u64 = 3_000;
const CALLERS: usize = 200;

const BEFORE_SECONDS: u64 = 20;
const AWAY_SECONDS: u64 = 20;
const AFTER_SECONDS: u64 = 30;

/// Back is who does this share of what was done before, over a second.
const NORMAL: f64 = 0.9;
const BACK_WITHIN: f64 = 5.0;

/// Callers that spend a budget which the outage falls into.
const SPENDERS: usize = 20;
const BUDGET_NANODOLLARS: u64 = 600_000_000;

/// A gateway that has not answered by then never will.
const LATE_PATIENCE: Duration = Duration::from_secs(30);

const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Measures and prints both.
pub async fn measure() {
    away_under_load().await;
    late().await;
}

async fn away_under_load() {
    let limit = REQUESTS_PER_MINUTE.to_string();
    let limited = [
        "--requests-per-minute",
        &limit,
        "--bucket",
        "5s",
        "--latency",
        "150ms",
    ];
    let limited = Simulated::start(&limited);
    let paid = Simulated::start(&["--latency", "500ms"]);
    let mut config = Config::new();
    let limits = format!("limits = {{ requests_per_minute = {REQUESTS_PER_MINUTE} }}");
    config.provider("limited", &limited, 1, &limits);
    config.add("[models.limited]\nprovider = 'limited'");
    config.provider("paid", &paid, 1, "limits = { concurrency = 1_000 }");
    config.add(&priced_model("paid", "paid"));
    config.add("[teams.spender]\nbudget_dollars = \"0.60\"");
    let mut stand = Stand::start(2, config);

    let send = |ask: &Ask, callers| {
        Crowd::send(ask, callers, None, |caller| {
            vec![stand.client(caller % 2), stand.client(1 - caller % 2)]
        })
    };
    let crowd = send(&Ask::small("outage", "default", "limited"), CALLERS);
    let spenders = send(&Ask::small("spenders", "spender", "paid"), SPENDERS);
    for_seconds(5).await;
    let (from, before) = (Instant::now(), crowd.counts.answered());
    for_seconds(BEFORE_SECONDS).await;
    let normal = (crowd.counts.answered() - before) as f64 / from.elapsed().as_secs_f64();

    tokio::task::block_in_place(|| stand.redis.kill());
    for_seconds(1).await;
    let away_from = crowd.counts.answered();
    for_seconds(AWAY_SECONDS - 1).await;
    let while_away = crowd.counts.answered() - away_from;
    tokio::task::block_in_place(|| stand.redis.restart());
    let back = Instant::now();
    let series = watch(&crowd.counts, back).await;

    tell_limits(&limited, &paid);
    tell_callers(&crowd.counts, &spenders.counts);
    let normal_again = seconds_until(&series, normal * NORMAL);
    report::bar(
        &format!(
            "until {} of {normal:.1} calls/s after Redis was away for {AWAY_SECONDS} s",
            percent(NORMAL)
        ),
        &normal_again.map_or("never".to_owned(), |seconds| format!("{seconds:.1} s")),
        "5 s",
        normal_again.is_some_and(|seconds| seconds <= BACK_WITHIN),
    );
    let answered = crowd.counts.answered();
    let stats = limited.stats();
    report::note(&format!(
        "{while_away} answers while it was away; {answered} answers in all to {} calls at the \
         provider, {} of them for a question that had been answered",
        stats.admitted(),
        stats.count("answered_again")
    ));
    stand.tell_oddities();
}

fn tell_limits(limited: &Simulated, paid: &Simulated) {
    let busiest = limited
        .stats()
        .charged("requests_per_minute")
        .busiest_minute;
    let share = busiest as f64 / REQUESTS_PER_MINUTE as f64;
    report::bar(
        "busiest sliding minute at the provider, outage included",
        &percent(share),
        "101 %",
        share <= 1.01,
    );
    let cost = cost_nanodollars(&paid.stats());
    let overspent = cost.saturating_sub(BUDGET_NANODOLLARS);
    report::bar(
        "overspent of a budget that the outage fell into",
        &format!("${:.6}", overspent as f64 / 1e9),
        "$0",
        overspent == 0,
    );
    report::note(&format!(
        "{} of that budget was used; {} of {} calls to the limited provider were refused by it",
        percent(cost as f64 / BUDGET_NANODOLLARS as f64),
        limited.stats().count("refused"),
        limited.stats().count("requests"),
    ));
}

fn tell_callers(crowd: &Counts, spenders: &Counts) {
    let wrong: u64 = [crowd, spenders]
        .iter()
        .flat_map(|counts| counts.wrong().into_values())
        .sum();
    let told = crowd.told_unavailable() + spenders.told_unavailable();
    report::bar(
        "callers told anything but to come again, to wait or that the money is spent",
        &wrong.to_string(),
        "0",
        wrong == 0,
    );
    report::note(&format!("{told} times a caller was told to come again"));
    crowd.tell_wrong();
    spenders.tell_wrong();
}

/// Seconds since Redis is back and answers so far, until it is over.
async fn watch(counts: &Counts, back: Instant) -> Vec<(f64, u64)> {
    let mut series = Vec::new();
    while back.elapsed() < Duration::from_secs(AFTER_SECONDS) {
        series.push((back.elapsed().as_secs_f64(), counts.answered()));
        tokio::time::sleep(LOOK_EVERY).await;
    }
    series
}

/// When the first second begins in which so many answers came and after which
/// the whole rest of the time kept this pace too.
fn seconds_until(series: &[(f64, u64)], rate: f64) -> Option<f64> {
    let (ends, all) = *series.last()?;
    for (place, (from, before)) in series.iter().enumerate() {
        let a_second_on = series[place..].iter().find(|(at, _)| *at >= from + 1.0);
        let (to, after) = a_second_on?;
        let second = (after - before) as f64 / (to - from);
        let rest = (all - before) as f64 / (ends - from);
        if second >= rate && rest >= rate {
            return Some(*from);
        }
    }
    None
}

/// The gateway first, Redis five seconds later.
async fn late() {
    let server = Simulated::start(&[]);
    let mut config = Config::new();
    config.provider(
        "any",
        &server,
        1,
        "limits = { requests_per_minute = 6_000 }",
    );
    config.add("[models.any]\nprovider = 'any'");
    let port = free_port();
    let (url, address) = (
        format!("redis://127.0.0.1:{port}"),
        format!("127.0.0.1:{}", free_port()),
    );
    let mut replica = Replica::start_silent(&config, &url, &address);
    let (client, counts) = (replica.client(), Counts::default());
    let asking = async {
        let request = Ask::small("late", "default", "any").request(0, 0);
        let clients = [client];
        let asking = ask_until_answered(&clients, &request, &counts);
        let answer = tokio::time::timeout(LATE_PATIENCE, asking).await;
        answer.ok().flatten().map(|_| Instant::now())
    };
    let starting = async {
        for_seconds(5).await;
        let started = tokio::task::spawn_blocking(move || RedisServer::start_on(port));
        (started.await.expect("a Redis"), Instant::now())
    };
    let both = async { tokio::join!(asking, starting) };
    let (answered, (_redis, there)) = both.await;
    let seconds = answered.map(|at| at.saturating_duration_since(there).as_secs_f64());
    report::bar(
        "first answer after Redis came up 5 s after the gateway",
        &seconds.map_or("none".to_owned(), |seconds| format!("{seconds:.2} s")),
        "5 s",
        seconds.is_some_and(|seconds| seconds <= BACK_WITHIN),
    );
    if replica.role.has_ended() {
        report::note("the gateway ended by itself");
    }
    counts.tell_wrong();
}
