//! What model players are sent in whole games, for every registered game: that it
//! is complete, says the same in every version, stays within its bound and never
//! holds what another seat alone may know.

use std::collections::BTreeSet;

use agon_agents::forms::{in_words, structured};
use agon_agents::{Message, Mind, MindError, PromptLibrary, Reply, Role, Thought};
use agon_engine::{Action, Ask, Event, Form, PlayerSpec, Value, registry};
use futures_util::future::BoxFuture;
use proptest::prelude::*;
use serde_json::json;

#[path = "conversations/table.rs"]
#[allow(missing_docs)]
mod table;

use table::{Game, as_json, player};

const VERSIONS: [&str; 5] = ["v1", "v2", "v3", "v4", "v5"];

/// Agents that play every game in the words of the game.
const AGENTS: [&str; 7] = [
    "direct",
    "chain_of_thought",
    "elicitation",
    "person",
    "prediction_chain_of_thought",
    "reflexion",
    "self_refine",
];

/// Agents that do so in some games only.
const CHOOSY: &str = "k_level";

/// The agents that play a game in its own words.
fn agents_of(game: &str) -> Vec<&'static str> {
    let all = agon_agents::AGENTS.iter();
    let choosy = all.filter(|agent| agent.name == CHOOSY);
    let plays = |games: Option<&[&str]>| games.is_none_or(|games| games.contains(&game));
    let choosy = choosy.filter(|agent| plays(agent.games));
    AGENTS
        .into_iter()
        .chain(choosy.map(|agent| agent.name))
        .collect()
}

/// Agents that word their own calls, with the games that they play.
const OWN_WORDS: [(&str, &str); 2] = [("bdi", "english_auction"), ("harbor", "english_auction")];

/// Players with these agents for a game, in all settings that their templates need.
/// Most calls of their own are not answered here; each is put so often.
fn own_players(game: &str, tries: u32) -> Vec<PlayerSpec> {
    let agents = agon_agents::AGENTS.iter();
    let agents = agents.filter(|agent| OWN_WORDS.contains(&(agent.name, game)));
    let with = |name: &str, settings: &str| {
        let mut settings: serde_json::Value = serde_json::from_str(settings).unwrap();
        settings["agent"] = name.into();
        settings["tries"] = tries.into();
        player(settings)
    };
    agents
        .flat_map(|agent| {
            let settings = agent.rehearsals.iter();
            settings.map(move |settings| with(agent.name, settings))
        })
        .collect()
}

/// A small game of every kind, and one of every mode that changes what is told.
fn games(seed: u64, forfeit: usize) -> Vec<Game> {
    let mut games = Vec::new();
    for registration in registry::GAMES {
        let name = &*registration.info.name;
        let complete = registration
            .build(&table::settings(json!({})))
            .unwrap()
            .params;
        let modes = match name {
            "el_farol" => vec![json!({ "mode": "explicit" }), json!({ "mode": "implicit" })],
            "beauty_contest" => vec![json!({}), json!({ "history": 0 })],
            "second_price_auction" => vec![
                json!({ "entrance_fee": 7.5 }),
                json!({ "shown": "strategies_and_values" }),
                json!({ "history": 0 }),
            ],
            "ascending_auction" => vec![
                json!({ "entrance_fee": 7.5 }),
                json!({ "shown": "strategies_and_values", "increment": 30 }),
                json!({ "history": 0 }),
            ],
            "guess_to_survive" => vec![
                json!({}),
                json!({ "health": 2, "loss": 1, "max": 3 }),
                json!({ "health": 1, "ratio": 0.5 }),
            ],
            "sealed_bid_auction" => vec![json!({ "price": "first" }), json!({ "price": "second" })],
            "english_auction" => vec![
                json!({}),
                json!({ "discount_unsold": true, "objective": "maximize_items" }),
                json!({
                    "discount_unsold": true, "minimum_increase_follows_discount": false,
                    "budget": 9000, "max_rounds": 6, "items": houses(),
                }),
            ],
            "water_allocation" => vec![
                json!({}),
                json!({ "ties": "chance", "elimination": false, "zero_bids_win": true }),
                json!({ "ties": "nobody", "names": ["Ann", "Zoe"] }),
            ],
            _ => vec![json!({})],
        };
        for mut mode in modes {
            mode["players"] = 5.into();
            if complete.contains_key("rounds") {
                mode["rounds"] = 4.into();
            }
            games.push(table::play(name, &table::settings(mode), seed, forfeit));
        }
    }
    games
}

