//! Claims about what numbers rest on: shares, sessions that are left out, and the words for
//! both.

use agon_engine::spec::Origin;
use agon_engine::{Luck, PlayerKind, PlayerSpec, SessionSpec};
use serde_json::json;

use super::*;

fn player(name: &str, kind: PlayerKind) -> PlayerSpec {
    PlayerSpec {
        name: name.to_owned(),
        kind,
        settings: serde_json::from_value(json!({ "model": "m", "temperature": 0 })).unwrap(),
    }
}

fn spec(seats: &[PlayerSpec], endpoint: &str) -> SessionSpec {
    let origin = Origin {
        provider_kind: "openai".to_owned(),
        endpoint: endpoint.to_owned(),
        provider_model: "m-1".to_owned(),
        additions: String::new(),
    };
    SessionSpec {
        experiment: "e".to_owned(),
        setting: serde_json::from_value(json!({})).unwrap(),
        luck: Luck::new(1, 0),
        game: "pirate".to_owned(),
        outside: None,
        rules_version: 1,
        params: serde_json::from_value(json!({})).unwrap(),
        seats: seats.to_vec(),
        origins: [("m".to_owned(), origin)].into(),
        prompts_version: None,
        prompt_bundle: None,
    }
}

/// A session in which each of these seats was asked ten times and forfeited so often.
fn session(seats: &[PlayerSpec], forfeits: &[u32]) -> SessionAnswers {
    at(seats, forfeits, "http://one", &[])
}

/// The same at an endpoint, with calls that these parameters were left out of.
fn at(seats: &[PlayerSpec], forfeits: &[u32], endpoint: &str, omitted: &[&str]) -> SessionAnswers {
    let spec = spec(seats, endpoint);
    let sources = Sources {
        spec: &spec,
        forfeits,
        is_simulated: false,
    };
    let omitted: Vec<String> = omitted.iter().map(|name| (*name).to_owned()).collect();
    let made = Made {
        seat: 0,
        fallback: None,
        answered_by: "m-1",
        omitted: &omitted,
    };
    SessionAnswers::counted(
        &sources,
        (0..seats.len()).flat_map(|seat| [seat; 10]),
        std::iter::empty(),
        std::iter::once(made),
    )
}

/// A session of one seat whose calls were answered by these, a fall-back first if there is one.
fn called(answered: &[(Option<&str>, &str)], kind: &str) -> SessionAnswers {
    let seats = [player("ann", PlayerKind::Model)];
    let mut spec = spec(&seats, "http://one");
    for origin in spec.origins.values_mut() {
        kind.clone_into(&mut origin.provider_kind);
    }
    let sources = Sources {
        spec: &spec,
        forfeits: &[0],
        is_simulated: false,
    };
    let made = answered.iter().map(|(fallback, answered_by)| Made {
        seat: 0,
        fallback: *fallback,
        answered_by,
        omitted: &[],
    });
    let asked = std::iter::repeat_n(0, answered.len());
    SessionAnswers::counted(&sources, asked, std::iter::empty(), made)
}

/// A session of one seat in which a stand-in gave so many of ten answers.
fn stood_in(forfeits: u32, answers: usize) -> SessionAnswers {
    let spec = spec(&[player("ann", PlayerKind::Model)], "door");
    let sources = Sources {
        spec: &spec,
        forfeits: &[forfeits],
        is_simulated: true,
    };
    let asked = std::iter::repeat_n(0, 10);
    let by_stand_in = std::iter::repeat_n(0, answers);
    SessionAnswers::counted(&sources, asked, by_stand_in, std::iter::empty())
}

fn notes(sessions: &[SessionAnswers]) -> String {
    let mut basis = Basis::default();
    for session in sessions {
        basis.add_answers(session, session.all());
    }
    basis.in_words()
}

#[test]
fn rules_that_answer_do_not_hide_a_model_that_never_does() {
    let mut seats = vec![player("rule", PlayerKind::Rule); 9];
    seats.push(player("model", PlayerKind::Model));
    let mut forfeits = [0; 10];
    forfeits[9] = 10;
    let dead = session(&seats, &forfeits);
    assert_eq!(dead.all().unanswered(), 1.0);
    assert!(!dead.all().suffice());
    assert!(dead.of_player(&seats, "rule").suffice());
}

