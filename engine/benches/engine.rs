//! Speed of the engine alone, on one core: auctions, moves with full records,
//! replays. `cargo bench -p agon-engine` prints the figures that have a bar
//! first, plainly, then divan's tables. Sessions end as lines of JSON, as they
//! do in a worker; the allocator is that of the binary.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "the engine reads no clock, its benchmarks do"
)]

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_engine::registry::{self, Built, GAMES, Registration};
use agon_engine::replay::{RecordedGame, replay};
use agon_engine::session::STRATEGY;
use agon_engine::spec::Settings;
use agon_engine::{
    Chance, Game, Luck, Play, PlayerKind, PlayerSpec, Record, RulePlayer, SessionSpec,
};
use serde_json::{Map, json};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Ten-bidder one-round auctions per second that the engine must reach.
const AUCTIONS_BAR: f64 = 250_000.0;

/// Moves with full records per second that it must reach over all games.
const MOVES_BAR: f64 = 500_000.0;

/// English auctions of the standard competition per second that it must reach: a
/// thousand of them take far less than the five seconds that a cluster has.
const ENGLISH_AUCTIONS_BAR: f64 = 1_000.0;

/// How long each figure is measured.
const MEASURED: Duration = Duration::from_secs(1);

fn main() {
    // `cargo test` runs benchmarks once, to see that they work.
    if std::env::args().any(|argument| argument == "--bench") {
        print_bars();
    }
    divan::main();
}

fn print_bars() {
    let auctions = Auctions::new();
    let per_second = rate(|luck| {
        black_box(auctions.play(luck));
        1
    });
    println!("sealed-bid games per second: {per_second:.0} (bar {AUCTIONS_BAR})");
    let auctions = EnglishAuctions::new();
    let per_second = rate(|luck| {
        black_box(auctions.play(luck));
        1
    });
    println!(
        "english auctions of three rule bidders and ten items per second, with records: \
         {per_second:.0} (bar {ENGLISH_AUCTIONS_BAR})"
    );
    let mut seconds_per_round_of_games = 0.0;
    let mut moves_per_round_of_games = 0.0;
    for game in GAMES {
        let sessions = Sessions::new(game);
        let (mut played, mut moves) = (0u64, 0u64);
        let rate = rate(|luck| {
            let made = sessions.play(luck);
            played += 1;
            moves += made;
            made
        });
        println!(
            "  moves per second with records, {}: {rate:.0}",
            game.info.name
        );
        let moves_per_session = moves as f64 / played as f64;
        moves_per_round_of_games += moves_per_session;
        seconds_per_round_of_games += moves_per_session / rate;
    }
    let overall = moves_per_round_of_games / seconds_per_round_of_games;
    println!(
        "moves per second with records, one session of each game: {overall:.0} (bar {MOVES_BAR})"
    );
    println!();
}

/// Units per second of work that says how many units it did.
fn rate(mut work: impl FnMut(u64) -> u64) -> f64 {
    (0..1000).for_each(|seed| {
        work(seed);
    });
    let start = Instant::now();
    let (mut units, mut seed) = (0, 0);
    while start.elapsed() < MEASURED {
        for _ in 0..64 {
            units += work(seed);
            seed += 1;
        }
    }
    units as f64 / start.elapsed().as_secs_f64()
}

/// One-round second-price auctions of ten truthful bidders.
struct Auctions {
    game: Arc<dyn Game>,
}

impl Auctions {
    fn new() -> Self {
        let params = Settings::from([
            ("rounds".to_owned(), json!(1)),
            ("price".to_owned(), json!("second")),
        ]);
        Self {
            game: build("sealed_bid_auction", &params).game,
        }
    }

    fn play(&self, seed: u64) -> Vec<f64> {
        let bidder = |seat| self.game.rule_player("truthful", &Map::new(), seat).ok();
        let bidders: Vec<Option<Box<dyn RulePlayer>>> =
            (0..self.game.seats()).map(bidder).collect();
        let chance = Chance::seeded(Luck::new(seed, 0));
        let play = Play::start(Arc::clone(&self.game), chance, bidders);
        assert!(play.is_finished());
        play.payoffs()
    }
}

/// The paper's standard competition with its rule bidders: three bidders, ten items.
struct EnglishAuctions(Sessions);

