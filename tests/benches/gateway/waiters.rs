//! What ten thousand callers cost who wait on a nearly closed limit: refusals and
//! memory of the gateway. In the end the limit is opened and all are served.

use std::time::{Duration, Instant};

use prost::Message as _;

use crate::load::{Ask, Crowd};
use crate::report;
use crate::simulated::Simulated;
use crate::stand::{Config, Stand, for_seconds};

const WAITERS: usize = 10_000;

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

    let ask = Ask::small("waiters", "default", "narrow");
    let request = ask.request(WAITERS - 1, 0).encoded_len();
    let mut waiters = Crowd::send(&ask, WAITERS, Some(1), |_| vec![stand.client(0)]);
    for_seconds(WAITING_SECONDS).await;
    let waiting = stand.replicas[0].status().await.waiting_for_quota;
    let after = stand.replicas[0].memory();
    let refused: u64 = waiters.counts.wrong().values().sum();
    let refused = refused + waiters.counts.told_unavailable() + waiters.counts.told_broke();
    let answered = waiters.counts.answered();
    let each = (after.saturating_sub(before)) as f64 / WAITERS as f64;

    stand.config.replace(NEARLY_CLOSED, OPEN);
    let opened = Instant::now();
    while waiters.at_work() > 0 && opened.elapsed() < SERVED_WITHIN {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let served = waiters.counts.answered();

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
    waiters.counts.tell_wrong();
    stand.tell_oddities();
}
