//! What `agon doctor` finds in installations of real parts: each check with a fault and without one,
//! one line each with what to do, exit codes, and no secret in what is said.

use agon_tests::binary::{Ended, command};

#[path = "doctor/files.rs"]
mod files;
#[path = "doctor/redis.rs"]
mod redis;
#[path = "doctor/services.rs"]
mod services;

/// Runs `agon doctor` in a folder, with environment variables.
fn doctor_in(folder: &std::path::Path, arguments: &[&str], variables: &[(&str, &str)]) -> Ended {
    let mut command = command(&[&["doctor"], arguments].concat());
    command.current_dir(folder).envs(variables.iter().copied());
    command.output().expect("the binary starts").into()
}

/// The same in an empty folder.
fn doctor(arguments: &[&str]) -> Ended {
    let folder = tempfile::tempdir().expect("a scratch folder");
    doctor_in(folder.path(), arguments, &[])
}

/// What was said of a check, whatever its result.
fn said(ended: &Ended, check: &str) -> String {
    let lines = ended.out.lines().filter(|line| {
        let rest = line.split_once(' ').map_or("", |(_, rest)| rest);
        rest.trim_start().starts_with(&format!("{check}: "))
    });
    lines.collect::<Vec<&str>>().join("\n")
}

/// Fails unless these words stand in the line of a check.
fn expect(ended: &Ended, result: &str, check: &str, words: &str) {
    let line = said(ended, check);
    let is_so = line.starts_with(&format!("{result:<4}  ")) && line.contains(words);
    assert!(
        is_so,
        "{result} {check} {words}\nout: {}\nerr: {}",
        ended.out, ended.err
    );
}

#[test]
fn each_line_begins_with_its_result_and_the_last_says_what_is_left_out() {
    let ended = doctor(&[]);
    let lines: Vec<&str> = ended.out.lines().collect();
    let (last, checks) = lines.split_last().unwrap();
    for line in checks {
        let is_result = ["ok    ", "warn  ", "fail  "].iter();
        assert!(
            is_result.clone().any(|result| line.starts_with(result)),
            "{line}"
        );
        assert!(line.starts_with("ok ") || line.contains("; "), "{line}");
    }
    for left_out in [
        "redis (--redis)",
        "data folder (--data)",
        "archive (--archive)",
    ] {
        assert!(last.contains(left_out), "{last}");
    }
    assert!(last.starts_with("left out: "), "{last}");
}

#[test]
fn exit_codes_tell_faults_from_wrong_input() {
    let redis = agon_tests::redis::RedisServer::start();
    let folder = tempfile::tempdir().unwrap();
    let gone = agon_tests::redis::free_port();
    let gone = format!("redis://127.0.0.1:{gone}");
    for (arguments, code) in [
        (&["--redis", &redis.url()][..], 0),
        (&["--redis", &gone], 1),
        (&["--coordinator", "no address"], 2),
        (&["--nonsense"], 2),
    ] {
        let ended = doctor_in(folder.path(), arguments, &[]);
        assert_eq!(ended.code, Some(code), "{arguments:?}: {ended:?}");
    }
}

#[test]
fn programs_get_the_same_as_json() {
    let ended = doctor(&["--json", "--archive", "/nowhere/at/all"]).expect_code(1);
    let said: serde_json::Value = serde_json::from_str(&ended.out).unwrap();
    let checks = said["checks"].as_array().unwrap();
    let archive = checks.iter().find(|one| one["check"] == "archive").unwrap();
    assert_eq!(archive["result"], "fail");
    assert!(archive["advice"].is_string());
    assert_eq!(said["failed"], 1);
    let left_out = said["left_out"].as_array().unwrap();
    assert!(left_out.iter().any(|one| one == "redis (--redis)"));
}
