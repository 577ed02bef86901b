//! The outbox with messages that write down when they were told, to a store that is
//! away for some tries.

use std::sync::atomic::{AtomicU32, Ordering};

use super::*;

/// A store that is away for the first tries.
#[derive(Default)]
struct Store {
    away_for: AtomicU32,
    tries: AtomicU32,
    told: Mutex<Vec<String>>,
    /// How long its messages last; absent: for ever.
    lasts: Option<Duration>,
}

fn store(away_for: u32) -> Arc<Store> {
    Arc::new(Store {
        away_for: AtomicU32::new(away_for),
        ..Store::default()
    })
}

fn note(store: &Arc<Store>, text: impl ToString) -> OutboxMessage {
    let lasts = store.lasts.unwrap_or(Duration::MAX);
    let holds = (Arc::clone(store), text.to_string());
    OutboxMessage::new(
        "note not told",
        text,
        lasts,
        holds,
        |(store, text)| async move {
            store.tries.fetch_add(1, Ordering::Relaxed);
            let counted = |left: u32| left.checked_sub(1);
            let away = &store.away_for;
            let away = away.fetch_update(Ordering::Relaxed, Ordering::Relaxed, counted);
            if away.is_ok() {
                let away = redis::RedisError::from((redis::ErrorKind::Io, "away"));
                return Err(StoreError::redis("tell a note")(away));
            }
            store.told.lock().push(text);
            Ok(())
        },
    )
}

async fn until_empty(outbox: &Outbox) {
    while outbox.len() > 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn what_fails_is_told_in_the_end_and_once() {
    let (tasks, store) = (Tasks::new(), store(3));
    let outbox = Outbox::new(tasks.clone(), |_| {});
    let texts: Vec<String> = (0..200).map(|number| number.to_string()).collect();
    for text in texts.iter().chain(&texts) {
        outbox.post(note(&store, text));
    }
    assert_eq!(tasks.status().len(), 1, "one task for all");
    until_empty(&outbox).await;
    // Three of those that were told at once failed, and are the first of the next round.
    let in_order = [&texts[3..AT_ONCE], &texts[..3], &texts[AT_ONCE..]].concat();
    assert_eq!(*store.told.lock(), in_order);
}

#[tokio::test(start_paused = true)]
async fn outbox_is_bounded_and_what_must_not_be_lost_waits_for_room() {
    let store = store(u32::MAX);
    let outbox = Outbox::new(Tasks::new(), |_| {});
    for number in 0..2 * MOST {
        outbox.post(note(&store, number));
    }
    assert_eq!(outbox.len(), MOST);
    let waiting = tokio::spawn({
        let (outbox, charge) = (outbox.clone(), note(&store, "charge"));
        async move { outbox.deliver(charge).await }
    });
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(!waiting.is_finished());
    store.away_for.store(0, Ordering::Relaxed);
    waiting.await.unwrap().unwrap();
    until_empty(&outbox).await;
    let told = store.told.lock();
    assert_eq!(told.len(), MOST + 1);
    assert!(told.iter().any(|text| text == "charge"));
}

#[tokio::test(start_paused = true)]
async fn store_that_is_away_is_asked_for_one_message_and_not_for_thousands() {
    let store = store(u32::MAX);
    let outbox = Outbox::new(Tasks::new(), |_| {});
    for number in 0..5_000 {
        outbox.post(note(&store, number));
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    // After 0, 50, 100, 200 ms and then every 250, each less up to a third.
    let tries = store.tries.load(Ordering::Relaxed);
    assert!(tries <= AT_ONCE as u32 * 10, "{tries}");
}

#[tokio::test(start_paused = true)]
async fn stopping_gateway_tells_what_it_can_and_does_not_wait_for_ever() {
    let (tasks, store) = (Tasks::new(), store(AT_ONCE as u32));
    let outbox = Outbox::new(tasks.clone(), |_| {});
    for number in 0..100 {
        outbox.post(note(&store, number));
    }
    let _ = tasks.shutdown(Duration::from_secs(60)).await;
    assert_eq!((outbox.len(), store.told.lock().len()), (0, 100));

    let (tasks, store) = (Tasks::new(), self::store(u32::MAX));
    let outbox = Outbox::new(tasks.clone(), |_| {});
    let waiting = tokio::spawn({
        let (outbox, charge) = (outbox.clone(), note(&store, "charge"));
        async move { outbox.deliver(charge).await }
    });
    tokio::task::yield_now().await;
    let began = Instant::now();
    let _ = tasks.shutdown(Duration::from_secs(60)).await;
    // Longer than a Redis takes to restart, and shorter than a gateway has.
    let waited = began.elapsed().as_secs_f64();
    assert!((7.0..10.0).contains(&waited), "{waited}");
    assert!(waiting.await.unwrap().is_err());
}

#[tokio::test(start_paused = true)]
async fn messages_that_expire_make_room_for_those_that_must_not_be_lost() {
    let store = Arc::new(Store {
        away_for: AtomicU32::new(u32::MAX),
        lasts: Some(Duration::from_secs(5)),
        ..Store::default()
    });
    let outbox = Outbox::new(Tasks::new(), |_| {});
    for number in 0..MOST {
        outbox.post(note(&store, number));
    }
    let waiting = tokio::spawn({
        let (outbox, charge) = (outbox.clone(), note(&self::store(0), "charge"));
        async move { outbox.deliver(charge).await }
    });
    // Whoever waits for ever is never waited for, and so the test ends.
    let waited = tokio::time::timeout(Duration::from_secs(60), waiting).await;
    waited.expect("there is room").unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn all_who_wait_for_one_message_hear_of_it() {
    let store = store(3);
    let outbox = Outbox::new(Tasks::new(), |_| {});
    let deliver = || {
        let (outbox, charge) = (outbox.clone(), note(&store, "charge"));
        tokio::spawn(async move { outbox.deliver(charge).await })
    };
    for waiting in [deliver(), deliver()] {
        waiting.await.unwrap().unwrap();
    }
    assert_eq!(*store.told.lock(), ["charge"]);
}
