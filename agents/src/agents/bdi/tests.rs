//! The `bdi` bidder in small auctions: its model's replies are scripted by
//! purpose, the other seats' bids by the test, and everything it concludes is read
//! from its notes, as a measure would.

use agon_engine::{Action, Ask, AskRole, Foul, FoulKind};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use super::*;
use crate::agents::auction::Item;
use crate::agents::auction::tests::table::{self, Played, Script, limits, player, whole};
use crate::library::PromptLibrary;
use crate::mind::{Message, Reply, Thought};
use crate::roster::build_for;
use crate::settings::PlayerSettings;

/// Two items, two bidders: the one under test at seat 0, and one that offers
/// `rival` on every item in the first round and withdraws afterwards.
fn auction(settings: Value, rival: i64, answer: Script<'_>) -> Played {
    let item = |name: &str| json!({ "name": name, "starting_price": 1000, "true_value": 2000 });
    let params = json!({ "budget": 5000, "items": [item("Lamp"), item("Chair")] });
    let other = |_: &str, ask: &Ask| match limits(ask) {
        (1000, _) => Action::Integer(rival),
        _ => Action::Pass,
    };
    table::auction(&player("bdi", &settings), &params, &[&other], answer)
}

const PLAN: &str = r#"{"strategy": "Wait for the chair.", "priorities": {"Lamp": 1, "Chair": 3}}"#;
const REPLAN: &str = r#"{"strategy": "Now the chair.", "priorities": {"Chair": 2}}"#;

/// The truth after each of the two items when the bidder bids 1100 on both and
/// its rival 1000.
const BELIEFS: [&str; 2] = [
    r#"{"summary": "s", "remaining_budget": 3900, "total_profits": {"player_0": 900, "player_1": 0},
        "winning_bids": {"player_0": [{"item": "Lamp", "bid": 1100}], "player_1": []}}"#,
    r#"{"summary": "s", "remaining_budget": 2800, "total_profits": {"player_0": 1800, "player_1": 0},
        "winning_bids": {"player_0": {"Lamp": 1100, "Chair": 1100}, "player_1": {}}}"#,
];

fn model_bidder(thought: &Thought, before: usize) -> String {
    match thought.purpose {
        "plan" => PLAN.to_owned(),
        "replan" => REPLAN.to_owned(),
        "bid" => r#"{"reason": "r", "bid": 1100}"#.to_owned(),
        "belief" => BELIEFS[before].to_owned(),
        "learn" => r#"{"tips": ["Bid a little.", "Bid early."]}"#.to_owned(),
        other => panic!("{other}"),
    }
}

#[test]
fn an_adaptive_bidder_plans_bids_believes_and_plans_again() {
    let played = auction(json!({}), 1000, &model_bidder);
    assert_eq!(
        played.purposes(),
        ["plan", "bid", "belief", "replan", "bid", "belief"]
    );
    assert_eq!(played.payoffs, [1800.0, 0.0]);
    let plans = played.of("plan");
    assert_eq!(plans[0]["at_item"], 0);
    assert_eq!(plans[0]["priorities"], json!([1, 3]));
    assert_eq!(plans[0]["source"], "model");
    assert_eq!(plans[1]["at_item"], 1);
    assert_eq!(plans[1]["priorities"], json!([null, 2]));
    assert_eq!(plans[1]["strategy"], "Now the chair.");
    let bids = played.of("bid");
    assert_eq!(
        bids[1],
        &json!({ "item": 1, "round": 1, "said": 1100, "read": 1100, "problem": null })
    );
    for belief in played.of("belief") {
        assert_eq!(belief["errors"], json!([]));
        assert_eq!(belief["checked"], 5);
        assert_eq!(belief["wrong"], 0);
        assert_eq!(belief["corrected"], false);
        assert_eq!(belief["believed"], belief["truth"]);
        assert_eq!(belief["source"], "model");
    }
}

