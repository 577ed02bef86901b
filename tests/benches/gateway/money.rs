//! Money: a budget that a thousand calls at once run up against, a replica that is
//! killed under load, and a finished experiment that is asked once more. What was
//! really used is counted by the provider, not by the gateway.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use crate::load::{Ask, Counts, Crowd, ask_until_answered};
use crate::report;
use crate::simulated::{Simulated, Stats};
use crate::stand::{Config, Stand, for_seconds};

/// Dollars per million tokens; whole nano-dollars per token, so nothing is rounded.
const PRICE: &str = "price = { input_per_million_dollars = \"10\", \
    output_per_million_dollars = \"30\" }";
const INPUT_NANODOLLARS: u64 = 10_000;
const OUTPUT_NANODOLLARS: u64 = 30_000;

/// Some two thousand calls' worth.
const BUDGET_DOLLARS: &str = "1.50";
const BUDGET_NANODOLLARS: u64 = 1_500_000_000;
const SPENDERS: usize = 1_000;
const SPENT_WITHIN: Duration = Duration::from_secs(40);

/// Callers of the experiment that a replica is killed under, and what each asks.
const CALLERS: usize = 200;
const QUESTIONS: u32 = 40;

/// The timeout of a call and half a minute, and some.
const LOST_BOOKED_WITHIN: Duration = Duration::from_secs(45);

/// What the calls of tokens like these cost.
pub fn cost_nanodollars(stats: &Stats) -> u64 {
    stats.count("prompt_tokens") * INPUT_NANODOLLARS
        + stats.count("completion_tokens") * OUTPUT_NANODOLLARS
}

/// A model section with a price.
pub fn priced_model(name: &str, provider: &str) -> String {
    format!("[models.{name}]\nprovider = '{provider}'\n{PRICE}")
}

/// Measures and prints all three.
pub async fn measure() {
    spend_a_budget().await;
    kill_and_replay().await;
}

async fn spend_a_budget() {
    let server = Simulated::start(&["--latency", "100ms", "--latency-jitter", "100ms"]);
    let mut config = Config::new();
    config.provider("paid", &server, 1, "limits = { concurrency = 2_000 }");
    config.add(&priced_model("paid", "paid"));
    config.add(&format!(
        "[teams.spender]\nbudget_dollars = \"{BUDGET_DOLLARS}\""
    ));
    let stand = Stand::start(2, config);
    let ask = Ask::small("spenders", "spender", "paid");
    let crowd = Crowd::send(&ask, SPENDERS, None, |caller| {
        vec![stand.client(caller % 2)]
    });
    // Spent when nobody has been answered for a while.
    let (began, mut answered) = (Instant::now(), 0);
    loop {
        for_seconds(3).await;
        let now = crowd.counts.answered();
        if now == answered || began.elapsed() > SPENT_WITHIN {
            break;
        }
        answered = now;
    }
    let cost = cost_nanodollars(&server.stats());
    let overspent = cost.saturating_sub(BUDGET_NANODOLLARS);
    report::bar(
        &format!("overspent of a budget of ${BUDGET_DOLLARS} with {SPENDERS} calls at once"),
        &dollars(overspent),
        "$0",
        overspent == 0,
    );
    let booked = booked_nanodollars(&stand, 0).await;
    report::note(&format!(
        "by the provider's tokens {} were used in {answered} answers, {:.1} % of the budget; the \
         gateway's books say {}; {} times a caller was told that it is spent",
        dollars(cost),
        cost as f64 / BUDGET_NANODOLLARS as f64 * 100.0,
        dollars(booked),
        crowd.counts.told_broke(),
    ));
    crowd.counts.tell_wrong();
    stand.tell_oddities();
}

