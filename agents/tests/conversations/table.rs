//! Plays games with random legal answers and replays them to agents, seat by
//! seat, through a mind whose replies are set beforehand.

use std::sync::Mutex;

use agon_agents::{Agent, Message, Mind, MindError, PromptLibrary, Reply, Thought, Verdict, build};
use agon_engine::chance::Luck;
use agon_engine::rule_player::Random;
use agon_engine::spec::{Origin, SIMULATED_ENDPOINT, Settings};
use agon_engine::{
    Action, Ask, Chance, Event, Foul, Play, PlayerKind, PlayerSpec, RulePlayer, Seat, SessionSpec,
    View, registry,
};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;

/// A finished game: its events, and every ask with its answer.
pub struct Game {
    pub name: &'static str,
    pub params: Settings,
    pub seats: usize,
    pub events: Vec<Event>,
    pub steps: Vec<Step>,
}

/// One answered ask.
pub struct Step {
    /// How many events there were when it was put.
    pub events: usize,
    pub ask: Ask,
    /// None where the seat answered nothing valid until it forfeited.
    pub action: Option<Action>,
}

/// Plays a game; every `forfeit`-th ask is forfeited, none for 0.
pub fn play(name: &str, params: &Settings, seed: u64, forfeit: usize) -> Game {
    let registration = registry::find(name).unwrap();
    let built = registration.build(params).unwrap();
    let seats = built.game.seats();
    let chance = Chance::seeded(Luck::new(seed, 0));
    let mut luck = chance.for_rule_player(0);
    let mut play = Play::start(built.game, chance, (0..seats).map(|_| None).collect());
    let mut steps = Vec::new();
    loop {
        let next = play.waiting().next().cloned();
        let Some(ask) = next else {
            break;
        };
        let events = play.log().all().len();
        let action = if forfeit > 0 && steps.len() % forfeit == forfeit - 1 {
            None
        } else {
            Some(Random.act(&ask, &play.view(ask.seat), &mut luck))
        };
        match &action {
            Some(action) => {
                play.answer(ask.seat, Ok(action.clone()));
            }
            None => {
                for _ in 0..=ask.foul_allowance {
                    play.answer(ask.seat, Err(foul()));
                }
            }
        }
        steps.push(Step {
            events,
            ask,
            action,
        });
    }
    let events = play.log().all().to_vec();
    Game {
        name: &registration.info.name,
        params: built.params,
        seats,
        events,
        steps,
    }
}

pub fn foul() -> Foul {
    Foul::new(
        agon_engine::FoulKind::Unreadable,
        "no answer could be found",
    )
}

pub fn settings(json: serde_json::Value) -> Settings {
    match json {
        serde_json::Value::Object(map) => map.into_iter().collect(),
        _ => Settings::new(),
    }
}

pub fn player(json: serde_json::Value) -> PlayerSpec {
    let mut settings = settings(json);
    settings
        .entry("model".to_owned())
        .or_insert_with(|| "scripted".into());
    PlayerSpec {
        name: "tester".to_owned(),
        kind: PlayerKind::Model,
        settings,
    }
}

impl Game {
    pub fn agent(
        &self,
        player: &PlayerSpec,
        seat: Seat,
        library: &PromptLibrary,
    ) -> Box<dyn Agent> {
        let simulated = Origin {
            provider_kind: "openai".to_owned(),
            endpoint: SIMULATED_ENDPOINT.to_owned(),
            provider_model: "sim".to_owned(),
            additions: String::new(),
        };
        let session = SessionSpec {
            experiment: "test".to_owned(),
            setting: Settings::new(),
            luck: Luck::new(1, 0),
            game: self.name.to_owned(),
            outside: None,
            rules_version: registry::find(self.name).unwrap().info.rules_version,
            params: self.params.clone(),
            seats: vec![player.clone(); self.seats],
            prompts_version: None,
            prompt_bundle: None,
            origins: [("sim".to_owned(), simulated)].into(),
        };
        build(player, &session, None, seat, library).unwrap()
    }