/// Items with everything that an item can have; the second has only some of it.
fn houses() -> serde_json::Value {
    json!([
        {
            "name": "Mill Cottage", "starting_price": 4000, "true_value": 7000,
            "description": "an old cottage with a garden", "size": "80 square metres",
            "location": "by the river", "suits": ["sentinel"],
        },
        { "name": "Loft", "starting_price": 6000, "true_value": 9000, "location": "city centre" },
    ])
}

fn text(thoughts: &[Thought]) -> Vec<Vec<Message>> {
    thoughts
        .iter()
        .map(|thought| thought.messages.clone())
        .collect()
}

#[test]
fn every_registered_game_has_five_versions_with_all_parts() {
    let library = PromptLibrary::builtin();
    for registration in registry::GAMES {
        let game = &*registration.info.name;
        assert_eq!(library.versions(game), VERSIONS, "{game}");
        for version in VERSIONS {
            for part in ["system", "ask"] {
                assert!(
                    library.has(&format!("{game}/{version}/{part}.j2")),
                    "{game} {version}"
                );
            }
        }
    }
}

#[test]
fn every_event_that_a_seat_sees_is_told() {
    let library = PromptLibrary::builtin();
    for game in games(7, 0) {
        for event in game.events.iter().filter(|event| event.kind != "briefing") {
            for version in VERSIONS {
                let kind = if event.kind == "round_result" {
                    "result".to_owned()
                } else {
                    format!("result_{}", event.kind)
                };
                let folder = format!("{}/{version}", game.name);
                let told = library.has(&format!("{folder}/{kind}.j2"))
                    || library.has(&format!("{folder}/open_{}.j2", event.kind));
                assert!(told, "{folder} does not tell {}", event.kind);
            }
        }
    }
}

/// Names of players that hold no digit.
const NAMES: [&str; 7] = ["Alex", "Bob", "Cindy", "David", "Eric", "Ann", "Zoe"];

/// The numbers and player names in a text.
fn facts(text: &str) -> BTreeSet<String> {
    let word = |letter: char| !(letter.is_alphanumeric() || "._-".contains(letter));
    let words = text.split(word).map(|word| word.trim_matches(['.', '-']));
    words
        .filter(|word| {
            NAMES.contains(word) || word.contains(|letter: char| letter.is_ascii_digit())
        })
        .map(str::to_owned)
        .collect()
}

/// The numbers of each message; rules and reports apart from each other.
fn facts_by_message(thoughts: &[Thought]) -> Vec<BTreeSet<String>> {
    let messages = thoughts.iter().flat_map(|thought| &thought.messages);
    messages.map(|message| facts(&message.content)).collect()
}

#[test]
fn all_versions_state_the_same_numbers_and_names() {
    for forfeit in [0, 3] {
        for game in games(11, forfeit) {
            for seat in 0..game.seats {
                let said = |version: &str| {
                    let player = player(json!({ "prompt": version }));
                    facts_by_message(&game.thoughts(&player, seat, &game.events, as_json))
                };
                let plain = said("v1");
                for version in VERSIONS {
                    assert_eq!(said(version), plain, "{} {version} seat {seat}", game.name);
                }
            }
        }
    }
}

#[test]
fn residents_of_a_town_are_told_of_by_name() {
    let params = json!({ "players": 3, "rounds": 4, "names": ["Ann", "Zoe"] });
    let game = table::play("water_allocation", &table::settings(params), 11, 0);
    for version in VERSIONS {
        let player = player(json!({ "prompt": version }));
        let thoughts = game.thoughts(&player, 1, &game.events, as_json);
        let told: Vec<String> = thoughts
            .last()
            .unwrap()
            .messages
            .iter()
            .map(|message| message.content.to_string())
            .collect();
        assert!(told[0].contains("Zoe"), "{version}: {}", told[0]);
        let all = told.concat();
        assert!(all.contains("Ann") && all.contains("player_2"), "{all}");
        assert!(
            !all.contains("player_0") && !all.contains("player_1"),
            "{all}"
        );
    }
}

