//! Measures of auctions small enough to work out by hand: two items, two bidders, played
//! on the engine move by move.

use agon_engine::record::{Record, StoredRecord};
use agon_engine::session::open;
use agon_engine::{
    Action, Luck, PlayerKind, PlayerSpec, Reaction, SeatNote, SessionSpec, registry,
};
use serde_json::{Value, json};

use super::*;

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
    let registration = registry::find(ENGLISH_AUCTION).unwrap();
    let params = json!({
        "players": 2, "budget": 1000, "foul_allowance": 2,
        "personas": [["reader"], ["cook"]],
        "items": [
            { "name": "lamp", "starting_price": 100, "true_value": 200, "suits": ["reader"] },
            { "name": "chair", "starting_price": 50, "true_value": 80, "suits": ["reader"] },
        ],
    });
    let params = serde_json::from_value(params).unwrap();
    let seat = |name: &str| PlayerSpec {
        name: name.to_owned(),
        kind: PlayerKind::Model,
        settings: serde_json::from_value(json!({ "model": "m" })).unwrap(),
    };
    let spec = SessionSpec {
        experiment: "measured".to_owned(),
        setting: serde_json::from_value(json!({ "label": label })).unwrap(),
        luck: Luck { seed: 1, repeat: 0 },
        game: ENGLISH_AUCTION.to_owned(),
        rules_version: registration.info.rules_version,
        params: (registration.build)(&params).unwrap().params,
        seats: seats.map(seat).to_vec(),
        prompts_version: None,
        prompt_bundle: None,
    };
    let mut play = open(&spec).unwrap();
    for (seat, bid) in SCRIPT {
        let action = bid.map_or(Action::Pass, Action::Integer);
        assert_ne!(play.answer(seat, Ok(action)), Reaction::NotAsked, "{bid:?}");
    }
    assert!(play.is_finished());
    let record = Record::new(spec, &play, Vec::new(), notes);
    StoredRecord::from_line(&record.to_line().unwrap()).unwrap()
}

fn close(left: Option<f64>, right: f64) {
    let left = left.unwrap();
    assert!((left - right).abs() < 1e-9, "{left} is not {right}");
}

fn one() -> SettingMeasures {
    let record = played("one", ["a", "b"], Vec::new());
    AuctionReport::of([&record]).settings().remove(0)
}

#[test]
fn players_are_measured_by_what_they_won_and_bid() {
    let measures = one();
    let [a, b] = &measures.players[..] else {
        panic!("{measures:?}");
    };
    // a: 200 - 150; b: 80 - 60; both of 200 - 100 + 80 - 50 = 130.
    assert_eq!((a.profit, b.profit), (Some(50.0), Some(20.0)));
    close(a.profit_ratio, 5000.0 / 130.0);
    close(b.profit_ratio, 2000.0 / 130.0);
    assert_eq!((a.items_won, b.items_won), (Some(1.0), Some(1.0)));
    // a: three bids and a withdrawal; b: two and one.
    assert_eq!((a.failed_bids, a.correct_actions), (1, 4));
    close(a.failed_bid_rate, 0.2);
    assert_eq!((b.failed_bids, b.failed_bid_rate), (0, Some(0.0)));
    close(a.engagements_per_item, 1.5);
    close(b.engagements_per_item, 1.0);
    // Both items suit the reader a, which got one of them; none suits b.
    assert_eq!((a.matched_offered, a.matched_won), (2, 1));
    assert_eq!((a.acquisition, b.acquisition), (Some(0.5), None));
    assert!(a.trueskill[0].mu > 25.0 && b.trueskill[0].mu < 25.0);
}

#[test]
fn increments_are_over_own_offers_and_fall_into_bins() {
    let measures = one();
    // a: 100 over 100, 150 over 100, 50 over 50; b: 120 over 100, 60 over 50.
    let [a, b] = &measures.increments[..] else {
        panic!("{measures:?}");
    };
    assert_eq!((a.bids, &a.counts[..]), (3, &[2, 0, 1][..]));
    close(a.mean, 50.0 / 3.0);
    assert_eq!((b.bids, &b.counts[..]), (2, &[0, 0, 2][..]));
    assert_eq!(b.shares, [0.0, 0.0, 1.0]);
    let wide = IncrementBins::new(vec![0.0, 20.0]).unwrap();
    let mut report = AuctionReport::with_bins(wide);
    assert!(report.add(&played("one", ["a", "b"], Vec::new())));
    assert_eq!(report.settings()[0].increments[1].counts, [0, 2]);
    for wrong in [vec![], vec![1.0], vec![0.0, 0.0], vec![0.0, f64::NAN]] {
        assert_eq!(IncrementBins::new(wrong), None);
    }
}

#[test]
fn items_are_counted_by_name_and_by_starting_price() {
    let measures = one();
    let lamp = &measures.items[1];
    assert_eq!(
        (lamp.item.as_deref(), lamp.starting_price),
        (Some("lamp"), 100)
    );
    assert_eq!((lamp.offered, lamp.sold, lamp.price), (1, 1, Some(150.0)));
    let a = &lamp.players[0];
    assert_eq!((a.bids, a.won, a.profit), (Some(2.0), 1, Some(50.0)));
    let b = &lamp.players[1];
    assert_eq!((b.bids, b.won, b.profit), (Some(1.0), 0, None));
    let chairs = &measures.starting_prices[0];
    assert_eq!((&chairs.item, chairs.starting_price), (&None, 50));
    assert_eq!(chairs.players[1].profit, Some(20.0));
}

#[test]
fn winning_bids_have_a_histogram_and_from_two_on_a_density() {
    let one = one().winning_bids;
    // Of width 150 / 20: 60 is in the ninth bin, 150 in the last.
    assert_eq!((one.bin_width, one.at.len()), (7.5, 101));
    assert_eq!(
        (one.players[0].counts[19], one.players[1].counts[8]),
        (1, 1)
    );
    assert_eq!(one.players[0].density, None);
    let same = played("one", ["a", "a"], Vec::new());
    let pooled = AuctionReport::of([&same]).settings().remove(0).winning_bids;
    let density = pooled.players[0].density.as_ref().unwrap();
    // Two bids, 60 and 150: mean 105 is the valley between equal humps.
    let scott = (2.0f64 * 45.0 * 45.0).sqrt() * 2f64.powf(-0.2);
    let kernel = |distance: f64| (-0.5 * (distance / scott).powi(2)).exp();
    let expected = kernel(45.0) / (scott * std::f64::consts::TAU.sqrt());
    close(Some(density[70]), expected);
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
        .map(|one| (&*one.setting, one.sessions))
        .collect();
    assert_eq!(words, [("one", 2), ("two", 1)]);
    let a = &settings[0].players[0];
    // 50 as the first, 20 as the second bidder.
    assert_eq!((a.sat, a.profit), (2, Some(35.0)));
    close(a.profit_sd, 450f64.sqrt());
    let both = &settings[1].players[0];
    assert_eq!((both.sat, both.trueskill.len()), (2, 2));
    assert_eq!(both.trueskill[1].name, "a (2)");
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
