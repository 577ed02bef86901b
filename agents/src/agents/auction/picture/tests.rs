//! The picture of a seat against the record's own columns, in whole auctions of
//! random bidders.

use std::sync::Arc;

use agon_engine::chance::Luck;
use agon_engine::registry;
use agon_engine::rule_player::Random;
use agon_engine::spec::Settings;
use agon_engine::{Chance, Event, Play, RulePlayer, View};
use serde_json::{Value, json};

use super::*;

fn auction(params: Value, seed: u64) -> Vec<Event> {
    let settings: Settings = params.as_object().unwrap().clone().into_iter().collect();
    let built = registry::find("english_auction")
        .unwrap()
        .build(&settings)
        .unwrap();
    let seats = built.game.seats();
    let chance = Chance::seeded(Luck::new(seed, 0));
    let mut luck = chance.for_rule_player(0);
    let mut play = Play::start(
        Arc::clone(&built.game),
        chance,
        (0..seats).map(|_| None).collect(),
    );
    loop {
        let next = play.waiting().next().cloned();
        let Some(ask) = next else {
            return play.log().all().to_vec();
        };
        let action = Random.act(&ask, &play.view(ask.seat), &mut luck);
        play.answer(ask.seat, Ok(action));
    }
}

fn seen_by(seat: usize, events: &[Event]) -> (Picture, Vec<Happened>) {
    let mut picture = Picture::new(seat);
    let sights = View::new(seat, events).sights();
    let happened = sights
        .map(|sight| picture.hear(&sight.to_event()).unwrap())
        .collect();
    (picture, happened)
}

#[test]
fn the_picture_agrees_with_the_record() {
    for seed in 0..20 {
        let params = json!({
            "players": 4, "budget": [9000, 12000, 15000, 30000], "discount_unsold": true,
            "order": "random", "overestimate_percent": [0, 10, 20, 30],
        });
        let events = auction(params, seed);
        let last = events.last().unwrap();
        let column =
            |name: &str, facts: &[(std::borrow::Cow<'static, str>, agon_engine::Value)]| {
                let found = facts.iter().find(|(found, _)| found == name).unwrap();
                serde_json::to_value(&found.1).unwrap()
            };
        for seat in 0..4 {
            let (picture, happened) = seen_by(seat, &events);
            let profits: Vec<i64> = picture.standings.iter().map(|one| one.profit).collect();
            assert_eq!(json!(profits), column("profits", &last.facts));
            let items: Vec<usize> = picture.standings.iter().map(|one| one.won.len()).collect();
            assert_eq!(json!(items), column("items_won", &last.facts));
            assert_eq!(
                json!(picture.budget),
                column("budget_left", &last.own)[seat]
            );
            let spent = picture.standings[seat].spent;
            assert_eq!(picture.start_budget - spent, picture.budget);
            assert!(picture.over);
            assert_eq!(picture.past().len(), 10);
            assert!(picture.remaining().is_empty());
            let overs = happened
                .iter()
                .filter(|one| matches!(one, Happened::ItemOver(_)));
            assert_eq!(overs.count(), 10);
            assert_eq!(happened[0], Happened::Briefed);
            assert_eq!(happened[1], Happened::Opened(0));
            assert_eq!(*happened.last().unwrap(), Happened::Over);
        }
    }
}

#[test]
fn a_picture_holds_nothing_of_other_seats() {
    let budgets = |other: i64| {
        let events = auction(json!({ "players": 2, "budget": [9000, other] }), 3);
        // Only the briefing: bids may differ with budgets.
        seen_by(0, &events[..2]).0
    };
    let small = serde_json::to_value(budgets(9_000)).unwrap();
    let large = serde_json::to_value(budgets(90_000)).unwrap();
    assert_eq!(small, large);
}

#[test]
fn an_event_of_another_game_is_refused() {
    let event = SeenEvent {
        kind: "hammer".to_owned(),
        round: 1,
        facts: Vec::new(),
        shared: 0,
    };
    let error = Picture::new(0).hear(&event).unwrap_err().to_string();
    assert!(error.contains("hammer"), "{error}");
}
