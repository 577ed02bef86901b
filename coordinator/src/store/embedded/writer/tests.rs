//! What the writer does when the database refuses.
//! A limit on the file's pages stands for a full disk.

use std::sync::Arc;

use super::*;
use crate::store::embedded::schema;
use crate::store::fence::fences;
use crate::store::packed::pack;
use crate::store::{NewSession, SessionResult};

fn experiment(id: &str, sessions: usize) -> Box<NewExperiment> {
    let sessions = (0..sessions).map(|number| NewSession {
        id: format!("{id}-{number}"),
        spec: "x".repeat(4_000),
        follows: None,
    });
    Box::new(NewExperiment {
        id: id.to_owned(),
        team: "red".to_owned(),
        sessions: sessions.collect(),
        ..NewExperiment::default()
    })
}

/// Has the writer do one thing, together with nothing else.
fn done<T>(writer: &mut Writer, change: impl FnOnce(Reply<T>) -> Change) -> StoreResult<T> {
    let (reply, mut answer) = oneshot::channel();
    writer.commit(vec![change(reply)]);
    answer.try_recv().expect("everybody is answered")
}

fn lease(writer: &mut Writer, most: usize) -> Vec<Granted> {
    let (worker, ttl) = ("w".to_owned(), Duration::from_secs(10));
    let fences = fences(most).unwrap();
    done(writer, |reply| Change::Lease {
        worker,
        fences,
        ttl,
        reply,
    })
    .unwrap()
}

#[test]
fn full_disk_is_told_to_everybody_and_nothing_done_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let connection = schema::open(&folder.path().join("x.db")).unwrap();
    let (announce, queued) = watch::channel(0);
    let (trouble, troubled) = watch::channel(None);
    let mut writer = Writer::new(connection, Arc::new(|| 1), announce, trouble).unwrap();
    done(&mut writer, |reply| {
        Change::Submit(experiment("a", 3), reply)
    })
    .unwrap();
    let first = lease(&mut writer, 1).remove(0).key;
    let announced = *queued.borrow();

    let pages: i64 = writer
        .connection
        .query_row("PRAGMA page_count", [], |row| row.get(0))
        .unwrap();
    writer
        .connection
        .pragma_update(None, "max_page_count", pages + 2)
        .unwrap();
    let (submit, mut submitted) = oneshot::channel();
    let (later, mut leased) = oneshot::channel();
    let change = Change::Lease {
        worker: "w".to_owned(),
        fences: fences(1).unwrap(),
        ttl: Duration::from_secs(10),
        reply: later,
    };
    writer.commit(vec![Change::Submit(experiment("b", 200), submit), change]);
    let error = submitted.try_recv().unwrap().unwrap_err();
    let StoreError::Database { source, .. } = &error else {
        panic!("{error}")
    };
    assert!(source.to_string().contains("full"), "{source}");
    assert!(
        leased.try_recv().unwrap().is_err(),
        "the whole batch is told"
    );
    assert_eq!(*queued.borrow(), announced, "nothing was queued");
    let told = troubled.borrow().clone();
    assert!(told.is_some_and(|reason: String| reason.contains("full")));

    writer
        .connection
        .pragma_update(None, "max_page_count", 1_000_000)
        .unwrap();
    let rest: Vec<String> = lease(&mut writer, 9)
        .into_iter()
        .map(|granted| granted.key.session)
        .collect();
    assert_eq!(rest, ["a-1", "a-2"], "the queue is that of the file");
    let packed = pack(&SessionResult {
        record: b"{}".to_vec(),
        telemetry: Vec::new(),
    });
    let completed = done(&mut writer, |reply| Change::Complete {
        lease: first,
        packed: Box::new(packed),
        reply,
    });
    assert_eq!(completed.unwrap(), Completion::First);
}
