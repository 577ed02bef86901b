//! What users are told when they make a mistake or something outside breaks: everything that forty
//! mistakes and ten faults print, in one golden file that is there to be read aloud. Every message
//! says what happened, what is kept where something is, and what to do.

use std::fmt::Write as _;
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};

use agon_tests::binary::{Ended, Role, command};
use agon_tests::golden;
use agon_tests::model_server::ModelServer;
use agon_tests::redis::free_port;
use agon_tests::runs;
use agon_tests::small_disk::with_small_disk;
use agon_tests::waiting::until;

#[path = "messages/faults.rs"]
mod faults;
#[path = "messages/mistakes.rs"]
mod mistakes;

/// A folder in which commands are typed, and what they printed.
struct Desk {
    folder: tempfile::TempDir,
    printed: String,
    /// What is shown in place of what differs from run to run.
    names: Vec<(String, String)>,
    /// Numbers differ, too: each is shown as N.
    numbers_differ: bool,
}

impl Desk {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let names = vec![(folder.path().display().to_string(), "FOLDER".to_owned())];
        Self {
            folder,
            printed: String::new(),
            names,
            numbers_differ: false,
        }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn stands_for(&mut self, what: &str, name: &str) {
        self.names.push((what.to_owned(), name.to_owned()));
    }

    /// Types a command line and notes what it prints; exactly one line is an error's.
    fn types(&mut self, what: &str, line: &str, code: i32) {
        let arguments: Vec<&str> = line.split_whitespace().collect();
        let mut typed = command(&arguments);
        typed.current_dir(self.path());
        typed.env_remove("OPENAI_API_KEY");
        let ended = Ended::from(typed.output().unwrap()).expect_code(code);
        self.note(what, line, &ended);
    }

    fn note(&mut self, what: &str, line: &str, ended: &Ended) {
        let ends = |line: &&str| line.starts_with("error: ") || line.starts_with("stopped: ");
        assert_eq!(
            ended.err.lines().filter(ends).count(),
            1,
            "{what}: {}",
            ended.err
        );
        assert!(!ended.err.contains("panicked"), "{}", ended.err);
        let mut text = format!("# {what}\n$ agon {line}\n{}{}", ended.out, ended.err);
        for (what, name) in &self.names {
            text = text.replace(what, name);
        }
        if self.numbers_differ {
            text = without_numbers(&without_ids(&text));
            // Said only where they do differ.
            text = text.replace(" (with other numbers elsewhere)", "");
            // Printed every few seconds, if a run takes so long.
            let lines = text.split_inclusive('\n');
            text = lines
                .filter(|line| !line.contains(" sessions done, "))
                .collect();
        }
        let code = ended.code.unwrap();
        writeln!(self.printed, "{}\n(exit {code})\n", text.trim_end()).unwrap();
    }
}

/// Sessions' ids change with the wording of prompts.
fn without_ids(text: &str) -> String {
    let is_id =
        |word: &str| word.len() == 32 && word.chars().all(|digit| digit.is_ascii_hexdigit());
    let words = text.split_inclusive([' ', '\n']);
    let shown = words.map(|word| match word.split_at_checked(32) {
        Some((id, rest)) if is_id(id) => format!("SESSION{rest}"),
        _ => word.to_owned(),
    });
    shown.collect()
}

fn without_numbers(text: &str) -> String {
    let mut shown = String::new();
    for letter in text.chars() {
        match letter {
            digit if digit.is_ascii_digit() => {
                if !shown.ends_with('N') {
                    shown.push('N');
                }
            }
            other => shown.push(other),
        }
    }
    shown
}

#[test]
fn what_forty_mistakes_print_is_as_it_was_read_aloud() {
    let mut desk = Desk::new();
    mistakes::make(&mut desk);
    let made = desk.printed.matches("\n$ agon ").count();
    assert!(made >= 40, "{made} mistakes");
    golden::compare("messages_mistakes.txt", &desk.printed);
}

#[test]
fn what_ten_faults_print_is_as_it_was_read_aloud() {
    let test = "what_ten_faults_print_is_as_it_was_read_aloud";
    with_small_disk(test, "2m", |disk| {
        let mut desk = Desk::new();
        desk.stands_for(&disk.path().display().to_string(), "SMALL-DISK");
        desk.numbers_differ = true;
        faults::meet(&mut desk, disk);
        let met = desk.printed.matches("\n$ agon ").count();
        assert!(met >= 10, "{met} faults");
        golden::compare("messages_faults.txt", &desk.printed);
    });
}
