//! Measures of auctions small enough to work out by hand: two items, two bidders, played
//! on the engine move by move.

use crate::layout::Layout;
use agon_engine::record::{Record, StoredRecord};
use agon_engine::session::open;
use agon_engine::{
    Action, Luck, PlayerKind, PlayerSpec, Reaction, SeatNote, SessionSpec, registry,
};
use serde_json::{Value, json};

use super::*;
use crate::game_report::GameReport;
use crate::row;
use crate::testing::{fits, golden, told};

/// Lamp: a bids 100, b 120, a is refused 125 and bids 150, b withdraws. Chair: a bids 50 and
/// b 60 at the same time, a withdraws.
const SCRIPT: [(usize, Option<i64>); 8] = [
    (0, Some(100)),
    (1, Some(120)),
    (0, Some(125)),
    (0, Some(150)),
    (1, None),
    (0, Some(50)),
    (1, Some(60)),
    (0, None),
];

fn played(label: &str, seats: [&str; 2], notes: Vec<SeatNote>) -> StoredRecord {
    played_with(json!({}), label, seats, notes)
}

fn spec_with(others: Value, label: &str, seats: [&str; 2]) -> SessionSpec {
    let registration = registry::find(ENGLISH_AUCTION).unwrap();
    let mut params = json!({
        "players": 2, "budget": 1000, "foul_allowance": 2,
        "personas": [["reader"], ["cook"]],
        "items": [
            { "name": "lamp", "starting_price": 100, "true_value": 200, "suits": ["reader"] },
            { "name": "chair", "starting_price": 50, "true_value": 80, "suits": ["reader"] },
        ],
    });
    for (name, value) in others.as_object().unwrap() {
        params[name] = value.clone();
    }
    let params = serde_json::from_value(params).unwrap();
    let seat = |name: &str| PlayerSpec {
        name: name.to_owned(),
        kind: PlayerKind::Model,
        settings: serde_json::from_value(json!({ "model": "m" })).unwrap(),
    };
    SessionSpec {
        experiment: "measured".to_owned(),
        setting: serde_json::from_value(json!({ "label": label })).unwrap(),
        luck: Luck::new(1, 0),
        game: ENGLISH_AUCTION.to_owned(),
        outside: None,
        rules_version: registration.info.rules_version,
        params: registration.build(&params).unwrap().params,
        seats: seats.map(seat).to_vec(),
        prompts_version: None,
        prompt_bundle: None,
        origins: Default::default(),
    }
}

/// The same with other parameters.
fn played_with(others: Value, label: &str, seats: [&str; 2], notes: Vec<SeatNote>) -> StoredRecord {
    let spec = spec_with(others, label, seats);
    let mut play = open(&spec).unwrap();
    for (seat, bid) in SCRIPT {
        let action = bid.map_or(Action::Pass, Action::Integer);
        assert_ne!(play.answer(seat, Ok(action)), Reaction::NotAsked, "{bid:?}");
    }
    assert!(play.is_finished());
    let record = Record::new(spec, play, Vec::new(), notes);
    StoredRecord::from_line(&record.to_line().unwrap()).unwrap()
}

fn close(left: Option<f64>, right: f64) {
    let left = left.unwrap();
    assert!((left - right).abs() < 1e-9, "{left} is not {right}");
}

fn one() -> Setting {
    let record = played("one", ["a", "b"], Vec::new());
    AuctionReport::of([&record]).settings().remove(0)
}

#[test]
fn players_are_measured_by_what_they_won_and_bid() {
    let setting = one();
    let [a, b] = setting.rows("players") else {
        panic!("{setting:?}");
    };
    // a: 200 - 150; b: 80 - 60; both of 200 - 100 + 80 - 50 = 130.
    assert_eq!(
        (a.number("profit"), b.number("profit")),
        (Some(50.0), Some(20.0))
    );
    close(a.number("profit_ratio"), 5000.0 / 130.0);
    close(b.number("profit_ratio"), 2000.0 / 130.0);
    assert_eq!(
        (a.number("items_won"), b.number("items_won")),
        (Some(1.0), Some(1.0))
    );
    // a: three bids and a withdrawal; b: two and one.
    assert_eq!((a.count("failed_bids"), a.count("correct_actions")), (1, 4));
    close(a.number("failed_bid_rate"), 0.2);
    assert_eq!(
        (b.count("failed_bids"), b.number("failed_bid_rate")),
        (0, Some(0.0))
    );
    close(a.number("engagements_per_item"), 1.5);
    close(b.number("engagements_per_item"), 1.0);
    // Both items suit the reader a, which got one of them; none suits b.
    assert_eq!((a.count("matched_offered"), a.count("matched_won")), (2, 1));
    assert_eq!(
        (a.number("acquisition"), b.number("acquisition")),
        (Some(0.5), None)
    );
    assert!(
        a.rows("trueskill")[0].number("mu") > Some(25.0)
            && b.rows("trueskill")[0].number("mu") < Some(25.0)
    );
}

