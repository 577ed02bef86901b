//! What other people have put into folders of results and data stays as it is: nothing is removed,
//! replaced or written through a link. Each case puts something there, runs an experiment, and
//! looks at all of it afterwards.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use agon_tests::binary::{Ended, run};
use agon_tests::runs;

const EXPERIMENT: &str = "mine";

/// What somebody put somewhere.
enum Thing {
    Text(String),
    Link(PathBuf),
}

/// A folder for one case, and what somebody put into it.
struct Stand {
    folder: tempfile::TempDir,
    things: Vec<(PathBuf, Thing)>,
}

impl Stand {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("experiment");
        fs::create_dir(&file).unwrap();
        let mut stand = Self {
            folder,
            things: Vec::new(),
        };
        runs::write(&file, &runs::rule_bidders(EXPERIMENT, 1, ""));
        stand.write("theirs/thesis", "years of work");
        stand
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn folder_of(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        path
    }

    fn write(&mut self, name: &str, text: &str) {
        let path = self.folder_of(name);
        fs::write(&path, text).unwrap();
        self.things.push((path, Thing::Text(text.to_owned())));
    }

    /// A link to a file or folder of somebody else, or to nothing.
    fn link(&mut self, name: &str, to: &str) {
        let (path, to) = (self.folder_of(name), self.path(to));
        symlink(&to, &path).unwrap();
        self.things.push((path, Thing::Link(to)));
    }

    /// The same in the place of something that is there.
    fn link_instead(&mut self, name: &str, to: &str) {
        let path = self.path(name);
        if path.is_dir() {
            fs::rename(&path, self.path("moved")).unwrap();
        } else {
            fs::remove_file(&path).unwrap();
        }
        self.link(name, to);
    }

    /// Runs the experiment with results in `out` or, for the empty name, in the data folder.
    fn run(&self, out: &str) -> Ended {
        self.run_changed(out, &[])
    }

    fn run_changed(&self, out: &str, flags: &[&str]) -> Ended {
        let experiment = self
            .path("experiment/experiment.toml")
            .display()
            .to_string();
        let (data, out_flag) = (self.path("data"), self.path(out).display().to_string());
        let data = data.display().to_string();
        let mut arguments = vec!["run", &experiment, "--quiet", "--data", &data];
        if !out.is_empty() {
            arguments.extend(["--out", &out_flag]);
        }
        arguments.extend(flags);
        run(&arguments)
    }

    /// A run that went well before anybody put anything there.
    fn run_before(self, out: &str) -> Self {
        let _ = self.run(out).expect_code(0);
        self
    }

    fn assert_untouched(&self, case: &str) {
        for (path, thing) in &self.things {
            let shown = path.display();
            match thing {
                Thing::Text(text) => {
                    let now = fs::read_to_string(path);
                    let now = now.unwrap_or_else(|error| panic!("{case}: {shown}: {error}"));
                    assert_eq!(&now, text, "{case}: {shown}");
                }
                Thing::Link(to) => {
                    let now = fs::read_link(path);
                    let now = now.unwrap_or_else(|error| panic!("{case}: {shown}: {error}"));
                    assert_eq!(&now, to, "{case}: {shown}");
                }
            }
        }
        let theirs: Vec<_> = fs::read_dir(self.path("theirs")).unwrap().collect();
        assert_eq!(theirs.len(), 1, "{case}: something was written outside");
    }
}

/// A case: its name, what is put where, where results go, and what the refusal says; none where
/// the run goes on beside what is there.
type Case = (
    &'static str,
    fn() -> Stand,
    &'static str,
    &'static [&'static str],
);

fn with(prepare: impl FnOnce(&mut Stand)) -> Stand {
    let mut stand = Stand::new();
    prepare(&mut stand);
    stand
}

fn after_a_run(out: &str, prepare: impl FnOnce(&mut Stand)) -> Stand {
    let mut stand = Stand::new().run_before(out);
    prepare(&mut stand);
    stand
}

const GOES_ON: &[&str] = &[];
const OTHER_THINGS: &[&str] = &["contains other files", "--out"];
const LINK: &[&str] = &["symbolic link"];