#[test]
fn the_plan_and_the_status_stand_in_the_prompts_that_follow() {
    let played = auction(json!({}), 1000, &model_bidder);
    let bids = played.said("bid");
    assert!(bids[0].contains("Wait for the chair."), "{}", bids[0]);
    assert!(
        bids[0].contains("Your remaining budget is $5000."),
        "{}",
        bids[0]
    );
    assert!(bids[1].contains("Now the chair."), "{}", bids[1]);
    assert!(!bids[1].contains("Wait for the chair."), "{}", bids[1]);
    assert!(
        bids[1].contains("Your remaining budget is $3900."),
        "{}",
        bids[1]
    );
    let replan = &played.said("replan")[0];
    assert!(
        replan.contains("You have a total profit of $900 and won Lamp at $1100."),
        "{replan}"
    );
    assert!(
        replan.contains("player_1 has a total profit of $0 and won nothing."),
        "{replan}"
    );
    let (_, items) = replan.split_once("still to come").unwrap();
    assert!(
        items.contains("- Chair:") && !items.contains("- Lamp:"),
        "{items}"
    );
    let belief = &played.said("belief")[0];
    assert!(
        belief.contains("player_0 bid $1100. player_1 bid $1000."),
        "{belief}"
    );
    assert!(belief.contains("true value is $2000"), "{belief}");
}

#[test]
fn a_static_bidder_plans_once_and_one_without_plan_never() {
    let played = auction(json!({ "strategy": "static" }), 1000, &model_bidder);
    assert_eq!(
        played.purposes(),
        ["plan", "bid", "belief", "bid", "belief"]
    );
    assert!(played.said("bid")[1].contains("Wait for the chair."));
    assert!(played.said("bid")[1].contains("Your remaining budget is $3900."));
    let played = auction(json!({ "strategy": "none" }), 1000, &model_bidder);
    assert_eq!(played.purposes(), ["bid", "belief", "bid", "belief"]);
    assert!(played.of("plan").is_empty());
    assert!(
        !played.said("bid")[1].contains("plan"),
        "{}",
        played.said("bid")[1]
    );
    assert!(played.said("bid")[1].contains("Your remaining budget is $3900."));
}

#[test]
fn wrong_beliefs_are_listed_back_until_they_are_right() {
    let wrong = r#"{"summary": "s", "remaining_budget": 5000,
        "total_profits": {"player_0": 900, "player_1": 300},
        "winning_bids": {"player_0": {"Lamp": 1000}, "player_1": {}}}"#;
    let played = auction(json!({}), 1000, &|thought, before| match thought.purpose {
        "belief" if before == 0 => "I have no idea.".to_owned(),
        "belief" if before == 1 => wrong.to_owned(),
        "belief" => BELIEFS[before - 2].to_owned(),
        _ => model_bidder(thought, before),
    });
    let belief = played.of("belief")[0];
    assert_eq!(belief["tries"], 3);
    assert_eq!(belief["corrected"], true);
    assert_eq!(belief["source"], "model");
    // The first try had no facts to compare.
    assert_eq!(belief["checked"], 0);
    let errors: Vec<(u64, &str, &str)> = belief["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|error| {
            let word = |name: &str| error[name].as_str().unwrap();
            (error["try"].as_u64().unwrap(), word("kind"), word("about"))
        })
        .collect();
    assert_eq!(
        errors,
        [
            (1, "shape", "self"),
            (2, "budget", "self"),
            (2, "profit", "others"),
            (2, "wins", "self"),
        ]
    );
    let again = &played.said("belief")[2];
    for fault in [
        "remaining_budget is 3900, not 5000",
        "the total profit of player_1 is 0, not 300",
        "the winning bids of player_0 are Lamp at 1100, not Lamp at 1000",
    ] {
        assert!(again.contains(fault), "{fault}: {again}");
    }
}

#[test]
fn a_belief_that_leaves_out_who_has_nothing_is_corrected_all_the_same() {
    let played = auction(json!({}), 1000, &|thought, before| match thought.purpose {
        "belief" if before == 0 => "I have no idea.".to_owned(),
        "belief" => {
            let mut belief: Value = serde_json::from_str(BELIEFS[before - 1]).unwrap();
            for of in ["total_profits", "winning_bids"] {
                belief[of].as_object_mut().unwrap().remove("player_1");
            }
            belief.to_string()
        }
        _ => model_bidder(thought, before),
    });
    let belief = played.of("belief")[0];
    assert_eq!(
        (&belief["tries"], &belief["corrected"]),
        (&json!(2), &json!(true))
    );
}