#[test]
fn increments_are_over_own_offers_and_fall_into_bins() {
    let setting = one();
    // a: 100 over 100, 150 over 100, 50 over 50; b: 120 over 100, 60 over 50.
    let [a, b] = setting.rows("increments") else {
        panic!("{setting:?}");
    };
    assert_eq!(
        (a.count("bids"), told(a.get("counts"))),
        (3, json!([2, 0, 0, 0, 1]))
    );
    close(a.number("mean"), 50.0 / 3.0);
    assert_eq!(
        (b.count("bids"), told(b.get("counts"))),
        (2, json!([0, 0, 0, 2, 0]))
    );
    assert_eq!(told(b.get("shares")), json!([0.0, 0.0, 0.0, 1.0, 0.0]));
    let wide = IncrementBins::new(vec![0.0, 20.0]).unwrap();
    let mut report = AuctionReport::new(Auctions {
        bins: wide,
        ..Auctions::default()
    });
    assert!(report.add(&played("one", ["a", "b"], Vec::new())));
    let settings = report.settings();
    let counts = told(settings[0].rows("increments")[1].get("counts"));
    assert_eq!(counts, json!([0, 2]));
    for wrong in [vec![], vec![1.0], vec![0.0, 0.0], vec![0.0, f64::NAN]] {
        assert_eq!(IncrementBins::new(wrong), None);
    }
}

#[test]
fn items_are_counted_by_name_and_by_starting_price() {
    let setting = one();
    let lamp = &setting.rows("items")[1];
    assert_eq!(
        (lamp.word("item"), lamp.count("starting_price")),
        ("lamp", 100)
    );
    assert_eq!(
        (
            lamp.count("offered"),
            lamp.count("sold"),
            lamp.number("price")
        ),
        (1, 1, Some(150.0))
    );
    let a = &lamp.rows("players")[0];
    assert_eq!(
        (a.number("bids"), a.count("won"), a.number("profit")),
        (Some(2.0), 1, Some(50.0))
    );
    assert_eq!(
        (a.count("matched"), lamp.rows("players")[1].count("matched")),
        (1, 0)
    );
    let b = &lamp.rows("players")[1];
    assert_eq!(
        (b.number("bids"), b.count("won"), b.number("profit")),
        (Some(1.0), 0, None)
    );
    let chairs = &setting.rows("starting_prices")[0];
    assert_eq!(
        (chairs.get("item"), chairs.count("starting_price")),
        (&row::Value::Null, 50)
    );
    assert_eq!(chairs.rows("players")[1].number("profit"), Some(20.0));
}

#[test]
fn winning_bids_have_a_histogram_and_from_two_on_a_density() {
    let one = one().measures.inner("winning_bids");
    // Of width 150 / 20: 60 is in the ninth bin, 150 in the last.
    assert_eq!(
        (one.number("bin_width"), one.list("at").len()),
        (Some(7.5), 101)
    );
    assert_eq!(
        (
            told(&one.rows("players")[0].list("counts")[19]),
            told(&one.rows("players")[1].list("counts")[8])
        ),
        (json!(1), json!(1))
    );
    assert_eq!(*one.rows("players")[0].get("density"), row::Value::Null);
    let same = played("one", ["a", "a"], Vec::new());
    let pooled = AuctionReport::of([&same])
        .settings()
        .remove(0)
        .measures
        .inner("winning_bids");
    let density = pooled.rows("players")[0].list("density");
    // Two bids, 60 and 150: mean 105 is the valley between equal humps.
    let scott = (2.0f64 * 45.0 * 45.0).sqrt() * 2f64.powf(-0.2);
    let kernel = |distance: f64| (-0.5 * (distance / scott).powi(2)).exp();
    let expected = kernel(45.0) / (scott * std::f64::consts::TAU.sqrt());
    close(density[70].number(), expected);
}

#[test]
fn winning_bids_of_a_group_are_those_of_all_who_are_out_for_the_same() {
    let groups = |objective: Value| {
        let others = json!({ "objective": objective });
        let records = [
            played_with(others.clone(), "one", ["a", "b"], Vec::new()),
            played_with(others, "one", ["a", "b"], Vec::new()),
        ];
        let setting = AuctionReport::of(&records).settings().remove(0);
        let table = setting.measures.inner("winning_bids");
        // Every player's own row is what it is without groups.
        assert_eq!(
            (
                table.rows("players")[0].count("won"),
                table.rows("players")[1].count("won")
            ),
            (2, 2)
        );
        assert!(
            table
                .rows("players")
                .iter()
                .all(|row| *row.get("density") == row::Value::Null)
        );
        table.rows("groups").to_vec()
    };
    let [all] = &groups(json!("maximize_profit"))[..] else {
        panic!("one group");
    };
    assert_eq!(
        (all.word("group"), all.count("won")),
        ("maximize_profit", 4)
    );
    assert_eq!(all.words("players"), ["a", "b"]);
    // 150 twice of a, 60 twice of b: none of both has a density, the group has one.
    let counts = told(all.get("counts"));
    assert_eq!((&counts[19], &counts[8]), (&json!(2), &json!(2)));
    let density = all.list("density");
    let scott = (4.0f64 * 45.0 * 45.0 / 3.0).sqrt() * 4f64.powf(-0.2);
    let expected = (-0.5 * (45.0 / scott).powi(2)).exp() / (scott * std::f64::consts::TAU.sqrt());
    close(density[70].number(), expected);
    let apart = groups(json!(["maximize_items", "maximize_profit"]));
    let rows: Vec<(&str, Vec<&str>, u64)> = apart
        .iter()
        .map(|row| (row.word("group"), row.words("players"), row.count("won")))
        .collect();
    let expected = [
        ("maximize_items", vec!["a"], 2),
        ("maximize_profit", vec!["b"], 2),
    ];
    assert_eq!(rows, expected);
}

