//! Early checks of model players against games and templates.
//! Uses the built-in templates; no model is called.

use agon_engine::PlayerKind;
use serde_json::json;

use super::*;

fn check(settings: Value, game: &str) -> Result<(), String> {
    let settings = settings.as_object().unwrap().clone().into_iter().collect();
    let player = PlayerSpec {
        name: "ann".to_owned(),
        kind: PlayerKind::Model,
        settings,
    };
    let checked = check_player(&player, game, &PromptLibrary::builtin());
    checked.map_err(|error| error.to_string())
}

#[test]
fn every_agent_plays_every_prompt_version() {
    for agent in AGENTS
        .iter()
        .filter(|agent| !agent.own_prompts && agent.games.is_none())
    {
        for prompt in ["v1", "v2", "v3", "v4", "v5"] {
            let settings = json!({ "model": "m", "agent": agent.name, "prompt": prompt });
            assert_eq!(check(settings, "guess_two_thirds"), Ok(()));
        }
    }
}

#[test]
fn what_does_not_exist_is_answered_with_what_does() {
    let game = "guess_two_thirds";
    let message = check(json!({ "model": "m", "agent": "clever" }), game).unwrap_err();
    let expected = "player \"ann\": no agent \"clever\"; expected one of: direct, chain_of_thought, elicitation, bdi, harbor, k_level, prediction_chain_of_thought, reflexion, self_refine, person";
    assert_eq!(message, expected);
    let message = check(json!({ "model": "m", "prompt": "v6" }), game).unwrap_err();
    assert!(
        message.ends_with("expected one of: v1, v2, v3, v4, v5"),
        "{message}"
    );
    // A game that is not in this program is told in the words for all such games; agents with
    // words of their own have none for it.
    assert_eq!(check(json!({ "model": "m" }), "chess"), Ok(()));
    let message = check(json!({ "model": "m", "agent": "harbor" }), "chess").unwrap_err();
    assert!(
        message.contains("no prompts for the game \"chess\" with the agent \"harbor\""),
        "{message}"
    );
}

#[test]
fn settings_of_one_agent_are_refused_for_others() {
    let message = check(json!({ "model": "m", "strategy": "none" }), "el_farol").unwrap_err();
    assert!(message.contains("no setting \"strategy\""), "{message}");
    assert!(message.contains("setting of the agent bdi"), "{message}");
}

#[test]
fn an_agent_with_words_of_its_own_plays_the_games_it_has_words_for() {
    let bdi = |more: Value| {
        let mut settings = json!({ "model": "m", "agent": "bdi" });
        settings
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        settings
    };
    assert_eq!(check(bdi(json!({})), "english_auction"), Ok(()));
    let message = check(bdi(json!({})), "pirate").unwrap_err();
    assert!(
        message.ends_with("game \"pirate\" with the agent \"bdi\""),
        "{message}"
    );
    let message = check(bdi(json!({ "prompt": "v9" })), "english_auction").unwrap_err();
    assert!(
        message.contains("prompt version for english_auction_bdi"),
        "{message}"
    );
}
