//! The contract of an archive: every claim here holds in a folder, in a journal and in a bucket.
//! Each claim becomes two tests and is one of those of a bucket, which share a server.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use agon_coordinator::archive::{
    Archive, ArchiveError, Archived, Entry, MOST_SEGMENT_BYTES, Segment,
};
use agon_coordinator::journal::{FileJournal, Journal as _};
use agon_proto::packed::{pack, unpack};
use agon_tests::left_out::left_out;
use agon_tests::s3::S3Server;
use bytes::Bytes;

/// Makes the tests of every claim.
macro_rules! contract {
    ($($claim:ident),* $(,)?) => {
        mod folder {
            $(#[tokio::test]
            async fn $claim() {
                super::$claim(&super::Bench::folder()).await;
            })*
        }
        mod journal {
            $(#[tokio::test]
            async fn $claim() {
                super::$claim(&super::Bench::journal()).await;
            })*
        }
        #[tokio::test]
        async fn every_claim_holds_in_a_bucket() {
            match S3Server::start() {
                Err(why) => left_out("every_claim_holds_in_a_bucket", &why),
                Ok(server) => {
                    let server = Arc::new(server);
                    $($claim(&Bench::bucket(&server, stringify!($claim))).await;)*
                }
            }
        }
    };
}

contract! {
    segment_comes_back_as_it_was_written,
    single_entry_is_read_by_its_place,
    segment_without_an_index_is_not_there,
    segment_may_be_written_again_but_not_with_other_entries,
    writers_of_the_same_segment_are_not_in_each_others_way,
    segments_and_experiments_are_listed_in_order,
    documents_lie_beside_the_segments,
    deletion_takes_one_experiment_and_all_of_it,
    names_that_lead_elsewhere_are_refused,
    damage_is_an_error_and_never_another_record,
}

/// An archive, and a way to it past the archive.
struct Bench {
    archive: Archive,
    lies_in: LiesIn,
}

enum LiesIn {
    Folder(tempfile::TempDir),
    Journal(FileJournal, tempfile::TempDir),
    Bucket(Arc<S3Server>, String),
}

impl Bench {
    fn folder() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self {
            archive: Archive::folder(&folder.path().join("archive")).unwrap(),
            lies_in: LiesIn::Folder(folder),
        }
    }

    fn journal() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let journal = FileJournal::open(folder.path()).unwrap();
        Self {
            archive: Archive::in_journal(Arc::new(journal.clone())),
            lies_in: LiesIn::Journal(journal, folder),
        }
    }

    fn bucket(server: &Arc<S3Server>, prefix: &str) -> Self {
        let url = format!("s3://{}/{prefix}", S3Server::BUCKET);
        Self {
            archive: Archive::s3_with(&url, server.variables()).unwrap(),
            lies_in: LiesIn::Bucket(server.clone(), prefix.to_owned()),
        }
    }

    /// Puts a file there as a careless hand would; nothing removes it.
    async fn spoil(&self, name: &str, content: Option<&'static [u8]>) {
        match (&self.lies_in, content) {
            (LiesIn::Folder(folder), _) => {
                let path = folder.path().join("archive").join(name);
                let spoiled = match content {
                    Some(content) => std::fs::write(path, content),
                    None => std::fs::remove_file(path),
                };
                spoiled.unwrap();
            }
            (LiesIn::Journal(journal, folder), _) => {
                assert!(folder.path().exists());
                let name = format!("archive/{name}");
                let spoiled = match content {
                    Some(content) => journal.put_blob(&name, Bytes::from_static(content)).await,
                    None => journal.delete_blob(&name).await,
                };
                spoiled.unwrap();
            }
            (LiesIn::Bucket(server, prefix), Some(content)) => {
                server.request("PUT", &format!("{prefix}/{name}"), content);
            }
            (LiesIn::Bucket(server, prefix), None) => {
                server.request("DELETE", &format!("{prefix}/{name}"), b"");
            }
        }
    }
}

fn entry(position: u32) -> Entry {
    Entry {
        position,
        session: format!("session-{position}"),
        digest: u64::from(position) << 40,
        record: pack(&format!("{{\"record\":{position}}}")),
        telemetry: pack(&format!("{{\"telemetry\":{position}}}")),
    }
}

fn entries(positions: std::ops::Range<u32>) -> Vec<Entry> {
    positions.map(entry).collect()
}

fn all(segment: &Segment) -> Vec<Entry> {
    segment.iter().cloned().collect()
}

async fn segment_comes_back_as_it_was_written(bench: &Bench) {
    let archive = &bench.archive;
    for (number, positions) in [(1, 0..3), (2, 3..4), (3, 4..4)] {
        let written = archive.write("x", number, entries(positions.clone()));
        written.await.unwrap();
        let read = archive.read("x", number).await.unwrap();
        assert_eq!(all(&read), entries(positions));
    }
    let line = archive.read("x", 2).await.unwrap();
    let line = unpack(&line.entry(0).unwrap().record);
    assert_eq!(line.as_deref(), Some("{\"record\":3}"));
    let missing = archive.read("x", 4).await.err();
    assert!(matches!(missing, Some(ArchiveError::Missing { .. })));
}

