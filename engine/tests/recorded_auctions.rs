//! Plays every recorded multi-item auction and expects no difference; then spoils
//! one and expects the difference to be named.
//!
//! Read from `tests/recorded`, or the folder in `AGON_RECORDED`.

#![allow(
    clippy::disallowed_types,
    reason = "the engine reads no files, its tests do"
)]

use std::sync::LazyLock;

use agon_engine::replay::{RecordedError, RecordedGame, replay};
use proptest::prelude::*;
use serde_json::{Value, json};

#[path = "recorded/reading.rs"]
mod reading;

fn lines() -> Vec<String> {
    reading::lines("aucarena.jsonl.gz")
}

static AUCTIONS: LazyLock<Vec<Value>> = LazyLock::new(|| {
    let lines = lines();
    let read = |line: &String| serde_json::from_str(line).expect("JSON");
    lines.iter().map(read).collect()
});

fn first() -> Value {
    AUCTIONS.first().expect("a recorded auction").clone()
}

fn mismatches(auction: &Value) -> Vec<String> {
    let recorded = RecordedGame::from_json(&auction.to_string()).expect("a readable auction");
    replay(&recorded).mismatches
}

#[test]
fn recorded_auctions_match() {
    let lines = lines();
    assert!(!lines.is_empty(), "no recorded auctions");
    let mut report = Vec::new();
    for line in &lines {
        let recorded = RecordedGame::from_json(line).expect("a readable auction");
        let verdict = replay(&recorded);
        let named = verdict.mismatches.iter();
        report.extend(named.map(|mismatch| format!("{}: {mismatch}", verdict.id)));
    }
    let shown: Vec<&String> = report.iter().take(20).collect();
    assert!(
        report.is_empty(),
        "{} differences: {shown:#?}",
        report.len()
    );
}

/// The first recorded auction for which `wanted` holds.
fn one_with(wanted: impl Fn(&Value) -> bool) -> Value {
    let found = AUCTIONS.iter().find(|auction| wanted(auction));
    found.cloned().expect("a recorded auction of this kind")
}

/// Pointers to everything in an auction that `wanted` holds of.
fn places(node: &Value, path: &str, wanted: &dyn Fn(&str, &Value) -> bool) -> Vec<String> {
    let mut found = Vec::new();
    if wanted(path, node) {
        found.push(path.to_owned());
    }
    let children: Vec<(String, &Value)> = match node {
        Value::Array(entries) => (0..)
            .map(|place: usize| place.to_string())
            .zip(entries)
            .collect(),
        Value::Object(map) => map
            .iter()
            .map(|(name, entry)| (name.clone(), entry))
            .collect(),
        _ => Vec::new(),
    };
    for (name, child) in children {
        found.extend(places(child, &format!("{path}/{name}"), wanted));
    }
    found
}

/// Changes one value; a mismatch must contain `named`.
fn notices(auction: &Value, pointer: &str, value: Value, named: &str) {
    let mut changed = auction.clone();
    let place = changed
        .pointer_mut(pointer)
        .unwrap_or_else(|| panic!("no {pointer}"));
    assert_ne!(*place, value, "{pointer} is so already");
    *place = value;
    let found = mismatches(&changed);
    let told = found.iter().any(|line| line.contains(named));
    assert!(
        told,
        "{pointer} changed, expected \"{named}\", found {found:#?}"
    );
}

#[test]
fn every_changed_number_of_an_outcome_is_noticed() {
    let auction = first();
    let outcomes = |path: &str, value: &Value| {
        let is_outcome = path.starts_with("/items") || path.starts_with("/final");
        // Another refused amount may be refused just as well.
        is_outcome && value.is_i64() && !path.contains("/attempts/")
    };
    let pointers = places(&auction, "", &outcomes);
    assert!(pointers.len() > 100, "only {} numbers", pointers.len());
    for pointer in pointers {
        let mut changed = auction.clone();
        let place = changed.pointer_mut(&pointer).expect("a number");
        *place = json!(place.as_i64().expect("a number") + 1);
        assert_ne!(mismatches(&changed), Vec::<String>::new(), "{pointer}");
    }
}