#[test]
fn a_belief_that_stays_wrong_is_put_right_by_the_auctioneer() {
    let wrong = r#"{"remaining_budget": 1, "total_profits": {}, "winning_bids": {}}"#;
    let stubborn = |thought: &Thought, before: usize| match thought.purpose {
        "belief" => wrong.to_owned(),
        _ => model_bidder(thought, before),
    };
    let played = auction(json!({ "tries": 2 }), 1000, &stubborn);
    let belief = played.of("belief")[0];
    assert_eq!((&belief["tries"], &belief["wrong"]), (&json!(2), &json!(3)));
    assert_eq!(belief["source"], "auctioneer");
    assert_eq!(belief["corrected"], true);
    assert_eq!(belief["believed"]["remaining_budget"], 1);
    assert!(played.said("bid")[1].contains("Your remaining budget is $3900."));
    // Only counted: one try, and what it believes is what it goes on with.
    let played = auction(json!({ "correct_beliefs": false }), 1000, &stubborn);
    let belief = played.of("belief")[0];
    assert_eq!((&belief["tries"], &belief["wrong"]), (&json!(1), &json!(3)));
    assert_eq!(belief["corrected"], false);
    assert!(played.said("bid")[1].contains("Your remaining budget is $1."));
}

#[test]
fn an_uncorrected_belief_that_cannot_be_read_leaves_the_one_before() {
    let played = auction(
        json!({ "correct_beliefs": false }),
        1000,
        &|thought, before| match thought.purpose {
            "belief" => "No notes today.".to_owned(),
            _ => model_bidder(thought, before),
        },
    );
    let belief = played.of("belief")[0];
    assert_eq!(belief["tries"], 4);
    assert_eq!(belief["source"], "kept");
    assert_eq!(belief["believed"]["remaining_budget"], Value::Null);
    assert!(played.said("bid")[1].contains("Your remaining budget is $5000."));
}

#[test]
fn a_plan_that_cannot_be_read_is_asked_again_and_then_kept() {
    let played = auction(
        json!({ "tries": 3 }),
        1000,
        &|thought, before| match thought.purpose {
            "plan" if before == 0 => r#"{"Lamp": 1}"#.to_owned(),
            "replan" => r#"{"strategy": "x", "priorities": {"Chair": 7}}"#.to_owned(),
            _ => model_bidder(thought, before),
        },
    );
    let plans = played.of("plan");
    assert_eq!(
        (&plans[0]["tries"], &plans[0]["source"]),
        (&json!(2), &json!("model"))
    );
    let again = &played.said("plan")[1];
    assert!(
        again.contains("the priority of \"Chair\" is missing"),
        "{again}"
    );
    assert_eq!(
        (&plans[1]["tries"], &plans[1]["source"]),
        (&json!(3), &json!("kept"))
    );
    assert_eq!(plans[1]["priorities"], json!([null, 3]));
    assert_eq!(plans[1]["strategy"], "Wait for the chair.");
    // Nothing at all to keep: the middle priority for every item.
    let played = auction(
        json!({ "strategy": "static" }),
        1000,
        &|thought, before| match thought.purpose {
            "plan" => String::new(),
            _ => model_bidder(thought, before),
        },
    );
    assert_eq!(played.of("plan")[0]["priorities"], json!([2, 2]));
    assert_eq!(played.of("plan")[0]["source"], "kept");
}

#[test]
fn priorities_of_items_that_are_over_are_left_out_and_noted() {
    let played = auction(json!({}), 1000, &|thought, before| match thought.purpose {
        "replan" => r#"{"strategy": "x", "priorities": {"Lamp": 3, "Chair": 1}}"#.to_owned(),
        _ => model_bidder(thought, before),
    });
    let plan = played.of("plan")[1];
    assert_eq!(plan["priorities"], json!([null, 1]));
    assert_eq!(plan["past_items"], json!(["Lamp"]));
}

