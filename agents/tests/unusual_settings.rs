//! What model players are told in settings that nobody's experiment has by default: one of
//! something, a range without a width, a ratio without a short decimal, few bid rounds.

use agon_agents::Thought;
use serde_json::{Value, json};

#[path = "conversations/table.rs"]
#[allow(missing_docs, dead_code, reason = "shared with other tests")]
mod table;

use table::{as_json, player};

const VERSIONS: [&str; 5] = ["v1", "v2", "v3", "v4", "v5"];

/// Everything that is said to the first seat of a game, in one version.
fn told(game: &'static str, params: &Value, settings: Value) -> String {
    let game = table::play(game, &table::settings(params.clone()), 1, 0);
    let thoughts = game.thoughts(&player(settings), 0, &game.events, as_json);
    let messages = thoughts
        .iter()
        .flat_map(|thought: &Thought| &thought.messages);
    let texts: Vec<String> = messages
        .map(|message| message.content.to_string())
        .collect();
    texts.join("\n")
}

fn in_version(game: &'static str, params: &Value, version: &str) -> String {
    told(game, params, json!({ "prompt": version }))
}

fn vase() -> Value {
    json!([{ "name": "Vase", "starting_price": 100, "true_value": 200 }])
}

#[test]
fn one_of_anything_is_singular() {
    const PLURALS: [&str; 16] = [
        "rounds",
        "days",
        "points",
        "health points",
        "coins",
        "gold coins",
        "tokens",
        "new tokens",
        "fresh tokens",
        "units",
        "items",
        "lots",
        "houses",
        "bid rounds",
        "questions",
        "residents",
    ];
    let auction = json!({ "assets": 1, "value_mean": 1, "value_sd": 0.1, "entrance_fee": 1 });
    let mut ascending = auction.clone();
    ascending["increment"] = 1.into();
    let games = [
        ("el_farol", json!({ "rounds": 1, "max": 1, "home": 1 })),
        ("guess_to_survive", json!({ "rounds": 1, "health": 1 })),
        ("guess_two_thirds", json!({ "rounds": 1 })),
        ("public_goods", json!({ "rounds": 1, "tokens": 1 })),
        ("divide_dollar", json!({ "rounds": 1, "golds": 1 })),
        ("pirate", json!({ "gold": 1 })),
        ("diners_dilemma", json!({ "rounds": 1 })),
        ("sealed_bid_auction", json!({ "rounds": 1 })),
        ("second_price_auction", auction),
        ("ascending_auction", ascending),
        (
            "judging",
            json!({ "criteria": [{ "name": "wit", "question": "How witty is it?" }] }),
        ),
        (
            "english_auction",
            json!({ "items": vase(), "max_rounds": 1 }),
        ),
        (
            "water_allocation",
            json!({
                "players": 1, "rounds": 1, "requirements": [1], "supply_min": 1,
                "supply_max": 1, "health_start": 1, "health_max": 1, "health_gain": 1,
            }),
        ),
    ];
    for (game, params) in games {
        for version in VERSIONS {
            let text = in_version(game, &params, version);
            for plural in PLURALS {
                for (place, _) in text.match_indices(&format!("1 {plural}")) {
                    let before = text[..place].chars().next_back();
                    let is_whole = before.is_none_or(|letter| !"0123456789.-".contains(letter));
                    assert!(!is_whole, "{game} {version} has 1 {plural}:\n{text}");
                }
            }
        }
    }
}

#[test]
fn the_bar_holds_a_share_of_the_players_that_is_not_rounded() {
    let params = json!({ "players": 3, "rounds": 1, "ratio": 1.0 / 3.0 });
    for version in VERSIONS {
        let text = in_version("el_farol", &params, version);
        assert!(
            text.contains("1/3") && !text.contains("33"),
            "{version}: {text}"
        );
    }
}

#[test]
fn a_ratio_without_a_short_decimal_is_a_fraction() {
    for (game, ratio, said) in [
        ("guess_to_survive", 2.0 / 3.0, "2/3"),
        ("guess_to_survive", 0.8, "0.8"),
        ("public_goods", 4.0 / 3.0, "4/3"),
        ("public_goods", 1.5, "1.5"),
    ] {
        for version in VERSIONS {
            let text = in_version(game, &json!({ "rounds": 1, "ratio": ratio }), version);
            assert!(text.contains(said), "{game} {version}: {text}");
        }
    }
}

#[test]
fn a_supply_that_is_always_the_same_is_no_range() {
    let params = json!({ "rounds": 1, "supply_min": 13, "supply_max": 13 });
    for version in VERSIONS {
        let text = in_version("water_allocation", &params, version);
        let rules = text.split("\n\n").next().unwrap_or_default();
        for range in [
            "from 13 to 13",
            "between 13 and 13",
            "13 to 13",
            "at most 13",
        ] {
            assert!(!rules.contains(range), "{version}: {rules}");
        }
        assert!(rules.contains("13 units"), "{version}: {rules}");
        assert!(!rules.contains(".- "), "{version}: {rules}");
    }
}

#[test]
fn bids_of_an_english_auction_are_remembered_by_their_item() {
    for version in VERSIONS {
        let text = in_version("english_auction", &json!({}), version);
        assert!(text.contains("Your bid for Widget A?"), "{version}: {text}");
        assert!(!text.contains("your bid?"), "{version}: {text}");
    }
}

#[test]
fn whoever_withdraws_may_come_back_only_where_an_item_is_offered_again() {
    const RETURNS: [(&str, &str); 5] = [
        ("v1", "unless it is offered again"),
        ("v2", "unless all participants can bid again"),
        ("v3", "unless the lot is auctioned again"),
        ("v4", "unless the auctioneer makes all players active again"),
        (
            "v5",
            "unless the auction house lets everyone bid on it again",
        ),
    ];
    let rules = |rounds: u32, is_on: bool, version: &str| {
        let params = json!({
            "items": vase(), "max_rounds": 6, "discount_unsold": is_on, "discount_rounds": rounds,
        });
        in_version("english_auction", &params, version)
    };
    for (version, returns) in RETURNS {
        let never = rules(3, false, version);
        assert_eq!(rules(0, true, version), never);
        assert!(!never.contains(returns), "{version}: {never}");
        let once = rules(1, true, version);
        assert!(once.contains(returns) && once.contains("once"), "{once}");
        assert!(!once.contains("1 times"), "{once}");
        let often = rules(3, true, version);
        assert!(
            often.contains(returns) && often.contains("3 times"),
            "{often}"
        );
    }
}

#[test]
fn auction_agents_are_told_of_few_bid_rounds() {
    for agent in ["bdi", "harbor"] {
        let rules = |params: Value| {
            told(
                "english_auction",
                &params,
                json!({ "agent": agent, "tries": 1 }),
            )
        };
        assert!(!rules(json!({})).contains("or after"), "{agent}");
        let few = rules(json!({ "max_rounds": 6 }));
        assert!(few.contains("or after 6 bid rounds."), "{agent}: {few}");
        let again = rules(json!({ "max_rounds": 6, "discount_unsold": true }));
        assert!(
            again.contains("or after 6 bid rounds over all offers"),
            "{agent}: {again}"
        );
    }
}