#[test]
fn a_changed_outcome_is_named_with_its_place() {
    let auction = first();
    let item = auction["items"][0]["item"]
        .as_str()
        .expect("a name")
        .to_owned();
    let last = auction["items"][0]["rounds"]
        .as_array()
        .expect("rounds")
        .len()
        - 1;
    let other = |name: &Value| match name.as_str() {
        Some("Bidder 1") => json!("Bidder 2"),
        _ => json!("Bidder 1"),
    };
    let round = format!("/items/0/rounds/{last}");
    let place = format!("{item}, bid round {}", last + 1);
    let leader = &auction["items"][0]["rounds"][last]["leader"];
    let winner = &auction["items"][0]["winner"];
    notices(
        &auction,
        &format!("{round}/highest"),
        json!(7),
        &format!("{place}: highest"),
    );
    notices(
        &auction,
        &format!("{round}/leader"),
        other(leader),
        &format!("{place}: leader"),
    );
    notices(
        &auction,
        &format!("{round}/starting_price"),
        json!(7),
        &format!("{place}: starting"),
    );
    notices(
        &auction,
        "/items/0/winner",
        other(winner),
        &format!("{item}: winner"),
    );
    notices(
        &auction,
        "/items/0/price",
        json!(7),
        &format!("{item}: price"),
    );
    notices(
        &auction,
        "/items/0/price",
        Value::Null,
        &format!("{item}: price"),
    );
    notices(
        &auction,
        "/items/0/true_value",
        json!(7),
        &format!("{item}: true_value"),
    );
    notices(
        &auction,
        "/items/0/winner",
        json!("nobody"),
        "the recorded winner is no bidder",
    );
    for field in ["budget_left", "profit", "failed_bids"] {
        notices(
            &auction,
            &format!("/final/1/{field}"),
            json!(7),
            &format!("Bidder 2: {field}"),
        );
    }
    notices(
        &auction,
        "/final/1/items_won",
        json!([["Widget A", 7]]),
        "Bidder 2: items_won",
    );
    notices(
        &auction,
        "/final/1/engagements",
        json!({}),
        "Bidder 2: engagements",
    );
    notices(
        &auction,
        "/final/1/engagements",
        json!({ "Moon": 1 }),
        "there is no item Moon",
    );
}

#[test]
fn nobody_bids_or_is_reported_twice() {
    let mut auction = first();
    let bids = auction["items"][0]["rounds"][0]["bids"]
        .as_array_mut()
        .unwrap();
    bids.push(bids[0].clone());
    let told = mismatches(&auction);
    assert!(
        told.iter().any(|one| one.contains("bids twice")),
        "{told:?}"
    );
    let mut auction = first();
    let reports = auction["final"].as_array_mut().unwrap();
    reports[1] = reports[0].clone();
    let told = mismatches(&auction);
    assert!(
        told.iter().any(|one| one.contains("reported twice")),
        "{told:?}"
    );
}

#[test]
fn a_refused_bid_must_be_refused_and_a_taken_one_taken() {
    let is_refused = |path: &str, value: &Value| {
        let attempts = value.as_array().map_or(0, Vec::len);
        path.ends_with("/attempts") && attempts == 2 && value[1] != json!(-1)
    };
    let auction = one_with(|auction| !places(auction, "", &is_refused).is_empty());
    let pointer = places(&auction, "", &is_refused).swap_remove(0);
    let taken = auction.pointer(&pointer).expect("attempts")[1].clone();
    notices(
        &auction,
        &format!("{pointer}/0"),
        taken,
        "was refused, but ours led to Taken",
    );
    let bid = pointer.replace("/attempts", "/bid");
    notices(&auction, &bid, json!(1), "is not the bid 1");
    let mut changed = auction;
    *changed.pointer_mut(&pointer).expect("attempts") = json!([1]);
    notices(
        &changed,
        &bid,
        json!(1),
        "the recorded 1 is a foul: a bid of 1 is",
    );
}

#[test]
fn a_rule_bidders_bids_are_those_of_our_rule_player() {
    let has_rule = |auction: &Value| auction["bidders"][0]["kind"] == "rule";
    let auction = one_with(|auction| {
        has_rule(auction) && auction["items"][0]["rounds"][0]["bids"][0]["bid"] != json!(-1)
    });
    let item = auction["items"][0]["item"].as_str().expect("a name");
    let named = format!("{item}, bid round 1: bids[0]");
    notices(&auction, "/items/0/rounds/0/bids/0/bid", json!(-1), &named);
    // A stricter limit makes our rule player stop before the recorded one.
    notices(&auction, "/params/rule_max_bids_per_item", json!(0), &named);
}

