//! Ten things outside that break. Counts and times differ from run to run: every number is
//! shown as N.

use agon_tests::small_disk::SmallDisk;

use super::{
    Desk, Ended, ModelServer, PathBuf, Role, TcpListener, command, free_port, fs, runs, until,
};

/// Meets them all.
pub fn meet(desk: &mut Desk, disk: &SmallDisk) {
    let port = free_port();
    let gone = format!("http://127.0.0.1:{port}/v1");
    desk.write("mixed.toml", runs::MIXED);
    desk.write("impatient.toml", "[gateway]\npatience = \"2s\"\n");
    desk.types(
        "a model server that is not there",
        &format!("run mixed.toml --data a --repeats 1 --config impatient.toml --base-url {gone}"),
        1,
    );
    let mute = TcpListener::bind("127.0.0.1:0").unwrap();
    let mute_at = mute.local_addr().unwrap();
    desk.types(
        "a coordinator that is not there",
        &format!("run mixed.toml --data b --coordinator http://127.0.0.1:{port}"),
        3,
    );
    desk.types("a taken port", &format!("sim-llm --listen {mute_at}"), 3);
    desk.types(
        "a Redis that is not there",
        &format!(
            "run mixed.toml --data c --base-url {gone} --redis redis://:word@127.0.0.1:{port}"
        ),
        3,
    );
    refusals(desk);
    interruption(desk);
    damage(desk);
    full_disk(desk, disk);
}

/// Model servers that refuse.
fn refusals(desk: &mut Desk) {
    for (what, flags) in [
        ("a model server that breaks down", ["--error-rate", "1"]),
        (
            "a model server that limits everybody",
            ["--storm-rate", "1"],
        ),
    ] {
        let models = ModelServer::start(&flags);
        let line = format!(
            "run mixed.toml --data {} --repeats 1 --config impatient.toml --base-url {}",
            flags[0].trim_start_matches('-'),
            models.base_url()
        );
        desk.types(what, &line, 1);
    }
}

/// Ctrl-C, and a second process in the same folder meanwhile.
fn interruption(desk: &mut Desk) {
    let models = ModelServer::start(&["--latency", "100ms"]);
    let base_url = models.base_url();
    let data = desk.path().join("d").display().to_string();
    let out = desk.path().join("d-out").display().to_string();
    let file = desk.path().join("mixed.toml").display().to_string();
    let mut running = Role::start_silent(&runs::arguments(&file, &base_url, &data, &out));
    until("it plays", || models.count("requests") > 150);
    running.signal("-INT");
    let (code, err) = running.end();
    let ended = Ended {
        code,
        out: String::new(),
        err,
    };
    desk.note("Ctrl-C", "run mixed.toml --base-url URL", &ended);
}

/// Records that somebody changed, and files of the store.
fn damage(desk: &mut Desk) {
    let models = ModelServer::start(&[]);
    let line = format!(
        "run mixed.toml --quiet --data e --out e-out --repeats 1 --base-url {}",
        models.base_url()
    );
    let arguments: Vec<&str> = line.split_whitespace().collect();
    let done = command(&arguments)
        .current_dir(desk.path())
        .output()
        .unwrap();
    let _ = Ended::from(done).expect_code(0);
    let records: PathBuf = desk.path().join("e-out/records.jsonl");
    let text = fs::read_to_string(&records).unwrap();
    fs::write(
        &records,
        text.replacen("\"payoffs\":[", "\"payoffs\":[1", 1),
    )
    .unwrap();
    desk.types("a record that somebody changed", "verify e-out", 1);
    fs::write(&records, &text[..text.len() / 2]).unwrap();
    desk.types("records that break off", "verify e-out", 2);
    let store = desk.path().join("e/gateway/ledger.db");
    fs::write(&store, "not a database at all").unwrap();
    desk.types("a store that is damaged", &line, 3);
}

fn full_disk(desk: &mut Desk, disk: &SmallDisk) {
    let models = ModelServer::start(&[]);
    let _filler = disk.fill(2_000_000);
    let line = format!(
        "run mixed.toml --data f --out {} --repeats 1 --base-url {}",
        disk.path().join("out").display(),
        models.base_url()
    );
    let arguments: Vec<&str> = line.split_whitespace().collect();
    let ended = command(&arguments)
        .current_dir(desk.path())
        .output()
        .unwrap();
    desk.note("a full disk", &line, &Ended::from(ended).expect_code(3));
}
