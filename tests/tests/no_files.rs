//! Files that people name are read only if they are files, at once or not at all: pipes, devices,
//! loops, and links out of a folder of templates are refused by every command that reads them.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use agon_tests::binary::{self, Ended, run};
use agon_tests::runs;

/// Makes a pipe that nobody writes into.
fn pipe(path: &Path) {
    let made = Command::new("mkfifo").arg(path).status().unwrap();
    assert!(made.success());
}

#[test]
fn what_is_no_file_is_refused_at_once_wherever_a_file_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    pipe(Path::new(&at("pipe")));
    symlink(at("loop"), at("loop")).unwrap();
    let experiment = runs::write(folder.path(), runs::MIXED)
        .display()
        .to_string();
    let keyed = |file: &str| {
        let config = at("keyed.toml");
        let text = format!(
            "[providers.p]\nbase_url = 'http://127.0.0.1:9/v1'\nkeys = [{{ file = '{file}' }}]\n\
             [models.any]\nprovider = 'p'\n"
        );
        fs::write(&config, text).unwrap();
        config
    };
    for no_file in [&*at("pipe"), &at("loop"), "/dev/zero", "/dev/tty"] {
        let config = keyed(no_file);
        for arguments in [
            vec!["check", no_file],
            vec!["plan", no_file],
            vec!["run", no_file],
            vec!["run", &experiment, "--config", no_file],
            vec!["run", &experiment, "--config", &config],
            vec!["run", &experiment, "--models", &format!("@{no_file}")],
        ] {
            let ended = run(&arguments);
            assert!(
                matches!(ended.code, Some(2 | 3)),
                "{arguments:?}: {ended:?}"
            );
            assert!(
                ended.err.contains("error: "),
                "{arguments:?}: {}",
                ended.err
            );
        }
    }
}

#[test]
fn what_lies_beside_records_is_read_only_if_it_is_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let experiment = runs::write(folder.path(), &runs::rule_bidders("beside", 1, ""));
    let out = folder.path().join("out");
    let data = folder.path().join("data").display().to_string();
    let _ = runs::run_into(&experiment, &out, &["--data", &data]).expect_code(0);
    replace_by_pipes(&out);
    let [out, experiment] = [&out, &experiment].map(|path| path.display().to_string());
    for arguments in [
        vec!["show", "--results", &out],
        vec!["show", "beside", "--measures", "--results", &out],
        vec!["runs", &out],
        vec!["report", &out],
        vec!["report", &out, "-o", &format!("{out}/page.html")],
        vec!["leaderboard", "--by", "game", &out],
        vec!["figure", "payoffs", &out],
        vec!["compare", &out, &out],
        vec!["export", &out, "-o", &format!("{out}/tables")],
        vec!["verify", &out],
        vec!["run", &experiment, "--out", &out, "--data", &data],
    ] {
        let waits = binary::command(&arguments);
        let mut limited = Command::new("timeout");
        limited.arg("60").arg(waits.get_program()).args(&arguments);
        let ended = Ended::from(limited.output().unwrap());
        assert!(
            matches!(ended.code, Some(0..=3)),
            "{arguments:?}: {ended:?}"
        );
    }
}

/// Puts a pipe in the place of every file below a folder, but for the records.
fn replace_by_pipes(folder: &Path) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            replace_by_pipes(&path);
        } else if entry.file_name() != "records.jsonl" {
            fs::remove_file(&path).unwrap();
            pipe(&path);
        }
    }
}

/// What lies in a folder of templates, put there beside a file outside of it.
type Case = (&'static str, fn(&Path, &Path));

#[test]
fn templates_are_files_of_their_own_folder() {
    let folder = tempfile::tempdir().unwrap();
    let experiment = runs::write(folder.path(), runs::MIXED)
        .display()
        .to_string();
    let outside = folder.path().join("outside.j2");
    fs::write(&outside, "a secret of somebody else").unwrap();
    let cases: [Case; 6] = [
        ("a pipe", |at, _| pipe(&at.join("answer.j2"))),
        ("a device", |at, _| {
            symlink("/dev/zero", at.join("answer.j2")).unwrap();
        }),
        ("a link out", |at, outside| {
            symlink(outside, at.join("answer.j2")).unwrap();
        }),
        ("a folder outside", |at, outside| {
            symlink(outside.parent().unwrap(), at.join("more")).unwrap();
        }),
        ("a link to itself", |at, _| {
            symlink(at.join("answer.j2"), at.join("answer.j2")).unwrap();
        }),
        ("a folder in itself", |at, _| {
            symlink(at, at.join("again")).unwrap();
        }),
    ];
    for (place, (what, make)) in cases.into_iter().enumerate() {
        let templates = folder.path().join(format!("templates-{place}"));
        let inside = templates.join("shared");
        fs::create_dir_all(&inside).unwrap();
        make(&inside, &outside);
        let templates = templates.display().to_string();
        let ended = run(&["check", &experiment, "--templates", &templates]);
        assert!(matches!(ended.code, Some(2 | 3)), "{what}: {ended:?}");
        assert!(ended.err.contains("templates-"), "{what}: {}", ended.err);
        assert!(
            !ended.err.contains("somebody else"),
            "{what}: {}",
            ended.err
        );
    }
}

#[test]
fn records_in_folders_are_read_only_if_they_are_files() {
    let folder = tempfile::tempdir().unwrap();
    let (out, ended) = runs::run_in(folder.path(), &runs::rule_bidders("piped", 1, ""), &[]);
    drop(ended);
    let pipes = folder.path().join("pipes");
    fs::create_dir(&pipes).unwrap();
    pipe(&pipes.join("records.jsonl"));
    pipe(&pipes.join("more.jsonl"));
    let (out, pipes) = (out.display().to_string(), pipes.display().to_string());
    for command in [
        &["show", "--results"][..],
        &["report"],
        &["leaderboard"],
        &["export", "-o", &format!("{pipes}/tables")],
        &["import", "--name", "piped"],
        &["replay"],
        &["verify"],
        &["view", "--listen", "127.0.0.1:0"],
    ] {
        let ended = run(&[command, &[&pipes]].concat());
        assert!(matches!(ended.code, Some(1..=3)), "{command:?}: {ended:?}");
        let said = format!("{}{}", ended.out, ended.err);
        // Some say only that there is nothing.
        let expected = match command[0] {
            "show" => "no finished sessions",
            "verify" => "no records",
            _ => "not a regular file",
        };
        assert!(said.contains(expected), "{command:?}: {said}");
    }
    // What lies beside a pipe is read all the same.
    pipe(&Path::new(&out).join("other.jsonl"));
    let shown = run(&["report", &out]).expect_code(0);
    assert!(shown.out.contains("english_auction"), "{}", shown.out);
}
