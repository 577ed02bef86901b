//! Targets that are lines of JSON: records of sessions, given to everything that reads records and
//! played again, and games that other programs recorded.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::sync::Arc;

use agon_agents::PromptLibrary;
use agon_engine::record::StoredRecord;
use agon_engine::replay::{RecordedGame, replay};
use agon_engine::session::open;
use agon_engine::{Luck, PlayerKind, PlayerSpec, Record, SessionSpec, registry};
use agon_report::session::Telemetry;
use agon_report::{Cells, Leaderboard, Reports, ResultColumns, Session, Summary, Telling, story};
use agon_service_kit::tasks::Tasks;
use agon_tests::tree;
use agon_worker::verify::verify;
use flate2::read::GzDecoder;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use super::Target;
use super::bytes::changed;
use super::draw::Draw;
use super::json::forged;

const WORDS: &[&str] = &[
    "\"seat\":",
    "\"spec\":{",
    "\"game\":\"pirate\"",
    "\"params\":{",
    "\"rounds\":3",
];

/// Lines of a recorded file that the corpus takes.
const LINES: usize = 8;

/// A session of a game with players of one kind.
pub fn spec(game: &str, kind: PlayerKind) -> SessionSpec {
    let registration = registry::find(game).expect("a game");
    let built = (registration.build)(&BTreeMap::new()).expect("default parameters");
    let settings = match kind {
        PlayerKind::Rule => json!({ "strategy": "random" }),
        PlayerKind::Model => json!({ "model": "m" }),
    };
    let seats = (0..built.game.seats()).map(|seat| PlayerSpec {
        name: ["alice", "bob", "bob"][seat.min(2)].to_owned(),
        kind,
        settings: serde_json::from_value(settings.clone()).expect("settings"),
    });
    SessionSpec {
        experiment: "e".to_owned(),
        setting: serde_json::from_value(json!({ "label": "one" })).expect("a setting"),
        luck: Luck::new(3, 0),
        game: game.to_owned(),
        rules_version: registration.info.rules_version,
        seats: seats.collect(),
        params: built.params,
        prompts_version: None,
        prompt_bundle: None,
        origins: BTreeMap::new(),
    }
}

/// JSON that stays JSON two times of three, else bytes.
fn line(draw: &mut Draw, texts: &[Vec<u8>], trees: &[Value]) -> Vec<u8> {
    if draw.one_in(3) {
        return changed(draw, texts, WORDS);
    }
    let real = draw.pick(trees);
    forged(draw, real).to_string().into_bytes()
}

/// Records of sessions.
pub struct Records {
    texts: Vec<Vec<u8>>,
    trees: Vec<Value>,
    library: Arc<PromptLibrary>,
    runtime: Runtime,
}

impl Records {
    pub fn new() -> Self {
        let lines = registry::GAMES.iter().map(|entry| {
            let spec = spec(entry.info.name, PlayerKind::Rule);
            let play = open(&spec).expect("a session");
            let record = Record::new(spec, &play, Vec::new(), Vec::new());
            record.to_line().expect("a line")
        });
        let lines: Vec<String> = lines.collect();
        let trees = lines
            .iter()
            .map(|line| serde_json::from_str(line).expect("JSON"));
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        Self {
            trees: trees.collect(),
            texts: lines.iter().map(|line| line.clone().into_bytes()).collect(),
            library: Arc::new(PromptLibrary::builtin()),
            runtime: runtime.expect("a runtime"),
        }
    }
}

impl Target for Records {
    fn input(&self, draw: &mut Draw) -> Vec<u8> {
        line(draw, &self.texts, &self.trees)
    }

    fn run(&self, input: &[u8]) {
        report(input);
        let text = String::from_utf8_lossy(input);
        let library = Arc::clone(&self.library);
        let verified = async { verify(&Tasks::new(), &text, library).await };
        let _ = self
            .runtime
            .block_on(verified)
            .map_err(|error| error.to_string());
    }
}

/// Everything that is made of a record.
fn report(line: &[u8]) {
    let telemetry = Telemetry::default();
    if let Ok(session) = Session::from_line(line) {
        let (mut summary, mut leaderboard) = (Summary::default(), Leaderboard::default());
        let mut columns = ResultColumns::default();
        summary.add(&session, &telemetry);
        leaderboard.add(&session);
        columns.gather(&session);
        let _ = (summary.render(80), leaderboard.render(80));
        let _ = (session.paid(), session.fouls(), session.forfeits());
        let _ = (session.mean_payoff(), session.notes(), session.scores());
        let mut out = Cells::new(Vec::new());
        let written = columns
            .write_headings(&mut out)
            .and_then(|()| columns.write_row(&session, &telemetry, &mut out));
        written.expect("vectors take everything");
    }
    let Ok(record) = StoredRecord::from_line(&String::from_utf8_lossy(line)) else {
        return;
    };
    let mut reports = Reports::default();
    reports.add(&record);
    let _ = (reports.render(80), reports.to_json());
    for table in reports.published_tables() {
        let _ = reports.beside_published(table, 80);
    }
    for seat in [None, Some(0)] {
        let telling = Telling {
            seat,
            plans: true,
            beliefs: true,
            said: true,
            replies: true,
            anonymous: false,
        };
        if seat.is_none_or(|seat| seat < record.spec.seats.len()) {
            let _ = story::tell(&record, telling);
        }
    }
}

/// Games that other programs recorded.
pub struct RecordedGames {
    texts: Vec<Vec<u8>>,
    trees: Vec<Value>,
}

impl RecordedGames {
    pub fn new() -> Self {
        let files = tree::files(".jsonl.gz").into_iter();
        let files = files.filter(|path| tree::short(path).starts_with("tests/recorded/"));
        let lines = files.flat_map(|path| {
            let file = File::open(path).expect("a recorded file");
            let lines = BufReader::new(GzDecoder::new(file)).lines();
            lines.map(|line| line.expect("text")).take(LINES)
        });
        let lines: Vec<String> = lines.collect();
        let trees = lines
            .iter()
            .map(|line| serde_json::from_str(line).expect("JSON"));
        Self {
            trees: trees.collect(),
            texts: lines.iter().map(|line| line.clone().into_bytes()).collect(),
        }
    }
}

impl Target for RecordedGames {
    fn input(&self, draw: &mut Draw) -> Vec<u8> {
        line(draw, &self.texts, &self.trees)
    }

    fn run(&self, input: &[u8]) {
        match RecordedGame::from_json(&String::from_utf8_lossy(input)) {
            Ok(game) => drop(replay(&game)),
            Err(error) => drop(error.to_string()),
        }
    }
}