async fn single_entry_is_read_by_its_place(bench: &Bench) {
    let archive = &bench.archive;
    archive.write("x", 1, entries(0..5)).await.unwrap();
    let at = |entry| Archived { segment: 1, entry };
    for place in [0, 3, 4] {
        let found = archive.entry("x", at(place)).await.unwrap();
        assert_eq!(found, Some(entry(place)));
    }
    assert_eq!(archive.entry("x", at(5)).await.unwrap(), None);
    let missing = Archived {
        segment: 2,
        entry: 0,
    };
    let missing = archive.entry("x", missing).await.err();
    assert!(matches!(missing, Some(ArchiveError::Missing { .. })));
}

async fn segment_without_an_index_is_not_there(bench: &Bench) {
    let archive = &bench.archive;
    archive.write("x", 1, entries(0..3)).await.unwrap();
    bench.spoil("x/000001.index.json", None).await;
    assert!(archive.list("x").await.unwrap().is_empty());
    let missing = archive.read("x", 1).await.err();
    assert!(matches!(missing, Some(ArchiveError::Missing { .. })));
    // As a crash in front of the index left it; what is written then counts.
    archive.write("x", 1, entries(7..9)).await.unwrap();
    assert_eq!(all(&archive.read("x", 1).await.unwrap()), entries(7..9));
    assert_eq!(archive.list("x").await.unwrap(), [1]);
}

async fn segment_may_be_written_again_but_not_with_other_entries(bench: &Bench) {
    let archive = &bench.archive;
    for _ in 0..2 {
        archive.write("x", 1, entries(0..3)).await.unwrap();
    }
    let taken = archive.write("x", 1, entries(0..4)).await;
    assert!(
        matches!(taken, Err(ArchiveError::Taken { .. })),
        "{taken:?}"
    );
    assert_eq!(all(&archive.read("x", 1).await.unwrap()), entries(0..3));
}

async fn writers_of_the_same_segment_are_not_in_each_others_way(bench: &Bench) {
    let writes = (0..8).map(|_| bench.archive.write("x", 1, entries(0..50)));
    for written in futures_util::future::join_all(writes).await {
        written.unwrap();
    }
    let read = bench.archive.read("x", 1).await.unwrap();
    assert_eq!(all(&read), entries(0..50));
}

async fn segments_and_experiments_are_listed_in_order(bench: &Bench) {
    let archive = &bench.archive;
    assert!(archive.experiments().await.unwrap().is_empty());
    assert!(archive.list("x").await.unwrap().is_empty());
    for number in [10, 2, 1_000_000, 1] {
        archive.write("x", number, entries(0..1)).await.unwrap();
    }
    archive.write("a-b_C", 3, entries(0..1)).await.unwrap();
    let document = archive.put_document("y", Bytes::from("{}"));
    document.await.unwrap();
    assert_eq!(archive.list("x").await.unwrap(), [1, 2, 10, 1_000_000]);
    assert_eq!(archive.list("a-b_C").await.unwrap(), [3]);
    assert_eq!(archive.experiments().await.unwrap(), ["a-b_C", "x", "y"]);
}

async fn documents_lie_beside_the_segments(bench: &Bench) {
    let archive = &bench.archive;
    assert_eq!(archive.document("x").await.unwrap(), None);
    for text in ["{\"seed\":1}", "{\"seed\":2}"] {
        let put = archive.put_document("x", Bytes::from(text));
        put.await.unwrap();
        let there = archive.document("x").await.unwrap();
        assert_eq!(there, Some(Bytes::from(text)));
    }
    assert!(archive.list("x").await.unwrap().is_empty());
}

async fn deletion_takes_one_experiment_and_all_of_it(bench: &Bench) {
    let archive = &bench.archive;
    for name in ["x", "xy", "x-"] {
        archive.write(name, 1, entries(0..2)).await.unwrap();
        let document = archive.put_document(name, Bytes::from("{}"));
        document.await.unwrap();
    }
    archive.write("x", 2, entries(2..4)).await.unwrap();
    for _ in 0..2 {
        archive.delete("x").await.unwrap();
        assert_eq!(archive.experiments().await.unwrap(), ["x-", "xy"]);
        assert!(archive.list("x").await.unwrap().is_empty());
        assert_eq!(archive.document("x").await.unwrap(), None);
    }
    assert_eq!(all(&archive.read("xy", 1).await.unwrap()), entries(0..2));
    // Its numbers are free again.
    archive.write("x", 1, entries(5..6)).await.unwrap();
    assert_eq!(all(&archive.read("x", 1).await.unwrap()), entries(5..6));
}

