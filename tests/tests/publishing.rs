//! Published sites: whole, provable by anybody, the same every time, with the numbers of the command line;
//! what others wrote stays text, and what others put beside it stays.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use agon_tests::binary::{Ended, run};
use agon_tests::runs;
use agon_tests::scripted_server::{Said, ScriptedServer};
use flate2::read::GzDecoder;
use serde_json::{Value, json};
use tempfile::TempDir;

/// What a model says that would act in a page, a terminal or a spreadsheet.
const HOSTILE: &str =
    "=1+1 </script><script>alert(1)</script><img src=x onerror=alert(2)> \u{202e} 50";

/// A folder with a run, `out`, and places beside it.
struct Stand {
    folder: TempDir,
}

impl Stand {
    /// Two sessions of two players of a model that says what is hostile.
    fn hostile() -> Self {
        let server = ScriptedServer::start(|_, _| Said {
            status: 200,
            body: json!({
                "id": "x", "object": "chat.completion", "created": 1, "model": "any",
                "choices": [{
                    "index": 0, "finish_reason": "stop",
                    "message": { "role": "assistant", "content": HOSTILE },
                }],
                "usage": { "prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18 },
            })
            .to_string()
            .into_bytes(),
        });
        let stand = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        let text = runs::dividers("dividing", 2);
        let base_url = server.base_url();
        let _ = runs::run_in(stand.folder.path(), &text, &["--base-url", &base_url]);
        stand
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn place(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    fn publish(&self, site: &str, more: &[&str]) -> Ended {
        let (out, site) = (self.place("out"), self.place(site));
        run(&[&["publish", &out, "-o", &site, "--quiet"], more].concat())
    }
}

/// All files below a folder by their paths.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(inside) = folders.pop() {
        for entry in fs::read_dir(inside).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.strip_prefix(folder).unwrap().display().to_string();
            found.insert(name, fs::read(path).unwrap());
        }
    }
    found
}

fn unpacked(bytes: &[u8]) -> Vec<u8> {
    let mut unpacked = Vec::new();
    GzDecoder::new(bytes).read_to_end(&mut unpacked).unwrap();
    unpacked
}

fn data(site: &Path, name: &str) -> Value {
    let packed = fs::read(site.join(format!("data/{name}.json.gz"))).unwrap();
    serde_json::from_slice(&unpacked(&packed)).unwrap()
}

fn sums_hold(site: &Path) -> bool {
    let mut check = Command::new("sha256sum");
    let check = check
        .args(["-c", "--quiet", "--strict", "SHA256SUMS"])
        .current_dir(site);
    check.status().unwrap().success()
}

#[test]
fn published_site_is_whole_and_proved_by_its_own_commands() {
    let stand = Stand::hostile();
    let said = stand.publish("site", &[]).expect_code(0);
    assert!(said.out.contains("2 sessions"), "{}", said.out);
    let site = stand.path("site");
    assert!(sums_hold(&site));
    let sums = fs::read_to_string(site.join("SHA256SUMS")).unwrap();
    assert_eq!(sums.lines().count() + 1, files(&site).len());
    let about: Value =
        serde_json::from_slice(&fs::read(site.join("agon-site.json")).unwrap()).unwrap();
    assert_eq!(about["sessions"], 2);
    assert_eq!(
        about["runs"][0]["versions"]["rules"],
        json!({ "divide_dollar": 1 })
    );
    let commands = about["verify"].as_array().unwrap().iter();
    let commands: Vec<&str> = commands.map(|one| one.as_str().unwrap()).collect();
    assert_eq!(
        commands,
        ["sha256sum -c SHA256SUMS", "agon verify records/dividing"]
    );
    let records = site.join("records/dividing").display().to_string();
    let verified = run(&["verify", &records]).expect_code(0);
    assert_eq!(verified.out.trim(), "2 of 2 records verified");
    // A record that somebody changed is found by both.
    let file = site.join("records/dividing/0001.records.jsonl.gz");
    let changed = String::from_utf8(unpacked(&fs::read(&file).unwrap())).unwrap();
    fs::write(
        &file,
        changed.replacen("\"payoffs\":[", "\"payoffs\":[1", 1),
    )
    .unwrap();
    assert!(!sums_hold(&site));
    let _ = run(&["verify", &records]).expect_code(1);
    // Its document plays the same sessions.
    let document = site.join("records/dividing/experiment.toml");
    let _ = run(&["check", &document.display().to_string()]).expect_code(0);
}

