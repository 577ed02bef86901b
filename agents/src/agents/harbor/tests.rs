//! The `harbor` bidder in a small world in which each module's effect is known
//! beforehand. Its model is scripted: it answers from what the prompt says and
//! nothing else, so an effect shows only when the module told it what it needs.

use std::sync::Mutex;

use serde_json::{Map, Value, json};

use super::*;
use crate::agents::auction::tests::table::{self, Other, Played, limits, player};
use crate::library::PromptLibrary;
use crate::mind::Thought;
use crate::roster::check_player;

mod believing;
mod replies;

/// The last message of a call.
fn asked(thought: &Thought) -> &str {
    &thought.messages.last().unwrap().content
}

fn system(thought: &Thought) -> &str {
    &thought.messages[0].content
}

/// Six houses, two for each of three personas.
fn houses() -> Value {
    let house = |name: &str, description: &str| json!({ "name": name, "starting_price": 100, "true_value": 300, "description": description });
    json!([
        house("City Loft", "amid the city"),
        house("Garden Cottage", "a garden all around"),
        house("Farm", "land for a farm"),
        house("City Flat", "a city address"),
        house("Garden Villa", "an old garden"),
        house("Farmstead", "a farm with stables"),
    ])
}

fn world(own: &[&str]) -> Value {
    let persona = |name: &str| json!({ "name": name, "text": format!("You look for a {name}.") });
    json!({
        "own": own,
        "personas": [persona("city"), persona("garden"), persona("farm")],
    })
}

fn with(settings: Value, world: Value) -> Value {
    let mut all = settings;
    all["world"] = world;
    all
}

/// Bids the least on houses with this word in their name, up to a limit.
fn wants(word: &'static str, limit: i64) -> impl Fn(&str, &Ask) -> Action {
    move |item, ask| {
        let (least, most) = limits(ask);
        if item.contains(word) && least <= limit.min(most) {
            return Action::Integer(least);
        }
        Action::Pass
    }
}