async fn names_that_lead_elsewhere_are_refused(bench: &Bench) {
    let archive = &bench.archive;
    for name in [
        "", ".", "..", "../x", "a/b", "/etc", "a\\b", "a\0", "%2e%2e",
    ] {
        let answers = [
            archive.write(name, 1, entries(0..1)).await.err(),
            archive.read(name, 1).await.err(),
            archive.list(name).await.err(),
            archive.delete(name).await.err(),
            archive.put_document(name, Bytes::new()).await.err(),
            archive.document(name).await.err(),
        ];
        for answer in answers {
            let refused = matches!(answer, Some(ArchiveError::Name { .. }));
            assert!(refused, "{name:?}: {answer:?}");
        }
    }
    assert!(archive.experiments().await.unwrap().is_empty());
}

async fn damage_is_an_error_and_never_another_record(bench: &Bench) {
    let archive = &bench.archive;
    let damages: [(&str, Option<&'static [u8]>); 7] = [
        ("records.jsonl.gz", None),
        ("telemetry.jsonl.gz", None),
        ("records.jsonl.gz", Some(b"")),
        ("telemetry.jsonl.gz", Some(b"something else")),
        ("index.json", Some(b"")),
        ("index.json", Some(b"{\"version\":2}")),
        ("index.json", Some(b"{\"version\":1,\"sessions\":[]}")),
    ];
    for (number, (file, content)) in (1..).zip(damages) {
        archive.write("x", number, entries(0..3)).await.unwrap();
        bench.spoil(&format!("x/{number:06}.{file}"), content).await;
        let answer = archive.read("x", number).await;
        assert!(
            matches!(answer, Err(ArchiveError::Damaged { .. })),
            "{file}: {answer:?}"
        );
    }
}

fn zcat(file: &Path) -> String {
    let output = Command::new("gzip").arg("-dc").arg(file).output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

#[tokio::test]
async fn other_programs_read_a_folder_as_json_lines() {
    let folder = tempfile::tempdir().unwrap();
    let archive = Archive::folder(folder.path()).unwrap();
    archive.write("x", 1, entries(0..2)).await.unwrap();
    let records = zcat(&folder.path().join("x/000001.records.jsonl.gz"));
    assert_eq!(records, "{\"record\":0}\n{\"record\":1}\n");
    let telemetry = zcat(&folder.path().join("x/000001.telemetry.jsonl.gz"));
    assert_eq!(telemetry, "{\"telemetry\":0}\n{\"telemetry\":1}\n");
}

#[tokio::test]
async fn file_of_gigabytes_is_refused_before_it_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let archive = Archive::folder(folder.path()).unwrap();
    archive.write("x", 1, entries(0..2)).await.unwrap();
    for (file, bytes) in [
        ("records.jsonl.gz", MOST_SEGMENT_BYTES + 1),
        ("index.json", 1 << 33),
    ] {
        let path = folder.path().join(format!("x/000001.{file}"));
        let file = std::fs::OpenOptions::new().write(true).open(path);
        // A hole, which takes no space on the disk.
        file.unwrap().set_len(bytes).unwrap();
        let answer = archive.read("x", 1).await;
        assert!(
            matches!(answer, Err(ArchiveError::TooLarge { .. })),
            "{answer:?}"
        );
    }
}

#[tokio::test]
async fn nothing_is_written_through_a_link_in_the_place_of_an_experiment() {
    let folder = tempfile::tempdir().unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    std::fs::write(elsewhere.path().join("precious"), "").unwrap();
    std::os::unix::fs::symlink(elsewhere.path(), folder.path().join("x")).unwrap();
    let archive = Archive::folder(folder.path()).unwrap();
    let answers = [
        archive.write("x", 1, entries(0..1)).await,
        archive.put_document("x", Bytes::new()).await,
        archive.delete("x").await,
    ];
    for answer in answers {
        assert!(
            matches!(answer, Err(ArchiveError::Folder { .. })),
            "{answer:?}"
        );
    }
    let names = std::fs::read_dir(elsewhere.path()).unwrap();
    assert_eq!(names.count(), 1);
}

#[tokio::test]
async fn deletion_removes_what_a_killed_writer_left_half_written() {
    let folder = tempfile::tempdir().unwrap();
    let archive = Archive::folder(folder.path()).unwrap();
    archive.write("x", 1, entries(0..1)).await.unwrap();
    std::fs::write(folder.path().join("x/000002.records.jsonl.gz#1"), "half").unwrap();
    assert_eq!(archive.list("x").await.unwrap(), [1]);
    archive.delete("x").await.unwrap();
    assert!(!folder.path().join("x").exists());
}

#[tokio::test]
async fn places_that_hold_no_archive_are_refused() {
    let answer = Archive::s3_with("s3://", []).err();
    assert!(matches!(answer, Some(ArchiveError::Bucket(_))));
    let missing = Path::new("/nowhere/at/all");
    let answer = Archive::existing_folder(missing).err();
    assert!(matches!(answer, Some(ArchiveError::Folder { .. })));
}