#[test]
fn a_refused_bid_is_put_again_with_the_reason_and_noted() {
    let played = auction(json!({}), 1000, &|thought, before| match thought.purpose {
        "bid" if before == 0 => r#"{"bid": 9000}"#.to_owned(),
        "bid" if before == 1 => "Hm.".to_owned(),
        _ => model_bidder(thought, before),
    });
    let bids = played.of("bid");
    assert_eq!(bids.len(), 4);
    assert_eq!(bids[0]["read"], 9000);
    assert!(
        bids[0]["problem"].as_str().unwrap().contains("5000"),
        "{}",
        bids[0]
    );
    assert_eq!(bids[1]["read"], Value::Null);
    assert!(
        bids[1]["problem"].as_str().unwrap().contains("no bid"),
        "{}",
        bids[1]
    );
    let said = played.said("bid");
    assert!(
        said[1].contains("more than your remaining budget"),
        "{}",
        said[1]
    );
    assert!(said[2].contains("no bid could be found"), "{}", said[2]);
    assert_eq!(played.payoffs[0], 1800.0);
}

#[test]
fn rounds_of_the_item_stand_in_the_prompt() {
    let played = auction(
        json!({ "reply": "text", "correct_beliefs": false }),
        1500,
        &|thought, before| match thought.purpose {
            "bid" if before % 2 == 0 => "It looks cheap. I bid $1,100!".to_owned(),
            "bid" => "Too much for me. I'm out!".to_owned(),
            _ => model_bidder(thought, before),
        },
    );
    let said = played.said("bid");
    for said in &said {
        // The rule is known from the system message; the amount is the bidder's to work out.
        assert!(!said.contains("at least 1600"), "{said}");
    }
    assert!(
        said[1].contains("player_1 leads with $1500 for Lamp. This is bid round 2."),
        "{}",
        said[1]
    );
    assert!(
        said[1].contains("Round 1: player_0 bid $1100. player_1 bid $1500."),
        "{}",
        said[1]
    );
    assert!(
        played
            .thoughts
            .iter()
            .all(|thought| thought.format.is_none())
    );
    let reads: Vec<&Value> = played.of("bid").iter().map(|bid| &bid["read"]).collect();
    assert_eq!(
        reads,
        [
            1100.into(),
            Value::from("withdraw"),
            1100.into(),
            "withdraw".into()
        ]
        .iter()
        .collect::<Vec<_>>()
    );
    assert_eq!(played.payoffs, [0.0, 1000.0]);
}

#[test]
fn lessons_are_written_down_and_stand_in_the_next_auction() {
    let settings = json!({ "learn": true, "tips": ["Never pay more than 1,500."] });
    let played = auction(settings, 1000, &model_bidder);
    assert_eq!(played.purposes().last(), Some(&"learn"));
    let tips = played.of("tips")[0];
    assert_eq!(tips["tips"], json!(["Bid a little.", "Bid early."]));
    for thought in &played.thoughts {
        assert!(
            thought.messages[0]
                .content
                .contains("Never pay more than 1,500.")
        );
    }
    let learn = &played.said("learn")[0];
    assert!(
        learn.contains("It was sold to player_0 for $1100. Its true value was $2000."),
        "{learn}"
    );
    assert!(learn.contains("player_0 (you): profit $1800"), "{learn}");
    // Lessons that cannot be read leave the earlier ones.
    let settings = json!({ "learn": true, "tips": ["Wait."], "tries": 1 });
    let played = auction(settings, 1000, &|thought, before| match thought.purpose {
        "learn" => "What a day.".to_owned(),
        _ => model_bidder(thought, before),
    });
    assert_eq!(
        played.of("tips")[0],
        &json!({ "tips": ["Wait."], "source": "kept" })
    );
}

#[test]
fn the_desire_is_the_seats_objective_unless_it_is_set() {
    let played = auction(json!({}), 1000, &model_bidder);
    assert!(
        played.thoughts[0].messages[0]
            .content
            .contains("a higher total profit")
    );
    let played = auction(json!({ "desire": "maximize_items" }), 1000, &model_bidder);
    for thought in &played.thoughts {
        assert!(thought.messages[0].content.contains("won more items"));
        let text = whole(thought);
        assert!(!text.contains("a higher total profit"), "{text}");
    }
}

