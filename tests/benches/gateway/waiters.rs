//! What ten thousand callers cost who wait on a nearly closed limit: refusals and
//! memory of the gateway. In the end the limit is opened and all are served.

use std::time::{Duration, Instant};

use prost::Message as _;

use crate::load::{Ask, Counts, Crowd};
use crate::report;
use crate::simulated::Simulated;
use crate::stand::{Config, Stand, for_seconds};

const WAITERS: usize = 10_000;

/// They arrive in groups, a few times a second: what is measured is waiting, not
/// the room that ten thousand requests need in the instant of their arrival.
const GROUPS: usize = 20;
const GROUP_EVERY: Duration = Duration::from_millis(250);

/// Fewer calls than callers by far.
const NEARLY_CLOSED: &str = "requests_per_minute = 7";
const OPEN: &str = "requests_per_minute = 600_000";

/// Memory that the first calls take is not the waiters'.
const WARM_UP_CALLERS: usize = 200;

const WAITING_SECONDS: u64 = 15;
const SERVED_WITHIN: Duration = Duration::from_secs(40);

/// 10 KB, beside the request itself.
const MOST_BYTES: f64 = 10_240.0;

/// Measures and prints.
pub async fn measure() {
    let server = Simulated::start(&[]);
    let mut config = Config::new();
    config.provider(
        "narrow",
        &server,
        1,
        &format!("limits = {{ {NEARLY_CLOSED} }}"),
    );
    config.provider(
        "wide",
        &server,
        1,
        "limits = { requests_per_minute = 600_000 }",
    );
    config.add("[models.narrow]\nprovider = 'narrow'\n[models.wide]\nprovider = 'wide'");
    let mut stand = Stand::start(1, config);

    let warm = Ask::small("warm", "default", "wide");
    let mut warm = Crowd::send(&warm, WARM_UP_CALLERS, Some(20), |_| vec![stand.client(0)]);
    warm.finished().await;
    for_seconds(2).await;
    let before = stand.replicas[0].memory();

    let mut groups = Vec::new();
    for number in 0..GROUPS {
        let ask = Ask::small(&format!("waiters-{number:02}"), "default", "narrow");
        let callers = WAITERS / GROUPS;
        groups.push(Crowd::send(&ask, callers, Some(1), |_| {
            vec![stand.client(0)]
        }));
        tokio::time::sleep(GROUP_EVERY).await;
    }
    let ask = Ask::small("waiters-00", "default", "narrow");
    let request = ask.request(WAITERS / GROUPS - 1, 0).encoded_len();
    for_seconds(WAITING_SECONDS).await;
    let waiting = stand.replicas[0].status().await.waiting_for_quota;
    let after = stand.replicas[0].memory();
    let sum = |of: fn(&Counts) -> u64| groups.iter().map(|group| of(&group.counts)).sum::<u64>();
    let refused = sum(|counts| {
        let wrong: u64 = counts.wrong().values().sum();
        wrong + counts.told_unavailable() + counts.told_broke()
    });
    let answered = sum(Counts::answered);
    let each = (after.saturating_sub(before)) as f64 / WAITERS as f64;

    stand.config.replace(NEARLY_CLOSED, OPEN);
    let opened = Instant::now();
    while sum(Counts::answered) < WAITERS as u64 && opened.elapsed() < SERVED_WITHIN {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let served = sum(Counts::answered);

    report::bar(
        &format!("{WAITERS} callers wait ({waiting} of them by the gateway's own count), refused"),
        &refused.to_string(),
        "0",
        refused == 0,
    );
    let beside = each - request as f64;
    report::bar(
        "memory of a waiting caller beside its request",
        &format!("{:.1} KB", beside / 1024.0),
        "10 KB",
        beside <= MOST_BYTES,
    );
    report::note(&format!(
        "the request weighs {request} bytes on the wire; the process grew from {:.1} to {:.1} MB",
        before as f64 / 1e6,
        after as f64 / 1e6
    ));
    report::note(&format!(
        "{answered} answered while the limit was nearly closed; {served} of {WAITERS} within \
         {:.1} s of its opening in the configuration",
        opened.elapsed().as_secs_f64()
    ));
    for group in &groups {
        group.counts.tell_wrong();
    }
    stand.tell_oddities();
}
