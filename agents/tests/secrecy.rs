//! The secrets of games in what models are sent: each is changed as the conformance kit
//! changes it, all answers are held fixed, and whatever the other seats are told and asked
//! must stay the same, in every game, version of prompts and agent. So must it when another
//! player sits at a seat: its persona, strategy and model are nobody else's business.

use std::sync::Mutex;

use agon_agents::{AGENTS, Agent, Mind, MindError, PromptLibrary, Reply, Thought, Verdict, build};
use agon_engine::conformance::{Case, Course, Step, Variation, compare, secrets_of};
use agon_engine::registry::{self, GAMES, Registration};
use agon_engine::session::open;
use agon_engine::view::SeenEvent;
use agon_engine::{
    Action, Ask, Foul, FoulKind, Luck, PlayerKind, PlayerSpec, Seat, SessionSpec, View,
};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::{Map, Value, json};

#[path = "conversations/filling.rs"]
mod filling;
#[path = "conversations/table.rs"]
#[allow(dead_code, missing_docs)]
mod table;

use filling::filled;

/// The wordings of every game.
const VERSIONS: [&str; 5] = ["v1", "v2", "v3", "v4", "v5"];

/// Seats an agent.
type Seating = fn(&SessionSpec, Seat) -> Box<dyn Agent>;

fn seated(spec: &SessionSpec, seat: Seat) -> Box<dyn Agent> {
    let library = PromptLibrary::builtin();
    build(&spec.seats[seat], spec, None, seat, &library).unwrap()
}

/// Fills the form that is asked for; says nothing of use in every third call of its seat.
#[derive(Default)]
struct Mindless {
    sent: Mutex<Vec<Thought>>,
    calls: Mutex<usize>,
}

impl Mind for Mindless {
    fn think(&self, thought: Thought) -> BoxFuture<'static, Result<Reply, MindError>> {
        let mut calls = self.calls.lock().unwrap();
        *calls += 1;
        let format = thought.format.as_ref();
        let schema = format.and_then(|format| serde_json::from_str(&format.schema).ok());
        let text = match schema {
            Some(schema) if !calls.is_multiple_of(3) => filled(&schema, "as before").to_string(),
            _ => "as before".to_owned(),
        };
        self.sent.lock().unwrap().push(thought);
        let finish_reason = "stop".to_owned();
        Box::pin(std::future::ready(Ok(Reply {
            text,
            finish_reason,
        })))
    }
}

/// What each seat was sent, by turn; behind the last turn what it was sent at the end.
type Sent = Vec<Vec<Vec<Thought>>>;

/// Follows a course with agents at all seats, for so many turns and, where these are all,
/// to the end. Every ask is put twice; the answers that count are those of the course.
fn sent(
    course: &Course,
    changed: &Variation,
    spec: &SessionSpec,
    by: Seating,
    turns: usize,
) -> Sent {
    let seats = spec.seats.len();
    let mut agents: Vec<Box<dyn Agent>> = (0..seats).map(|seat| by(spec, seat)).collect();
    let minds: Vec<Mindless> = (0..seats).map(|_| Mindless::default()).collect();
    let mut told = vec![0; seats];
    let mut following = course.follow(&changed.game, &changed.draws);
    let mut sent = Sent::new();
    let foul = Foul::new(FoulKind::Unreadable, "no answer could be read");
    loop {
        let is_over = following.asks().is_empty();
        let asks: Vec<Ask> = following.play().waiting().cloned().collect();
        let asked = asks.iter().map(|ask| ask.seat);
        let shown: Vec<Seat> = if is_over {
            (0..seats).collect()
        } else {
            asked.collect()
        };
        for seat in shown {
            let view = View::new(seat, &following.play().log().all()[told[seat]..]);
            let events: Vec<SeenEvent> = view.sights().map(|sight| sight.to_event()).collect();
            told[seat] = following.play().log().all().len();
            let (agent, mind) = (&mut agents[seat], &minds[seat]);
            if !events.is_empty() {
                agent
                    .observe(&events, mind)
                    .now_or_never()
                    .unwrap()
                    .unwrap();
            }
            let Some(ask) = asks.iter().find(|ask| ask.seat == seat && !is_over) else {
                continue;
            };
            for refused in [None, Some(&foul)] {
                let acted = agent.act(ask, refused, mind).now_or_never();
                let _: Result<Action, Foul> = acted.unwrap().unwrap();
            }
            agent.settle(&match following.turn() % 3 {
                2 => Verdict::Forfeited(foul.clone()),
                _ => Verdict::Taken,
            });
        }
        let took = |mind: &Mindless| std::mem::take(&mut *mind.sent.lock().unwrap());
        sent.push(minds.iter().map(took).collect());
        let is_done = is_over || sent.len() == turns && turns < course.turns();
        if is_done || following.step(&changed.of) != Ok(Step::On) {
            return sent;
        }
    }
}