#[test]
fn the_share_of_many_sessions_is_that_of_those_who_are_no_rules() {
    let mut seats = vec![player("rule", PlayerKind::Rule); 9];
    seats.push(player("model", PlayerKind::Model));
    let of = |forfeited: u32| {
        let mut forfeits = [0; 10];
        forfeits[9] = forfeited;
        session(&seats, &forfeits)
    };
    assert_eq!(notes(&[of(4), of(0), of(0)]), "13 % forfeited");
}

#[test]
fn answers_of_fall_backs_are_said_with_their_share() {
    let own = (None, "m-1");
    let answered = called(
        &[own, (Some("n"), "n-1"), (Some("n"), "n-1"), own],
        "openai",
    );
    assert_eq!(answered.notes(), "50 % by fall-back n");
    let two = called(&[(Some("n"), "n-1"), (Some("o"), "o-1")], "openai");
    assert_eq!(two.notes(), "100 % by fall-back n and o");
    let json = serde_json::to_value(two.all()).unwrap();
    assert_eq!(json["by_fallback"], json!({ "n": 1, "o": 1 }));
}

#[test]
fn one_name_that_answers_as_two_models_is_said_but_not_of_people() {
    let two = [(None, "m-1"), (None, "m-2"), (None, "m-1")];
    assert_eq!(called(&two, "openai").notes(), "answered as 2 models");
    assert_eq!(called(&two, "door").notes(), "");
}

/// The basis of sessions of these experiments, each with a rate and a temperature.
fn played(sessions: &[(&str, f64, f64, &[&str])]) -> Basis {
    let seats = [player("ann", PlayerKind::Model)];
    let mut basis = Basis::default();
    for (experiment, rate, temperature, axes) in sessions {
        let mut spec = spec(&seats, "http://one");
        (*experiment).clone_into(&mut spec.experiment);
        "guess_two_thirds".clone_into(&mut spec.game);
        spec.params.insert("rounds".to_owned(), json!(rate));
        let settings = &mut spec.seats[0].settings;
        settings.insert("temperature".to_owned(), json!(temperature));
        for axis in *axes {
            spec.setting.insert((*axis).to_owned(), json!(0));
        }
        let answers = session(&seats, &[0]);
        basis.add(&spec, &answers, answers.all());
    }
    basis
}

#[test]
fn what_differs_between_experiments_and_is_no_axis_is_said() {
    let words = |sessions: &[_]| played(sessions).in_words();
    assert_eq!(words(&[("a", 1.0, 0.0, &[]), ("b", 1.0, 0.0, &[])]), "");
    let rounds = [("a", 1.0, 0.0, &[][..]), ("b", 2.0, 0.0, &[])];
    assert_eq!(words(&rounds), "differing rounds");
    let both = [("a", 1.0, 0.0, &[][..]), ("b", 2.0, 1.0, &[])];
    assert_eq!(words(&both), "differing rounds and temperature");
    let axes = ["params.rounds", "players.ann.temperature"];
    assert_eq!(
        words(&[("a", 1.0, 0.0, &axes[..]), ("b", 2.0, 1.0, &axes)]),
        ""
    );
    let [one, other] = [0, 1].map(|at| played(&rounds[at..=at]));
    assert_eq!(one.differs_from(&other), ["rounds"]);
    assert!(one.differs_from(&one).is_empty());
    assert!(played(&rounds).differs_from(&other).is_empty());
    // Within an experiment something may follow from an axis.
    let mut one = played(&[("a", 1.0, 0.0, &[])]);
    one.merge(&played(&[("a", 2.0, 0.0, &[])]));
    assert_eq!(one.in_words(), "");
    let mut merged = played(&rounds[..1]);
    merged.merge(&played(&rounds[1..]));
    assert_eq!(merged.in_words(), "differing rounds");
}