/// Rows of a rendered table, from below its headings, as words: the table whose title
/// begins so.
fn printed(shown: &str, title: &str) -> Vec<Vec<String>> {
    let start = shown
        .find(title)
        .unwrap_or_else(|| panic!("{title}: {shown}"));
    let mut parts = shown[start..].split("\n\n").skip(1);
    let rows = parts.next().unwrap().lines().skip(1);
    rows.map(|row| row.split_whitespace().map(str::to_owned).collect())
        .collect()
}

#[test]
fn what_was_bid_and_paid_is_printed_in_tables_that_fit() {
    let mut report = AuctionReport::new(Auctions {
        bins: IncrementBins::new(vec![0.0, 20.0]).unwrap(),
        ..Auctions::default()
    });
    for _ in 0..2 {
        let objective = json!({ "objective": ["maximize_profit", "maximize_items"] });
        assert!(report.add(&played_with(objective, "one", ["a", "b"], Vec::new())));
    }
    for width in [80, 100] {
        fits(&report.render(Layout::Text(width)), width.into());
    }
    let shown = report.render(Layout::Text(400));
    // a: 100 over 100 and 50 over 50, then 150 over 100.
    let increments = printed(&shown, "Bid increments");
    assert!(shown.contains("[0, 20)") && shown.contains("20 and above"));
    let of_a = [
        "one", "a", "6", "16.7", "4", "(66.7", "%)", "2", "(33.3", "%)",
    ];
    let of_b = ["b", "4", "20.0", "0", "(0.0", "%)", "4", "(100.0", "%)"];
    assert_eq!(increments, [&of_a[..], &of_b[..]]);
    // The chair at 50, then the lamp at 100.
    let prices = printed(&shown, "Items by starting price");
    let expected: [&[&str]; 6] = [
        &["one", "a", "bids", "1.00", "2.00"],
        &["won", "0", "of", "2", "2", "of", "2"],
        &["profit", "-", "50.0"],
        &["b", "bids", "1.00", "1.00"],
        &["won", "2", "of", "2", "0", "of", "2"],
        &["profit", "20.0", "-"],
    ];
    assert_eq!(prices, expected);
    // Both suit the reader a.
    let engagements = printed(&shown, "Engagements");
    let expected: [&[&str]; 2] = [
        &["one", "chair", "1.00*", "1.00"],
        &["lamp", "2.00*", "1.00"],
    ];
    assert_eq!(engagements, expected);
    // Columns of 15 from 0 to 150: 60 is in the fifth, 150 in the last.
    let winning = printed(&shown, "Winning bids by group");
    let of_lamp = [
        "2", "15.0", "0", "0", "0", "0", "0", "0", "0", "0", "0", "2", "-",
    ];
    let of_chair = [
        "2", "15.0", "0", "0", "0", "0", "2", "0", "0", "0", "0", "0", "-",
    ];
    let row = |words: &[&'static str], numbers: &[&'static str]| [words, numbers].concat();
    let expected = [
        row(&["one", "maximize", "profit"], &of_lamp),
        row(&["maximize", "items"], &of_chair),
        row(&["a"], &of_lamp),
        row(&["b"], &of_chair),
    ];
    assert_eq!(winning, expected);
}

#[test]
fn engagements_are_printed_where_items_suit_personas_and_up_to_sixty_rows() {
    let mut report = AuctionReport::default();
    let nobodys = json!({ "personas": [[], []] });
    assert!(report.add(&played_with(nobodys, "plain", ["c", "d"], Vec::new())));
    assert!(!report.render(Layout::Text(100)).contains("Engagements"));
    // Two items each: thirty settings fit, one does not.
    for label in 0..31 {
        let label = format!("of-personas-{label}");
        assert!(report.add(&played(&label, ["a", "b"], Vec::new())));
    }
    let shown = report.render(Layout::Text(100));
    let rows = printed(&shown, "Engagements");
    assert_eq!(rows.len(), 60);
    assert_eq!(rows[0], ["of-personas-0", "chair", "1.00*", "1.00"]);
    assert!(
        shown.contains("\n\n1 more setting: agon show EXPERIMENT --measures --json"),
        "{shown}"
    );
}

#[test]
fn a_density_is_drawn_bin_by_bin_and_one_group_is_not_told_apart() {
    let record = played("one", ["a", "a"], Vec::new());
    let shown = AuctionReport::of([&record]).render(Layout::Text(200));
    let winning = printed(&shown, "Winning bids by player");
    let [of_a] = &winning[..] else {
        panic!("{winning:?}");
    };
    let bars: Vec<char> = of_a.last().unwrap().chars().collect();
    assert_eq!(bars.len(), 20);
    // 60 and 150 make one hump at this width, 2^(-1/5) of the deviation or 55, highest at 105:
    // 44 % of that at 3.75, the middle of the first bin, and 90 % at 146.25.
    assert_eq!(
        (bars[0], bars[14], bars[19]),
        ('\u{2584}', '\u{2588}', '\u{2587}')
    );
    assert!(
        bars[..14].windows(2).all(|pair| pair[0] <= pair[1]),
        "{bars:?}"
    );
}

