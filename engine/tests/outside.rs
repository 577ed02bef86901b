//! A game whose steps are computed elsewhere: every registered game, played once in this
//! process and once through steps that come in as JSON text, leads to the same record.

use std::sync::Arc;

use agon_engine::game::Equilibrium;
use agon_engine::registry::{GAMES, Registration};
use agon_engine::rule_player::{Made, Random, StrategySettings};
use agon_engine::spec::{SessionSpec, Settings};
use agon_engine::{
    Action, Answer, Chance, Disclosure, EventLog, Game, GameInfo, Generator, Luck, Measures, Move,
    OutsideState, OutsideStep, Play, PlayerKind, PlayerSpec, Record, RulePlayer, Seat, State,
};

const LUCK: Luck = Luck::new(11, 3);

/// The other process: it holds the rules, and says what each step leads to.
struct Elsewhere {
    state: Box<dyn State>,
    chance: Chance,
    log: EventLog,
    /// How much of log and draws was told.
    told: (usize, usize),
}

impl Elsewhere {
    fn start(game: &dyn Game) -> Self {
        let mut chance = Chance::seeded(LUCK);
        let mut log = EventLog::default();
        let state = game.start(&mut chance, &mut log);
        let told = (0, 0);
        Self {
            state,
            chance,
            log,
            told,
        }
    }

    fn advance(&mut self, answers: &[Answer]) {
        self.state.advance(answers, &mut self.chance, &mut self.log);
    }

    /// What happened since it last told, as text.
    fn tell(&mut self) -> String {
        let (events, draws) = (self.log.all(), self.chance.draws());
        let step = OutsideStep {
            events: events[self.told.0..].to_vec(),
            draws: draws[self.told.1..].to_vec(),
            asks: self.state.asks().to_vec(),
            payoffs: self.state.payoffs(),
        };
        self.told = (events.len(), draws.len());
        serde_json::to_string(&step).unwrap()
    }
}

fn read(text: &str) -> OutsideStep {
    serde_json::from_str(text).unwrap()
}

/// The game as this process knows it: what it says of itself, and how it begins.
struct Remote {
    described: Arc<dyn Game>,
    start: OutsideStep,
}

impl Game for Remote {
    fn info(&self) -> &GameInfo {
        self.described.info()
    }

    fn seats(&self) -> usize {
        self.described.seats()
    }

    fn asks_per_seat(&self) -> u32 {
        self.described.asks_per_seat()
    }

    fn payoff_bounds(&self) -> (f64, f64) {
        self.described.payoff_bounds()
    }

    fn disclosures(&self) -> Vec<Disclosure> {
        self.described.disclosures()
    }

    fn start(&self, chance: &mut Chance, log: &mut EventLog) -> Box<dyn State> {
        Box::new(OutsideState::start(self.start.clone(), chance, log))
    }

    fn rule_player(&self, strategy: &str, settings: &StrategySettings, seat: Seat) -> Made {
        self.described.rule_player(strategy, settings, seat)
    }

    fn equilibrium(&self) -> Equilibrium {
        self.described.equilibrium()
    }

    fn measures(&self, log: &EventLog, moves: &[Move]) -> Measures {
        self.described.measures(log, moves)
    }
}

/// Answers every open ask at random, the first seat as a rule player.
fn answer_all(play: &mut Play, luck: &mut Generator) {
    let asks: Vec<_> = play.waiting().cloned().collect();
    for ask in asks {
        let action: Action = Random.act(&ask, &play.view(ask.seat), luck);
        play.answer(ask.seat, Ok(action));
    }
}

fn start(game: Arc<dyn Game>) -> (Play, Generator) {
    let first = game.rule_player("equilibrium", &StrategySettings::new(), 0);
    let others = (1..game.seats()).map(|_| None);
    let players = std::iter::once(Some(first.unwrap())).chain(others);
    let chance = Chance::seeded(LUCK);
    let luck = chance.for_rule_player(1);
    (Play::start(game, chance, players.collect()), luck)
}

fn line(registration: &Registration, params: Settings, play: &Play) -> String {
    let player = PlayerSpec {
        name: "player".to_owned(),
        kind: PlayerKind::Model,
        settings: Settings::new(),
    };
    let spec = SessionSpec {
        experiment: "outside".to_owned(),
        setting: Settings::new(),
        luck: LUCK,
        game: registration.info.name.to_string(),
        rules_version: registration.info.rules_version,
        params,
        seats: vec![player; play.game().seats()],
        prompts_version: None,
        prompt_bundle: None,
        origins: Default::default(),
    };
    Record::new(spec, play, Vec::new(), Vec::new())
        .to_line()
        .unwrap()
}

#[test]
fn steps_from_elsewhere_lead_to_the_same_record() {
    for registration in GAMES {
        let built = (registration.build)(&Settings::new()).unwrap();
        let (mut here, mut luck) = start(Arc::clone(&built.game));
        while !here.is_finished() {
            answer_all(&mut here, &mut luck);
        }

        let mut elsewhere = Elsewhere::start(&*built.game);
        let remote = Arc::new(Remote {
            described: Arc::clone(&built.game),
            start: read(&elsewhere.tell()),
        });
        let (mut there, mut luck) = start(remote);
        while !there.is_finished() {
            answer_all(&mut there, &mut luck);
            let answers = there.awaited_step().expect("all answers are in");
            elsewhere.advance(&answers);
            there.step(read(&elsewhere.tell()));
        }

        let name = &registration.info.name;
        let (here, there) = (
            line(registration, built.params.clone(), &here),
            line(registration, built.params, &there),
        );
        assert!(here == there, "{name}:\n{here}\n{there}");
    }
}

#[test]
fn a_step_that_nobody_awaits_changes_nothing() {
    let registration = &GAMES[0];
    let built = (registration.build)(&Settings::new()).unwrap();
    let mut elsewhere = Elsewhere::start(&*built.game);
    let start = read(&elsewhere.tell());
    let described = Arc::clone(&built.game);
    let remote = Arc::new(Remote {
        described,
        start: start.clone(),
    });
    let outside = (0..built.game.seats()).map(|_| None).collect();
    let mut play = Play::start(remote, Chance::seeded(LUCK), outside);
    let before = play.log().clone();
    play.step(start);
    assert_eq!(*play.log(), before);
    assert_eq!((play.turn(), play.awaited_step()), (1, None));
}
