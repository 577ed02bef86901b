//! Folders of results over several runs, and runs that were killed while their results were put in
//! their place. What users see of it is tested from outside.

use std::fs;

use super::*;

struct Scratch {
    folder: tempfile::TempDir,
}

impl Scratch {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    fn claim(&self) -> RunFolder {
        let place = Place {
            data: self.folder.path().to_owned(),
            out: None,
        };
        RunFolder::claim(&place, "x").unwrap()
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.folder.path().join("runs/x").join(name)).unwrap()
    }

    fn mark(&self) -> Mark {
        serde_json::from_str(&self.text(MARK)).unwrap()
    }
}

/// An entry with records and a summary.
fn entry(folder: &RunFolder, text: &str) -> Entry {
    let mut entry = folder.begin(Account::default()).unwrap();
    entry.write(RECORDS, text).unwrap();
    entry.write(SUMMARY, text).unwrap();
    entry.write_account().unwrap();
    entry
}

#[test]
fn run_that_was_killed_while_its_results_were_published_is_published_by_the_next_one() {
    let scratch = Scratch::new();
    let folder = scratch.claim();
    folder.publish(&entry(&folder, "one")).unwrap();
    let second = entry(&folder, "two");
    // As a kill between two files leaves it.
    let mut mark = folder.mark().unwrap();
    mark.publishing = Some(second.account.run);
    for name in [RECORDS, SUMMARY] {
        mark.files
            .get_mut(name)
            .unwrap()
            .push(digest("two".as_bytes()));
    }
    write_mark(&folder.folder, &mark).unwrap();
    fs::remove_file(folder.folder.place(RECORDS)).unwrap();
    fs::write(folder.folder.place(RECORDS), "two").unwrap();
    assert_eq!(scratch.text(SUMMARY), "one");

    let folder = scratch.claim();
    assert_eq!((scratch.text(RECORDS), scratch.text(SUMMARY)), both("two"));
    assert_eq!((scratch.mark().shown, scratch.mark().publishing), (2, None));
    // Nothing was taken for somebody else's.
    let names = folder.folder.names().unwrap();
    assert_eq!(names, [MARK, HISTORY, RECORDS, SUMMARY]);
}

fn both(text: &str) -> (String, String) {
    (text.to_owned(), text.to_owned())
}

#[test]
fn numbers_are_given_once_and_no_name_is_taken_from_anybody() {
    let scratch = Scratch::new();
    let folder = scratch.claim();
    let first = entry(&folder, "one");
    folder.publish(&first).unwrap();
    let number = first.account.run;
    drop(first);
    let _ = folder.delete(number).unwrap();
    assert_eq!(scratch.mark().shown, 0);
    fs::write(folder.folder.place(SUMMARY), "mine").unwrap();
    fs::write(folder.folder.place("summary.txt.before-run-2"), "too").unwrap();
    let second = entry(&folder, "two");
    assert_eq!(second.account.run, 2);
    let kept = folder.publish(&second).unwrap();
    assert_eq!(kept, [folder.folder.place("summary.txt.before-run-2~")]);
    assert_eq!(scratch.text("summary.txt.before-run-2"), "too");
    assert_eq!(scratch.text("summary.txt.before-run-2~"), "mine");
    assert_eq!(scratch.text(SUMMARY), "two");
}

#[test]
fn drafts_of_runs_that_were_killed_are_removed_and_nothing_else_is() {
    let scratch = Scratch::new();
    let folder = scratch.claim();
    for name in [".records.jsonl.1.part", ".summary.txt.12.part~~"] {
        fs::write(folder.folder.place(name), "half").unwrap();
    }
    for name in [".records.jsonl.part", ".notes.1.part"] {
        fs::write(folder.folder.place(name), "mine").unwrap();
    }
    folder.publish(&entry(&folder, "one")).unwrap();
    let names = folder.folder.names().unwrap();
    let drafts: Vec<&String> = names.iter().filter(|name| name.ends_with("part")).collect();
    assert_eq!(drafts, [".notes.1.part", ".records.jsonl.part"]);
    assert!(!names.iter().any(|name| name.ends_with('~')), "{names:?}");
}

#[test]
fn two_runs_at_once_get_numbers_of_their_own_and_the_later_end_is_shown() {
    let scratch = Scratch::new();
    let (one, other) = (scratch.claim(), scratch.claim());
    let (first, second) = (entry(&one, "one"), entry(&other, "two"));
    assert_eq!((first.account.run, second.account.run), (1, 2));
    other.publish(&second).unwrap();
    one.publish(&first).unwrap();
    assert_eq!(scratch.text(SUMMARY), "one");
    assert_eq!(scratch.mark().shown, 1);
    for (entry, text) in [(first, "one"), (second, "two")] {
        let kept = fs::read_to_string(entry.file(RECORDS)).unwrap();
        assert_eq!(kept, text);
    }
}