#[test]
fn starting_prices_are_printed_up_to_ten_of_them() {
    let shown = |count: i64| {
        let item = |place: i64| json!({ "name": format!("item {place}"), "starting_price": 100 + place, "true_value": 300 });
        let items: Vec<Value> = (0..count).map(item).collect();
        let others = json!({ "items": items, "personas": [[], []] });
        let spec = spec_with(others, "one", ["a", "b"]);
        let mut play = open(&spec).unwrap();
        while !play.is_finished() {
            for seat in 0..2 {
                let _ = play.answer(seat, Ok(Action::Pass));
            }
        }
        let record = Record::new(spec, play, Vec::new(), Vec::new());
        let record = StoredRecord::from_line(&record.to_line().unwrap()).unwrap();
        AuctionReport::of([&record]).render(Layout::Text(200))
    };
    assert!(shown(10).contains("Items by starting price"));
    let eleven = shown(11);
    assert!(!eleven.contains("Items by starting price"), "{eleven}");
    // Nothing was sold, and nothing suits anybody.
    assert!(!eleven.contains("Winning bids") && !eleven.contains("Engagements"));
}

#[test]
fn settings_are_kept_apart_and_a_player_in_two_seats_is_one() {
    let records = [
        played("one", ["a", "b"], Vec::new()),
        played("two", ["a", "a"], Vec::new()),
        played("one", ["b", "a"], Vec::new()),
    ];
    let settings = AuctionReport::of(&records).settings();
    let words: Vec<(&str, u64)> = settings
        .iter()
        .map(|one| (&*one.head.setting, one.head.sessions))
        .collect();
    assert_eq!(words, [("one", 2), ("two", 1)]);
    let a = &settings[0].rows("players")[0];
    // 50 as the first, 20 as the second bidder.
    assert_eq!((a.count("sat"), a.number("profit")), (2, Some(35.0)));
    close(a.number("profit_sd"), 450f64.sqrt());
    let both = &settings[1].rows("players")[0];
    assert_eq!((both.count("sat"), both.rows("trueskill").len()), (2, 2));
    assert_eq!(both.rows("trueskill")[1].word("name"), "a (2)");
    let json = serde_json::to_value(&settings).unwrap();
    assert_eq!(json[1]["players"][0]["sat"], Value::from(2));
}

#[test]
fn other_games_and_records_without_an_end_are_passed_over() {
    let mut record = played("one", ["a", "b"], Vec::new());
    record.events.retain(|event| event.kind != "auction_over");
    assert!(!AuctionReport::default().add(&record));
    let mut record = played("one", ["a", "b"], Vec::new());
    record.spec.game = "pirate".to_owned();
    assert!(AuctionReport::of([&record]).is_empty());
}

fn note(seat: usize, turn: u32, kind: &str, body: Value) -> SeatNote {
    SeatNote {
        seat,
        turn,
        note: kind.to_owned(),
        body,
    }
}

fn measured(notes: Vec<SeatNote>) -> Setting {
    let record = played("one", ["a", "b"], notes);
    AuctionReport::of([&record]).settings().remove(0)
}

#[test]
fn belief_errors_are_those_of_first_tries_by_kind_and_side() {
    let error = |at, kind, about| json!({ "try": at, "kind": kind, "about": about, "detail": "" });
    let first = json!({ "after_item": 1, "checked": 5, "wrong": 3, "tries": 2, "corrected": true,
        "errors": [error(1, "budget", "self"), error(1, "wins", "self"),
            error(1, "profit", "others"), error(2, "profit", "others")] });
    // The first try had no shape, so all is wrong in it; the second is not counted. No try was
    // right: the auctioneer put it right.
    let second = json!({ "after_item": 2, "checked": 0, "wrong": 0, "tries": 3, "corrected": true,
        "errors": [error(1, "shape", "self"), error(2, "budget", "self")], "source": "auctioneer" });
    // Nothing could be read, and what was believed before happens to be true.
    let kept = json!({ "after_item": 2, "checked": 0, "wrong": 0, "tries": 1, "corrected": true,
        "errors": [error(1, "shape", "self")], "source": "kept" });
    let own = json!({ "after_item": 2, "checked": 0, "wrong": 0, "tries": 2, "corrected": true,
        "errors": [error(1, "shape", "self")], "source": "model" });
    let third = json!({ "after_item": 2, "checked": 5, "wrong": 0, "errors": [] });
    let setting = measured(vec![
        note(0, 3, "belief", first),
        note(0, 5, "belief", second),
        note(0, 5, "belief", kept),
        note(0, 5, "belief", own),
        note(0, 5, "belief", third),
    ]);
    let [row] = setting.rows("beliefs") else {
        panic!("{setting:?}");
    };
    assert_eq!(
        (
            row.count("updates"),
            row.count("unreadable"),
            row.count("shape_errors")
        ),
        (5, 3, 3)
    );
    assert_eq!((row.count("corrected"), row.count("put_right")), (2, 1));
    let counts = |kind: &str| {
        let facts = row.inner(kind);
        (facts.count("checked"), facts.count("wrong"))
    };
    // Five facts of each of five updates; three of them state nothing right.
    assert_eq!(counts("all"), (25, 3 + 3 * 5));
    assert_eq!((counts("own"), counts("others")), ((15, 11), (10, 7)));
    assert_eq!(counts("budget"), (5, 4));
    assert_eq!((counts("profit"), counts("wins")), ((10, 7), (10, 7)));
    close(row.inner("all").number("failure_rate"), 18.0 / 43.0);
    close(row.inner("own").number("failure_rate"), 11.0 / 26.0);
    close(row.inner("others").number("failure_rate"), 7.0 / 17.0);
}

