//! Segments that come back, segments that are not as they were written, and indexes that lie.
//! Works on bytes in memory alone; `tests/suite/archive.rs` has the storage.

use serde_json::{Value, json};

use super::*;
use agon_proto::packed::pack;

fn entry(position: u32) -> Entry {
    Entry {
        position,
        session: format!("s{position}"),
        digest: u64::MAX - u64::from(position),
        record: pack(&format!("{{\"record\":{position}}}")),
        telemetry: pack("{}"),
    }
}

fn files() -> Files {
    Files::of(&[entry(7), entry(3), entry(9)]).unwrap()
}

fn read(files: &Files) -> ArchiveResult<Segment> {
    let index = Index::parse("it", &files.index)?;
    Segment::new("it", index, files.records.clone(), files.telemetry.clone())
}

#[test]
fn entries_come_back_in_their_order() {
    let segment = read(&files()).unwrap();
    assert_eq!(segment.len(), 3);
    let expected = [entry(7), entry(3), entry(9)];
    assert!(segment.iter().eq(&expected));
    assert_eq!(segment.entry(1), Some(&expected[1]));
    assert_eq!(segment.entry(3), None);
    assert!(read(&Files::of(&[]).unwrap()).unwrap().is_empty());
}

#[test]
fn same_entries_make_the_same_bytes() {
    let (one, two) = (files(), files());
    assert_eq!(one.index, two.index);
    assert_eq!(one.records, two.records);
    assert_eq!(one.telemetry, two.telemetry);
}

#[test]
fn index_says_where_everything_lies_in_plain_words() {
    let index: Value = serde_json::from_slice(&files().index).unwrap();
    let first = entry(7);
    assert_eq!(index["version"], 1);
    assert_eq!(
        index["sessions"][1],
        json!({
            "position": 3,
            "session": "s3",
            "digest": "fffffffffffffffc",
            "record": {"offset": first.record.len(), "length": entry(3).record.len()},
            "telemetry": {"offset": first.telemetry.len(), "length": first.telemetry.len()},
        })
    );
}

#[test]
fn index_that_lies_is_an_error() {
    let honest: Value = serde_json::from_slice(&files().index).unwrap();
    let lies: [(&str, Value); 8] = [
        ("/sessions/1/record/offset", json!(0)),
        ("/sessions/1/record/length", json!(1_000_000_000_000_u64)),
        ("/sessions/0/telemetry/length", json!(u64::MAX)),
        ("/sessions/2/telemetry/length", json!(0)),
        ("/records/length", json!(1_000_000_000_000_u64)),
        ("/records/blake3", json!("0")),
        ("/sessions/0/digest", json!("x")),
        ("/version", json!(2)),
    ];
    for (pointer, lie) in lies {
        let mut index = honest.clone();
        *index.pointer_mut(pointer).unwrap() = lie;
        let mut files = files();
        files.index = serde_json::to_vec(&index).unwrap().into();
        let answer = read(&files);
        assert!(
            matches!(answer, Err(ArchiveError::Damaged { .. })),
            "{pointer}: {answer:?}"
        );
    }
}

#[test]
fn files_that_do_not_belong_to_the_index_are_an_error() {
    let (mut cut, mut changed, mut exchanged) = (files(), files(), files());
    cut.records.truncate(10);
    let mut bytes = changed.telemetry.to_vec();
    bytes[4] ^= 1;
    changed.telemetry = bytes.into();
    std::mem::swap(&mut exchanged.records, &mut exchanged.telemetry);
    for files in [cut, changed, exchanged] {
        let answer = read(&files);
        assert!(matches!(answer, Err(ArchiveError::Damaged { .. })));
    }
}
