//! What becomes of an answer, the game says: an answer that it did not take is in no
//! agent's past, and one that it took is, whatever the form of the ask would say.

use agon_agents::{Message, Note, PromptLibrary, Role, Thought, Verdict};
use agon_engine::{Ask, Chance, Foul, Luck, Play, Reaction, registry};
use serde_json::{Value, json};

#[path = "conversations/table.rs"]
#[allow(dead_code, missing_docs)]
mod table;

use table::{Game, Scripted};

/// Agents that play every game in the words of the game.
fn agents() -> impl Iterator<Item = &'static str> {
    let all = agon_agents::AGENTS.iter();
    let all = all.filter(|agent| !agent.own_prompts && agent.games.is_none());
    all.map(|agent| agent.name)
}

/// What a seat was asked, and what it concluded, in a game whose other seats forfeit.
struct Played {
    thoughts: Vec<Thought>,
    /// Their kinds and bodies.
    notes: Vec<(&'static str, Value)>,
}

impl Played {
    /// The notes of a kind.
    fn bodies(&self, kind: &str) -> Vec<&Value> {
        let notes = self.notes.iter().filter(|(known, _)| *known == kind);
        notes.map(|(_, body)| body).collect()
    }

    /// The conversation of the last answer.
    fn last(&self) -> &[Message] {
        let mut acts = self.thoughts.iter().rev();
        let last = acts.find(|thought| ["act", "bid"].contains(&thought.purpose));
        &last.unwrap().messages
    }
}

/// Plays seat 0 with an agent that says one thing to each of its asks after the other, and
/// the same again when that is refused.
fn played(game: &str, params: Value, agent: Value, says: &[&str]) -> Played {
    let registration = registry::find(game).unwrap();
    let built = registration.build(&table::settings(params)).unwrap();
    let seats = built.game.seats();
    let unplayed = Game {
        name: &registration.info.name,
        params: built.params,
        seats,
        events: Vec::new(),
        steps: Vec::new(),
    };
    let mut agent = unplayed.agent(&table::player(agent), 0, &PromptLibrary::builtin());
    let chance = Chance::seeded(Luck::new(3, 0));
    let mut play = Play::start(built.game, chance, (0..seats).map(|_| None).collect());
    let mind = Scripted::default();
    let mut says = says.iter();
    let (mut told, mut notes) = (0, Vec::new());
    loop {
        let events = play.log().all()[told..].to_vec();
        told += events.len();
        table::show(&mut *agent, 0, &events, &mind);
        let own = play.waiting().find(|ask| ask.seat == 0).cloned();
        let (Some(ask), Some(reply)) = (own, says.next()) else {
            break;
        };
        mind.prepare(reply);
        let mut refused: Option<Foul> = None;
        loop {
            let answer = table::act(&mut *agent, &ask, refused.as_ref(), &mind);
            let reaction = play.answer(0, answer);
            if let Some(verdict) = Verdict::of(&reaction) {
                agent.settle(&verdict);
                break;
            }
            notes.extend(noted(agent.take_notes()));
            refused = match reaction {
                Reaction::Refused { foul, .. } => Some(foul),
                other => panic!("{other:?}"),
            };
        }
        notes.extend(noted(agent.take_notes()));
        let others: Vec<Ask> = play
            .waiting()
            .filter(|ask| ask.seat != 0)
            .cloned()
            .collect();
        for ask in others {
            for _ in 0..=ask.foul_allowance {
                play.answer(ask.seat, Err(table::foul()));
            }
        }
    }
    Played {
        thoughts: mind.thoughts(),
        notes,
    }
}

/// A bid that the form allows, and the game does not; and one that is fine.
const BIDS: [&str; 2] = [
    r#"{"goal": "g", "previous_bid": null, "previous_payoff": null, "bid": 5000, "reason": "r"}"#,
    r#"{"goal": "g", "previous_bid": 5000, "previous_payoff": null, "bid": 20, "reason": "r"}"#,
];

fn auction(agent: &str) -> Played {
    let params = json!({ "players": 3, "rounds": 3 });
    played(
        "sealed_bid_auction",
        params,
        json!({ "agent": agent }),
        &BIDS,
    )
}

#[test]
fn an_answer_that_the_game_forfeited_is_in_nobodys_past() {
    for agent in agents() {
        let played = auction(agent);
        let acts = played.thoughts.iter().filter(|one| one.purpose == "act");
        assert_eq!(acts.count(), 4 + 1, "{agent}");
        let last = played.last();
        let said = last.iter().filter(|one| one.role == Role::Assistant);
        assert_eq!(said.count(), 0, "{agent}: {last:#?}");
        let past = &last.last().unwrap().content;
        assert!(
            past.contains("You gave no valid answer."),
            "{agent}: {past}"
        );
        let told: Vec<&str> = last.iter().map(|one| &*one.content).collect();
        let told = told.join("\n");
        // These agents show a model what it said for itself: a reflection, a draft.
        if !["reflexion", "self_refine"].contains(&agent) {
            assert!(!told.contains("5000"), "{agent}: {told}");
        }
    }
}

#[test]
fn what_is_true_of_the_past_is_what_the_game_took() {
    let played = auction("elicitation");
    let reasons = played.bodies("reasons");
    let last = reasons.last().unwrap();
    assert_eq!(last["said"]["previous_bid"], 5000);
    assert_eq!(last["true"]["previous_bid"], Value::Null);
}

#[test]
fn a_refined_answer_is_noted_as_one_only_where_it_was_taken() {
    let played = auction("self_refine");
    let refined = played.bodies("refinement");
    let last: Vec<&Value> = refined.iter().map(|body| &body["last"]).collect();
    let null = Value::Null;
    assert_eq!(last, [&null, &null, &null, &null, &json!(20)]);
    let rounds: Vec<&Value> = refined.iter().map(|body| &body["round"]).collect();
    assert_eq!(rounds, [1, 1, 1, 1, 2]);
}

#[test]
fn an_answer_that_the_game_took_is_remembered_although_the_form_forbids_it() {
    for agent in ["direct", "chain_of_thought", "reflexion"] {
        let played = played(
            "diners_dilemma",
            json!({ "players": 3, "rounds": 2, "lenient": true }),
            json!({ "agent": agent }),
            &[r#"{"dish": "lobster"}"#, r#"{"dish": "cheap"}"#],
        );
        let last = played.last();
        let said = last.iter().find(|one| one.role == Role::Assistant);
        let is_lobster = said.is_some_and(|one| one.content.contains("lobster"));
        assert!(is_lobster, "{agent}: {last:#?}");
    }
}

#[test]
fn a_bidders_note_says_what_the_game_said_of_its_bid() {
    let params = json!({
        "players": 2, "foul_allowance": 1,
        "items": [
            { "name": "Lamp", "starting_price": 1000, "true_value": 2000 },
            { "name": "Chair", "starting_price": 1000, "true_value": 2000 },
        ],
    });
    for agent in ["bdi", "harbor"] {
        let settings = match agent {
            "bdi" => json!({ "agent": agent, "strategy": "none" }),
            _ => json!({ "agent": agent, "plan": false }),
        };
        let played = played(
            "english_auction",
            params.clone(),
            settings,
            &[r#"{"bid": 10}"#, r#"{"bid": 1100}"#],
        );
        let problems: Vec<&Value> = played
            .bodies("bid")
            .iter()
            .map(|bid| &bid["problem"])
            .collect();
        let [refused, forfeited, taken] = problems[..] else {
            panic!("{agent}: {problems:#?}")
        };
        for problem in [refused, forfeited] {
            let said = problem.as_str().unwrap_or_default();
            assert!(
                said.starts_with("a bid of 10 is below the starting price of 1000"),
                "{said}"
            );
        }
        assert_eq!(taken, &Value::Null, "{agent}");
    }
}

/// Kinds and bodies of notes.
fn noted(notes: Vec<Note>) -> impl Iterator<Item = (&'static str, Value)> {
    notes.into_iter().map(|note| (note.kind(), note.body()))
}