#[test]
fn priorities_are_those_in_force_before_each_item() {
    let plan = |at: u64, priorities: Value| json!({ "at_item": at, "priorities": priorities });
    let notes = vec![
        note(0, 1, "plan", plan(0, json!([3, 2]))),
        note(0, 3, "plan", plan(1, json!([null, 1]))),
        note(1, 1, "plan", plan(0, json!([1, 3]))),
    ];
    let records = [
        played("one", ["a", "b"], notes),
        played(
            "one",
            ["a", "b"],
            vec![note(0, 1, "plan", plan(0, json!([2, 3])))],
        ),
    ];
    let setting = AuctionReport::of(&records).settings().remove(0);
    let plans = setting.rows("plans");
    let [a, b] = plans else {
        panic!("{plans:?}");
    };
    // Before the second item: 1 after the new plan, 3 where the first one stayed.
    assert_eq!(a.count("planned"), 2);
    let expected = json!([[2.5, 2.5], [null, 2.0]]);
    assert_eq!(told(a.get("priorities")), expected);
    assert_eq!(told(b.get("priorities")), json!([[1.0, 3.0], [null, 3.0]]));
    // Both items suit the reader a and neither the cook b; an item counts while it is to come.
    close(a.number("matched_priority"), 14.0 / 6.0);
    close(b.number("unmatched_priority"), 7.0 / 3.0);
    assert_eq!(
        (a.number("unmatched_priority"), b.number("matched_priority")),
        (None, None)
    );
    // a wins the lamp with 2 bids and loses the chair with 1. Initial priorities 3 2 2 3,
    // current 3 1 2 3; bids 2 1 2 1.
    assert_eq!((a.count("pairs"), b.count("pairs")), (4, 2));
    close(a.inner("initial_engagements").number("rho"), 0.0);
    // Average ranks 3.5 1 2 3.5 and 3.5 1.5 3.5 1.5: 1 / sqrt(4.5 x 4).
    close(
        a.inner("current_engagements").number("rho"),
        1.0 / 18f64.sqrt(),
    );
    assert_eq!(a.get("current_won"), a.get("current_engagements"));
    // b bids once for each: no correlation; it wins what it wanted.
    assert_eq!(*b.get("initial_engagements"), row::Value::Null);
    let expected = json!({ "rho": 1.0, "p": null, "independent": 1 });
    assert_eq!(told(b.get("initial_won")), expected);
}

#[test]
fn profiles_are_compared_with_true_personas_item_by_item() {
    let profile = |after: u64, about: u64, reader: f64, cook: f64| {
        json!({ "after_item": after, "about": about, "source": "model",
            "weights": { "reader": reader, "cook": cook } })
    };
    let setting = measured(vec![
        note(0, 1, "profile", profile(0, 1, 0.0, 0.0)),
        note(0, 3, "profile", profile(1, 1, -0.5, 0.5)),
        note(0, 5, "profile", profile(2, 1, -1.0, 1.0)),
        note(0, 5, "profile", profile(2, 7, -1.0, 1.0)),
    ]);
    let [row] = setting.rows("profiles") else {
        panic!("{setting:?}");
    };
    // b is a cook: 1 of 2 at first, 1.5 of 2 after the lamp, then all.
    let expected = [2f64.ln(), (4.0f64 / 3.0).ln(), 0.0];
    assert_eq!(row.list("divergence").len(), expected.len());
    for (divergence, expected) in row.list("divergence").iter().zip(expected) {
        assert!(
            (divergence.number().unwrap() - expected).abs() < 1e-6,
            "{row:?}"
        );
    }
    assert!((row.number("baseline").unwrap() - 2f64.ln()).abs() < 1e-6);
    assert_eq!((row.count("profiles"), row.count("without_truth")), (3, 1));
}