/// Where two lists of calls differ first, in words.
fn difference(was: &[Thought], is: &[Thought]) -> Option<String> {
    if was == is {
        return None;
    }
    let texts = |calls: &[Thought]| -> String {
        let of_call = |call: &Thought| {
            let said = call
                .messages
                .iter()
                .map(|message| message.content.to_string());
            let said: Vec<String> = said.collect();
            format!("{}\n{:?} {:?}", said.join("\n"), call.format, call.stand_in)
        };
        calls
            .iter()
            .map(of_call)
            .collect::<Vec<String>>()
            .join("\n")
    };
    let (was, is) = (texts(was), texts(is));
    let same = was
        .chars()
        .zip(is.chars())
        .take_while(|(one, other)| one == other);
    let from = same.count().saturating_sub(60);
    let part = |text: &str| text.chars().skip(from).take(160).collect::<String>();
    Some(format!("{:?} instead of {:?}", part(&is), part(&was)))
}

/// A game with few seats and rounds: later ones bring nothing new.
fn short_case(registration: &'static Registration) -> Case<'static> {
    let players = registration.info.seats.0.max(3);
    let mut params = Map::new();
    let schema = registration.schema();
    for (name, value) in [
        ("players", json!(players)),
        ("rounds", json!(2)),
        ("increment", json!(20)),
        ("max_turns", json!(6)),
        (
            "items",
            json!([
                { "name": "Lamp", "starting_price": 1000, "true_value": 2000 },
                { "name": "Chair", "starting_price": 1000, "true_value": 3000 },
            ]),
        ),
    ] {
        if schema["properties"].get(name).is_some() {
            params.insert(name.to_owned(), value);
        }
    }
    let params = table::settings(Value::Object(params));
    Case::new(registration, &params, Luck::new(7, 1)).unwrap()
}

/// Settings of players with each agent that plays a game, in every version of its prompts.
fn players(game: &str) -> Vec<Value> {
    let library = PromptLibrary::builtin();
    let mut players = Vec::new();
    for agent in AGENTS {
        if agent.games.is_some_and(|games| !games.contains(&game)) {
            continue;
        }
        let folder = match agent.own_prompts {
            true => format!("{game}_{}", agent.name),
            false => game.to_owned(),
        };
        for version in library.versions(&folder) {
            for own in agent.rehearsals {
                let mut settings: Value = serde_json::from_str(own).unwrap();
                settings["agent"] = agent.name.into();
                settings["prompt"] = version.into();
                settings["model"] = "mindless".into();
                if agent.name == "person" {
                    settings["stand_in"] = "random".into();
                    settings["deadline"] = "2m".into();
                }
                players.push(settings);
            }
        }
    }
    players
}

fn session(case: &Case<'_>, params: &agon_engine::spec::Settings, player: &Value) -> SessionSpec {
    let seat = |number: usize| PlayerSpec {
        name: format!("name {number}"),
        kind: PlayerKind::Model,
        settings: table::settings(player.clone()),
    };
    SessionSpec {
        experiment: "secrecy".to_owned(),
        setting: Default::default(),
        luck: case.luck,
        game: case.registration.info.name.to_string(),
        outside: None,
        rules_version: case.registration.info.rules_version,
        params: params.clone(),
        seats: (0..case.game.seats()).map(seat).collect(),
        prompts_version: None,
        prompt_bundle: None,
        origins: Default::default(),
    }
}

/// A variation that changes nothing.
fn unchanged(case: &Case<'_>, course: &Course) -> Variation {
    Variation {
        what: "nothing is changed".to_owned(),
        of: Vec::new(),
        params: case.params.clone(),
        game: std::sync::Arc::clone(&case.game),
        draws: course.draws().to_vec(),
    }
}

/// The variations of a case that the kit could compare, with the turns in which nobody else
/// may notice: one for each secret and owner.
fn variations(case: &Case<'_>, course: &Course) -> Vec<(Variation, usize)> {
    let mut variations: Vec<(Variation, usize)> = Vec::new();
    for secret in secrets_of(case, course).unwrap() {
        // What follows from it for a seat itself stands in that seat's own prompts.
        if !secret.disclosure.seen_in.is_empty() {
            continue;
        }
        let mut owners: Vec<Vec<Seat>> = Vec::new();
        for variation in secret.variations(case, course) {
            if owners.contains(&variation.of) {
                continue;
            }
            if let Ok(Some(turns)) = compare(course, &secret, &variation) {
                owners.push(variation.of.clone());
                variations.push((variation, turns));
            }
        }
    }
    variations
}

/// Every leak of a game's secrets, or of who sits at its first seat, into what others are sent.
fn leaks(registration: &'static Registration, player: &Value, by: Seating) -> Vec<String> {
    let case = short_case(registration);
    let course = Course::of(&case, 2).unwrap();
    let plain = unchanged(&case, &course);
    let spec = session(&case, &case.params, player);
    let all = course.turns();
    let was = sent(&course, &plain, &spec, by, all);
    let mut leaks = Vec::new();
    let mut hold = |what: &str, of: &[Seat], turns: usize, is: &Sent| {
        let turns = if turns == all { was.len() } else { turns };
        for (turn, (was, is)) in was.iter().zip(is).take(turns).enumerate() {
            for seat in (0..case.game.seats()).filter(|seat| !of.contains(seat)) {
                if let Some(how) = difference(&was[seat], &is[seat]) {
                    leaks.push(format!(
                        "{}, {}: seat {seat} is sent in turn {}, when {what}: {how}",
                        registration.info.name,
                        player,
                        turn + 1
                    ));
                    return;
                }
            }
        }
    };
    for (variation, turns) in variations(&case, &course) {
        let spec = session(&case, &variation.params, player);
        let is = sent(&course, &variation, &spec, by, turns);
        hold(&variation.what, &variation.of, turns, &is);
    }
    let mut other = spec;
    other.seats[0] = stranger();
    let is = sent(&course, &plain, &other, by, all);
    hold("somebody else sits at seat 0", &[0], all, &is);
    leaks
}

/// A player with everything that players have to hide.
fn stranger() -> PlayerSpec {
    let settings = json!({
        "model": "another", "agent": "direct", "prompt": "v2", "others": "rational",
        "persona": { "text": "You are a smuggler." }, "temperature": 0.5,
    });
    PlayerSpec {
        name: "stranger".to_owned(),
        kind: PlayerKind::Model,
        settings: table::settings(settings),
    }
}

fn no_leaks_in(games: impl Iterator<Item = &'static Registration>) {
    for registration in games {
        let players = players(&registration.info.name);
        assert!(
            players.len() >= 7 * VERSIONS.len(),
            "{}",
            registration.info.name
        );
        for player in players {
            let leaks = leaks(registration, &player, seated);
            assert!(leaks.is_empty(), "{leaks:#?}");
        }
    }
}

/// Games that keep nothing from anybody but answers and who sits where.
fn has_secrets(registration: &Registration) -> bool {
    let case = registry::find(&registration.info.name).map(short_case);
    let case = case.unwrap();
    let course = Course::of(&case, 2).unwrap();
    !variations(&case, &course).is_empty()
}

#[test]
fn no_secret_of_a_game_is_in_what_another_seat_is_sent() {
    let mut seen = 0;
    no_leaks_in(
        GAMES
            .iter()
            .filter(|game| has_secrets(game))
            .inspect(|_| seen += 1),
    );
    assert!(seen >= 6, "{seen} games with secrets");
}

#[test]
fn who_sits_at_a_seat_is_in_nothing_that_another_seat_is_sent() {
    no_leaks_in(GAMES.iter().filter(|game| !has_secrets(game)));
}

/// An agent that says more to its model than it should: something is added to each call.
struct Gossip {
    inner: Box<dyn Agent>,
    rumour: String,
}

struct Rumour<'a> {
    mind: &'a dyn Mind,
    text: &'a str,
}