#[test]
fn versions_share_no_sentence() {
    for game in games(11, 0) {
        let mut seen: BTreeSet<String> = BTreeSet::new();
        for version in VERSIONS {
            let player = player(json!({ "prompt": version }));
            let thoughts = game.thoughts(&player, 0, &game.events, as_json);
            let rules = &thoughts[0].messages[0].content;
            let sentences: BTreeSet<String> = rules
                .lines()
                // What is quoted is no version's own.
                .filter(|line| !line.starts_with("| "))
                .flat_map(|line| line.split('.'))
                .map(|part| part.trim().to_owned())
                .collect();
            for sentence in sentences.into_iter().filter(|sentence| sentence.len() > 12) {
                assert!(
                    seen.insert(sentence.clone()),
                    "{} {version}: {sentence}",
                    game.name
                );
            }
        }
    }
}

#[test]
fn conversations_alternate_and_hold_no_empty_message() {
    for game in games(5, 4) {
        for agent in agents_of(game.name) {
            for seat in 0..game.seats {
                let player = player(json!({ "agent": agent, "persona": "mathematician" }));
                for messages in text(&game.thoughts(&player, seat, &game.events, as_json)) {
                    assert_eq!(messages[0].role, Role::System);
                    for (at, message) in messages.iter().enumerate().skip(1) {
                        let expected = if at % 2 == 1 {
                            Role::User
                        } else {
                            Role::Assistant
                        };
                        assert_eq!(message.role, expected);
                        assert!(!message.content.trim().is_empty());
                    }
                    assert_eq!(messages.last().unwrap().role, Role::User);
                }
            }
        }
    }
}

#[test]
fn own_words_alternate_and_stay_within_their_bound() {
    /// More than the rules, the items and a refused answer take.
    const LEAST_BOUND: u32 = 2_500;
    let mut calls = 0;
    for game in games(5, 4) {
        for mut player in own_players(game.name, 4) {
            let bound = json!(LEAST_BOUND);
            player.settings.insert("memory_tokens".to_owned(), bound);
            for messages in text(&game.thoughts(&player, 1, &game.events, as_json)) {
                let roles: Vec<Role> = messages.iter().map(|message| message.role).collect();
                let again = [Role::System, Role::User, Role::Assistant, Role::User];
                assert!(roles == again[..2] || roles == again, "{roles:?}");
                assert!(
                    messages
                        .iter()
                        .all(|message| !message.content.trim().is_empty())
                );
                let tokens: usize = messages.iter().map(Message::tokens).sum();
                assert!(tokens <= LEAST_BOUND as usize, "{tokens}");
                calls += 1;
            }
        }
    }
    assert!(calls > 100, "{calls}");
}

/// An author's own wording takes the place of ours in every game and agent, call by call.
#[test]
fn templates_of_ones_own_are_what_every_call_says() {
    /// Stands at the start of everything that is told.
    const MARK: &str = "[in other words] ";
    let prompts = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/prompts");
    for game in games(5, 0) {
        let own = OWN_WORDS.iter().filter(|(_, of)| *of == game.name);
        let own = own.map(|(agent, of)| format!("{of}_{agent}/v1"));
        let folders = [format!("{}/v1", game.name)].into_iter().chain(own);
        for folder in folders {
            let files = std::fs::read_dir(prompts.join(&folder)).unwrap();
            let marked = files.map(|file| {
                let path = file.unwrap().path();
                let name = path.file_name().unwrap().to_str().unwrap().to_owned();
                let text = std::fs::read_to_string(&path).unwrap();
                // What is included by others is told by them.
                let is_whole =
                    ["system", "ask", "plan", "bid"].contains(&name.trim_end_matches(".j2"));
                let mark = if is_whole { MARK } else { "" };
                (format!("{folder}/{name}"), format!("{mark}{text}"))
            });
            let library = agon_agents::replaced(marked.collect()).unwrap();
            let agent = folder.strip_prefix(&format!("{}_", game.name));
            let agent = agent.map_or("direct", |agent| agent.trim_end_matches("/v1"));
            let player = player(json!({ "agent": agent, "model": "sim" }));
            let mut seated = game.agent(&player, 0, &library);
            let mind = table::Scripted::default();
            let step = game.steps.iter().find(|step| step.ask.seat == 0).unwrap();
            table::show(&mut *seated, 0, &game.events[..step.events], &mind);
            let _ = table::act(&mut *seated, &step.ask, None, &mind);
            let said = mind.latest();
            let marks: usize = said
                .iter()
                .map(|one| one.content.matches(MARK).count())
                .sum();
            assert_eq!(marks, 2, "{folder}: {said:#?}");
        }
    }
}