/// An auction with the bidder under test at seat 0; its model's replies follow from its prompts.
fn auction(
    settings: &Value,
    params: &Value,
    others: &[Other<'_>],
    answer: &(dyn Fn(&Thought) -> String + Sync),
) -> Played {
    let answer = |thought: &Thought, _: usize| answer(thought);
    table::auction(&player("harbor", settings), params, others, &answer)
}

/// What a good reader of prompts answers: plans by its persona, profiles by who
/// bid, predicts by what it was told, chooses by what it expects.
fn reader(thought: &Thought) -> String {
    let (system, asked) = (system(thought), asked(thought));
    match thought.purpose {
        "plan" | "replan" => planned(system, asked).to_string(),
        "profile" => profiled(asked).to_string(),
        "predict" => predicted(asked).to_string(),
        "second_order" => json!({ "reason": "", "mislead": "Bid on a farm.",
            "weights": { "city": 0.5, "garden": 0.25, "farm": -0.5 } })
        .to_string(),
        "strategy" => chosen(asked).to_string(),
        "bid" if asked.contains("You have decided") => least_bid(asked),
        _ => r#"{"reason": "", "bid": "withdraw"}"#.to_owned(),
    }
}

/// Priority 3 for what the persona in the system message looks for, else 1.
fn planned(system: &str, asked: &str) -> Value {
    let (_, list) = asked
        .rsplit_once("houses will be sold")
        .unwrap_or(asked.rsplit_once("still to come").unwrap_or_default());
    let lines = list
        .lines()
        .filter(|line| line.starts_with("- ") && line.contains("starting"));
    let rows = lines.map(|line| {
        let name = line[2..].split(':').next().unwrap();
        let suits = ["city", "garden", "farm"]
            .iter()
            .any(|word| line.contains(word) && system.contains(&format!("look for a {word}")));
        (name.to_owned(), json!(if suits { 3 } else { 1 }))
    });
    json!({ "strategy": "s", "priorities": rows.collect::<Map<String, Value>>() })
}

/// Moves the weight of the house's kind a step up when the rival bid in the
/// rounds, down when it did not; all else stays.
fn profiled(asked: &str) -> Value {
    let (_, rest) = asked.split_once("kind of buyer ").unwrap();
    let rival = rest.split(' ').next().unwrap();
    let (_, so_far) = asked.split_once("(surely): ").unwrap();
    let so_far = so_far.split(".\n").next().unwrap();
    let (sale, _) = asked.split_once("Work out").unwrap();
    let house = sale.lines().next().unwrap();
    let bid = sale.contains(&format!("{rival} bid"));
    let weights = so_far.split(", ").map(|pair| {
        let (name, weight) = pair.split_once(' ').unwrap();
        let before: f64 = weight.parse().unwrap();
        let step = match (house.contains(name), bid) {
            (false, _) => 0.0,
            (true, true) => 0.4,
            (true, false) => -0.4,
        };
        (name.to_owned(), json!((before + step).clamp(-1.0, 1.0)))
    });
    json!({ "reason": "r", "weights": weights.collect::<Map<String, Value>>() })
}

/// A rival wants a house whose kind it is known for: by name, or by weight.
fn predicted(asked: &str) -> Value {
    let house = asked.lines().next().unwrap();
    let known = asked.lines().filter(|line| line.starts_with("- player_"));
    let known: Vec<&str> = known
        .filter(|line| line.contains(" is ") || line.contains("profile"))
        .collect();
    let rows = known.iter().map(|line| {
        let name = line[2..].split([' ', ',']).next().unwrap();
        let wants = ["city", "garden", "farm"].iter().any(|kind| {
            let told = line.contains(&format!("of buyer: {kind} ("));
            let inferred = line.contains(&format!("{kind} 0."));
            house.contains(kind) && (told || inferred)
        });
        (name.to_owned(), json!({ "detail": "d", "wants": wants }))
    });
    json!({ "predictions": rows.collect::<Map<String, Value>>() })
}

/// Drains whoever is expected to want the house while it leads below 400; takes a
/// house that nobody wants; leaves the rest.
fn chosen(asked: &str) -> Value {
    let wanted = asked.contains("probably wants this house");
    let price = asked.split("leads with $").nth(1);
    let price: i64 = price.map_or(0, |rest| rest.split(' ').next().unwrap().parse().unwrap());
    let letter = match (wanted, price) {
        (true, 0..400) => "B",
        (true, _) => "F",
        (false, 0..250) => "A",
        (false, _) => "E",
    };
    json!({ "reason": "r", "uses_profile": wanted, "choice": letter })
}

/// The least bid that the sale allows.
fn least_bid(asked: &str) -> String {
    let number = |mark: &str| -> Option<i64> {
        let rest = asked.split(mark).nth(1)?;
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().ok()
    };
    let bid = match (number("leads with $"), number("minimum increase is $")) {
        (Some(price), Some(step)) => price + step,
        _ => number("starting price $").unwrap(),
    };
    json!({ "reason": "r", "bid": bid }).to_string()
}

/// Kullback-Leibler divergence of a one-hot persona from a profile (section 3.4),
/// with the smoothing that the paper asks for and does not name.
fn divergence(truth: &str, weights: &Value) -> f64 {
    const EPSILON: f64 = 1e-6;
    let weights = weights.as_object().unwrap();
    let shifted = weights
        .values()
        .map(|weight| weight.as_f64().unwrap() + 1.0 + EPSILON);
    let sum: f64 = shifted.sum();
    let all = 1.0 + EPSILON * weights.len() as f64;
    let terms = weights.iter().map(|(name, weight)| {
        let truth = (f64::from(u8::from(name == truth)) + EPSILON) / all;
        let inferred = (weight.as_f64().unwrap() + 1.0 + EPSILON) / sum;
        truth * (truth / inferred).ln()
    });
    terms.sum()
}

fn params() -> Value {
    json!({ "items": houses(), "budget": 1000 })
}

#[test]
fn a_rival_that_always_bids_on_its_houses_is_found_out_round_by_round() {
    let settings = with(json!({ "profile": true }), world(&[]));
    let (city, farm) = (wants("City", 900), wants("Farm", 900));
    let played = auction(&settings, &params(), &[&city, &farm], &reader);
    let profiles = played.of("profile");
    // One per rival before the first item and after each of six, in seat order.
    assert_eq!(profiles.len(), 14);
    let first: Vec<&Value> = profiles[..2].iter().map(|note| &note["source"]).collect();
    assert_eq!(first, [&json!("start"), &json!("start")]);
    assert_eq!(
        profiles[0]["weights"],
        json!({ "city": 0.0, "garden": 0.0, "farm": 0.0 })
    );
    for (rival, truth) in [(1, "city"), (2, "farm")] {
        let of: Vec<&&Value> = profiles
            .iter()
            .filter(|note| note["about"] == rival)
            .collect();
        let places: Vec<u64> = of
            .iter()
            .map(|note| note["after_item"].as_u64().unwrap())
            .collect();
        assert_eq!(places, [0, 1, 2, 3, 4, 5, 6]);
        let errors: Vec<f64> = of
            .iter()
            .map(|note| divergence(truth, &note["weights"]))
            .collect();
        assert!((errors[0] - 3f64.ln()).abs() < 1e-4, "{errors:?}");
        assert!(
            errors.windows(2).all(|pair| pair[1] < pair[0]),
            "{errors:?}"
        );
        assert!(errors[6] < errors[0] / 2.0, "{errors:?}");
    }
}

#[test]
fn profiles_stand_in_the_plans_that_follow() {
    let settings = with(json!({ "profile": true }), world(&[]));
    let (city, farm) = (wants("City", 900), wants("Farm", 900));
    let played = auction(&settings, &params(), &[&city, &farm], &reader);
    let replans = played.thoughts("replan");
    let text = asked(replans[0]);
    assert!(text.contains("- player_1, according to your profile, from -1 (surely not) to 1 (surely): city 0.4, garden 0, farm 0."), "{text}");
    assert!(text.contains("city -0.4, garden 0, farm 0."), "{text}");
    assert_eq!(replans.len(), 5);
}

#[test]
fn a_drained_rival_leaves_the_next_house_cheaper() {
    // The rival wants everything, and has 490 for it.
    let params = json!({
        "budget": [1000, 490],
        "items": [
            { "name": "City Loft", "starting_price": 100, "true_value": 300, "description": "amid the city" },
            { "name": "Garden Cottage", "starting_price": 100, "true_value": 300, "description": "a garden all around" },
        ],
    });
    let rival = wants("", 460);
    let mut told = world(&["garden"]);
    told["seats"] = json!([["garden"], ["city"]]);
    let off = with(json!({ "theory_of_mind": "true" }), told.clone());
    // Without the module it bids for its own house only, and up to a limit.
    let plain = |thought: &Thought| match thought.purpose {
        "bid" if asked(thought).contains("For sale now: Garden") => least_bid(asked(thought)),
        _ => reader(thought),
    };
    let before = auction(&off, &params, &[&rival], &plain);
    let on = with(json!({ "theory_of_mind": "true", "strategic": true }), told);
    let after = auction(&on, &params, &[&rival], &reader);
    let (loft, cottage) = (after.sales[0], after.sales[1]);
    assert_eq!(before.sales[0], (1, 100));
    assert!(loft.0 == 1 && loft.1 >= 400, "{:?}", after.sales);
    assert_eq!(cottage, (0, 100));
    assert!(before.sales[1].1 > cottage.1, "{:?}", before.sales);
    let choices = after.of("strategy");
    let letters: Vec<&Value> = choices.iter().map(|note| &note["choice"]).collect();
    assert_eq!(letters[0], "B");
    assert!(
        letters.contains(&&json!("F")) && letters.contains(&&json!("A")),
        "{letters:?}"
    );
    let drains = choices.iter().filter(|note| note["choice"] == "B");
    assert!(drains.clone().all(|note| note["uses_profile"] == true));
    assert_eq!(choices[0]["reason"], "r");
    // Who quits is not asked for a bid.
    let raises = choices
        .iter()
        .filter(|note| "ABC".contains(note["choice"].as_str().unwrap()));
    assert_eq!(after.of("bid").len(), raises.count());
}

#[test]
fn a_persona_raises_the_priority_of_what_suits_it() {
    let rival = wants("nothing", 0);
    let priorities = |own: &[&str]| {
        let played = auction(&with(json!({}), world(own)), &params(), &[&rival], &reader);
        played.of("plan")[0]["priorities"].clone()
    };
    assert_eq!(priorities(&[]), json!([1, 1, 1, 1, 1, 1]));
    assert_eq!(priorities(&["farm"]), json!([1, 1, 3, 1, 1, 3]));
    assert_eq!(priorities(&["garden", "city"]), json!([3, 3, 1, 3, 3, 1]));
}

#[test]
fn profit_stays_the_aim_whatever_the_persona() {
    let rival = wants("nothing", 0);
    for own in [&[][..], &["farm"], &["farm", "city"]] {
        let played = auction(&with(json!({}), world(own)), &params(), &[&rival], &reader);
        let system = system(&played.thoughts[0]);
        assert!(system.contains("highest possible total profit"), "{system}");
        let told = own
            .iter()
            .all(|name| system.contains(&format!("look for a {name}.")));
        assert!(
            told && system.contains("Stay true to who you are") != own.is_empty(),
            "{system}"
        );
    }
}

#[test]
fn only_a_bidder_of_second_order_asks_how_it_is_seen() {
    let modules = json!({ "profile": true, "strategic": true, "theory_of_mind": "inferred" });
    let mut master = modules.clone();
    master["second_order"] = json!(true);
    let (city, farm) = (wants("City", 200), wants("Farm", 200));
    let rival = auction(
        &with(modules, world(&["garden"])),
        &params(),
        &[&city, &farm],
        &reader,
    );
    let master = auction(
        &with(master, world(&["garden"])),
        &params(),
        &[&city, &farm],
        &reader,
    );
    let mirrored = |thought: &&Thought| {
        thought.messages.iter().any(|said| {
            said.content.contains("takes you for") || said.content.contains("think you are")
        })
    };
    assert_eq!(rival.thoughts.iter().filter(mirrored).count(), 0);
    assert!(rival.thoughts("second_order").is_empty());
    // One call per rival and item.
    assert_eq!(master.thoughts("second_order").len(), 12);
    let strategies = master.thoughts("strategy");
    assert!(!strategies.is_empty() && strategies.iter().all(mirrored));
    assert!(
        asked(strategies[0])
            .contains("city 0.5, garden 0.25, farm -0.5. How you can use this: Bid on a farm.")
    );
    let predictions = master.of("prediction");
    let second: Vec<&&Value> = predictions
        .iter()
        .filter(|note| note["believes"].is_object())
        .collect();
    assert_eq!(second.len(), 12);
    assert_eq!(second[0]["about"], 1);
    assert_eq!(
        second[0]["believes"],
        json!({ "city": 0.5, "garden": 0.25, "farm": -0.5 })
    );
}

#[test]
fn true_personas_are_told_to_the_module_that_is_given_them_and_to_no_other() {
    let mut told = world(&["garden"]);
    told["seats"] = json!([["garden"], ["city"], ["farm"]]);
    let (city, farm) = (wants("City", 200), wants("Farm", 200));
    let others: [Other<'_>; 2] = [&city, &farm];
    let on = auction(
        &with(json!({ "theory_of_mind": "true" }), told.clone()),
        &params(),
        &others,
        &reader,
    );
    let first = on.thoughts("predict")[0];
    assert!(
        asked(first).contains("- player_1 is this kind of buyer: city (You look for a city.)."),
        "{}",
        asked(first)
    );
    let predictions = on.of("prediction");
    let wants: Vec<&Value> = predictions.iter().map(|note| &note["wants"]).collect();
    let expected = [
        true, false, false, false, false, true, true, false, false, false, false, true,
    ];
    assert_eq!(
        wants,
        expected.map(|want| json!(want)).iter().collect::<Vec<_>>()
    );
    // The same world without the module: nobody is told.
    let off = auction(
        &with(json!({ "profile": true }), told),
        &params(),
        &others,
        &reader,
    );
    assert!(off.thoughts("predict").is_empty());
    assert!(
        off.thoughts
            .iter()
            .all(|one| !asked(one).contains("player_1 is this kind of buyer: city"))
    );
}

#[test]
fn without_predictions_true_personas_are_told_to_every_other_module() {
    let mut told = world(&["garden"]);
    told["seats"] = json!([["garden"], ["city"], ["farm"]]);
    told["personas"][0]["about"] = json!("Looks for a city.");
    let (city, farm) = (wants("City", 200), wants("Farm", 200));
    let modules = json!({ "theory_of_mind": "true", "predict": false, "strategic": true });
    let played = auction(&with(modules, told), &params(), &[&city, &farm], &reader);
    assert!(played.thoughts("predict").is_empty());
    assert!(played.of("prediction").is_empty());
    for purpose in ["plan", "replan", "strategy"] {
        let thoughts = played.thoughts(purpose);
        let told = |thought: &&Thought| {
            let asked = asked(thought);
            asked.contains("- player_1 is this kind of buyer: city (Looks for a city.).")
                && !asked.contains("What you expect")
        };
        assert!(
            !thoughts.is_empty() && thoughts.iter().all(told),
            "{purpose}"
        );
    }
}

#[test]
fn second_order_sees_the_bidders_own_bids_and_its_last_estimate() {
    let modules = json!({ "profile": true, "strategic": true, "second_order": true });
    let (city, farm) = (wants("City", 200), wants("Farm", 200));
    let settings = with(modules, world(&["garden"]));
    let played = auction(&settings, &params(), &[&city, &farm], &reader);
    let thoughts = played.thoughts("second_order");
    let (first, third) = (asked(thoughts[0]), asked(thoughts[4]));
    assert!(first.contains("Nobody has seen you bid yet."), "{first}");
    assert!(first.contains("sees you, from -1 (surely not) to 1 (surely): city 0"));
    for told in [
        "- City Loft: you bid 7 times, up to $210, and bought it.",
        "- Garden Cottage: you bid once, $100, and bought it.",
        "(surely): city 0.5, garden 0.25, farm -0.5.",
    ] {
        assert!(third.contains(told), "{told}: {third}");
    }
}

#[test]
fn profiles_are_asked_side_by_side_in_seat_order() {
    let settings = with(json!({ "profile": true, "plan": false }), world(&[]));
    let (city, farm, all) = (wants("City", 200), wants("Farm", 200), wants("", 150));
    let played = auction(&settings, &params(), &[&city, &farm, &all], &reader);
    let about: Vec<bool> = played
        .thoughts("profile")
        .chunks(3)
        .map(|calls| {
            (1..=3).all(|seat| {
                asked(calls[seat - 1]).contains(&format!("what kind of buyer player_{seat} is"))
            })
        })
        .collect();
    assert_eq!(about, [true; 6]);
    assert!(!played.purposes().contains(&"plan") && !played.purposes().contains(&"replan"));
}

#[test]
fn what_cannot_be_read_is_asked_again_with_a_reason_and_then_kept() {
    let settings = json!({ "profile": true, "strategic": true, "theory_of_mind": "inferred", "second_order": true, "tries": 2 });
    let (city, farm) = (wants("City", 200), wants("Farm", 200));
    let others: [Other<'_>; 2] = [&city, &farm];
    let mute = |_: &Thought| "I would rather not say.".to_owned();
    let mut params = params();
    params["foul_allowance"] = json!(1);
    let played = auction(&with(settings.clone(), world(&[])), &params, &others, &mute);
    for kind in ["plan", "profile", "strategy", "prediction"] {
        let notes = played.of(kind);
        let kept = notes.iter().filter(|note| note["source"] == "kept").count();
        let starts = notes
            .iter()
            .filter(|note| note["source"] == "start")
            .count();
        assert!(
            kept > 0 && kept + starts == notes.len(),
            "{kind}: {notes:?}"
        );
    }
    assert_eq!(
        played.of("plan")[0]["priorities"],
        json!([2, 2, 2, 2, 2, 2])
    );
    assert_eq!(played.of("strategy")[0]["choice"], Value::Null);
    let reasons = [
        ("profile", "no JSON object with a weight per persona"),
        ("strategy", "give a single letter from A to F"),
        ("predict", "no JSON object with a prediction per rival"),
        ("second_order", "no JSON object with a weight per persona"),
        ("plan", "no JSON object with a priority per item"),
    ];
    for (purpose, reason) in reasons {
        let calls = played.thoughts(purpose);
        let again = calls.iter().find(|one| one.messages.len() == 4).unwrap();
        assert!(asked(again).contains(reason), "{purpose}: {}", asked(again));
    }
    // The first try fails, the second is taken.
    let second = |thought: &Thought| match thought.messages.len() {
        2 if thought.purpose != "bid" => "Hm.".to_owned(),
        _ => {
            let mut first = thought.clone();
            first.messages.truncate(2);
            reader(&first)
        }
    };
    let played = auction(&with(settings, world(&[])), &params, &others, &second);
    let profiles = played.of("profile");
    let after = profiles.iter().filter(|note| note["source"] == "model");
    assert_eq!(after.clone().count(), 12);
    assert!(after.clone().all(|note| note["tries"] == 2));
}

#[test]
fn a_refused_bid_is_put_again_without_a_new_choice() {
    let settings = with(json!({ "strategic": true }), world(&[]));
    let rival = wants("nothing", 0);
    let stubborn = |thought: &Thought| match thought.purpose {
        "bid" if thought.messages.len() == 2 => r#"{"bid": 5}"#.to_owned(),
        "bid" => r#"{"bid": 100}"#.to_owned(),
        _ => reader(thought),
    };
    let played = auction(&settings, &params(), &[&rival], &stubborn);
    assert_eq!(played.of("strategy").len(), 6);
    assert_eq!(played.of("bid").len(), 12);
    let first = played.thoughts("bid");
    assert!(
        asked(first[1]).starts_with("The auctioneer refuses your answer"),
        "{}",
        asked(first[1])
    );
    assert_eq!(played.sales.len(), 6);
    assert!(played.sales.iter().all(|sale| *sale == (0, 100)));
}

/// Whether a call offers to withdraw, in its last message or its schema.
fn offers_to_withdraw(thought: &Thought) -> bool {
    let schema = thought.format.as_ref().map(|format| &*format.schema);
    let told = [asked(thought), schema.unwrap_or_default()];
    let words = ["withdraw\"", "to withdraw", "you withdraw", "I'm out"];
    let told = told
        .iter()
        .any(|text| words.iter().any(|word| text.contains(word)));
    if let Some(schema) = schema {
        let in_schema = schema.contains("withdraw");
        assert_eq!(told, in_schema, "{}: {schema}", asked(thought));
    }
    told
}

#[test]
fn who_chose_to_raise_is_not_offered_to_withdraw() {
    let rival = wants("", 150);
    for reply in ["structured", "text"] {
        let settings = with(json!({ "strategic": true, "reply": reply }), world(&[]));
        let refused_first = |thought: &Thought| match (thought.purpose, thought.messages.len()) {
            ("strategy", _) => {
                r#"{"choice": "C", "uses_profile": false, "reason": "r"}"#.to_owned()
            }
            // Too low, then both at once, then a bid.
            ("bid", 2) => "I bid $5!".to_owned(),
            ("bid", _) if asked(thought).contains("$5") || asked(thought).contains("of 5 is") => {
                "Perhaps I bid $200, perhaps I'm out.".to_owned()
            }
            ("bid", _) => "I bid $200!".to_owned(),
            _ => reader(thought),
        };
        let mut rich = params();
        rich["budget"] = json!(10_000);
        let played = auction(&settings, &rich, &[&rival], &refused_first);
        let bids = played.thoughts("bid");
        let again = bids.iter().filter(|one| one.messages.len() == 4).count();
        assert!(again >= 2, "{again}");
        for thought in bids {
            assert!(!offers_to_withdraw(thought), "{}", asked(thought));
        }
        // Without a choice both are offered, as they are to whoever has no such module.
        let undecided = |thought: &Thought| match thought.purpose {
            "strategy" => "Hm.".to_owned(),
            "bid" => "I bid $200!".to_owned(),
            _ => reader(thought),
        };
        let settings = with(
            json!({ "strategic": true, "reply": reply, "tries": 1 }),
            world(&[]),
        );
        let played = auction(&settings, &params(), &[&rival], &undecided);
        let bids = played.thoughts("bid");
        assert!(!bids.is_empty() && bids.into_iter().all(offers_to_withdraw));
    }
}

#[test]
fn a_withdrawal_after_a_choice_to_raise_is_one_and_both_are_noted() {
    let rival = wants("", 150);
    let settings = with(json!({ "strategic": true }), world(&[]));
    let fickle = |thought: &Thought| match thought.purpose {
        "strategy" => r#"{"choice": "A", "uses_profile": false, "reason": "r"}"#.to_owned(),
        "bid" => r#"{"reason": "r", "bid": "withdraw"}"#.to_owned(),
        _ => reader(thought),
    };
    let played = auction(&settings, &params(), &[&rival], &fickle);
    let (choices, bids) = (played.of("strategy"), played.of("bid"));
    assert_eq!((choices.len(), bids.len()), (6, 6));
    assert!(choices.iter().all(|note| note["choice"] == "A"));
    assert!(
        bids.iter()
            .all(|note| note["read"] == "withdraw" && note["problem"] == Value::Null)
    );
    assert!(played.sales.iter().all(|sale| sale.0 == 1));
}

#[test]
fn who_chose_to_raise_beyond_its_budget_is_offered_to_withdraw() {
    let rival = wants("", 150);
    let settings = with(json!({ "strategic": true }), world(&[]));
    let mut params = params();
    params["budget"] = json!([120, 1000]);
    let raises = |thought: &Thought| match thought.purpose {
        "strategy" => r#"{"choice": "A", "uses_profile": false, "reason": "r"}"#.to_owned(),
        "bid" if offers_to_withdraw(thought) => r#"{"reason": "r", "bid": "withdraw"}"#.to_owned(),
        "bid" => least_bid(asked(thought)),
        _ => reader(thought),
    };
    let played = auction(&settings, &params, &[&rival], &raises);
    let bids = played.of("bid");
    let read: Vec<&Value> = bids.iter().map(|note| &note["read"]).collect();
    assert!(
        read.contains(&&json!(100)) && read.contains(&&json!("withdraw")),
        "{read:?}"
    );
}

#[test]
fn settings_that_miss_each_other_are_refused_with_what_is_missing() {
    let check = |settings: Value| {
        let library = PromptLibrary::builtin();
        check_player(&player("harbor", &settings), "english_auction", &library)
            .map_err(|error| error.to_string())
    };
    let cases = [
        (json!({ "world": "own" }), "the game gives no world"),
        (json!({ "profile": true }), "profile needs the personas"),
        (
            json!({ "theory_of_mind": "inferred" }),
            "theory_of_mind needs profile = true",
        ),
        (
            with(json!({ "theory_of_mind": "true" }), world(&[])),
            "world = \"all\"",
        ),
        (
            with(json!({ "second_order": true, "profile": true }), world(&[])),
            "second_order needs",
        ),
        (
            with(json!({}), world(&["moon"])),
            "world.personas has no \"moon\"",
        ),
        (
            with(json!({}), world(&["city", "farm", "garden"])),
            "at most 2 personas",
        ),
        (json!({ "tries": 0 }), "tries must be from 1 to 10"),
        (json!({ "theory_of_mind": "third" }), "unknown variant"),
        (json!({ "learn": true }), "setting of the agent bdi"),
    ];
    for (settings, expected) in cases {
        let message = check(settings.clone()).unwrap_err();
        assert!(message.contains(expected), "{settings}: {message}");
    }
    assert_eq!(
        check(with(json!({ "profile": true }), world(&["city", "farm"]))),
        Ok(())
    );
    assert_eq!(check(json!({})), Ok(()));
}

/// The rival bids hard for both city houses. Whoever infers that from the first drives it up
/// at the second; whoever does not leaves it there.
#[test]
fn what_is_inferred_from_one_house_changes_the_choice_at_the_next() {
    let city = wants("City", 500);
    let script = |thought: &Thought| {
        let asked = asked(thought);
        if thought.purpose == "predict" {
            let house = asked.lines().next().unwrap();
            let wants = house.contains("City") && asked.contains("city 0.4");
            return json!({ "predictions": { "player_1": { "detail": "d", "wants": wants } } })
                .to_string();
        }
        reader(thought)
    };
    let played = |theory_of_mind: &str| {
        let modules =
            json!({ "profile": true, "strategic": true, "theory_of_mind": theory_of_mind });
        auction(
            &with(modules, world(&["garden"])),
            &params(),
            &[&city],
            &script,
        )
    };
    let first_choice = |played: &Played, item: u64| {
        let choices = played.of("strategy");
        let choice = choices.into_iter().find(|note| note["item"] == item);
        choice.unwrap()["choice"].clone()
    };
    let (blind, seeing) = (played("none"), played("inferred"));
    // Nothing is known before the first house.
    assert_eq!(blind.sales[0], seeing.sales[0]);
    assert_eq!(first_choice(&blind, 3), "A");
    assert_eq!(first_choice(&seeing, 3), "B");
    assert!(
        blind.sales[3].0 == 1 && blind.sales[3].1 < 300,
        "{:?}",
        blind.sales
    );
    assert!(
        seeing.sales[3].0 == 1 && seeing.sales[3].1 >= 400,
        "{:?}",
        seeing.sales
    );
}

/// The rival drives the price of a garden house up, unless it takes the bidder for one who
/// looks for a farm, which it does once it is bid against for the farm. Second order tells the
/// bidder to do that; without it the farm is left alone and the garden house is dear.
#[test]
fn a_rival_that_was_misled_leaves_the_house() {
    let params = json!({
        "budget": 1000,
        "items": [
            { "name": "Farm", "starting_price": 100, "true_value": 300, "description": "land for a farm" },
            { "name": "Garden Cottage", "starting_price": 100, "true_value": 300, "description": "a garden all around" },
        ],
    });
    let script = |thought: &Thought| {
        if thought.purpose != "strategy" {
            return reader(thought);
        }
        let asked = asked(thought);
        let house = asked.lines().next().unwrap();
        let price = asked.split("leads with $").nth(1);
        let price: i64 = price.map_or(0, |rest| rest.split(' ').next().unwrap().parse().unwrap());
        let limit = match (house.contains("Garden"), asked.contains("Bid on a farm.")) {
            (true, _) => 400,
            (false, true) => 120,
            (false, false) => 0,
        };
        let letter = if price < limit { "A" } else { "E" };
        json!({ "reason": "r", "uses_profile": true, "choice": letter }).to_string()
    };
    let played = |second_order: bool| {
        let misled = std::cell::Cell::new(false);
        let rival = |item: &str, ask: &Ask| {
            let (least, _) = limits(ask);
            if item == "Farm" && least > 100 {
                misled.set(true);
            }
            let limit = match item {
                "Farm" => 200,
                _ if misled.get() => 0,
                _ => 250,
            };
            if least <= limit {
                Action::Integer(least)
            } else {
                Action::Pass
            }
        };
        let modules = json!({ "profile": true, "strategic": true, "second_order": second_order });
        auction(
            &with(modules, world(&["garden"])),
            &params,
            &[&rival],
            &script,
        )
    };
    let (open, misleading) = (played(false), played(true));
    assert_eq!(open.sales[0], (1, 100));
    assert_eq!(misleading.sales[0].0, 1);
    assert!(misleading.sales[0].1 > 100, "{:?}", misleading.sales);
    assert!(
        open.sales[1].0 == 0 && open.sales[1].1 >= 250,
        "{:?}",
        open.sales
    );
    assert_eq!(misleading.sales[1], (0, 100));
}