#[test]
fn same_runs_give_the_same_bytes_and_a_site_is_replaced_by_the_next() {
    let stand = Stand::hostile();
    for site in ["one", "two"] {
        let _ = stand.publish(site, &[]).expect_code(0);
    }
    let (one, two) = (files(&stand.path("one")), files(&stand.path("two")));
    assert!(one == two, "two sites of the same run differ");
    // A smaller one in its place, beside what somebody else has put there.
    fs::write(stand.path("two/CNAME"), "example.org").unwrap();
    let _ = stand
        .publish("two", &["--without", "seats,prompts"])
        .expect_code(0);
    let smaller = files(&stand.path("two"));
    assert_eq!(smaller["CNAME"], b"example.org");
    assert!(sums_hold(&stand.path("two")));
    let is_left_out = |name: &&String| name.contains("/seats-") || name.contains("/calls-");
    assert_eq!(smaller.keys().filter(is_left_out).count(), 0);
    assert!(one.keys().filter(is_left_out).count() > 0);
}

#[test]
fn what_others_wrote_is_never_overwritten() {
    let stand = Stand::hostile();
    let thesis = stand.path("thesis");
    fs::create_dir(&thesis).unwrap();
    fs::write(thesis.join("index.html"), "my thesis").unwrap();
    let refused = stand.publish("thesis", &[]).expect_code(2);
    assert!(
        refused.err.contains("nothing is overwritten"),
        "{}",
        refused.err
    );
    assert_eq!(files(&thesis).len(), 1);
    // A list of digests of somebody else's does not make it a site.
    fs::write(thesis.join("SHA256SUMS"), "00  ../out/records.jsonl\n").unwrap();
    let _ = stand.publish("thesis", &[]).expect_code(2);
    // A site that somebody changed.
    let _ = stand.publish("site", &[]).expect_code(0);
    let page = stand.path("site/index.html");
    fs::write(&page, "my own page").unwrap();
    let refused = stand.publish("site", &[]).expect_code(2);
    assert!(
        refused.err.contains("not as it was published"),
        "{}",
        refused.err
    );
    assert_eq!(fs::read(&page).unwrap(), b"my own page");
    // Somebody's file where a larger site has one of its own.
    let _ = stand
        .publish("small", &["--without", "prompts"])
        .expect_code(0);
    let before = files(&stand.path("small"));
    let _ = stand.publish("whole", &[]).expect_code(0);
    let new = files(&stand.path("whole")).into_keys();
    let new: Vec<String> = new.filter(|name| !before.contains_key(name)).collect();
    let mine = stand.path("small").join(&new[0]);
    fs::write(&mine, "mine").unwrap();
    let refused = stand.publish("small", &[]).expect_code(2);
    assert!(
        refused.err.contains("nothing is overwritten"),
        "{}",
        refused.err
    );
    assert_eq!(fs::read(&mine).unwrap(), b"mine");
    assert!(sums_hold(&stand.path("small")));
    // A link that leads elsewhere in the place of one of its files.
    let victim = stand.path("victim");
    fs::rename(stand.path("whole/index.html"), &victim).unwrap();
    std::os::unix::fs::symlink(&victim, stand.path("whole/index.html")).unwrap();
    let _ = stand.publish("whole", &[]).expect_code(2);
    assert!(victim.is_file());
}

#[test]
fn site_has_the_numbers_of_the_command_line() {
    let stand = Stand::hostile();
    let _ = stand.publish("site", &[]).expect_code(0);
    let (site, out) = (stand.path("site"), stand.place("out"));
    let report = run(&["report", &out, "--format", "markdown"])
        .expect_code(0)
        .out;
    let told = data(&site, "results/all/tables/measures");
    let blocks = told["blocks"].as_array().unwrap();
    let rows = blocks
        .iter()
        .filter_map(|block| block["rows"].as_array())
        .flatten();
    let mut compared = 0;
    for row in rows {
        let cells = row["cells"].as_array().unwrap().iter();
        let cells = cells.map(|cell| cell.as_str().unwrap().replace('_', "\\_"));
        let line = format!("| {} |", cells.collect::<Vec<_>>().join(" | "));
        assert!(report.contains(&line), "{line}\n{report}");
        compared += 1;
    }
    assert!(compared > 0);
    for figure in ["payoffs", "fouls"] {
        for ending in ["csv", "svg"] {
            let file = stand.place(&format!("{figure}.{ending}"));
            let _ = run(&["figure", figure, &out, "-o", &file]).expect_code(0);
            let published = format!("data/results/all/figures/{figure}/figure.{ending}");
            assert_eq!(
                fs::read(file).unwrap(),
                fs::read(site.join(published)).unwrap()
            );
        }
    }
}

