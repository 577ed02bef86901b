//! The target of session records: real ones with values changed, given to everything that reads
//! records, and played again. Whatever they say, every table, export and story comes out, or the
//! record is refused.

use std::convert::Infallible;
use std::sync::Arc;

use agon_agents::PromptLibrary;
use agon_engine::record::StoredRecord;
use agon_engine::session::open;
use agon_engine::{Luck, PlayerKind, PlayerSpec, Record, SeatNote, SessionSpec, registry};
use agon_report::comparison::Comparison;
use agon_report::export::{Cell, Rows, Table, rows_of};
use agon_report::plots::{PlotData, plots};
use agon_report::session::Telemetry;
use agon_report::{
    Cells, Layout, Leaderboard, Reports, ResultColumns, Session, Summary, Tables, Telling, story,
};
use agon_service_kit::tasks::Tasks;
use agon_worker::verify::verify;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use tokio::runtime::Runtime;

use super::Target;
use super::draw::Draw;
use super::lines::line;

/// A session of a game with players of one kind.
pub fn spec(game: &str, kind: PlayerKind) -> SessionSpec {
    spec_with(game, kind, json!({}))
}

fn spec_with(game: &str, kind: PlayerKind, params: Value) -> SessionSpec {
    let registration = registry::find(game).expect("a game");
    let params = serde_json::from_value(params).expect("a table");
    let built = registration.build(&params).expect("parameters");
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
        outside: None,
        rules_version: registration.info.rules_version,
        seats: seats.collect(),
        params: built.params,
        prompts_version: None,
        prompt_bundle: None,
        origins: BTreeMap::new(),
    }
}

/// Parameters that give every report something to report.
fn params(game: &str) -> Value {
    match game {
        "english_auction" => json!({
            "players": 3, "budget": 1000, "personas": [["reader"], ["cook"], []],
            "items": [
                { "name": "lamp", "starting_price": 100, "true_value": 200, "suits": ["reader"] },
                { "name": "chair", "starting_price": 50, "true_value": 80, "suits": ["cook"] },
            ],
        }),
        _ => json!({}),
    }
}

fn note(seat: usize, turn: u32, kind: &str, body: Value) -> SeatNote {
    SeatNote {
        seat,
        turn,
        note: kind.to_owned(),
        body,
    }
}

/// Everything that bidders with all modules, and players that predict, write down.
fn notes() -> Vec<SeatNote> {
    let of_seat = |seat: usize| {
        let about = 1 - seat;
        let profile = |after: u64| {
            json!({ "after_item": after, "about": about, "source": "model",
                "weights": { "reader": 0.5, "cook": -0.5 } })
        };
        let belief = json!({ "after_item": 1, "checked": 5, "wrong": 3, "tries": 2,
            "corrected": true, "source": "model",
            "believed": { "remaining_budget": 700, "total_profits": { "bob": 200 } },
            "truth": { "remaining_budget": 700, "total_profits": { "bob": 0 } },
            "errors": [{ "try": 1, "kind": "profit", "about": "self", "detail": "" }] });
        [
            note(
                seat,
                1,
                "plan",
                json!({ "at_item": 0, "priorities": [3, 2], "tries": 1, "source": "model" }),
            ),
            note(
                seat,
                2,
                "plan",
                json!({ "at_item": 1, "priorities": [null, 2], "source": "kept" }),
            ),
            note(seat, 1, "profile", profile(0)),
            note(seat, 2, "profile", profile(1)),
            note(seat, 3, "profile", profile(2)),
            note(seat, 2, "belief", belief),
            note(
                seat,
                1,
                "prediction",
                json!({ "item": 0, "about": about, "wants": true, "detail": "" }),
            ),
            note(
                seat,
                1,
                "prediction",
                json!({ "round": 1, "level": 1, "predicted": { "bob": 40.0, "alice": 3 } }),
            ),
            note(
                seat,
                1,
                "strategy",
                json!({ "item": 0, "round": 1, "choice": "B", "uses_profile": true }),
            ),
            note(seat, 3, "tips", json!({ "tips": ["bid less"] })),
            note(seat, 1, "stand_in", json!({})),
        ]
    };
    [of_seat(0), of_seat(1)].concat()
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
            let game = &*entry.info.name;
            let spec = spec_with(game, PlayerKind::Rule, params(game));
            let play = open(&spec).expect("a session");
            let record = Record::new(spec, play, Vec::new(), notes());
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
        let text = String::from_utf8_lossy(input);
        // Alone, and behind a real one of its game.
        report(&[&text]);
        let mut games = registry::GAMES.iter().zip(&self.texts);
        let real = games.find(|(game, _)| {
            let name = format!("\"game\":\"{}\"", game.info.name);
            text.contains(&name)
        });
        if let Some((_, real)) = real {
            report(&[&String::from_utf8_lossy(real), &text]);
        }
        let library = Arc::clone(&self.library);
        let verified = async {
            verify(
                &Tasks::new(),
                &text,
                library,
                &agon_referee::Games::default(),
            )
            .await
        };
        let _ = self
            .runtime
            .block_on(verified)
            .map_err(|error| error.to_string());
    }
}