const CASES: &[Case] = &[
    (
        "a working folder with notes and a repository",
        || {
            with(|stand| {
                stand.write("work/templates/NOTES.md", "mine");
                stand.write("work/templates/.git/HEAD", "ref");
            })
        },
        "work",
        OTHER_THINGS,
    ),
    (
        "a thesis",
        || with(|stand| stand.write("important/thesis.tex", "chapter one")),
        "important",
        OTHER_THINGS,
    ),
    (
        "files that are called like results",
        || {
            with(|stand| {
                stand.write("out/records.jsonl", "{}");
                stand.write("out/document.json", "{}");
            })
        },
        "out",
        OTHER_THINGS,
    ),
    (
        "a folder with a hidden file",
        || with(|stand| stand.write("out/.hidden", "x")),
        "out",
        OTHER_THINGS,
    ),
    (
        "an empty folder",
        || with(|stand| fs::create_dir(stand.path("out")).unwrap()),
        "out",
        GOES_ON,
    ),
    ("no folder yet", || with(|_| {}), "far/away/out", GOES_ON),
    (
        "a file in the place of the folder",
        || with(|stand| stand.write("out", "x")),
        "out",
        &["a folder is needed"],
    ),
    (
        "a link to a folder with a thesis",
        || with(|stand| stand.link("out", "theirs")),
        "out",
        OTHER_THINGS,
    ),
    (
        "a link to an empty folder, which the user named",
        || {
            with(|stand| {
                fs::create_dir(stand.path("elsewhere")).unwrap();
                stand.link("out", "elsewhere");
            })
        },
        "out",
        GOES_ON,
    ),
    (
        "results of another experiment",
        || {
            let stand = Stand::new();
            let _ = stand
                .run_changed("out", &["--name", "other"])
                .expect_code(0);
            stand
        },
        "out",
        &["holds the results of experiment \"other\"", "--out"],
    ),
    (
        "a mark that is none",
        || with(|stand| stand.write("out/agon-results.json", "my own file")),
        "out",
        &["cannot use", "agon-results.json"],
    ),
    (
        "a mark that is a link",
        || with(|stand| stand.link("out/agon-results.json", "theirs/thesis")),
        "out",
        LINK,
    ),
    (
        "records that are a link to a thesis",
        || {
            after_a_run("out", |stand| {
                stand.link_instead("out/records.jsonl", "theirs/thesis");
            })
        },
        "out",
        LINK,
    ),
    (
        "tables that are a link to nothing",
        || {
            after_a_run("out", |stand| {
                stand.link_instead("out/results.csv", "theirs/new");
            })
        },
        "out",
        LINK,
    ),
    (
        "a folder in the place of the summary",
        || {
            after_a_run("out", |stand| {
                fs::remove_file(stand.path("out/summary.txt")).unwrap();
                stand.write("out/summary.txt/mine", "x");
            })
        },
        "out",
        &["summary.txt is a folder"],
    ),
    (
        "a history that is a link",
        || after_a_run("out", |stand| stand.link_instead("out/history", "theirs")),
        "out",
        LINK,
    ),
    (
        "drafts that are links to a thesis",
        || {
            after_a_run("out", |stand| {
                for name in ["records.jsonl", "results.csv", "summary.txt"] {
                    stand.link(&format!("out/.{name}.part"), "theirs/thesis");
                    stand.link(&format!("out/.{name}.2.part"), "theirs/thesis");
                }
            })
        },
        "out",
        GOES_ON,
    ),
    (
        "notes beside the results, in the history and under templates",
        || {
            after_a_run("out", |stand| {
                stand.write("out/NOTES.md", "mine");
                stand.write("out/history/NOTES.md", "mine");
                stand.write("out/templates/NOTES.md", "mine");
                stand.link("out/thesis", "theirs/thesis");
            })
        },
        "out",
        GOES_ON,
    ),
    (
        "results in the data folder beside other things",
        || with(|stand| stand.write("data/runs/mine/thesis", "x")),
        "",
        OTHER_THINGS,
    ),
    (
        "results in the data folder that are a link",
        || with(|stand| stand.link("data/runs/mine", "theirs")),
        "",
        LINK,
    ),
    (
        "all results in the data folder behind a link",
        || with(|stand| stand.link("data/runs", "theirs")),
        "",
        LINK,
    ),
    (
        "a data folder behind a link, which the user named",
        || {
            with(|stand| {
                fs::create_dir(stand.path("elsewhere")).unwrap();
                stand.link("data", "elsewhere");
            })
        },
        "out",
        GOES_ON,
    ),
    (
        "a coordinator's folder that is a link",
        || with(|stand| stand.link("data/coordinator", "theirs")),
        "out",
        LINK,
    ),
    (
        "an experiment's lock that is a link to a thesis",
        || with(|stand| stand.link("data/coordinator/experiments/mine/in-use", "theirs/thesis")),
        "out",
        LINK,
    ),
    (
        "a store that is a link to nothing",
        || {
            let database = "data/coordinator/experiments/mine/store/coordinator.db";
            with(|stand| stand.link(database, "theirs/new"))
        },
        "out",
        &["cannot open"],
    ),
    (
        "a store's lock that is a link to a thesis",
        || {
            let lock = "data/coordinator/experiments/mine/store/coordinator.lock";
            with(|stand| stand.link(lock, "theirs/thesis"))
        },
        "out",
        LINK,
    ),
    (
        "a gateway's folder that is a link",
        || with(|stand| stand.link("data/gateway", "theirs")),
        "out",
        LINK,
    ),
    (
        "a gateway's lock that is a link to a thesis",
        || with(|stand| stand.link("data/gateway/in-use", "theirs/thesis")),
        "out",
        LINK,
    ),
    (
        "a ledger that is a link to nothing",
        || with(|stand| stand.link("data/gateway/ledger.db", "theirs/new")),
        "out",
        &["ledger"],
    ),
    (
        "a ledger's lock that is a link to a thesis",
        || with(|stand| stand.link("data/gateway/ledger.lock", "theirs/thesis")),
        "out",
        LINK,
    ),
    (
        "a turn at the ledger that is a link to a thesis",
        || with(|stand| stand.link("data/gateway/ledger.turn", "theirs/thesis")),
        "out",
        LINK,
    ),
    (
        "limits that are a link to nothing",
        || with(|stand| stand.link("data/gateway/ledger.limits.sqlite", "theirs/new")),
        "out",
        &["limits"],
    ),
];