#[test]
fn parameters_that_are_not_the_games_own_are_known() {
    let three = played(&[("a", 3.0, 0.0, &[])]);
    let unusual = three.unusual(&[&[("rounds", &["6.0"])]]);
    assert_eq!(unusual.into_iter().collect::<Vec<_>>(), ["rounds"]);
    let as_published: [PublishedTerms; 2] = [&[("rounds", &["3.0", "6.0"])], &[("rounds", &[])]];
    for terms in as_published {
        assert!(three.unusual(&[terms]).is_empty(), "{terms:?}");
    }
    assert_eq!(three.unusual(&[]).len(), 1);
    let axes = ["params.rounds"];
    assert!(played(&[("a", 3.0, 0.0, &axes)]).unusual(&[]).is_empty());
}

#[test]
fn rules_that_forfeit_are_treated_alike() {
    let seats = vec![player("rule", PlayerKind::Rule); 2];
    assert!(!session(&seats, &[10, 10]).all().suffice());
    assert!(session(&seats, &[10, 0]).all().suffice());
}

#[test]
fn half_of_the_answers_are_enough_and_one_less_is_not() {
    let seats = [player("model", PlayerKind::Model)];
    assert!(session(&seats, &[5]).all().suffice());
    assert!(!session(&seats, &[6]).all().suffice());
}

#[test]
fn the_share_is_that_of_the_sessions_that_count() {
    let seats = [player("model", PlayerKind::Model)];
    let of = |forfeits: u32| session(&seats, &[forfeits]);
    assert_eq!(notes(&[of(0), of(0)]), "");
    assert_eq!(notes(&[of(0), of(4)]), "20 % forfeited");
    assert_eq!(notes(&[of(4), of(10)]), "40 % forfeited, 1 of 2 left out");
    assert_eq!(notes(&[of(0), of(10)]), "1 of 2 left out");
    assert_eq!(notes(&[of(10), of(10)]), "100 % forfeited, 2 of 2 left out");
}

#[test]
fn answers_of_a_stand_in_count_as_much_as_forfeits() {
    let some = stood_in(1, 4);
    assert_eq!(some.notes(), "simulated, 10 % forfeited, 40 % by stand-in");
    let most = stood_in(1, 5);
    assert!(!most.all().suffice());
    assert!(most.notes().contains("not measured"), "{}", most.notes());
}

#[test]
fn a_setting_that_was_asked_for_and_not_sent_is_said() {
    let seats = [player("model", PlayerKind::Model)];
    let of = |omitted: &[&str]| at(&seats, &[0], "http://one", omitted);
    assert_eq!(
        notes(&[of(&[]), of(&["temperature"])]),
        "temperature not sent"
    );
    // Nobody asked for these.
    assert_eq!(notes(&[of(&["sampling_seed", "top_p"])]), "");
}

#[test]
fn answers_from_several_endpoints_are_said() {
    let seats = [player("model", PlayerKind::Model)];
    let of = |endpoint: &str| at(&seats, &[0], endpoint, &[]);
    assert_eq!(notes(&[of("http://one"), of("http://one")]), "");
    let two = [of("http://one"), of("http://two")];
    assert_eq!(notes(&two), "from 2 endpoints");
    let mut basis = Basis::default();
    for session in &two {
        basis.add_answers(session, session.all());
    }
    let json = serde_json::to_value(&basis).unwrap();
    let origins = ["m-1 at http://one (openai)", "m-1 at http://two (openai)"];
    assert_eq!(json["origins"]["m"], json!(origins));
    assert_eq!(json["notes"], json!(["from 2 endpoints"]));
}

#[test]
fn no_share_is_rounded_to_none_or_all() {
    let in_words = |forfeited| Note::Forfeited {
        forfeited,
        asks: 1000,
    };
    let words = [1, 4, 46, 996, 1000].map(|forfeited| in_words(forfeited).in_words());
    let expected = [
        "under 1 % forfeited",
        "under 1 % forfeited",
        "5 % forfeited",
        "over 99 % forfeited",
        "100 % forfeited",
    ];
    assert_eq!(words, expected);
}
