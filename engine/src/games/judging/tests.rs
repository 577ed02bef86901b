//! Judging by hand: what is asked, of whom, what is measured, and which parameters
//! are refused.

use serde_json::json;

use crate::ask::{Action, Foul};
use crate::games::testing::{close, integers, opened, refusal, turn};

const GAME: &str = "judging";

#[test]
fn every_criterion_is_asked_of_every_judge_and_nothing_is_won() {
    let mut play = opened(GAME, json!({ "players": 2 }));
    let mut questions = Vec::new();
    while !play.is_finished() {
        let opened = play.log().of_kind("criterion_opened").next_back().unwrap();
        questions.push(opened.get("criterion").unwrap().text().unwrap().to_owned());
        turn(&mut play, integers(&[5, 1]));
    }
    assert_eq!(questions.len(), 5, "identity needs a persona");
    assert!(!questions.contains(&"identity_alignment".to_owned()));
    assert_eq!(play.payoffs(), [0.0, 0.0]);
    let measures = play.measures();
    assert!(close(measures.scores["rating"], 3.0));
    assert_eq!(measures.series["spreads"], [4.0; 5]);
    assert_eq!(measures.series["rating_judges"][..4], [0.0, 1.0, 0.0, 1.0]);
    assert_eq!(
        measures.series["rating_criteria"][..4],
        [0.0, 0.0, 1.0, 1.0]
    );
}

#[test]
fn a_player_with_a_persona_is_judged_by_it_too() {
    let mut play = opened(GAME, json!({ "players": 1, "has_persona": true }));
    let mut asked = 0;
    while !play.is_finished() {
        turn(&mut play, integers(&[asked % 5 + 1]));
        asked += 1;
    }
    assert_eq!(asked, 6);
    assert_eq!(
        play.measures().series["means"],
        [1.0, 2.0, 3.0, 4.0, 5.0, 1.0]
    );
}

#[test]
fn a_judge_that_says_nothing_is_missing_and_the_others_count() {
    let mut play = opened(GAME, json!({ "players": 2, "foul_allowance": 0 }));
    turn(&mut play, vec![Some(Action::Integer(4)), None]);
    while !play.is_finished() {
        turn(
            &mut play,
            vec![Some(Action::Integer(4)), Some(Action::Integer(2))],
        );
    }
    let series = play.measures().series;
    assert_eq!(series["means"][..2], [4.0, 3.0]);
    assert_eq!(series["ratings"].len(), 9);
}

#[test]
fn a_criterion_that_nobody_rates_shifts_no_other() {
    let mut play = opened(GAME, json!({ "players": 2, "foul_allowance": 0 }));
    turn(&mut play, integers(&[5, 3]));
    turn(&mut play, vec![None, None]);
    while !play.is_finished() {
        turn(&mut play, integers(&[1, 2]));
    }
    let series = play.measures().series;
    assert_eq!(series["mean_criteria"], [0.0, 2.0, 3.0, 4.0]);
    assert_eq!(series["means"], [4.0, 1.5, 1.5, 1.5]);
    assert_eq!(series["spreads"], [2.0, 1.0, 1.0, 1.0]);
}

#[test]
fn ratings_outside_the_range_are_refused() {
    let play = opened(GAME, json!({ "players": 1 }));
    let ask = play.waiting().next().unwrap();
    for rating in [0, 6, -1] {
        let refused: Result<(), Foul> = ask.form.check(&Action::Integer(rating));
        assert!(refused.is_err(), "{rating}");
    }
    assert_eq!(ask.form.check(&Action::Integer(5)), Ok(()));
}

#[test]
fn impossible_parameters_are_refused_by_name() {
    let one = json!({ "name": "a", "question": "Well?" });
    for (params, path) in [
        (json!({ "record": "  " }), "record"),
        (json!({ "judged": "" }), "judged"),
        (json!({ "judged": "A\u{1b}[31m" }), "judged"),
        (
            json!({ "criteria": [{ "name": "a\u{1b}", "question": "?" }] }),
            "criteria[0].name",
        ),
        (json!({ "criteria": [] }), "criteria"),
        (json!({ "criteria": [one, one] }), "criteria[1].name"),
        (
            json!({ "criteria": [{ "name": "a", "question": "" }] }),
            "criteria[0].question",
        ),
        (json!({ "lowest": 5 }), "highest"),
        (json!({ "players": 0 }), "players"),
    ] {
        assert_eq!(refusal(GAME, params.clone()).path, path, "{params}");
    }
}

#[test]
fn judges_are_told_what_each_mark_means_where_the_scale_has_marks() {
    let marks = |params| {
        let play = opened(GAME, params);
        let opened = play.log().of_kind("criterion_opened").next().unwrap();
        opened.get("marks").unwrap().len()
    };
    assert_eq!(marks(json!({})), 5);
    assert_eq!(
        marks(json!({ "highest": 10 })),
        0,
        "the paper has no ten marks"
    );
    let own = |marks: &[&str]| {
        json!({ "lowest": 1, "highest": 3, "criteria": [
        { "name": "courage", "question": "How brave?", "marks": marks } ] })
    };
    assert_eq!(marks(own(&["not", "some", "very"])), 3);
    let message = refusal(GAME, own(&["not", "very"])).to_string();
    assert!(message.contains("each of the 3 ratings"), "{message}");
}
