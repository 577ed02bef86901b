//! A play and its forms: who is asked, what becomes of answers, what forms take.
//! Through the public interface only, with the guessing game as the example.

use std::sync::Arc;

use agon_engine::registry;
use agon_engine::spec::Settings;
use agon_engine::{Action, Ask, Chance, Form, Foul, FoulKind, Luck, Play, Reaction, Seat};
use serde_json::{Value, json};

fn guessing(players: usize, foul_allowance: u32) -> Play {
    let params = Settings::from([
        ("players".to_owned(), json!(players)),
        ("rounds".to_owned(), json!(2)),
        ("foul_allowance".to_owned(), json!(foul_allowance)),
    ]);
    let registration = registry::find("guess_two_thirds").expect("registered");
    let game = registration.build(&params).expect("good parameters").game;
    let outside = (0..players).map(|_| None).collect();
    Play::start(Arc::clone(&game), Chance::seeded(Luck::new(1, 0)), outside)
}

fn waiting(play: &Play) -> Vec<Seat> {
    play.waiting().map(|ask| ask.seat).collect()
}

#[test]
fn a_turn_closes_with_its_last_answer_in_whatever_order() {
    let mut play = guessing(3, 0);
    assert_eq!(waiting(&play), [0, 1, 2]);
    for (seat, number, left) in [(2, 30, vec![0, 1]), (0, 10, vec![1])] {
        assert_eq!(
            play.answer(seat, Ok(Action::Integer(number))),
            Reaction::Taken
        );
        assert_eq!(waiting(&play), left);
        assert!(play.moves().is_empty());
    }
    assert_eq!(play.answer(1, Ok(Action::Integer(20))), Reaction::Taken);
    assert_eq!(play.turn(), 2);
    let seats: Vec<Seat> = play.moves().iter().map(|made| made.seat).collect();
    assert_eq!(seats, [0, 1, 2]);
}

#[test]
fn a_second_answer_is_not_asked_for() {
    let mut play = guessing(2, 0);
    assert_eq!(play.answer(0, Ok(Action::Integer(1))), Reaction::Taken);
    assert_eq!(play.answer(0, Ok(Action::Integer(2))), Reaction::NotAsked);
    assert_eq!(play.answer(7, Ok(Action::Integer(2))), Reaction::NotAsked);
    assert_eq!(play.answer(1, Ok(Action::Integer(3))), Reaction::Taken);
    assert_eq!(play.moves()[0].action, Some(Action::Integer(1)));
}

#[test]
fn fouls_are_counted_down_and_the_last_forfeits() {
    let mut play = guessing(2, 2);
    for left in [1, 0] {
        let reaction = play.answer(0, Ok(Action::Integer(101)));
        assert!(matches!(reaction, Reaction::Refused { fouls_left, .. } if fouls_left == left));
    }
    let silence = Foul::new(FoulKind::NoReply, "the reply was cut off");
    assert!(matches!(
        play.answer(0, Err(silence)),
        Reaction::Forfeited { .. }
    ));
    assert_eq!(waiting(&play), [1]);
    assert_eq!(play.answer(1, Ok(Action::Integer(3))), Reaction::Taken);
    let made = &play.moves()[0];
    assert!(made.forfeited && made.action.is_none());
    let kinds: Vec<FoulKind> = made.fouls.iter().map(|foul| foul.kind).collect();
    assert_eq!(
        kinds,
        [
            FoulKind::OutOfRange,
            FoulKind::OutOfRange,
            FoulKind::NoReply
        ]
    );
}

#[test]
fn a_check_beforehand_changes_nothing() {
    let mut play = guessing(2, 0);
    assert!(play.check(0, &Action::Integer(101)).is_err());
    assert!(play.check(0, &Action::Integer(100)).is_ok());
    assert!(
        play.check(9, &Action::Integer(101)).is_ok(),
        "nobody asked seat 9"
    );
    assert_eq!(play.answer(0, Ok(Action::Integer(100))), Reaction::Taken);
}

#[test]
fn after_the_end_nobody_is_asked() {
    let mut play = guessing(2, 0);
    while !play.is_finished() {
        let asks: Vec<Ask> = play.waiting().cloned().collect();
        for ask in asks {
            play.answer(ask.seat, Ok(Action::Integer(5)));
        }
    }
    assert_eq!(waiting(&play), Vec::<Seat>::new());
    assert_eq!(play.answer(0, Ok(Action::Integer(5))), Reaction::NotAsked);
    assert_eq!(play.payoffs(), [1.0, 1.0]);
    assert_eq!(play.moves().len(), 4);
}