/// Takes every row of an export and keeps none.
struct Exported;

impl Rows for Exported {
    type Error = Infallible;

    fn wants(&self, _: &Table) -> bool {
        true
    }

    fn row(&mut self, table: &'static Table, cells: &[Cell<'_>]) -> Result<(), Infallible> {
        assert_eq!(table.columns.len(), cells.len());
        Ok(())
    }
}

/// Everything that is made of records.
fn report(lines: &[&str]) {
    let (mut summary, mut leaderboard) = (Summary::default(), Leaderboard::default());
    let (mut reports, mut columns) = (Reports::default(), ResultColumns::default());
    let (mut tables, mut compared) = (Tables::default(), Comparison::default());
    let sets = ["a", "b"].map(|called| compared.set(called));
    let measured = Reports::default();
    let mut drawn: Vec<PlotData> = plots().map(PlotData::new).collect();
    let telemetry = Telemetry::default();
    let mut sessions = Vec::new();
    for line in lines {
        if let Ok(session) = Session::from_line(line.as_bytes()) {
            summary.add(&session, &telemetry);
            for set in sets {
                compared.add(set, &session);
            }
            leaderboard.add(&session);
            columns.gather(&session);
            let _ = (
                session.paid(),
                session.fouls(),
                session.forfeits(),
                session.players(),
            );
            let _ = (session.mean_payoff(), session.notes(), session.scores());
            sessions.push(session);
        }
        if let Ok(record) = StoredRecord::from_line(line) {
            reports.add(&record);
            tables.add(&record, &telemetry);
            let exported = rows_of(&record, &telemetry, &measured, &mut Exported);
            exported.expect("nothing is written");
            for plot in &mut drawn {
                plot.add(&record, &measured);
            }
            tell(&record);
        }
    }
    let _ = (
        summary.render(Layout::Text(80)),
        leaderboard.render(Layout::Text(80)),
        reports.render(Layout::Text(80)),
    );
    let _ = reports.to_json();
    for table in reports.published_tables() {
        let _ = reports.beside_published(table, Layout::Text(80));
    }
    // One of the layouts and one of the figures, so that a case is short.
    let length = lines.iter().map(|line| line.len()).sum::<usize>();
    let layout = [Layout::Text(80), Layout::Latex, Layout::Html][length % 3];
    let _ = (tables.render(layout), compared.render(layout));
    let _ = tables.standings().by_game(true, layout);
    let _ = tables.standings().overall(layout);
    let published = reports.published_tables();
    for table in tables.published_tables() {
        if !published.contains(&table) {
            let _ = tables.beside_published(table, layout);
        }
    }
    let shown: Vec<&PlotData> = drawn.iter().filter(|plot| !plot.is_empty()).collect();
    if let Some(plot) = shown.get(length % shown.len().max(1)) {
        let figure = plot.figure();
        let _ = (figure.svg(), figure.csv(), figure.text(80));
    }
    let mut out = Cells::new(Vec::new());
    columns
        .write_headings(&mut out)
        .expect("vectors take everything");
    for session in &sessions {
        columns
            .write_row(session, &telemetry, &mut out)
            .expect("vectors take everything");
    }
}

fn tell(record: &StoredRecord) {
    let everything = |seat| Telling {
        seat,
        plans: true,
        beliefs: true,
        said: true,
        replies: true,
        anonymous: false,
    };
    let _ = story::tell(record, everything(None));
    let _ = story::tell_last(record, everything(None));
    for seat in 0..record.spec.seats.len().min(2) {
        let _ = story::tell(record, everything(Some(seat)));
        let _ = story::seat_as_json(record, seat);
        let _ = (
            record.spec.seats.get(seat).and_then(story::persona),
            story::name_in_game(record, seat),
        );
        let _ = story::for_judges(record, seat, Vec::new());
    }
}