#[test]
fn what_others_have_put_into_folders_of_ours_stays_as_it_is() {
    assert!(CASES.len() >= 20);
    for (case, prepare, out, words) in CASES {
        let stand = prepare();
        let ended = stand.run(out);
        let refused = !words.is_empty();
        assert_eq!(ended.code != Some(0), refused, "{case}: {}", ended.err);
        for word in *words {
            assert!(ended.err.contains(word), "{case}: `{word}`: {}", ended.err);
        }
        if refused {
            let errors = ended.err.lines().filter(|line| line.starts_with("error: "));
            assert_eq!(errors.count(), 1, "{case}: {}", ended.err);
            assert!(!ended.out.contains("results in"), "{case}: {}", ended.out);
        }
        stand.assert_untouched(case);
    }
}

#[test]
fn a_check_says_that_a_folder_cannot_be_used_and_makes_none() {
    let mut stand = Stand::new();
    stand.write("important/thesis.tex", "chapter one");
    let experiment = stand
        .path("experiment/experiment.toml")
        .display()
        .to_string();
    let (out, data) = (stand.path("important"), stand.path("data"));
    let (out, data) = (out.display().to_string(), data.display().to_string());
    for command in ["check", "plan"] {
        let refused = run(&[command, &experiment, "--data", &data, "--out", &out]).expect_code(2);
        assert!(
            refused.err.contains("contains other files"),
            "{}",
            refused.err
        );
        let good = run(&[command, &experiment, "--data", &data]).expect_code(0);
        let places = format!("results: {data}/runs/mine (run 1); state: in {data}");
        assert!(good.out.contains(&places), "{}", good.out);
    }
    assert!(!Path::new(&data).exists());
    stand.assert_untouched("check");
}

#[test]
fn a_file_that_somebody_changed_is_kept_under_another_name() {
    let mut stand = Stand::new().run_before("out");
    stand.write("out/summary.txt", "my own words");
    stand.things.pop();
    let ended = stand.run_changed("out", &["--seed", "9"]).expect_code(0);
    let kept = stand.path("out/summary.txt.before-run-2");
    assert!(
        ended.err.contains(&kept.display().to_string()),
        "{}",
        ended.err
    );
    assert_eq!(fs::read_to_string(&kept).unwrap(), "my own words");
    let shown = fs::read_to_string(stand.path("out/summary.txt")).unwrap();
    assert!(shown.starts_with("Run 2 of mine, "), "{shown}");
    stand.assert_untouched("changed");
}