fn forms() -> Vec<Form> {
    vec![
        Form::integer(-2, 7),
        Form::Integer {
            min: Some(1),
            max: None,
            pass: Some("withdraw".into()),
        },
        Form::Number { min: 0.0, max: 1.0 },
        Form::one_of(&["go", "stay"]),
        Form::Target {
            seats: vec![0, 3],
            pass: Some("miss".into()),
        },
        Form::Target {
            seats: vec![1],
            pass: None,
        },
        Form::Division {
            parts: 3,
            total: 10,
        },
    ]
}

/// Every form takes something, says what, and reads back what it wrote.
#[test]
fn what_a_form_takes_survives_json() {
    let taken = [
        vec![Action::Integer(-2), Action::Integer(7)],
        vec![Action::Integer(i64::MAX), Action::Pass],
        vec![
            Action::Number(0.0),
            Action::Number(0.3),
            Action::Number(1.0),
        ],
        vec![Action::Choice("go".into())],
        vec![Action::Target(3), Action::Pass],
        vec![Action::Target(1)],
        vec![
            Action::Division(vec![10, 0, 0]),
            Action::Division(vec![3, 3, 4]),
        ],
    ];
    for (form, actions) in forms().iter().zip(taken) {
        assert!(form.schema().is_object());
        for action in actions {
            assert_eq!(form.check(&action), Ok(()), "{}", form.describe());
            let json = serde_json::to_value(&action).expect("plain data");
            assert_eq!(form.read(&json), Ok(action));
        }
    }
}

#[test]
fn replies_are_read_as_people_write_them() {
    let cases = [
        (0, json!("7"), Action::Integer(7)),
        (0, json!(" $1,250 "), Action::Integer(1250)),
        (0, json!("1 250"), Action::Integer(1250)),
        (0, json!("twelve hundred"), Action::Integer(1200)),
        (0, json!(4.0), Action::Integer(4)),
        (1, json!("Withdraw "), Action::Pass),
        (2, json!("0.25"), Action::Number(0.25)),
        (3, json!(" STAY"), Action::Choice("stay".into())),
        (4, json!("player_3"), Action::Target(3)),
        (4, json!("Player 0"), Action::Target(0)),
        (4, json!(3), Action::Target(3)),
        (4, json!("MISS"), Action::Pass),
        (6, json!([1, "2", 7.0]), Action::Division(vec![1, 2, 7])),
    ];
    for (form, reply, action) in cases {
        assert_eq!(forms()[form].read(&reply), Ok(action), "{reply}");
    }
}

#[test]
fn replies_of_another_kind_are_of_the_wrong_type() {
    let cases: [(usize, Value); 12] = [
        (0, json!("many")),
        (0, json!(2.5)),
        (0, json!(null)),
        (0, json!(1e300)),
        (2, json!("NaN")),
        (3, json!(1)),
        (5, json!(null)),
        (5, json!("miss")),
        (6, json!(10)),
        (6, json!([1, "few", 7])),
        (0, json!("12,5")),
        (0, json!("1,2,3")),
    ];
    for (form, reply) in cases {
        let foul = forms()[form].read(&reply).expect_err("a foul");
        assert_eq!(foul.kind, FoulKind::WrongType, "{reply}");
        assert!(
            foul.reason.contains(&forms()[form].describe()),
            "{}",
            foul.reason
        );
    }
}

#[test]
fn a_division_says_what_is_wrong_with_it() {
    let form = Form::Division {
        parts: 3,
        total: 10,
    };
    let reason = |amounts: &[i64]| {
        let foul = form.check(&Action::Division(amounts.to_vec()));
        foul.expect_err("a foul").reason
    };
    assert_eq!(reason(&[5, 5]), "2 numbers were given, but 3 are needed");
    assert_eq!(reason(&[12, -1, -1]), "-1 is negative");
    assert_eq!(
        reason(&[1, 2, 3]),
        "the numbers add up to 6, but must add up to 10"
    );
    let huge = [i64::MAX, i64::MAX, 2];
    assert_eq!(
        reason(&huge),
        "the numbers add up to 18446744073709551616, but must add up to 10"
    );
}
