//! What failures, panics and shutdown mean to tasks of each kind.
//! Deadlines are an hour away, or pass on a paused clock: no test really waits.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use super::*;

const LONG: Duration = Duration::from_secs(3600);

#[tokio::test]
async fn panic_of_one_piece_of_work_is_reported_and_stops_nothing() {
    let tasks = Tasks::new();
    let end = tasks.spawn(TaskKind::WORK, "session", async {
        if true {
            panic!("index out of range");
        }
    });
    assert_eq!(
        end.await.unwrap(),
        TaskEnd::Panicked("index out of range".into())
    );
    assert!(!tasks.shutdown_token().is_cancelled());
    assert_eq!(tasks.shutdown(LONG).await, Ok(()));
}

#[tokio::test]
async fn failure_of_a_service_stops_the_process_and_is_remembered() {
    let tasks = Tasks::new();
    tasks.spawn(TaskKind::SERVICE, "server", async {
        Err::<(), _>(io::Error::other("port lost"))
    });
    let outcome = tasks.run_until(std::future::pending::<()>(), LONG).await;
    let failure = TaskFailure {
        name: "server".into(),
        reason: "port lost".into(),
    };
    assert_eq!(outcome, Err(failure));
}

#[tokio::test]
async fn signal_lets_finishing_tasks_reach_their_safe_point() {
    let tasks = Tasks::new();
    let saved = Arc::new(AtomicBool::new(false));
    let (flag, token) = (saved.clone(), tasks.shutdown_token());
    tasks.spawn(TaskKind::WORK, "session", async move {
        token.cancelled().await;
        tokio::task::yield_now().await;
        flag.store(true, Ordering::SeqCst);
    });
    tasks.spawn(TaskKind::UPKEEP, "sampler", std::future::pending::<()>());
    assert_eq!(tasks.status().len(), 2);
    assert_eq!(tasks.run_until(async {}, LONG).await, Ok(()));
    assert!(saved.load(Ordering::SeqCst));
    assert_eq!(tasks.status(), []);
}

#[tokio::test(start_paused = true)]
async fn deadline_drops_what_does_not_finish() {
    let tasks = Tasks::new();
    let stuck = tasks.spawn(TaskKind::WORK, "stuck", std::future::pending::<()>());
    let start = tokio::time::Instant::now();
    assert_eq!(tasks.shutdown(Duration::from_secs(3)).await, Ok(()));
    assert_eq!(start.elapsed(), Duration::from_secs(3));
    assert_eq!(stuck.await.unwrap(), TaskEnd::Aborted);
}

#[tokio::test]
async fn aborted_handle_leaves_the_book() {
    let tasks = Tasks::new();
    let handle = tasks.spawn(TaskKind::WORK, "session", std::future::pending::<()>());
    handle.abort();
    assert!(handle.await.unwrap_err().is_cancelled());
    assert_eq!(tasks.status(), []);
}

#[test]
fn causes_are_printed_in_one_line() {
    #[derive(Debug, thiserror::Error)]
    #[error("cannot store the result")]
    struct Outer(#[source] io::Error);
    let error = Outer(io::Error::other("disk full"));
    assert_eq!(with_causes(&error), "cannot store the result: disk full");
}
