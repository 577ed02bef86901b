//! Who gets how much of a contended limit: weighted teams on one replica and on
//! several, a team alone, a newcomer beside thousands who wait, and a team beside
//! another's storm of refusals. All at once, each on a pool of its own.

use std::time::Instant;

use crate::load::{Ask, Counts, Crowd, ask_until_answered};
use crate::report::{self, percent};
use crate::simulated::Simulated;
use crate::stand::{Config, Stand, for_seconds};

/// Of each key of a pool; two keys let 60 calls a second through.
const REQUESTS_PER_MINUTE: u64 = 1_800;
const KEYS: u64 = 2;

/// Callers of a backlogged team.
const CALLERS: usize = 120;

/// Callers of the team beside which a newcomer comes.
const CROWD: usize = 3_000;

/// Newcomers, one after another.
const NEWCOMERS: u32 = 8;

const WARM_UP_SECONDS: u64 = 10;

/// Each half of what is measured: the storm blows in the second.
const HALF_SECONDS: u64 = 25;

const POOLS: [&str; 5] = ["same", "apart", "alone", "newcomer", "weather"];

/// Measures and prints all shares.
pub async fn measure() {
    let server = || {
        let limit = REQUESTS_PER_MINUTE.to_string();
        Simulated::start(&["--requests-per-minute", &limit, "--latency", "100ms"])
    };
    let servers: Vec<Simulated> = POOLS.iter().map(|_| server()).collect();
    let mut config = Config::new();
    for (pool, server) in POOLS.iter().zip(&servers) {
        let limits = format!("limits = {{ requests_per_minute = {REQUESTS_PER_MINUTE} }}");
        config.provider(pool, server, KEYS as usize, &limits);
        config.add(&format!("[models.{pool}]\nprovider = '{pool}'"));
    }
    config.add("[models.storm]\nprovider = 'weather'");
    config.add("[teams.heavy]\nweight = 3.0\n[teams.light]\nweight = 1.0");
    let stand = Stand::start(4, config);

    let send = |crowd, team: &str, pool: &str, callers, replicas: &[usize]| {
        Crowd::send(&Ask::small(crowd, team, pool), callers, None, |caller| {
            vec![stand.client(replicas[caller % replicas.len()])]
        })
    };
    let same = [
        send("same-heavy", "heavy", "same", CALLERS, &[0]),
        send("same-light", "light", "same", CALLERS, &[0]),
    ];
    let apart = [
        send("apart-heavy", "heavy", "apart", CALLERS, &[0, 1]),
        send("apart-light", "light", "apart", CALLERS, &[2, 3]),
    ];
    let _alone = send("alone", "light", "alone", CALLERS, &[0, 1, 2, 3]);
    let _thousands = send("thousands", "heavy", "newcomer", CROWD, &[0, 1]);
    let steady = send("steady", "steady", "weather", CALLERS, &[0, 1, 2, 3]);
    for_seconds(WARM_UP_SECONDS).await;

    servers[2].mark();
    let before = [answered(&same), answered(&apart)];
    let calm_from = (Instant::now(), steady.counts.answered());
    let newcomers = newcomers(&stand);
    let (newcomers, ()) = tokio::join!(newcomers, for_seconds(HALF_SECONDS));
    let calm = rate(&steady, calm_from);
    let stormy = send("stormy", "stormy", "storm", CALLERS, &[0, 1, 2, 3]);
    for_seconds(2).await;
    let storm_from = (Instant::now(), steady.counts.answered());
    for_seconds(HALF_SECONDS).await;
    let storm = rate(&steady, storm_from);
    drop(stormy);

    tell_shares("3:1 on one replica", before[0], answered(&same));
    tell_shares("3:1 on different replicas", before[1], answered(&apart));
    let stats = servers[2].stats();
    let allowed = (REQUESTS_PER_MINUTE * KEYS) as f64 * stats.seconds_since_mark() / 60.0;
    let used = stats.charged_since_mark("requests_per_minute").charged as f64 / allowed;
    report::bar(
        "lone team, use of the limit",
        &percent(used),
        "97 %",
        used >= 0.97,
    );
    report::bar(
        &format!("newcomer beside {CROWD} waiting callers, first answer, slowest of {NEWCOMERS}"),
        &format!("{newcomers:.3} s"),
        "1 s",
        newcomers <= 1.0,
    );
    let lost = 1.0 - storm / calm;
    report::bar(
        "throughput lost to another team's storm of 429",
        &format!("{} ({calm:.1} and {storm:.1} calls/s)", percent(lost)),
        "5 %",
        lost < 0.05,
    );
    let refused = servers[4].stats().count("storms");
    report::note(&format!(
        "the storm: {refused} calls refused by the provider"
    ));
    stand.tell_oddities();
}

/// Seconds until the slowest of several new teams has its first answer, half of
/// them on a replica where thousands wait and half on another.
async fn newcomers(stand: &Stand) -> f64 {
    let mut slowest = 0.0_f64;
    for newcomer in 0..NEWCOMERS {
        let ask = Ask::small("newcomers", &format!("newcomer-{newcomer}"), "newcomer");
        let client = stand.client(newcomer as usize % 4);
        let (counts, began) = (Counts::default(), Instant::now());
        let request = ask.request(0, newcomer);
        let _ = ask_until_answered(&[client], &request, &counts).await;
        slowest = slowest.max(began.elapsed().as_secs_f64());
        counts.tell_wrong();
        for_seconds(1).await;
    }
    slowest
}

fn answered(teams: &[Crowd; 2]) -> [u64; 2] {
    [teams[0].counts.answered(), teams[1].counts.answered()]
}

fn rate(crowd: &Crowd, (from, before): (Instant, u64)) -> f64 {
    (crowd.counts.answered() - before) as f64 / from.elapsed().as_secs_f64()
}

fn tell_shares(what: &str, before: [u64; 2], after: [u64; 2]) {
    let (heavy, light) = (after[0] - before[0], after[1] - before[1]);
    let share = heavy as f64 / (heavy + light).max(1) as f64;
    report::bar(
        &format!("backlogged teams {what}"),
        &format!("{} / {}", percent(share), percent(1.0 - share)),
        "75/25 ± 2 %",
        (0.73..=0.77).contains(&share),
    );
}