async fn kill_and_replay() {
    let server = Simulated::start(&["--latency", "150ms", "--latency-jitter", "150ms"]);
    let mut config = Config::new();
    let lines = "timeout = '5s'\nlimits = { concurrency = 5_000 }";
    config.provider("paid", &server, 2, lines);
    config.add(&priced_model("paid", "paid"));
    let mut stand = Stand::start(2, config);
    let ask = Ask::small("crash", "default", "paid");
    let mut played = Played::send(&stand, &ask);
    for_seconds(4).await;
    let answered = played.counts.answered();
    let settled = booked_nanodollars(&stand, 1).await;
    let in_flight = played.asked_first_replica.load(Ordering::Relaxed);
    stand.replicas[0].role.kill();
    let replies = played.finish().await;
    let stats = server.stats();
    let paid_again = stats
        .admitted()
        .saturating_sub(stats.count("distinct_bodies"));
    let (booked, told) = (
        booked_nanodollars(&stand, 1).await,
        played.counts.cost_nanodollars(),
    );
    let lost = told.max(settled).saturating_sub(booked);
    report::bar(
        &format!("settled cost lost by kill -9 of one of two replicas after {answered} answers"),
        &dollars(lost),
        "$0",
        lost == 0,
    );
    report::note(&format!(
        "answers say {}, the books {} ({} before the kill), the provider's tokens {}",
        dollars(told),
        dollars(booked),
        dollars(settled),
        dollars(cost_nanodollars(&stats)),
    ));
    report::bar(
        "calls paid again after the crash",
        &format!("{paid_again}"),
        &format!("{in_flight} in flight at the crash"),
        paid_again as i64 <= in_flight,
    );
    played.counts.tell_wrong();
    stand.restart(0);
    replay(&stand, &ask, &server, &replies).await;
    book_the_lost(&stand, cost_nanodollars(&stats)).await;
    stand.tell_oddities();
}

/// What was in flight at the crash is booked, at the most it may have cost, once
/// its attempts count as lost.
async fn book_the_lost(stand: &Stand, used: u64) {
    let began = Instant::now();
    while booked_nanodollars(stand, 1).await < used && began.elapsed() < LOST_BOOKED_WITHIN {
        for_seconds(1).await;
    }
    report::note(&format!(
        "when the lost attempts had expired the books said {}, the provider's tokens {}",
        dollars(booked_nanodollars(stand, 1).await),
        dollars(used)
    ));
}

/// Asks every address once more, half of them at a replica that has just started.
async fn replay(stand: &Stand, ask: &Ask, server: &Simulated, replies: &Replies) {
    let before = server.stats().count("requests");
    let again = Played::send(stand, ask).finish().await;
    let calls = server.stats().count("requests") - before;
    let same = replies
        .iter()
        .filter(|(at, reply)| again.get(at) == Some(reply));
    report::bar(
        &format!(
            "provider calls when all {} addresses are asked again",
            replies.len()
        ),
        &calls.to_string(),
        "0",
        calls == 0,
    );
    let expected = CALLERS * QUESTIONS as usize;
    report::note(&format!(
        "{} of {expected} addresses were answered, {} of them with the same words again",
        replies.len(),
        same.count()
    ));
}

/// Reply by caller and index.
type Replies = BTreeMap<(usize, u32), String>;

/// An experiment whose callers know two replicas and keep what they are told.
struct Played {
    counts: Arc<Counts>,
    /// Questions that the first replica has and has not answered.
    asked_first_replica: Arc<AtomicI64>,
    callers: JoinSet<Replies>,
}

impl Played {
    fn send(stand: &Stand, ask: &Ask) -> Self {
        let counts = Arc::new(Counts::default());
        let asked_first_replica = Arc::new(AtomicI64::new(0));
        let mut callers = JoinSet::new();
        for caller in 0..CALLERS {
            let first = caller % 2;
            let clients = vec![stand.client(first), stand.client(1 - first)];
            let (ask, counts) = (ask.clone(), Arc::clone(&counts));
            let asked = Arc::clone(&asked_first_replica);
            callers.spawn(async move {
                let mut replies = Replies::new();
                for index in 0..QUESTIONS {
                    let request = ask.request(caller, index);
                    let weight = i64::from(first == 0);
                    asked.fetch_add(weight, Ordering::Relaxed);
                    let answer = ask_until_answered(&clients, &request, &counts).await;
                    asked.fetch_sub(weight, Ordering::Relaxed);
                    if let Some(answer) = answer {
                        replies.insert((caller, index), answer.reply);
                    }
                }
                replies
            });
        }
        Self {
            counts,
            asked_first_replica,
            callers,
        }
    }

    async fn finish(&mut self) -> Replies {
        let mut all = Replies::new();
        while let Some(replies) = self.callers.join_next().await {
            all.extend(replies.expect("a caller that does not panic"));
        }
        all
    }
}

async fn booked_nanodollars(stand: &Stand, replica: usize) -> u64 {
    let costs = stand.replicas[replica].costs().await;
    costs.rows.iter().map(|row| row.cost_nanodollars).sum()
}

fn dollars(nanodollars: u64) -> String {
    format!("${:.6}", nanodollars as f64 / 1e9)
}
