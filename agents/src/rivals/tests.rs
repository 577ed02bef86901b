//! Who is in play, by the events that a seat has seen.
//! Events are made here; no game is played.

use agon_engine::registry;

use super::*;

fn event(kind: &str, facts: Vec<(&str, Value)>) -> SeenEvent {
    let shared = facts.len();
    let facts = facts.into_iter();
    SeenEvent {
        kind: kind.to_owned(),
        round: 1,
        shared,
        facts: facts
            .map(|(name, value)| (name.to_owned(), value))
            .collect(),
    }
}

#[test]
fn rivals_are_those_who_are_in_play_besides_the_seat() {
    let mut rivals = Rivals::new(facts_of("water_allocation"), 2);
    assert!(rivals.others().is_empty());
    rivals.see(&event("briefing", vec![("players", 4usize.into())]));
    assert_eq!(rivals.others(), [0, 1, 3]);
    assert_eq!(rivals.name(3), "player_3");
    let names = vec!["Al", "Bo", "Cy", "Di"];
    let told = vec![("players", 4usize.into()), ("names", names.into())];
    rivals.see(&event("briefing", told));
    assert_eq!(
        (rivals.name(3), rivals.name(4)),
        ("Di".to_owned(), "player_4".to_owned())
    );
    rivals.see(&event("round_result", vec![("mean", 3.5.into())]));
    assert_eq!(rivals.others(), [0, 1, 3]);
    rivals.see(&event(
        "round_result",
        vec![("living", vec![0usize, 2, 3].into())],
    ));
    assert_eq!(rivals.living(), [0, 2, 3]);
    // Whoever is in play, is so by the fact that the game names for it.
    rivals.see(&event("proposal", vec![("order", vec![3usize, 2].into())]));
    assert_eq!(rivals.living(), [0, 2, 3]);
    let mut pirates = Rivals::new(facts_of("pirate"), 2);
    // A rank is no order of seats.
    pirates.see(&event("proposal", vec![("order", vec![3usize, 2].into())]));
    assert_eq!((pirates.living(), pirates.others()), (&[2, 3][..], vec![3]));
}

fn facts_of(game: &str) -> FactNames {
    registry::find(game).unwrap().info.facts.clone()
}