#[test]
fn long_sales_are_told_from_their_end_within_the_bound() {
    let picture_bound = 900;
    let mut agent = new(&Seating {
        settings: &PlayerSettings::read(
            &player("bdi", &json!({ "memory_tokens": picture_bound })),
            Options::NAMES,
        )
        .unwrap(),
        game: &agon_engine::registry::find("english_auction").unwrap().info,
        seat: 0,
        library: &PromptLibrary::builtin(),
        session: None,
        carried: None,
    })
    .unwrap();
    agent.picture.players = 2;
    agent.picture.items = vec![Item {
        name: "Lamp".to_owned(),
        starting_price: 10,
        estimate: 20,
        description: None,
        size: None,
        location: None,
        rounds: (1..=900)
            .map(|bid_round| crate::agents::auction::picture::Round {
                bid_round,
                bids: vec![Some(i64::from(bid_round)), None],
                withdrew: Vec::new(),
                leader: Some(0),
                highest: Some(i64::from(bid_round)),
                least_bid: 1,
            })
            .collect(),
        outcome: None,
    }];
    let messages = agent.conversation("bid", None, None).unwrap();
    let length: usize = messages.iter().map(Message::tokens).sum();
    assert!(length <= picture_bound, "{length}");
    assert!(messages[1].content.contains("Round 900:"));
    assert!(messages[1].content.contains("earlier rounds are left out"));
}

#[test]
fn in_a_series_a_bidder_has_its_own_lessons_in_mind_and_nobody_elses() {
    let note = |seat, tips: Value| agon_engine::CarriedNote {
        seat,
        note: "tips".to_owned(),
        body: json!({ "tips": tips, "source": "model" }),
    };
    let carried = agon_engine::Carried {
        from: "0".repeat(32).into(),
        notes: vec![
            note(0, json!(["Watch the clock."])),
            note(1, json!(["Never trust player_0."])),
        ],
    };
    let player = player("bdi", &json!({ "tips": ["Given at first."] }));
    let told = |seat: usize, carried: Option<&agon_engine::Carried>| {
        let mut agent = new(&Seating {
            settings: &PlayerSettings::read(&player, Options::NAMES).unwrap(),
            game: &agon_engine::registry::find("english_auction").unwrap().info,
            seat,
            library: &PromptLibrary::builtin(),
            session: None,
            carried,
        })
        .unwrap();
        agent.picture.players = 2;
        let messages = agent.conversation("plan", None, None).unwrap();
        let texts: Vec<&str> = messages.iter().map(|said| &*said.content).collect();
        texts.join("\n")
    };
    let first = told(0, None);
    assert!(first.contains("Given at first.") && !first.contains("Watch the clock."));
    let ann = told(0, Some(&carried));
    assert!(ann.contains("Watch the clock."), "{ann}");
    assert!(!ann.contains("Given at first.") && !ann.contains("Never trust"));
    let ben = told(1, Some(&carried));
    assert!(ben.contains("Never trust player_0.") && !ben.contains("Watch the clock."));
    // Who left nothing begins as it was set.
    assert!(told(2, Some(&carried)).contains("Given at first."));
}

#[test]
fn settings_are_checked_with_what_would_be_right() {
    for (settings, expected) in [
        (json!({ "strategy": "clever" }), "strategy: unknown variant"),
        (json!({ "tries": 0 }), "tries must be from 1 to 10"),
        (json!({ "tips": [" "] }), "none of them empty"),
        (json!({ "tips": "wait" }), "tips: invalid type"),
        (json!({ "desire": "win" }), "desire: unknown variant"),
    ] {
        let message = (INFO.check)(settings.as_object().unwrap()).unwrap_err();
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn a_call_that_fails_ends_the_session_try() {
    struct Silent;
    impl Mind for Silent {
        fn think(&self, _: Thought) -> BoxFuture<'static, Result<Reply, MindError>> {
            Box::pin(std::future::ready(Err(MindError::GivenUp)))
        }
    }
    let played = auction(json!({}), 1000, &model_bidder);
    let player = player("bdi", &json!({}));
    let library = PromptLibrary::builtin();
    let mut agent = build_for(&player, "english_auction", 0, &library).unwrap();
    let ask = Ask {
        seat: 0,
        kind: "bid".into(),
        role: AskRole::Bid,
        form: agon_engine::Form::integer(1, 2),
        foul_allowance: 0,
    };
    let foul = Foul::new(FoulKind::Unreadable, "x");
    let acted = agent
        .act(&ask, Some(&foul), &Silent)
        .now_or_never()
        .unwrap();
    assert!(acted.is_err());
    assert!(!played.thoughts.is_empty());
}