impl EnglishAuctions {
    fn new() -> Self {
        let game = registry::find("english_auction").expect("a registered game");
        Self(Sessions::of(game, "patient_raiser"))
    }

    fn play(&self, seed: u64) -> u64 {
        self.0.play(seed)
    }
}

/// Sessions of one strategy at all seats with default parameters, written as records.
struct Sessions {
    game: Arc<dyn Game>,
    strategy: &'static str,
    spec: SessionSpec,
}

impl Sessions {
    fn new(registration: &Registration) -> Self {
        Self::of(registration, "random")
    }

    fn of(registration: &Registration, strategy: &'static str) -> Self {
        let Built { game, params } = build(&registration.info.name, &Settings::new());
        let player = PlayerSpec {
            name: strategy.to_owned(),
            kind: PlayerKind::Rule,
            settings: Settings::from([(STRATEGY.to_owned(), json!(strategy))]),
        };
        let spec = SessionSpec {
            experiment: "bench".to_owned(),
            setting: Settings::new(),
            luck: Luck::new(0, 0),
            game: registration.info.name.to_string(),
            outside: None,
            rules_version: registration.info.rules_version,
            params,
            seats: vec![player; game.seats()],
            prompts_version: None,
            prompt_bundle: None,
            origins: Default::default(),
        };
        Self {
            game,
            strategy,
            spec,
        }
    }

    /// Plays a session and writes its record; the number of moves.
    fn play(&self, seed: u64) -> u64 {
        let luck = Luck::new(seed, 0);
        let player = |seat| self.game.rule_player(self.strategy, &Map::new(), seat).ok();
        let players: Vec<Option<Box<dyn RulePlayer>>> =
            (0..self.game.seats()).map(player).collect();
        let play = Play::start(Arc::clone(&self.game), Chance::seeded(luck), players);
        let spec = SessionSpec {
            luck,
            ..self.spec.clone()
        };
        let record = Record::new(spec, play, Vec::new(), Vec::new());
        black_box(record.to_line().expect("a record without infinities"));
        record.moves.len() as u64
    }
}

fn build(name: &str, params: &Settings) -> Built {
    let registration = registry::find(name).expect("a registered game");
    registration.build(params).expect("good parameters")
}

#[divan::bench]
fn sealed_bid_game(bencher: divan::Bencher<'_, '_>) {
    let auctions = Auctions::new();
    let mut seed = 0;
    bencher
        .counter(divan::counter::ItemsCount::new(1u32))
        .bench_local(|| {
            seed += 1;
            auctions.play(seed)
        });
}

#[divan::bench]
fn english_auction_of_rule_bidders(bencher: divan::Bencher<'_, '_>) {
    let auctions = EnglishAuctions::new();
    let mut seed = 0;
    bencher
        .counter(divan::counter::ItemsCount::new(1u32))
        .bench_local(|| {
            seed += 1;
            auctions.play(seed)
        });
}

#[divan::bench(args = GAMES.iter().map(|game| &*game.info.name))]
fn session_with_record(bencher: divan::Bencher<'_, '_>, game: &str) {
    let sessions = Sessions::new(registry::find(game).expect("a registered game"));
    let mut seed = 0;
    bencher.bench_local(|| {
        seed += 1;
        sessions.play(seed)
    });
}

/// A recorded game of the guessing game: twenty rounds of ten.
fn recorded_guesses() -> String {
    let round = json!({
        "actions": [10, 20, 30, 40, 50, 60, 70, 80, 90, 100],
        "outcome": { "mean": 55, "mean_ratio": 55.0 * 2.0 / 3.0, "winner": 40, "winner_num": 1 },
    });
    let game = json!({
        "id": "bench",
        "game": "guess_two_thirds",
        "params": { "players": 10 },
        "rounds": vec![round; 20],
        "raw_S": { "S": 55.0, "S_mean": 55.0 },
        "score_iclr2025": 45.0,
        "score_arxiv2024": 45.0,
    });
    game.to_string()
}

#[divan::bench]
fn replay_of_200_moves() {
    let recorded = RecordedGame::from_json(black_box(&recorded_guesses())).expect("a good line");
    assert!(black_box(replay(&recorded)).matched());
}