    /// Everything a seat's model was sent, when the seat looks at `events` and
    /// its model answers in the words of `write`.
    pub fn thoughts(
        &self,
        player: &PlayerSpec,
        seat: Seat,
        events: &[Event],
        write: impl Fn(&Ask, &Action) -> String,
    ) -> Vec<Thought> {
        let mut agent = self.agent(player, seat, &PromptLibrary::builtin());
        let mind = Scripted::default();
        let mut seen = 0;
        for step in self.steps.iter().filter(|step| step.ask.seat == seat) {
            show(&mut *agent, seat, &events[seen..step.events], &mind);
            seen = step.events;
            match &step.action {
                Some(action) => {
                    mind.prepare(&write(&step.ask, action));
                    let read = act(&mut *agent, &step.ask, None, &mind);
                    assert_eq!(
                        read.as_ref(),
                        Ok(action),
                        "reply: {}",
                        write(&step.ask, action)
                    );
                    settle(&mut *agent, &read);
                }
                None => {
                    mind.prepare("I would rather not say.");
                    let mut refused = None;
                    for _ in 0..=step.ask.foul_allowance {
                        refused = act(&mut *agent, &step.ask, refused.as_ref(), &mind).err();
                        assert!(refused.is_some());
                    }
                    agent.settle(&Verdict::Forfeited(foul()));
                }
            }
        }
        show(&mut *agent, seat, &events[seen..], &mind);
        mind.thoughts()
    }
}

pub fn show(agent: &mut dyn Agent, seat: Seat, events: &[Event], mind: &dyn Mind) {
    let seen: Vec<_> = View::new(seat, events)
        .sights()
        .map(|sight| sight.to_event())
        .collect();
    agent.observe(&seen, mind).now_or_never().unwrap().unwrap();
}

pub fn act(
    agent: &mut dyn Agent,
    ask: &Ask,
    refused: Option<&Foul>,
    mind: &dyn Mind,
) -> Result<Action, Foul> {
    agent
        .act(ask, refused, mind)
        .now_or_never()
        .unwrap()
        .unwrap()
}

/// Tells an agent how its last ask ended, when nobody but its reader objected to the answer.
pub fn settle(agent: &mut dyn Agent, answer: &Result<Action, Foul>) {
    agent.settle(&match answer {
        Ok(_) => Verdict::Taken,
        Err(foul) => Verdict::Forfeited(foul.clone()),
    });
}

/// A mind that says what it was told to say and keeps what it was asked.
#[derive(Default)]
pub struct Scripted {
    next: Mutex<String>,
    thoughts: Mutex<Vec<Thought>>,
}

impl Scripted {
    pub fn prepare(&self, reply: &str) {
        reply.clone_into(&mut self.next.lock().unwrap());
    }

    pub fn thoughts(&self) -> Vec<Thought> {
        self.thoughts.lock().unwrap().clone()
    }

    pub fn latest(&self) -> Vec<Message> {
        self.thoughts().pop().unwrap().messages
    }
}

impl Mind for Scripted {
    fn think(&self, thought: Thought) -> BoxFuture<'static, Result<Reply, MindError>> {
        self.thoughts.lock().unwrap().push(thought);
        let text = self.next.lock().unwrap().clone();
        let reply = Reply {
            text,
            finish_reason: "stop".to_owned(),
        };
        Box::pin(std::future::ready(Ok(reply)))
    }
}

/// An action as the object that structured asks want.
pub fn as_json(ask: &Ask, action: &Action) -> String {
    agon_agents::forms::structured(&ask.kind, &ask.form, action)
}

/// The length of a request as it travels, roughly.
pub fn bytes(thought: &Thought) -> usize {
    let messages: usize = thought
        .messages
        .iter()
        .map(|message| message.content.len() + 30)
        .sum();
    messages
        + thought
            .format
            .as_ref()
            .map_or(0, |format| format.schema.len())
}
