//! What is sent of a thought, and what is kept of an answer.
//! Requests are built for made-up addresses; nobody is called.

use std::sync::Arc;

use agon_engine::Event;
use agon_engine::spec::Settings;
use agon_proto::digest::CanonicalRequest;

use super::*;

fn thought(settings: ModelSettings) -> Thought {
    Thought {
        purpose: "act",
        settings: Arc::new(settings),
        messages: vec![Message {
            role: Role::User,
            content: "Choose a number.".into(),
        }],
        format: None,
        stand_in: None,
        seen: None,
        simulated_reply: None,
    }
}

fn plain() -> ModelSettings {
    ModelSettings {
        model: "own".to_owned(),
        ..ModelSettings::default()
    }
}

fn at(session_id: &str, seat: Seat, index: u32) -> Address<'_> {
    Address {
        session_id,
        seat,
        index,
    }
}

fn lease(content_cache: bool) -> Lease {
    Lease {
        experiment_id: "x".to_owned(),
        team: "red".to_owned(),
        priority: -3,
        experiment_budget_nanodollars: Some(5),
        content_cache,
        ..Lease::default()
    }
}

fn luck(seed: u64, repeat: u32) -> Luck {
    Luck::new(seed, repeat)
}

fn spec(luck: Luck) -> SessionSpec {
    let origin = |model: &str| Origin {
        provider_kind: "openai".to_owned(),
        endpoint: "http://here/v1".to_owned(),
        provider_model: model.to_owned(),
        additions: String::new(),
    };
    SessionSpec {
        experiment: "x".to_owned(),
        setting: Settings::new(),
        luck,
        game: "g".to_owned(),
        outside: None,
        rules_version: 1,
        params: Settings::new(),
        seats: Vec::new(),
        prompts_version: None,
        prompt_bundle: None,
        origins: ["own", "b", "other"]
            .map(|name| (name.to_owned(), origin(name)))
            .into(),
    }
}

#[test]
fn origins_of_the_models_asked_and_required_parameters_go_along_and_are_no_part_of_the_question() {
    let asker = Asker::of_lease(&lease(false), &spec(luck(1, 0)));
    let settings = ModelSettings {
        fallback_models: vec!["b".to_owned(), "unknown".to_owned()],
        required: vec!["temperature"],
        ..plain()
    };
    let sent = decide_request(&at("s", 0, 0), &asker, &thought(settings.clone()));
    let models: Vec<&str> = sent
        .expected_origins
        .iter()
        .map(|origin| &*origin.model)
        .collect();
    assert_eq!(models, ["own", "b"]);
    assert_eq!(sent.expected_origins[0].endpoint, "http://here/v1");
    assert_eq!(sent.required_parameters, ["temperature"]);
    let lenient = ModelSettings {
        required: Vec::new(),
        ..settings
    };
    let bare = decide_request(&at("s", 0, 0), &Asker::default(), &thought(lenient));
    let digest = |request| CanonicalRequest::from(request).digest();
    assert_eq!(digest(&sent), digest(&bare));
}

#[test]
fn terms_are_sent_and_are_no_part_of_the_question() {
    let asker = Asker::of_lease(&lease(true), &spec(luck(1, 0)));
    let sent = decide_request(&at("s", 0, 0), &asker, &thought(plain()));
    assert_eq!(
        (sent.team.as_str(), sent.experiment_id.as_str()),
        ("red", "x")
    );
    assert_eq!(
        (sent.priority, sent.experiment_budget_nanodollars),
        (-3, Some(5))
    );
    assert!(sent.content_cache.is_some());
    let bare = decide_request(&at("s", 0, 0), &Asker::default(), &thought(plain()));
    assert_eq!(bare.content_cache, None);
    let digest = |request| CanonicalRequest::from(request).digest();
    assert_eq!(digest(&sent), digest(&bare));
}

#[test]
fn fallbacks_effort_and_stops_are_part_of_the_question() {
    let plain = decide_request(&at("s", 0, 0), &Asker::default(), &thought(plain()));
    let more = ModelSettings {
        fallback_models: vec!["b".to_owned(), "c".to_owned()],
        reasoning_effort: Some("low".to_owned()),
        stop_sequences: vec!["END".to_owned()],
        ..self::plain()
    };
    let sent = decide_request(&at("s", 0, 0), &Asker::default(), &thought(more));
    assert_eq!(sent.fallback_models, ["b", "c"]);
    assert_eq!(sent.reasoning_effort.as_deref(), Some("low"));
    assert_eq!(sent.stop_sequences, ["END"]);
    let digest = |request| CanonicalRequest::from(request).digest();
    assert_ne!(digest(&sent), digest(&plain));
}