#[test]
fn command_line_chooses_sessions_as_pages_do() {
    let stand = Stand::hostile();
    let out = stand.place("out");
    let missed = |filter: &str| run(&["report", &out, "--where", filter]).expect_code(2).err;
    let axis = missed("gme=pirate");
    assert!(
        axis.contains("no axis \"gme\"; did you mean \"game\"?"),
        "{axis}"
    );
    let value = missed("game=pirate");
    let told = "game is never \"pirate\"; its values are divide_dollar";
    assert!(value.contains(told), "{value}");
    for (filter, code) in [
        ("game=divide_dollar", 0),
        ("game=pirate", 2),
        ("player=subject", 0),
        ("player=any", 0),
        ("player=nobody", 2),
    ] {
        let _ = run(&["report", &out, "--where", filter]).expect_code(code);
    }
}

#[test]
fn hostile_text_stays_text_and_nothing_of_the_machine_is_told() {
    let stand = Stand::hostile();
    let _ = stand.publish("site", &[]).expect_code(0);
    let site = stand.path("site");
    let here = stand.place("");
    let mut calls = 0;
    for (name, bytes) in files(&site) {
        let bytes = if name.ends_with(".gz") {
            unpacked(&bytes)
        } else {
            bytes
        };
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains(&here), "{name} names the folder");
        assert!(
            !text.contains("\"worker\"") || name.contains("assets/"),
            "{name}"
        );
        if name.ends_with(".html") || name.ends_with(".svg") {
            assert!(!text.contains("alert("), "{name}");
        }
        if name.ends_with(".csv") {
            assert!(text.lines().all(|line| !line.starts_with('=')), "{name}");
        }
        if name.contains("/calls-") {
            let page: Value = serde_json::from_str(&text).unwrap();
            let all = page["calls"].as_array().unwrap().iter();
            let same = all.filter(|call| call["reply"] == HOSTILE && call["is_same"] == true);
            calls += same.count();
        }
    }
    assert!(calls >= 12, "{calls} calls");
    let page = fs::read_to_string(site.join("index.html")).unwrap();
    let policy = page
        .split("Content-Security-Policy\" content=\"")
        .nth(1)
        .unwrap();
    let policy = policy.split('"').next().unwrap();
    assert!(
        policy.starts_with("default-src 'none'") && !policy.contains("unsafe"),
        "{policy}"
    );
    assert!(!page.contains("=\"/") && !page.contains("://"), "{page}");
}

#[test]
fn calls_that_cannot_be_made_again_say_why() {
    let stand = Stand::hostile();
    let records = stand.place("out/records.jsonl");
    let copy = stand.path("copy");
    fs::create_dir_all(copy.join("templates")).unwrap();
    fs::copy(records, copy.join("records.jsonl")).unwrap();
    fs::write(copy.join("templates/broken.j2"), "{% if %}").unwrap();
    let (copied, site) = (copy.display().to_string(), stand.place("site"));
    let _ = run(&["publish", &copied, "-o", &site, "--quiet"]).expect_code(0);
    let site = stand.path("site");
    let all = files(&site).into_keys();
    let calls: Vec<String> = all.filter(|name| name.contains("/calls-")).collect();
    assert_eq!(calls.len(), 2);
    for name in calls {
        let name = name
            .trim_start_matches("data/")
            .trim_end_matches(".json.gz");
        let why = data(&site, name)["error"].as_str().unwrap().to_owned();
        assert!(why.contains("broken"), "{why}");
    }
}

#[test]
fn site_that_becomes_too_large_is_refused_and_leaves_nothing() {
    let stand = Stand::hostile();
    let refused = stand.publish("site", &["--most", "0"]).expect_code(2);
    assert!(refused.err.contains("larger than 0 MB"), "{}", refused.err);
    assert!(refused.err.contains("--without"), "{}", refused.err);
    let left = fs::read_dir(stand.folder.path()).unwrap().flatten();
    let left: Vec<String> = left
        .map(|one| one.file_name().display().to_string())
        .collect();
    assert!(!left.iter().any(|name| name.contains("site")), "{left:?}");
    let _ = run(&[
        "publish",
        &stand.place("nowhere"),
        "-o",
        &stand.place("site"),
    ])
    .expect_code(2);
}