/// The rules of a game with these parameters, as a version words them.
fn rules_of(name: &'static str, params: serde_json::Value, version: &str) -> String {
    let game = table::play(name, &table::settings(params), 3, 0);
    let player = player(json!({ "prompt": version }));
    let thoughts = game.thoughts(&player, 1, &game.events, as_json);
    thoughts[0].messages[0].content.to_string()
}

#[test]
fn a_private_value_is_called_a_secret_before_the_first_auction_only() {
    /// What bounds the secret: values may be shown after it.
    const AT_FIRST: [(&str, &str); 5] = [
        ("v1", "Beforehand, each bidder knows only its own"),
        ("v2", "When the auction begins, no participant knows"),
        ("v3", "Players start without knowing"),
        ("v4", "Before the auction, your assets"),
        ("v5", "To begin with, everyone is shown their own"),
    ];
    for name in ["second_price_auction", "ascending_auction"] {
        for (version, at_first) in AT_FIRST {
            let rules = |shown: &str, history: u32| {
                let params =
                    json!({ "players": 3, "rounds": 2, "shown": shown, "history": history });
                rules_of(name, params, version)
            };
            let plain = rules("strategies", 0);
            assert!(plain.contains(at_first), "{name} {version}: {plain}");
            assert_eq!(rules("strategies_and_values", 1), plain);
        }
    }
}

#[test]
fn equal_bids_win_nothing_as_long_as_they_remain() {
    for version in VERSIONS {
        let speaks_of_remaining = |ties: &str| {
            let rules = rules_of("water_allocation", json!({ "ties": ties }), version);
            rules.to_lowercase().contains("est remaining bids")
        };
        assert!(speaks_of_remaining("nobody"), "{version}");
        assert!(!speaks_of_remaining("chance"), "{version}");
    }
}

/// Games of which players are told that they are played once, and later on what was done in
/// those that were played (EconArena, appendices B.4 and B.8).
const PLAYED_AGAIN: [&str; 3] = [
    "beauty_contest",
    "second_price_auction",
    "ascending_auction",
];

#[test]
fn a_game_that_is_played_again_is_first_told_of_as_one() {
    for name in PLAYED_AGAIN {
        for version in VERSIONS {
            let rules = |rounds: u32, history: u32| {
                let params = json!({ "players": 3, "rounds": rounds, "history": history });
                rules_of(name, params, version)
            };
            let once = rules(1, 1);
            assert!(once.contains("one-round"), "{name} {version}: {once}");
            for (rounds, history) in [(1, 0), (17, 0), (17, 1)] {
                assert_eq!(rules(rounds, history), once, "{name} {version}");
            }
        }
    }
}

/// How a report of the v1 wording tells how often there was such a game.
fn held(round: u32) -> String {
    match round {
        1 => "once so far".to_owned(),
        _ => format!(" {round} times so far"),
    }
}

#[test]
fn as_many_past_rounds_are_told_as_the_game_says() {
    for name in PLAYED_AGAIN {
        for history in 0..4 {
            let params = json!({ "players": 3, "rounds": 6, "history": history });
            let game = table::play(name, &table::settings(params), 3, 0);
            let player = player(json!({}));
            let thoughts = game.thoughts(&player, 1, &game.events, as_json);
            let told = text(&thoughts).pop().unwrap();
            let told: String = told.iter().map(|message| &*message.content).collect();
            for round in 1..6 {
                let is_told = told.contains(&held(round));
                assert_eq!(is_told, round + history >= 6, "{name}, {history}: {told}");
            }
            assert_eq!(told.contains("again"), history > 0, "{told}");
        }
    }
}