#[test]
fn cached_answers_are_shared_by_experiments_and_never_by_repeats_seats_or_calls() {
    let cached = |session: &str, seat, index, luck| {
        let asker = Asker::of_lease(&lease(true), &spec(luck));
        let request = decide_request(&at(session, seat, index), &asker, &thought(plain()));
        request.content_cache.unwrap().replicate
    };
    let first = cached("one", 0, 0, luck(7, 0));
    assert_eq!(first, cached("of another experiment", 0, 0, luck(7, 0)));
    let others = [
        cached("one", 0, 0, luck(7, 1)),
        cached("one", 0, 0, luck(8, 0)),
        cached("one", 1, 0, luck(7, 0)),
        cached("one", 0, 1, luck(7, 0)),
        cached("one", 0, 0, luck(7, 0).at(1)),
        cached("one", 0, 0, luck(7, 0).at(2)),
    ];
    for (place, other) in others.iter().enumerate() {
        assert_ne!(*other, first);
        assert!(!others[..place].contains(other));
    }
}

#[test]
fn a_stand_in_goes_along_and_is_no_part_of_the_question() {
    let timed = Thought {
        stand_in: Some(TimedAnswer {
            after: std::time::Duration::from_millis(1_500),
            name: "truthful".to_owned(),
            reply: "{}".to_owned(),
        }),
        ..thought(plain())
    };
    let sent = decide_request(&at("s", 0, 0), &Asker::default(), &timed);
    let bare = decide_request(&at("s", 0, 0), &Asker::default(), &thought(plain()));
    let stand_in = sent.stand_in.as_ref().unwrap();
    assert_eq!((stand_in.after_ms, &*stand_in.name), (1_500, "truthful"));
    let digest = |request| CanonicalRequest::from(request).digest();
    assert_eq!(digest(&sent), digest(&bare));
}

#[test]
fn what_a_seat_has_seen_goes_along_and_is_no_part_of_the_question() {
    let mut seen = SeatView::new("guess_two_thirds", 1, 3);
    let event = Event::new("briefing", 0).only_for(vec![1]);
    seen.seen.push(event.fact("players", 3usize));
    let shown = Thought {
        seen: Some(Arc::new(seen.clone())),
        ..thought(plain())
    };
    let sent = decide_request(&at("s", 1, 0), &Asker::default(), &shown);
    let bare = decide_request(&at("s", 1, 0), &Asker::default(), &thought(plain()));
    let read: SeatView = serde_json::from_str(sent.seen.as_ref().unwrap()).unwrap();
    assert_eq!(read, seen);
    assert_eq!(bare.seen, None);
    let digest = |request| CanonicalRequest::from(request).digest();
    assert_eq!(digest(&sent), digest(&bare));
}

#[test]
fn only_a_fallback_that_answered_is_named_in_the_record() {
    let recorded = |answered: &str| {
        let response = v1::DecideResponse {
            model: answered.to_owned(),
            ..v1::DecideResponse::default()
        };
        recorded_decision(&at("s", 0, 0), "act", "own", response).model
    };
    assert_eq!(recorded("own"), None);
    assert_eq!(recorded(""), None, "a gateway that does not say");
    assert_eq!(recorded("second"), Some("second".to_owned()));
}

#[test]
fn spent_budget_is_told_apart_from_limits_of_the_transport() {
    let spent = Status::resource_exhausted("the budget is spent");
    assert!(matches!(mind_error(&spent), MindError::BudgetSpent(why) if why.contains("spent")));
    let mut torn = Status::resource_exhausted("too many pings");
    torn.set_source(Arc::new(std::io::Error::other("connection")));
    assert!(!is_budget_spent(&torn));
}

#[test]
fn of_a_reply_without_end_the_beginning_is_read_as_cut_off() {
    let said = |text: String| {
        let response = v1::DecideResponse {
            reply: text,
            finish_reason: "stop".to_owned(),
            ..v1::DecideResponse::default()
        };
        reply(&recorded_decision(&at("s", 0, 0), "act", "own", response))
    };
    let whole = said("é".repeat(MOST_READ_BYTES / 2));
    assert_eq!(
        (whole.text.len(), &*whole.finish_reason),
        (MOST_READ_BYTES, "stop")
    );
    let endless = said(format!("x{}", "é".repeat(8_000_000)));
    assert_eq!(
        (endless.text.len(), &*endless.finish_reason),
        (MOST_READ_BYTES - 1, "length")
    );
}
