//! What a folder of ours does to what others have put there: nothing.
//! Every case looks at the other side of the link afterwards.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::symlink;

use super::*;

/// A folder of ours beside one of somebody else's, with a file in that.
struct Stand {
    _scratch: tempfile::TempDir,
    ours: Folder,
    theirs: PathBuf,
}

impl Stand {
    fn new() -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let theirs = scratch.path().join("theirs");
        fs::create_dir(&theirs).unwrap();
        fs::write(theirs.join("thesis"), "years of work").unwrap();
        let ours = Folder::create(&scratch.path().join("ours")).unwrap();
        Self {
            _scratch: scratch,
            ours,
            theirs,
        }
    }

    fn link(&self, name: &str, to: &str) {
        symlink(self.theirs.join(to), self.ours.place(name)).unwrap();
    }

    fn assert_untouched(&self) {
        let names: Vec<_> = fs::read_dir(&self.theirs)
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        assert_eq!(names, ["thesis"]);
        let text = fs::read_to_string(self.theirs.join("thesis")).unwrap();
        assert_eq!(text, "years of work");
    }
}

#[test]
fn pipe_in_the_place_of_a_file_of_ours_is_refused_at_once() {
    let stand = Stand::new();
    let made = std::process::Command::new("mkfifo")
        .arg(stand.ours.place("pipe"))
        .status()
        .unwrap();
    assert!(made.success());
    for refused in [
        stand.ours.file("pipe").map(drop),
        stand.ours.reader("pipe").map(drop),
        stand.ours.read("pipe").map(drop),
        stand.ours.new_file("pipe").map(drop),
    ] {
        let _ = refused.unwrap_err();
    }
}

#[test]
fn nothing_is_opened_made_or_locked_through_a_link() {
    let stand = Stand::new();
    stand.link("to-file", "thesis");
    stand.link("to-nothing", "not-there");
    stand.link("to-folder", ".");
    for name in ["to-file", "to-nothing", "to-folder"] {
        assert_eq!(stand.ours.kind(name).unwrap(), Some(Kind::Link), "{name}");
        let refused = [
            stand.ours.file(name).map(drop),
            stand.ours.new_file(name).map(drop),
            stand.ours.reader(name).map(drop),
            stand.ours.folder(name).map(drop),
            stand.ours.new_folder(name).map(drop),
            stand.ours.existing_folder(name).map(drop),
        ];
        assert!(refused.iter().all(Result::is_err), "{name}: {refused:?}");
    }
    let told = stand.ours.file("to-file").unwrap_err();
    assert!(told.get_ref().is_some_and(|inner| inner.is::<IsALink>()));
    stand.assert_untouched();
}

#[test]
fn no_name_leads_out_of_the_folder() {
    let stand = Stand::new();
    let absolute = stand.theirs.join("thesis").display().to_string();
    for name in ["../theirs/thesis", absolute.as_str()] {
        assert!(stand.ours.file(name).is_err(), "{name}");
        assert!(stand.ours.remove_file(name).is_err(), "{name}");
        assert!(
            stand.ours.rename(name, &stand.ours, "mine").is_err(),
            "{name}"
        );
    }
    stand.assert_untouched();
}

#[test]
fn removing_or_renaming_a_link_leaves_what_it_leads_to() {
    let stand = Stand::new();
    stand.link("one", "thesis");
    stand.link("two", ".");
    stand.ours.rename("one", &stand.ours, "kept").unwrap();
    assert_eq!(stand.ours.kind("kept").unwrap(), Some(Kind::Link));
    stand.ours.remove_file("kept").unwrap();
    stand.ours.remove_file("two").unwrap();
    assert!(stand.ours.names().unwrap().is_empty());
    stand.assert_untouched();
}

#[test]
fn file_is_opened_without_losing_what_is_in_it_and_made_only_where_nothing_is() {
    let stand = Stand::new();
    stand.ours.new_file("a").unwrap().write_all(b"one").unwrap();
    stand.ours.file("a").unwrap().write_all(b" two").unwrap();
    assert_eq!(stand.ours.read("a").unwrap().unwrap(), b"one two");
    let taken = stand.ours.new_file("a").unwrap_err();
    assert_eq!(taken.kind(), ErrorKind::AlreadyExists);
    assert_eq!(stand.ours.read("b").unwrap(), None);
    stand
        .ours
        .copy("a", &stand.ours.folder("in").unwrap(), "b")
        .unwrap();
    assert!(stand.ours.copy("a", &stand.ours, "in").is_err());
    assert_eq!(fs::read(stand.ours.place("in/b")).unwrap(), b"one two");
    assert_eq!(stand.ours.names().unwrap(), ["a", "in"]);
}

#[test]
fn folder_that_the_user_names_may_be_reached_through_a_link() {
    let stand = Stand::new();
    stand.link("mine", ".");
    let named = Folder::create(&stand.ours.place("mine")).unwrap();
    assert_eq!(named.names().unwrap(), ["thesis"]);
    let real = fs::canonicalize(&stand.theirs).unwrap();
    assert_eq!(named.real_path().unwrap(), real);
}