#[test]
fn of_past_games_only_answers_and_private_values_are_told() {
    for name in PLAYED_AGAIN {
        for version in VERSIONS {
            for shown in ["strategies", "strategies_and_values"] {
                let mut params = json!({ "players": 3, "rounds": 17, "history": 3 });
                if name != "beauty_contest" {
                    params["shown"] = json!(shown);
                }
                let game = table::play(name, &table::settings(params), 3, 0);
                let player = player(json!({ "prompt": version }));
                let thoughts = game.thoughts(&player, 1, &game.events, as_json);
                for thought in &thoughts {
                    let said = thought.messages.iter().skip(1);
                    let said = said.filter(|message| message.role == Role::User);
                    let said: String = said.map(|message| &*message.content).collect();
                    // How many games there will be, and what came of those that were played.
                    let more = [
                        "of 17",
                        "payoff",
                        "winner",
                        "won",
                        "buyer",
                        "average was",
                        "ound",
                    ];
                    for word in more {
                        assert!(!said.contains(word), "{name} {version} {word}: {said}");
                    }
                    let others = said.contains("private values");
                    let after = said.contains("(you are player_1)");
                    let values = shown != "strategies" && name != "beauty_contest" && after;
                    assert!(!values || others, "{name} {version}: {said}");
                }
            }
        }
    }
}

#[test]
fn a_whole_guessing_game_is_a_short_request() {
    let game = table::play("guess_two_thirds", &table::settings(json!({})), 3, 0);
    for version in VERSIONS {
        let player = player(json!({ "prompt": version, "persona": "cooperative" }));
        let thoughts = game.thoughts(&player, 9, &game.events, as_json);
        assert_eq!(thoughts.len(), 20);
        let size = table::bytes(thoughts.last().unwrap());
        assert!(size < 5_000, "{version}: {size} bytes");
    }
}

#[test]
fn a_refused_answer_is_put_back_with_its_reason() {
    let game = table::play("guess_two_thirds", &table::settings(json!({})), 3, 0);
    let mut agent = game.agent(&player(json!({})), 2, &PromptLibrary::builtin());
    let mind = table::Scripted::default();
    table::show(&mut *agent, 2, &game.events[..1], &mind);
    let ask = &game.steps[2].ask;
    mind.prepare("{\"guess\": 120}");
    let read = table::act(&mut *agent, ask, None, &mind).unwrap();
    assert_eq!(read, Action::Integer(120));
    let foul = ask.form.check(&read).unwrap_err();
    mind.prepare("{\"guess\": 20}");
    let again = table::act(&mut *agent, ask, Some(&foul), &mind);
    table::settle(&mut *agent, &again);
    let messages = mind.latest();
    let [_, first, said, again] = &*messages else {
        panic!("{messages:?}");
    };
    assert!(first.content.starts_with("Round 1 of 20 begins."));
    assert_eq!(&*said.content, "{\"guess\": 120}");
    assert!(
        again
            .content
            .contains("120 is not a whole number from 0 to 100"),
        "{again:?}"
    );
    // Once the ask is over, the refused answer is forgotten.
    table::show(&mut *agent, 2, &game.events[1..2], &mind);
    table::act(&mut *agent, ask, None, &mind).unwrap();
    assert!(
        mind.latest()
            .iter()
            .all(|message| !message.content.contains("120"))
    );
}

#[test]
fn reasons_come_before_the_answer_in_the_schema() {
    let game = table::play("guess_two_thirds", &table::settings(json!({})), 3, 0);
    let schema = |settings: serde_json::Value| {
        let thoughts = game.thoughts(&player(settings), 0, &game.events, as_json);
        thoughts[0].format.clone().map(|format| format.schema)
    };
    let direct = schema(json!({})).unwrap();
    let parsed: serde_json::Value = serde_json::from_str(&direct).unwrap();
    assert_eq!(parsed["required"], json!(["guess"]));
    let reasoned = schema(json!({ "agent": "chain_of_thought" })).unwrap();
    let parsed: serde_json::Value = serde_json::from_str(&reasoned).unwrap();
    assert_eq!(parsed["required"], json!(["reason", "guess"]));
    assert!(reasoned.find("\"reason\"").unwrap() < reasoned.find("\"guess\"").unwrap());
    assert_eq!(schema(json!({ "reply": "text" })), None);
}