#[test]
fn true_personas_of_a_mix_have_equal_shares_before_anything_is_added() {
    let names = [
        "cook", "gardener", "3", "4", "5", "6", "7", "8", "9", "reader",
    ];
    let profile = |cook: f64| {
        let weight = |name: &&str| if *name == "cook" { cook } else { 0.0 };
        let weights = names.iter().map(|name| (*name, weight(name)));
        let weights: serde_json::Map<String, Value> = weights
            .map(|(name, weight)| (name.to_owned(), json!(weight)))
            .collect();
        let body = json!({ "after_item": 2, "about": 1, "source": "model", "weights": weights });
        note(0, 5, "profile", body)
    };
    let mixed = json!({ "personas": [["reader"], ["cook", "gardener"]] });
    let divergence = |cook: f64| {
        let record = played_with(mixed.clone(), "one", ["a", "b"], vec![profile(cook)]);
        let setting = AuctionReport::of([&record]).settings().remove(0);
        let end = setting.rows("profile_ends")[0]
            .number("divergence")
            .unwrap();
        close(
            setting.rows("profiles")[0].list("divergence")[2].number(),
            end,
        );
        (end, setting.rows("profiles")[0].number("baseline"))
    };
    // Two shares of a half and eight of nothing, each with 1e-9 more, over their sum.
    let (half, nothing, sum) = (0.5 + 1e-9, 1e-9, 1.0 + 1e-8);
    let expected = |cook: f64| {
        let shifted = 10.0 + cook + 1e-8;
        let term = |share: f64, weight: f64| {
            share / sum * (share / sum / ((1.0 + weight + 1e-9) / shifted)).ln()
        };
        term(half, cook) + term(half, 0.0) + 8.0 * term(nothing, 0.0)
    };
    for cook in [0.0, 0.5, -1.0] {
        let (divergence, baseline) = divergence(cook);
        close(Some(divergence), expected(cook));
        close(baseline, expected(0.0));
    }
}

#[test]
fn profiles_at_the_end_are_told_by_what_makes_a_rival_known() {
    let profile = |after: u64, about: u64, cook: f64| {
        json!({ "after_item": after, "about": about, "source": "model",
            "weights": { "reader": -cook, "cook": cook } })
    };
    // b profiles a, whom both items suit; a profiles b, whom none suits.
    let notes = vec![
        note(0, 3, "profile", profile(1, 1, 0.5)),
        note(0, 5, "profile", profile(2, 1, 1.0)),
        note(1, 5, "profile", profile(2, 0, 0.5)),
    ];
    let records = [
        played("one", ["a", "b"], notes.clone()),
        played("two", ["a", "b"], notes),
    ];
    let report = AuctionReport::of(&records);
    let ends = report
        .settings()
        .remove(0)
        .measures
        .rows("profile_ends")
        .to_vec();
    let known: Vec<_> = ends
        .iter()
        .map(|row| {
            (
                row.word("player"),
                row.count("rivals"),
                row.count("personas"),
                row.count("matched"),
            )
        })
        .collect();
    assert_eq!(known, [("a", 1, 1, 0), ("b", 1, 1, 2)]);
    let is_about = |row: &Row, name: &str, expected: f64| {
        let number = row.number(name).unwrap();
        assert!((number - expected).abs() < 1e-6, "{row:?}");
    };
    is_about(&ends[0], "divergence", 0.0);
    // A quarter where one should be.
    is_about(&ends[1], "divergence", 4f64.ln());
    is_about(&ends[1], "baseline", 2f64.ln());
    // One row over both settings.
    let shown = report.render(Layout::Text(200));
    let (_, shown) = shown.split_once("all settings").unwrap();
    let rows = shown.lines().map(|line| line.split_whitespace());
    let rows: Vec<Vec<&str>> = rows.map(Iterator::collect).collect();
    let of_b = rows.iter().find(|row| row.first() == Some(&"b")).unwrap();
    assert_eq!(
        of_b[..],
        ["b", "1", "1", "2", "2", "0.69", "1.39", "1.38", "0.93"]
    );
}

#[test]
fn predictions_are_right_when_the_rival_does_what_was_said() {
    let prediction = |item: u64, about: u64, wants: Value| json!({ "item": item, "about": about, "wants": wants, "detail": "" });
    let setting = measured(vec![
        note(0, 1, "prediction", prediction(0, 1, json!(true))),
        note(0, 3, "prediction", prediction(1, 1, json!(false))),
        note(1, 1, "prediction", prediction(0, 0, json!(true))),
        note(1, 3, "prediction", prediction(1, 0, json!(null))),
        // Of second order, of no item and of no rival: nothing that could come true.
        note(
            0,
            1,
            "prediction",
            json!({ "item": 0, "about": 1, "believes": {} }),
        ),
        note(0, 1, "prediction", prediction(9, 1, json!(true))),
        note(0, 1, "prediction", prediction(0, 9, json!(true))),
    ]);
    let [a, b] = setting.rows("predictions") else {
        panic!("{setting:?}");
    };
    // Both bid for both items.
    assert_eq!(
        (
            a.count("predictions"),
            a.count("open"),
            b.count("predictions"),
            b.count("open")
        ),
        (2, 0, 1, 1)
    );
    assert_eq!((a.count("wanted_bid"), a.count("unwanted_bid")), (1, 1));
    assert_eq!(
        (a.count("wanted_silent"), a.count("unwanted_silent")),
        (0, 0)
    );
    assert_eq!(
        (a.number("accuracy"), a.number("bid_share")),
        (Some(0.5), Some(1.0))
    );
    assert_eq!(b.number("accuracy"), Some(1.0));
}

/// The same auction with its items sold the other way round.
fn reversed(mut record: StoredRecord) -> StoredRecord {
    use agon_engine::Value as Fact;
    let briefing = record
        .events
        .iter_mut()
        .find(|event| event.kind == "briefing");
    let briefing = briefing.unwrap();
    let facts = briefing.facts.iter_mut().chain(&mut briefing.hidden);
    for (name, value) in facts {
        if ["items", "starting_prices", "true_values", "suits"].contains(&&**name) {
            match value {
                Fact::List(list) => list.reverse(),
                Fact::Integers(list) => list.reverse(),
                other => panic!("{name}: {other:?}"),
            }
        }
    }
    record
}

