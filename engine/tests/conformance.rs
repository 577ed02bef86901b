//! Runs the conformance kit over every registered game. A new game is covered by
//! being registered; each test below is one property of the kit.

use std::collections::BTreeSet;

use agon_engine::conformance::{Case, PROPERTIES, cases, compared, faults};
use agon_engine::registry::GAMES;
use agon_engine::spec::Settings;
use agon_engine::{Luck, Told};
use proptest::prelude::*;

/// Faults of one game that are shown; the rest is usually the same again.
const SHOWN: usize = 5;

fn every_game_holds(name: &str) {
    let property = PROPERTIES.iter().find(|property| property.name == name);
    let property = property.unwrap_or_else(|| panic!("the kit has no property {name}"));
    let mut report = String::new();
    for game in GAMES {
        let found = faults(property, game);
        for fault in found.iter().take(SHOWN) {
            report.push_str(&format!("{fault}\n"));
        }
        if found.len() > SHOWN {
            report.push_str(&format!(
                "... {} of {} in all\n",
                found.len(),
                game.info.name
            ));
        }
    }
    assert!(report.is_empty(), "{}:\n{report}", property.statement);
}

macro_rules! properties {
    ($($claim:ident: $name:literal,)*) => {
        $(#[test]
        fn $claim() {
            every_game_holds($name);
        })*

        #[test]
        fn every_property_of_the_kit_is_run() {
            let run = [$($name),*];
            for property in PROPERTIES {
                assert!(run.contains(&property.name), "{} is not run", property.name);
            }
        }
    };
}

properties! {
    legal_play_is_well_formed: "legal_play",
    fouls_are_refused_and_change_nothing: "fouls",
    forfeits_do_not_stop_a_game: "forfeits",
    same_luck_and_answers_give_the_same_bytes: "determinism",
    a_stored_record_plays_to_the_same_bytes: "restore",
    private_draws_depend_on_nothing_unrelated: "same_luck",
    a_view_holds_nothing_of_others: "own_view",
    an_answer_is_unseen_while_its_turn_is_open: "open_turn",
    everything_is_declared_to_be_public_or_secret: "declared",
    secrets_show_in_nothing_that_others_see_and_are_asked: "secrets",
    who_sits_at_a_seat_does_not_show: "players",
    payoffs_stay_within_bounds: "payoffs",
    equilibrium_scores_as_predicted: "equilibrium",
    every_strategy_plays_legally: "strategies",
    declared_facts_mean_what_they_say: "facts",
    a_clone_plays_on_as_the_original_does: "clones",
    listed_answers_are_the_legal_ones: "listed_answers",
    listed_outcomes_are_what_chance_can_draw: "listed_outcomes",
}

#[test]
fn every_game_is_tried_with_many_parameters() {
    for game in GAMES {
        let count = cases(game).len();
        assert!(count >= 20, "{} has only {count} cases", game.info.name);
    }
}

#[test]
fn game_names_are_unique_and_sorted_lookups_work() {
    for game in GAMES {
        let found = agon_engine::registry::find(&game.info.name).expect("registered");
        assert!(
            std::ptr::eq(found, game),
            "{} is registered twice",
            game.info.name
        );
    }
}

#[test]
fn no_game_forgives_fouls_without_end() {
    let build = |game: usize, fouls: u64| {
        let fouls = serde_json::Value::from(fouls);
        GAMES[game].build(&[("foul_allowance".to_owned(), fouls)].into())
    };
    for (number, game) in GAMES.iter().enumerate() {
        assert!(build(number, 100).is_ok(), "{}", game.info.name);
        for fouls in [101, 1_000_000_000, u64::from(u32::MAX)] {
            let refused = build(number, fouls).err();
            let path = refused.map(|error| error.path);
            assert_eq!(
                path.as_deref(),
                Some("foul_allowance"),
                "{}",
                game.info.name
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(100) })]

    #[test]
    fn any_property_holds_with_any_luck(
        game in 0..GAMES.len(),
        property in 0..PROPERTIES.len(),
        seed in any::<u64>(),
        repeat in any::<u32>(),
    ) {
        let case = Case::new(&GAMES[game], &Settings::new(), Luck::new(seed, repeat));
        let case = case.expect("defaults are good parameters");
        let held = (PROPERTIES[property].holds)(&case);
        prop_assert!(held.is_ok(), "{}: {:?}", PROPERTIES[property].name, held);
    }
}

/// What a case keeps from some seats, by name.
fn kept(case: &Case<'_>) -> BTreeSet<&'static str> {
    let private = case.game.disclosures().into_iter();
    let private = private.filter(|one| one.told != Told::Everybody);
    let names = private.flat_map(|one| {
        let draws = one.draws.iter().map(|stream| stream.0);
        one.parameters.iter().copied().chain(draws)
    });
    names.collect()
}

#[test]
fn every_declared_secret_of_every_game_was_changed_and_looked_for() {
    for game in GAMES {
        let cases = cases(game);
        let mut unseen: BTreeSet<&str> = cases.iter().flat_map(kept).collect();
        for case in &cases {
            if unseen.is_empty() {
                break;
            }
            for name in compared(case).unwrap_or_default() {
                unseen.remove(name);
            }
        }
        assert!(unseen.is_empty(), "{}: {unseen:?}", game.info.name);
    }
}