#[test]
fn removing_a_run_leaves_nothing_of_it_beside_the_history() {
    let scratch = Scratch::new();
    let folder = scratch.claim();
    // Killed before it had a summary.
    let mut first = folder.begin(Account::default()).unwrap();
    first.write(RECORDS, "one").unwrap();
    first.write_account().unwrap();
    drop(first);
    let second = entry(&folder, "two");
    folder.publish(&second).unwrap();
    drop(second);
    folder.delete(2).unwrap();
    assert_eq!(scratch.text(RECORDS), "one");
    let names = folder.folder.names().unwrap();
    assert_eq!(
        names,
        [MARK, HISTORY, RECORDS],
        "no summary of run 2 is left"
    );
}

#[test]
fn run_that_is_removed_while_it_was_being_published_leaves_the_others_shown() {
    let scratch = Scratch::new();
    let folder = scratch.claim();
    let (first, second) = (entry(&folder, "one"), entry(&folder, "two"));
    folder.publish(&first).unwrap();
    let mut mark = folder.mark().unwrap();
    mark.publishing = Some(second.account.run);
    write_mark(&folder.folder, &mark).unwrap();
    drop((first, second));
    folder.delete(2).unwrap();
    assert_eq!((scratch.mark().shown, scratch.mark().publishing), (1, None));
    // The same where its entry was removed by hand.
    let third = entry(&folder, "three");
    let mut mark = folder.mark().unwrap();
    mark.publishing = Some(3);
    write_mark(&folder.folder, &mark).unwrap();
    fs::remove_dir_all(third.path()).unwrap();
    let _ = scratch.claim();
    assert_eq!((scratch.mark().shown, scratch.mark().publishing), (1, None));
    assert_eq!((scratch.text(RECORDS), scratch.text(SUMMARY)), both("one"));
}

#[test]
fn run_that_still_goes_on_is_not_removed() {
    let scratch = Scratch::new();
    let folder = scratch.claim();
    let running = entry(&folder, "one");
    let refused = folder.delete(1).unwrap_err().to_string();
    assert!(refused.contains("run 1 is still running"), "{refused}");
    drop(running);
    assert!(folder.delete(1).is_ok());
}

#[test]
fn folder_in_which_another_run_is_making_its_first_mark_is_no_strangers() {
    let scratch = Scratch::new();
    let place = scratch.folder.path().join("runs/x");
    fs::create_dir_all(place.join(HISTORY)).unwrap();
    fs::write(place.join(HISTORY).join(LOCK), "").unwrap();
    fs::write(place.join(".agon-results.json.77.part"), "").unwrap();
    let folder = scratch.claim();
    assert_eq!(folder.mark().unwrap().experiment, "x");
}

#[test]
fn folder_that_became_another_experiments_is_not_gone_on_with() {
    let scratch = Scratch::new();
    let folder = scratch.claim();
    write_mark(&folder.folder, &Mark::new("y")).unwrap();
    let refused = folder.begin(Account::default()).map(|_| ()).unwrap_err();
    assert!(refused.to_string().contains("of experiment"), "{refused}");
}

#[test]
fn carrying_over_that_was_cut_off_is_made_again() {
    let scratch = Scratch::new();
    let older = scratch.folder.path().join("runs/x");
    fs::create_dir_all(older.join("history/0001-2020-01-01T00-00-00Z")).unwrap();
    let document = r#"{"name":"x","players":{"a":{"kind":"rule","strategy":"random"}},
        "games":[{"game":"divide_dollar"}]}"#;
    fs::write(older.join(DOCUMENT), document).unwrap();
    fs::write(older.join(RECORDS), "{}\n").unwrap();
    let at = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_577_836_800);
    let records = File::options()
        .append(true)
        .open(older.join(RECORDS))
        .unwrap();
    records.set_modified(at).unwrap();
    let cut_off = older.join("history/0001-2020-01-01T00-00-00Z");
    fs::write(cut_off.join(DOCUMENT), "{").unwrap();
    fs::write(cut_off.join(".run.json.part"), "{").unwrap();
    let _ = scratch.claim();
    assert_eq!(scratch.mark().shown, 1);
    let name = "history/0001-2020-01-01T00-00-00Z";
    assert_eq!(scratch.text(&format!("{name}/{DOCUMENT}")), document);
    assert_eq!(scratch.text(&format!("{name}/{RECORDS}")), "{}\n");
    let account = history::account(&older.join(name)).unwrap();
    assert_eq!(account.files.len(), 2);
}