#[test]
fn priorities_by_item_follow_the_item_wherever_it_is_sold() {
    let plan = |at: u64, priorities: Value| json!({ "at_item": at, "priorities": priorities });
    let notes = |first: Value, second: Value| {
        vec![
            note(0, 1, "plan", plan(0, first)),
            note(0, 3, "plan", plan(1, second)),
        ]
    };
    // Priorities are by place: the chair is sold first there and second here.
    let there = played("one", ["a", "b"], notes(json!([1, 3]), json!([null, 2])));
    let here = reversed(played(
        "one",
        ["a", "b"],
        notes(json!([2, 2]), json!([null, 3])),
    ));
    let plans = |records: &[StoredRecord]| {
        let mut settings = AuctionReport::of(records).settings();
        settings.remove(0).rows("plans")[0].clone()
    };
    let names = |row: &Row| -> Vec<String> {
        let items = row.rows("by_item").iter();
        items.map(|one| one.word("item").to_owned()).collect()
    };
    let same = plans(&[there.clone(), there.clone()]);
    assert!(same.flag("one_order"));
    let (first, second) = (&same.rows("by_item")[0], &same.rows("by_item")[1]);
    assert_eq!(told(first.get("priorities")), json!([1.0]));
    assert_eq!(told(second.get("priorities")), json!([3.0, 2.0]));
    let both = plans(&[there, here]);
    assert!(!both.flag("one_order"));
    assert_eq!(names(&both), names(&same));
    let (first, second) = (&both.rows("by_item")[0], &both.rows("by_item")[1]);
    // Before the first sale both are to come; before the second, each in one auction.
    assert_eq!(told(first.get("priorities")), json!([1.5, 3.0]));
    assert_eq!(told(second.get("priorities")), json!([2.5, 2.0]));
}

#[test]
fn strategies_are_counted_by_letter() {
    let choice = |letter: Value, uses: bool| json!({ "item": 0, "round": 1, "choice": letter, "uses_profile": uses });
    let setting = measured(vec![
        note(0, 1, "strategy", choice(json!("A"), false)),
        note(0, 2, "strategy", choice(json!("B"), true)),
        note(0, 3, "strategy", choice(json!("A"), false)),
        note(0, 4, "strategy", choice(json!("F"), false)),
        note(0, 5, "strategy", choice(json!(null), true)),
    ]);
    let [row] = setting.rows("strategies") else {
        panic!("{setting:?}");
    };
    assert_eq!((row.count("choices"), row.count("unreadable")), (4, 1));
    let shares = json!({ "A": 0.5, "B": 0.25, "F": 0.25 });
    assert_eq!(told(row.get("shares")), shares);
    assert_eq!(row.number("uses_profile"), Some(0.25));
}

#[test]
fn own_figures_follow_the_published_ones_of_their_condition() {
    let mut rotated = played("baseline", ["rival_1", "master"], Vec::new());
    let rotation = ("world.rotate".to_owned(), json!(1));
    let _ = rotated.spec.setting.insert(rotation.0, rotation.1);
    let records = [
        played("baseline", ["master", "rival_1"], Vec::new()),
        rotated,
        played("mine", ["master", "rival_1"], Vec::new()),
    ];
    let report = AuctionReport::of(&records);
    let shown = report
        .beside_published("harbor-theory-of-mind", Layout::Text(400))
        .unwrap();
    let rows: Vec<Vec<&str>> = shown
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    let place = |words: &[&str]| rows.iter().position(|row| row.starts_with(words)).unwrap();
    let published = place(&["published", "baseline", "rival_2"]);
    assert_eq!(rows[published][3..], ["22.27", "24.11", "0.80"]);
    // 5000 / 130 and 2000 / 130 over two settings, won 1 of 2 items and no other that suits.
    assert_eq!(
        (&rows[published + 1][..4], rows[published + 1][5]),
        (&["yours", "baseline", "master", "26.92"][..], "0.50")
    );
    assert!(place(&["yours", "mine"]) > place(&["published", "second-order"]));
    let none =
        AuctionReport::default().beside_published("harbor-theory-of-mind", Layout::Text(400));
    assert!(!none.unwrap().contains("yours"));
    assert_eq!(
        report.beside_published("gamma-bench", Layout::Text(400)),
        None
    );
}