impl Mind for Rumour<'_> {
    fn think(&self, mut thought: Thought) -> BoxFuture<'static, Result<Reply, MindError>> {
        if let Some(last) = thought.messages.last_mut() {
            last.content = format!("{}\n{}", last.content, self.text).into();
        }
        self.mind.think(thought)
    }
}

#[async_trait::async_trait]
impl Agent for Gossip {
    async fn observe(&mut self, events: &[SeenEvent], mind: &dyn Mind) -> Result<(), MindError> {
        self.inner.observe(events, mind).await
    }

    async fn act(
        &mut self,
        ask: &Ask,
        refused: Option<&Foul>,
        mind: &dyn Mind,
    ) -> Result<Result<Action, Foul>, MindError> {
        let mind = Rumour {
            mind,
            text: &self.rumour,
        };
        self.inner.act(ask, refused, &mind).await
    }

    fn settle(&mut self, verdict: &Verdict) {
        self.inner.settle(verdict);
    }
}

#[test]
fn a_prompt_that_prints_the_persona_of_another_player_is_found() {
    let gossip: Seating = |spec, seat| {
        let persona = spec.seats[0].settings.get("persona").cloned();
        let rumour = format!("player_0 is told: {}", persona.unwrap_or_default());
        Box::new(Gossip {
            inner: seated(spec, seat),
            rumour,
        })
    };
    let game = registry::find("divide_dollar").unwrap();
    let leaks = leaks(game, &players("divide_dollar")[0], gossip);
    assert_eq!(leaks.len(), 1, "{leaks:#?}");
    for word in [
        "divide_dollar",
        "seat 1 is sent",
        "somebody else sits at seat 0",
        "smuggler",
    ] {
        assert!(leaks[0].contains(word), "{word}: {leaks:#?}");
    }
}

#[test]
fn a_prompt_that_prints_the_column_of_another_seat_is_found() {
    // As a template would that is rendered with another seat's facts.
    let gossip: Seating = |spec, seat| {
        let play = open(spec).unwrap();
        let budget = play.view(0).first("briefing").unwrap().integer("budget");
        let rumour = format!("player_0 can spend {}.", budget.unwrap());
        Box::new(Gossip {
            inner: seated(spec, seat),
            rumour,
        })
    };
    let game = registry::find("english_auction").unwrap();
    let leaks = leaks(game, &players("english_auction")[0], gossip);
    let found = leaks
        .iter()
        .find(|leak| leak.contains("budget of seat 0 is 40010"));
    let found = found.unwrap_or_else(|| panic!("{leaks:#?}"));
    for word in [
        "english_auction",
        "seat 1 is sent in turn 1",
        "player_0 can spend 40010",
    ] {
        assert!(found.contains(word), "{word}: {found}");
    }
}