#[test]
fn a_tie_is_settled_as_recorded() {
    let tied = |auction: &Value| {
        let round = &auction["items"][0]["rounds"][0];
        let bids = round["bids"].as_array().expect("bids").iter();
        let top: Vec<&Value> = bids.filter(|bid| bid["bid"] == round["highest"]).collect();
        top.len() == 2 && round["leader"] == top[1]["bidder"]
    };
    let auction = one_with(tied);
    let round = &auction["items"][0]["rounds"][0];
    let mut bids = round["bids"].as_array().expect("bids").iter();
    let loser = bids
        .find(|bid| bid["bid"] == round["highest"])
        .expect("two");
    // Who lost the tie would have been asked next, and the winner not.
    let mut changed = auction.clone();
    changed["items"][0]["rounds"][0]["leader"] = loser["bidder"].clone();
    assert!(!mismatches(&changed).is_empty());
    // Somebody who did not bid that much cannot have won it.
    changed["items"][0]["rounds"][0]["leader"] = json!("nobody");
    let found = mismatches(&changed);
    let told = |line: &String| line.contains("the record lacks or has impossibly");
    assert!(found.iter().any(told), "{found:#?}");
}

#[test]
fn an_item_more_or_less_is_noticed() {
    let auction = first();
    let mut less = auction.clone();
    less["items"].as_array_mut().expect("items").pop();
    assert!(!mismatches(&less).is_empty());
    let mut more = auction;
    let again = more["items"][0].clone();
    more["items"].as_array_mut().expect("items").push(again);
    let found = mismatches(&more);
    assert!(
        found
            .iter()
            .any(|line| line.contains("the auction was over")),
        "{found:#?}"
    );
}

#[test]
fn a_wrong_field_is_named() {
    let auction = first();
    let cases = [
        ("/params/budget", json!("much"), "params.budget: "),
        ("/params/budget", json!(-1), "params.budget: "),
        ("/params/min_markup", json!(0.123), "params.min_markup: "),
        (
            "/params/discount_rounds",
            json!(5000),
            "params.discount_rounds: ",
        ),
        ("/params/items", json!([]), "params.items: "),
        (
            "/params/items/1/name",
            json!("Widget A"),
            "params.items[1].name: ",
        ),
        ("/bidders/0/kind", json!("model"), "bidders[0].kind: "),
        (
            "/items/0/rounds/0/bids/0/attempts",
            json!([0.5]),
            "items[0].rounds[0].bids[0].attempts",
        ),
        (
            "/final/0/items_won",
            json!([["Widget A"]]),
            "final[0].items_won[0]",
        ),
    ];
    for (pointer, value, place) in cases {
        let mut changed = auction.clone();
        *changed.pointer_mut(pointer).expect(pointer) = value;
        let error: RecordedError = match RecordedGame::from_json(&changed.to_string()) {
            Ok(_) => panic!("{pointer} should be refused"),
            Err(error) => error,
        };
        assert!(error.to_string().starts_with(place), "{pointer}: {error}");
    }
}

/// Replaces the value that `path` leads to: at every level, the entry at that
/// place modulo the number of entries.
fn replace(json: &mut Value, path: &[usize], value: Value) {
    let entry = path.split_first().and_then(|(place, rest)| {
        let entry = match &mut *json {
            Value::Array(items) if !items.is_empty() => {
                let count = items.len();
                items.get_mut(place % count)
            }
            Value::Object(map) if !map.is_empty() => {
                let count = map.len();
                map.values_mut().nth(place % count)
            }
            _ => None,
        };
        entry.map(|entry| (entry, rest))
    });
    match entry {
        Some((entry, rest)) => replace(entry, rest, value),
        None => *json = value,
    }
}

fn extreme() -> impl Strategy<Value = Value> {
    prop::sample::select(vec![
        json!(null),
        json!(-1),
        json!(0),
        json!(i64::MAX),
        json!(i64::MIN),
        json!(u64::MAX),
        json!(1e308),
        json!(0.1),
        json!(true),
        json!(""),
        json!("Bidder 2"),
        json!([]),
        json!([0, 1]),
        json!({}),
    ])
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn auctions_with_extreme_values_never_panic(
        which in any::<prop::sample::Index>(),
        changes in prop::collection::vec(
            (prop::collection::vec(0_usize..40, 1..9), extreme()),
            1..4,
        ),
    ) {
        let mut auction = which.get(&AUCTIONS).clone();
        for (path, value) in changes {
            replace(&mut auction, &path, value);
        }
        if let Ok(recorded) = RecordedGame::from_json(&auction.to_string()) {
            replay(&recorded);
        }
    }
}