#[test]
fn a_series_is_measured_from_place_to_place() {
    let at = |repeat: u32, place: u32, tips: &[&str]| {
        let mut record = played("one", ["a", "b"], Vec::new());
        record.spec.luck = Luck::new(1, repeat).at(place);
        let note = agon_engine::CarriedNote {
            seat: 1,
            note: "tips".to_owned(),
            body: json!({ "tips": tips }),
        };
        record.carried = (place > 0).then(|| agon_engine::Carried {
            from: record.session.clone(),
            notes: vec![note],
        });
        record
    };
    let alone = [at(0, 0, &[]), at(1, 0, &[])];
    assert!(
        AuctionReport::of(&alone).settings()[0]
            .rows("learning")
            .is_empty()
    );
    let series = [
        at(0, 0, &[]),
        at(0, 1, &["wait"]),
        at(1, 0, &[]),
        at(1, 1, &["wait", "save", "look"]),
    ];
    let report = AuctionReport::of(&series);
    let setting = report.settings().remove(0);
    let rows: Vec<_> = setting
        .rows("learning")
        .iter()
        .map(|row| {
            (
                row.word("player"),
                row.count("place"),
                row.count("sat"),
                row.number("lessons"),
            )
        })
        .collect();
    let expected = [
        ("a", 0, 2, None),
        ("a", 1, 2, Some(0.0)),
        ("b", 0, 2, None),
        ("b", 1, 2, Some(2.0)),
    ];
    assert_eq!(rows, expected);
    for row in setting.rows("learning") {
        let all = setting
            .rows("players")
            .iter()
            .find(|one| one.word("player") == row.word("player"));
        let all = all.unwrap();
        assert_eq!(
            (row.number("profit"), row.number("items_won")),
            (all.number("profit"), all.number("items_won"))
        );
        assert_eq!(row.number("failed_bid_rate"), all.number("failed_bid_rate"));
    }
    assert!(
        report
            .render(Layout::Text(200))
            .contains("From place to place of a series")
    );
}

/// A plan before the first item.
fn plan(seat: usize, source: &str, at: u64, priorities: Value) -> SeatNote {
    let body = json!({ "at_item": at, "priorities": priorities, "source": source });
    note(seat, 1, "plan", body)
}

#[test]
fn plans_that_could_mostly_not_be_read_are_no_plans() {
    let unread = vec![
        plan(0, "kept", 0, json!([2, 2])),
        plan(0, "kept", 1, json!([null, 2])),
        plan(1, "model", 0, json!([1, 3])),
        plan(1, "kept", 1, json!([null, 3])),
    ];
    let plans = measured(unread).rows("plans").to_vec();
    let [a, b] = &plans[..] else {
        panic!("{plans:?}");
    };
    assert_eq!(
        (a.count("planned"), a.count("left_out"), a.count("pairs")),
        (0, 1, 0)
    );
    assert!(
        a.list("priorities").is_empty() && *a.get("initial_won") == row::Value::Null,
        "{a:?}"
    );
    assert_eq!(
        (
            b.count("planned"),
            b.count("left_out"),
            b.count("asked"),
            b.count("kept")
        ),
        (1, 0, 2, 1)
    );
}

#[test]
fn profiles_that_could_mostly_not_be_read_are_no_profiles() {
    let profile = |after: u64, source: &str| {
        let weights = json!({ "reader": 0.0, "cook": 0.0 });
        let body = json!({ "after_item": after, "about": 1, "source": source, "weights": weights });
        note(0, 1, "profile", body)
    };
    let unread = vec![profile(0, "start"), profile(1, "kept"), profile(2, "kept")];
    let rows = measured(unread).rows("profiles").to_vec();
    assert_eq!(
        (rows[0].count("profiles"), rows[0].count("left_out")),
        (0, 1)
    );
    let half = vec![profile(0, "start"), profile(1, "kept"), profile(2, "model")];
    let rows = measured(half).rows("profiles").to_vec();
    assert_eq!(
        (
            rows[0].count("profiles"),
            rows[0].count("kept"),
            rows[0].count("left_out")
        ),
        (3, 1, 0)
    );
}

/// Everything that a bidder with all modules writes down.
fn minds(seat: usize) -> Vec<SeatNote> {
    let about = 1 - seat;
    let belief = json!({ "checked": 5, "corrected": true, "source": "model",
        "errors": [{ "try": 1, "kind": "profit", "about": "self", "detail": "" }] });
    let profile = |after: u64| {
        json!({ "after_item": after, "about": about, "source": "model",
            "weights": { "reader": 0.5, "cook": -0.5 } })
    };
    let prediction = json!({ "item": 0, "about": about, "wants": true });
    let strategy = json!({ "item": 0, "round": 1, "choice": "B", "uses_profile": true });
    vec![
        plan(seat, "model", 0, json!([3, 2])),
        plan(seat, "kept", 1, json!([null, 2])),
        note(seat, 2, "belief", belief),
        note(seat, 1, "profile", profile(0)),
        note(seat, 2, "profile", profile(1)),
        note(seat, 3, "profile", profile(2)),
        note(seat, 1, "prediction", prediction),
        note(seat, 1, "strategy", strategy),
    ]
}

#[test]
fn tables_fit_80_and_100_columns() {
    let names = ["gpt-4o-2024-08-06", "meta-llama/llama-3.1-405b-instruct"];
    let mut report = AuctionReport::default();
    for (repeat, forfeits) in [0, 1, 9].into_iter().enumerate() {
        let notes = [minds(0), minds(1)].concat();
        let mut record = played("temperature", names, notes);
        record.spec.luck.repeat = u32::try_from(repeat).unwrap();
        record.outcome.forfeits[1] = forfeits;
        record.simulated = repeat == 0;
        for series in ["profit", "increments"] {
            let numbers = record.measures.series.get_mut(series).unwrap();
            numbers.iter_mut().for_each(|number| *number *= 1000.0);
        }
        assert!(report.add(&record));
    }
    for (name, width) in [("auctions_100.txt", 100), ("auctions_80.txt", 80)] {
        let shown = report.render(Layout::Text(width));
        fits(&shown, width.into());
        golden(name, &shown);
    }
}
