//! Exports, pages and figures in S3-compatible storage, against a server that speaks S3, as other
//! programs find them there; and what a failed upload leaves.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::thread;

use agon_tests::binary::{self, Ended, run};
use agon_tests::left_out::left_out;
use agon_tests::s3::S3Server;
use agon_tests::tree;

/// A server; nothing where there is none.
fn server(test: &str) -> Option<S3Server> {
    S3Server::start().map_err(|why| left_out(test, &why)).ok()
}

/// Names of the objects below a prefix.
fn objects(server: &S3Server, prefix: &str) -> Vec<String> {
    let listed = server.request("GET", &format!("?list-type=2&prefix={prefix}"), b"");
    let listed = String::from_utf8(listed).unwrap();
    let keys = listed.split("<Key>").skip(1);
    let keys = keys.map(|rest| rest.split('<').next().unwrap().to_owned());
    keys.collect()
}

/// Runs a command that reaches the server through this port.
fn run_at(server: &S3Server, port: u16, arguments: &[&str]) -> Ended {
    let mut command = binary::command(arguments);
    command.envs(server.variables());
    command.env("AWS_ENDPOINT_URL", format!("http://127.0.0.1:{port}"));
    // What goes to storage needs no room here.
    command.env("TMPDIR", "/nowhere");
    command.output().unwrap().into()
}

/// A run of recorded games below a folder, and the folder's data folder as an argument.
fn imported(folder: &tempfile::TempDir) -> String {
    let data = folder.path().join("data").display().to_string();
    let games = tree::recorded().join("gamma").display().to_string();
    let ended = run(&["import", &games, "--data", &data, "--name", "recorded"]);
    let _ = ended.expect_code(0);
    data
}

#[test]
fn an_export_into_storage_holds_the_files_of_one_into_a_folder() {
    let Some(storage) = server("an export into storage") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let data = imported(&folder);
    let out = folder.path().join("out").display().to_string();
    // JSON lines are long enough to go up in parts.
    let flags = [
        "--data",
        &data,
        "--format",
        "jsonl",
        "--partition",
        "experiment",
    ];
    let local = [&["export", "recorded", "-o", &out][..], &flags].concat();
    let _ = run(&local).expect_code(0);
    let address = "s3://bucket/a/paper";
    let remote = [&["export", "recorded", "-o", address][..], &flags].concat();
    let ended = run_at(&storage, storage.port(), &remote).expect_code(0);
    assert!(
        ended.err.contains("in s3://bucket/a/paper"),
        "{}",
        ended.err
    );
    let objects = objects(&storage, "a/paper/");
    // As many as there are here: a table without a row has no partition.
    let here = fs::read_dir(&out)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let here = here.map(|path| fs::read_dir(path).map_or(1, Iterator::count));
    assert_eq!(objects.len(), here.sum::<usize>(), "{objects:?}");
    let mut longest = 0;
    for object in &objects {
        let name = object.strip_prefix("a/paper/").unwrap();
        let here = fs::read(format!("{out}/{name}")).unwrap();
        assert!(here == storage.request("GET", object, b""), "{object}");
        longest = longest.max(here.len());
    }
    assert!(
        longest > 8 << 20,
        "nothing went up in parts: {longest} bytes"
    );
    // Nothing is written over.
    let ended = run_at(&storage, storage.port(), &remote).expect_code(2);
    assert!(
        ended.err.contains("nothing is overwritten"),
        "{}",
        ended.err
    );
    // Pages and figures go the same way.
    for (command, address) in [
        (&["report", "recorded"][..], "s3://bucket/b/page.html"),
        (
            &["figure", "payoffs", "recorded"],
            "s3://bucket/b/payoffs.svg",
        ),
    ] {
        let arguments = [command, &["--data", &data, "-o", address]].concat();
        let _ = run_at(&storage, storage.port(), &arguments).expect_code(0);
        let text = storage.request("GET", address.trim_start_matches("s3://bucket/"), b"");
        let text = String::from_utf8(text).unwrap();
        assert!(text.contains("</svg>"), "{address}");
    }
}

#[test]
fn a_failed_upload_says_what_is_there_and_leaves_nothing_half_written() {
    let Some(storage) = server("a failed upload") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let data = imported(&folder);
    // Second parts never arrive.
    let between = cutting(storage.port(), b"partNumber=2&");
    let flags = [
        "--data",
        &data,
        "--format",
        "jsonl",
        "--tables",
        "sessions,seats,observations,actions",
    ];
    let arguments = [&["export", "recorded", "-o", "s3://bucket/cut"][..], &flags].concat();
    let ended = run_at(&storage, between, &arguments).expect_code(3);
    let there = objects(&storage, "cut/");
    for name in &there {
        let name = name.strip_prefix("cut/").unwrap();
        assert!(ended.err.contains(name), "{name} is there: {}", ended.err);
    }
    assert!(!there.contains(&"cut/columns.csv".to_owned()), "{there:?}");
    assert!(
        ended
            .err
            .contains("cannot write actions.jsonl to s3://bucket/cut"),
        "{}",
        ended.err
    );
    assert!(
        ended.err.contains("nothing was written there"),
        "{}",
        ended.err
    );
    assert!(!ended.err.contains("secret-of-a-test"), "{}", ended.err);
    let unfinished = String::from_utf8(storage.request("GET", "?uploads", b"")).unwrap();
    assert!(!unfinished.contains("<UploadId>"), "{unfinished}");
    // What is wrong with an address is said before a session is read.
    for (address, said) in [
        ("s3://", "is no address of a bucket"),
        ("s3://none-of-this-name/x", "does not exist"),
    ] {
        let arguments = ["export", "recorded", "-o", address, "--data", &data];
        let ended = run_at(&storage, storage.port(), &arguments);
        assert!(ended.err.contains(said), "{address}: {}", ended.err);
        assert!(matches!(ended.code, Some(2 | 3)), "{address}: {ended:?}");
    }
}

/// A port from which requests reach the server, but for those that hold these bytes.
fn cutting(server: u16, unwanted: &'static [u8]) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for client in listener.incoming() {
            let mut client = client.unwrap();
            let mut upstream = TcpStream::connect(("127.0.0.1", server)).unwrap();
            let mut back = (upstream.try_clone().unwrap(), client.try_clone().unwrap());
            thread::spawn(move || std::io::copy(&mut back.0, &mut back.1));
            thread::spawn(move || {
                let mut bytes = vec![0; 1 << 16];
                while let Ok(read @ 1..) = client.read(&mut bytes) {
                    let sent = &bytes[..read];
                    let is_unwanted = sent.windows(unwanted.len()).any(|some| some == unwanted);
                    if is_unwanted || upstream.write_all(sent).is_err() {
                        break;
                    }
                }
                let _ = client.shutdown(std::net::Shutdown::Both);
                let _ = upstream.shutdown(std::net::Shutdown::Both);
            });
        }
    });
    port
}