#[test]
fn replies_that_miss_their_form_are_noted() {
    let game = table::play("guess_two_thirds", &table::settings(json!({})), 3, 0);
    let mut agent = game.agent(&player(json!({})), 0, &PromptLibrary::builtin());
    let mind = table::Scripted::default();
    table::show(&mut *agent, 0, &game.events[..1], &mind);
    for (reply, expected) in [
        ("{\"guess\": 3}", None),
        (
            "{'guess': 3}",
            Some(json!({ "found_in": "embedded", "repairs": ["quotes"] })),
        ),
        (
            "I choose 3.",
            Some(json!({ "found_in": "prose", "repairs": [] })),
        ),
    ] {
        mind.prepare(reply);
        let read = table::act(&mut *agent, &game.steps[0].ask, None, &mind);
        table::settle(&mut *agent, &read);
        let noted = agent.take_notes().pop().map(|note| note.body());
        assert_eq!(noted, expected, "{reply}");
    }
}

#[test]
fn who_explains_is_asked_for_reasons_and_keeps_its_replies_whole() {
    const REASON: &str = "I have little money left and must not fall ill.";
    let params = json!({ "players": 3, "rounds": 4 });
    let game = table::play("water_allocation", &table::settings(params), 11, 0);
    let told = |settings: serde_json::Value| {
        let say = |ask: &Ask, action: &Action| format!("{REASON}\n{}", in_a_sentence(ask, action));
        let thoughts = game.thoughts(&player(settings), 0, &game.events, say);
        let second = &thoughts[1].messages;
        let said = second
            .iter()
            .find(|message| message.role == Role::Assistant);
        let first = thoughts[0].messages.last().unwrap().content.to_string();
        (first, said.unwrap().content.to_string())
    };
    let (asked, kept) = told(json!({ "reply": "text", "explain": true }));
    assert!(asked.contains("explain the reasons behind it"), "{asked}");
    let sentence = kept.strip_prefix(REASON).unwrap().to_owned();
    let (asked, kept) = told(json!({ "reply": "text" }));
    assert!(!asked.contains("reasons"), "{asked}");
    assert!(
        sentence.contains(&kept) && sentence.len() > kept.len() + 5,
        "{sentence}: {kept}"
    );
    let (asked, _) = told(json!({ "explain": true }));
    assert!(asked.contains(r#"{"reason": TEXT, "bid": N}"#), "{asked}");
}

#[test]
fn strict_reading_counts_every_break_of_the_form() {
    let game = table::play("guess_two_thirds", &table::settings(json!({})), 3, 0);
    let cases = [
        ("{\"guess\": 3}", true),
        ("My guess follows.\n{\"guess\": 3}", true),
        ("```json\n{\"guess\": 3}\n```", true),
        ("{'guess': 3}", false),
        ("{\"guess\": 3", false),
        ("I choose 3.", false),
        ("3", false),
        ("{\"number\": 3}", false),
        ("{\"guess\": \"I choose 3.\"}", false),
        ("", false),
    ];
    for (reply, counts) in cases {
        for reading in ["strict", "lenient"] {
            let settings = json!({ "reply": "json", "reading": reading });
            let mut agent = game.agent(&player(settings), 0, &PromptLibrary::builtin());
            let mind = table::Scripted::default();
            table::show(&mut *agent, 0, &game.events[..1], &mind);
            mind.prepare(reply);
            let read = table::act(&mut *agent, &game.steps[0].ask, None, &mind);
            table::settle(&mut *agent, &read);
            let is_read = counts || (reading == "lenient" && !reply.is_empty());
            assert_eq!(read.is_ok(), is_read, "{reading}: {reply}: {read:?}");
        }
    }
    let settings = table::settings(json!({ "reading": "strict", "reader": "m", "model": "m" }));
    let both = PlayerSpec {
        settings,
        ..player(json!({}))
    };
    let error = agon_agents::check_player(&both, "guess_two_thirds", &PromptLibrary::builtin());
    let error = error.unwrap_err().to_string();
    assert!(error.contains("set one of them"), "{error}");
}

#[test]
fn json_that_is_asked_for_in_words_comes_without_a_schema() {
    let game = table::play("guess_two_thirds", &table::settings(json!({})), 3, 0);
    let first = |settings: serde_json::Value| {
        let thoughts = game.thoughts(&player(settings), 0, &game.events, as_json);
        let asked = thoughts[0].messages.last().unwrap().content.to_string();
        (asked, thoughts[0].format.is_some())
    };
    let (asked, enforced) = first(json!({ "reply": "structured" }));
    assert!(enforced);
    assert_eq!(first(json!({ "reply": "json" })), (asked, false));
}

/// Answers as a simulated model does that never slips.
struct Plausible;

impl Mind for Plausible {
    fn think(&self, thought: Thought) -> BoxFuture<'static, Result<Reply, MindError>> {
        let reply = Reply {
            text: thought.simulated_reply.unwrap_or_default(),
            finish_reason: "stop".to_owned(),
        };
        Box::pin(std::future::ready(Ok(reply)))
    }
}

#[test]
fn what_a_simulated_model_says_answers_every_ask_of_every_agent() {
    for game in games(5, 0) {
        let agents = agents_of(game.name)
            .into_iter()
            .filter(|agent| *agent != "person");
        let conversing = agents.flat_map(|agent| {
            ["structured", "json", "text"]
                .map(|reply| player(json!({ "agent": agent, "reply": reply, "model": "sim" })))
        });
        let own = own_players(game.name, 2).into_iter().map(|mut player| {
            player.settings.insert("model".to_owned(), "sim".into());
            player
        });
        for player in conversing.chain(own) {
            let mut agent = game.agent(&player, 0, &PromptLibrary::builtin());
            let mut seen = 0;
            for step in game.steps.iter().filter(|step| step.ask.seat == 0) {
                table::show(&mut *agent, 0, &game.events[seen..step.events], &Plausible);
                seen = step.events;
                let said = table::act(&mut *agent, &step.ask, None, &Plausible);
                let settings = &player.settings;
                let action =
                    said.unwrap_or_else(|foul| panic!("{} {settings:?}: {foul:?}", game.name));
                let legal = step.ask.form.check(&action);
                assert!(legal.is_ok(), "{} {settings:?}: {action:?}", game.name);
                table::settle(&mut *agent, &Ok(action));
                for note in agent.take_notes() {
                    let body = note.body();
                    assert_ne!(body["source"], "kept", "{settings:?}: {body}");
                }
            }
        }
    }
}

/// What stands where a seat may not know something.
const DISGUISE: [&str; 2] = ["sentinel", "987654321"];

/// Whether a call holds one of these words, in its messages or in the form of its reply.
fn mention(thoughts: &[Thought], words: &[&str]) -> bool {
    let holds = |text: &str| words.iter().any(|word| text.contains(word));
    thoughts.iter().any(|thought| {
        let mut messages = thought.messages.iter();
        messages.any(|message| holds(&message.content))
            || holds(&format!("{:?} {:?}", thought.format, thought.settings))
    })
}

/// The events with everything changed that a seat may not know.
fn disguised(events: &[Event], seat: usize) -> Vec<Event> {
    let change = |value: &Value| match value {
        Value::Text(_) => Value::from("sentinel"),
        Value::Flag(flag) => Value::Flag(!flag),
        _ => Value::Integer(987_654_321),
    };
    let mut events = events.to_vec();
    for event in &mut events {
        if !event.audience.includes(seat) {
            for (_, value) in event.facts.iter_mut().chain(&mut event.own) {
                *value = change(value);
            }
        }
        for (_, column) in &mut event.own {
            let entries = (0..column.len()).map(|place| {
                let entry = column.entry(place);
                if place == seat { entry } else { change(&entry) }
            });
            *column = Value::List(entries.collect());
        }
        for (_, value) in &mut event.hidden {
            *value = change(value);
        }
    }
    events
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn nothing_private_reaches_another_seat(seed in any::<u64>(), forfeit in 0usize..9) {
        for game in games(seed, forfeit) {
            // Every agent meets every version, at games that change with seeds.
            let agents = agents_of(game.name).into_iter().cycle().skip((seed % 9) as usize);
            for (version, agent) in VERSIONS.iter().zip(agents) {
                let player = player(json!({ "prompt": version, "agent": agent }));
                for seat in 0..game.seats {
                    let honest = game.thoughts(&player, seat, &game.events, as_json);
                    let other = disguised(&game.events, seat);
                    let blind = game.thoughts(&player, seat, &other, as_json);
                    prop_assert_eq!(&honest, &blind);
                    prop_assert!(!mention(&honest, &DISGUISE));
                }
            }
            // What is said to a reply that cannot be used is the same each time: twice will do.
            for player in own_players(game.name, 2) {
                let seat = forfeit % game.seats;
                let honest = game.thoughts(&player, seat, &game.events, as_json);
                let other = disguised(&game.events, seat);
                let blind = game.thoughts(&player, seat, &other, as_json);
                prop_assert_eq!(&honest, &blind);
                prop_assert!(!mention(&honest, &DISGUISE));
            }
        }
    }

    #[test]
    fn conversations_stay_within_their_bound(seed in any::<u64>(), bound in 200u32..1_200) {
        for game in games(seed, 5) {
            let agents = agents_of(game.name).into_iter();
            let ways = agents.map(|agent| (agent, "forget"));
            for (agent, when_full) in ways.chain([("direct", "summarise")]) {
                let mut settings = json!({ "memory_tokens": bound, "agent": agent });
                // What a person is told is no matter of settings.
                if agent != "person" {
                    settings["when_full"] = when_full.into();
                }
                let player = player(settings);
                for messages in text(&game.thoughts(&player, 1, &game.events, as_json)) {
                    let tokens: usize = messages.iter().map(Message::tokens).sum();
                    // Rules, newest message, and what a refused answer adds, stay.
                    prop_assert!(tokens <= bound as usize || messages.len() <= 4);
                    prop_assert!(tokens <= bound.max(1_100) as usize, "{agent}: {tokens}");
                }
            }
        }
    }

    #[test]
    fn every_legal_answer_is_read_back_in_every_dress(seed in any::<u64>()) {
        let dresses = [fenced, with_reason, in_a_sentence];
        for game in games(seed, 0) {
            // Calls of their own are none of answers that are read here: once will do.
            let own_players = own_players(game.name, 1);
            for seat in 0..game.seats {
                let structured_player = player(json!({ "agent": "chain_of_thought" }));
                game.thoughts(&structured_player, seat, &game.events, fenced);
                game.thoughts(&structured_player, seat, &game.events, with_reason);
                let text_player = player(json!({ "reply": "text" }));
                game.thoughts(&text_player, seat, &game.events, in_a_sentence);
                game.thoughts(&text_player, seat, &game.events, |ask, action| {
                    in_words(&ask.form, action)
                });
            }
            // Each of them meets every dress in every game, at seats that change with seeds.
            for (at, player) in own_players.iter().enumerate() {
                for (turn, write) in dresses.iter().enumerate() {
                    let seat = ((seed % 5) as usize + at + turn) % game.seats;
                    game.thoughts(player, seat, &game.events, write);
                }
            }
        }
    }
}

fn fenced(ask: &Ask, action: &Action) -> String {
    let object = structured(&ask.kind, &ask.form, action);
    format!("<think>maybe 7 or 8</think>Here is my answer:\n```json\n{object}\n```\nGood luck!")
}

fn with_reason(ask: &Ask, action: &Action) -> String {
    let object = structured(&ask.kind, &ask.form, action);
    object.replacen(
        '{',
        "{\"reason\": \"Say {\\\"x\\\": 3} of 12, as I'd guess.\", ",
        1,
    )
}

fn in_a_sentence(ask: &Ask, action: &Action) -> String {
    let said = in_words(&ask.form, action);
    match (&ask.form, action) {
        (Form::Division { .. }, _) => format!("I thought about round 3. My proposal: {said}."),
        (Form::Target { .. }, Action::Target(_)) => format!("I will shoot at {said}."),
        _ => format!(
            "In round 2 the others were wild. My {} is {said}.",
            ask.kind
        ),
    }
}
