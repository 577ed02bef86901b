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

#[tokio::test]
async fn carried_work_goes_on_as_a_task_when_it_is_dropped() {
    let tasks = Tasks::new();
    let (open, gate) = tokio::sync::oneshot::channel::<()>();
    let (done, finished) = tokio::sync::oneshot::channel();
    let mut carried = tasks.carry(TaskKind::WORK, "decision", async move {
        let _ = gate.await;
        let _ = done.send(());
    });
    assert!(futures_util::poll!(&mut carried).is_pending());
    drop(carried);
    assert_eq!(tasks.status().len(), 1);
    open.send(()).unwrap();
    finished.await.unwrap();
    assert_eq!(tasks.shutdown(LONG).await, Ok(()));
    assert_eq!(tasks.status(), []);
}

#[tokio::test]
async fn shutdown_waits_for_carried_work() {
    let tasks = Tasks::new();
    let (open, gate) = tokio::sync::oneshot::channel::<()>();
    let mut carried = tasks.carry(TaskKind::WORK, "decision", async move {
        let _ = gate.await;
    });
    let shutdown = tasks.shutdown(LONG);
    tokio::pin!(shutdown);
    assert!(futures_util::poll!(&mut carried).is_pending());
    assert!(futures_util::poll!(shutdown.as_mut()).is_pending());
    open.send(()).unwrap();
    assert_eq!(carried.await, TaskEnd::Done);
    assert_eq!(shutdown.await, Ok(()));
}

#[tokio::test]
async fn panic_of_carried_work_is_its_end() {
    let tasks = Tasks::new();
    let carried = tasks.carry(TaskKind::WORK, "decision", async {
        if true {
            panic!("boom");
        }
    });
    assert_eq!(carried.await, TaskEnd::Panicked("boom".into()));
}
