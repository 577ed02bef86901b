//! Whatever a call asks for can be derived from what it says: the legal answers, what the seat
//! alone knows, the facts that a form's fields want. Tried on every call of whole games: all
//! games, versions of prompts, agents and styles of reply. A call whose prompt misses a fact that
//! its answer needs forces errors, which would be counted as the model's.

use std::collections::BTreeSet;
use std::sync::Mutex;

use agon_agents::{AGENTS, Mind, MindError, PromptLibrary, Reply, Thought};
use agon_engine::game::player_name;
use agon_engine::view::SeenEvent;
use agon_engine::{Ask, Form, PlayerSpec, Seat, Value, View, registry};
use futures_util::future::BoxFuture;
use serde_json::json;

#[path = "conversations/table.rs"]
#[allow(dead_code, missing_docs)]
mod table;

use table::{Game, player};

/// The seat whose calls are looked at: neither the first nor the last.
const SEAT: Seat = 1;

/// Answers as a simulated model does, and keeps what it was asked.
#[derive(Default)]
struct Heard(Mutex<Vec<Thought>>);

impl Mind for Heard {
    fn think(&self, thought: Thought) -> BoxFuture<'static, Result<Reply, MindError>> {
        let text = thought.simulated_reply.clone().unwrap_or_default();
        self.0.lock().unwrap().push(thought);
        let finish_reason = "stop".to_owned();
        Box::pin(std::future::ready(Ok(Reply {
            text,
            finish_reason,
        })))
    }
}

/// A call, with everything that its seat had seen when it was made.
struct Call {
    thought: Thought,
    seen: Vec<SeenEvent>,
    /// The ask that was open; none between asks.
    ask: Option<Ask>,
}

impl Call {
    fn text(&self) -> String {
        let messages = self.thought.messages.iter();
        let texts: Vec<&str> = messages.map(|message| &*message.content).collect();
        texts.join("\n")
    }

    /// The last event of a kind.
    fn last(&self, kind: &str) -> Option<&SeenEvent> {
        self.seen.iter().rev().find(|event| event.kind == kind)
    }

    fn all<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a SeenEvent> {
        self.seen.iter().filter(move |event| event.kind == kind)
    }
}

/// Every call of the seat, in order.
fn calls(game: &Game, player: &PlayerSpec, library: &PromptLibrary) -> Vec<Call> {
    let mut agent = game.agent(player, SEAT, library);
    let mind = Heard::default();
    let (mut calls, mut seen) = (Vec::new(), Vec::new());
    let mut shown = 0;
    let made = |seen: &[SeenEvent], ask: Option<&Ask>| {
        let thoughts = std::mem::take(&mut *mind.0.lock().unwrap());
        let calls = thoughts.into_iter().map(|thought| Call {
            thought,
            seen: seen.to_vec(),
            ask: ask.cloned(),
        });
        calls.collect::<Vec<Call>>()
    };
    let steps = game.steps.iter().filter(|step| step.ask.seat == SEAT);
    let steps = steps.map(Some).chain([None]);
    for step in steps {
        let until = step.map_or(game.events.len(), |step| step.events);
        for event in &game.events[shown..until] {
            let event = std::slice::from_ref(event);
            seen.extend(
                View::new(SEAT, event)
                    .sights()
                    .map(|sight| sight.to_event()),
            );
            table::show(&mut *agent, SEAT, event, &mind);
            calls.extend(made(&seen, None));
        }
        shown = until;
        if let Some(step) = step {
            let said = table::act(&mut *agent, &step.ask, None, &mind);
            calls.extend(made(&seen, Some(&step.ask)));
            // The game went on with another answer of the seat.
            let said = said.map(|_| step.action.clone().expect("no forfeits"));
            table::settle(&mut *agent, &said);
        }
    }
    calls
}

/// The numbers of a text, without signs: `-$5.50` is 5.5.
fn numbers(text: &str) -> BTreeSet<String> {
    let words = text.split(|letter: char| !(letter.is_ascii_digit() || letter == '.'));
    let words = words.map(|word| word.trim_matches('.'));
    words.filter(|word| !word.is_empty()).map(plain).collect()
}

/// A number without zeros at its end.
fn plain(number: &str) -> String {
    match number.split_once('.') {
        Some((_, decimals)) if !decimals.contains('.') => {
            let short = number.trim_end_matches('0').trim_end_matches('.');
            if short.is_empty() {
                "0".to_owned()
            } else {
                short.to_owned()
            }
        }
        _ => number.to_owned(),
    }
}

/// Whether a number is told: exactly, rounded, in percent, or as a fraction.
fn is_told(number: f64, told: &BTreeSet<String>) -> bool {
    let number = number.abs();
    let has = |way: &str| told.contains(&plain(way));
    let is_fraction = |below: u32| {
        let above = number * f64::from(below);
        (above - above.round()).abs() < 1e-9 && has(&format!("{}", above.round()))
    };
    has(&format!("{number}"))
        || (1..=6).any(|decimals| has(&format!("{number:.decimals$}")))
        || has(&format!("{:.6}", number * 100.0))
        || has(&format!("{:.1}", number * 100.0))
        || (2..=12).any(is_fraction)
}

/// What a value of a fact holds that must be told: its numbers.
fn numbers_of(value: &Value) -> Vec<f64> {
    let json = serde_json::to_value(value).unwrap();
    fn collect(json: &serde_json::Value, into: &mut Vec<f64>) {
        match json {
            serde_json::Value::Number(number) => into.extend(number.as_f64()),
            serde_json::Value::Array(list) => list.iter().for_each(|one| collect(one, into)),
            _ => {}
        }
    }
    let mut all = Vec::new();
    collect(&json, &mut all);
    all
}

/// The keys that a form wants, at any depth.
fn keys(schema: &serde_json::Value, into: &mut BTreeSet<String>) {
    match schema {
        serde_json::Value::Object(map) => {
            if let Some(serde_json::Value::Object(fields)) = map.get("properties") {
                into.extend(fields.keys().cloned());
            }
            map.values().for_each(|inner| keys(inner, into));
        }
        serde_json::Value::Array(list) => list.iter().for_each(|inner| keys(inner, into)),
        _ => {}
    }
}

/// What a call misses.
fn missing(call: &Call) -> Vec<String> {
    let text = call.text();
    let told = numbers(&text);
    let mut missing = Vec::new();
    if let Some(format) = &call.thought.format {
        let mut wanted = BTreeSet::new();
        keys(&serde_json::from_str(&format.schema).unwrap(), &mut wanted);
        let untold = wanted.into_iter().filter(|key| !text.contains(&**key));
        missing.extend(untold.map(|key| format!("the field {key}")));
    }
    let mut number = |what: &str, number: f64| {
        if !is_told(number, &told) {
            missing.push(format!("{what}: {number}"));
        }
    };
    let is_auction = call.last("item_opened").is_some() || call.thought.purpose == "plan";
    match call.thought.purpose {
        // Own words of auctions: whatever the decision, the standing or the plan rests on.
        "bid" | "strategy" | "predict" | "second_order" if is_auction => {
            let opened = call.last("item_opened").unwrap();
            for fact in ["starting_price", "minimum_increase", "budget"] {
                for one in opened.fact(fact).map(numbers_of).unwrap_or_default() {
                    number(fact, one);
                }
            }
            let since = call
                .seen
                .iter()
                .rposition(|event| event.kind == "item_opened");
            let rounds = call.seen[since.unwrap()..].iter();
            if let Some(round) = rounds.rev().find(|event| event.kind == "bid_round") {
                for one in round.fact("highest").map(numbers_of).unwrap_or_default() {
                    number("the highest bid", one);
                }
            }
        }
        "belief" => standings(call, &mut number),
        _ => {}
    }
    if let Some(ask) = call.ask.as_ref().filter(|_| !is_auction) {
        if !ABOUT_AN_ASK.contains(&call.thought.purpose) {
            legal(ask, &mut number);
        }
        let is_repeated = call
            .last("briefing")
            .is_some_and(|event| event.fact("history").is_some());
        for event in &call.seen {
            for (fact, value) in &event.facts {
                let fact_of = (&*event.kind, &**fact);
                if NOT_NEEDED.contains(&fact_of) || is_repeated && REPEATED.contains(&fact_of) {
                    continue;
                }
                for one in numbers_of(value) {
                    number(&format!("{} of {}", fact, event.kind), one);
                }
            }
        }
    }
    let answered = call.ask.as_ref();
    if let Some(ask) = answered.filter(|_| !ABOUT_AN_ASK.contains(&call.thought.purpose)) {
        words(ask, &text, &mut missing);
    }
    missing
}

/// Facts that need not be told, by event, because
/// - how many past rounds are told at most can be seen from those that are;
/// - balances at the end of a day are told in the morning, with the salary in them.
const NOT_NEEDED: [(&str, &str); 2] = [("briefing", "history"), ("round_result", "balances")];

/// Facts of a game that is told of as one, played again and again: how often it will be, and
/// what follows from everybody's answers (EconArena, appendices B.4 and B.8).
const REPEATED: [(&str, &str); 7] = [
    ("briefing", "rounds"),
    ("round_result", "mean"),
    ("round_result", "target"),
    ("round_result", "winner"),
    ("round_result", "winners"),
    ("round_result", "price"),
    ("round_result", "payoff"),
];

/// Calls that speak of an ask and do not answer it.
const ABOUT_AN_ASK: [&str; 2] = ["reflect", "feedback"];

/// The numbers that bound an answer.
fn legal(ask: &Ask, number: &mut impl FnMut(&str, f64)) {
    let bounds: Vec<f64> = match &ask.form {
        Form::Integer { min, max, .. } => min.iter().chain(max).map(|one| *one as f64).collect(),
        Form::Amount { min, max } => [Some(*min), *max]
            .iter()
            .flatten()
            .map(|one| *one as f64)
            .collect(),
        Form::Number { min, max } => vec![*min, *max],
        Form::Division { parts, total } => vec![*parts as f64, *total as f64],
        Form::Choice { .. } | Form::Target { .. } => Vec::new(),
    };
    for bound in bounds {
        number("a bound of the answer", bound);
    }
}

/// The words that may be answered.
fn words(ask: &Ask, text: &str, missing: &mut Vec<String>) {
    let options: Vec<String> = match &ask.form {
        Form::Choice { options } => options.iter().map(|option| option.to_string()).collect(),
        Form::Target { seats, pass } => {
            let names = seats.iter().map(|seat| player_name(*seat));
            names.chain(pass.iter().map(ToString::to_string)).collect()
        }
        _ => Vec::new(),
    };
    let untold = options
        .into_iter()
        .filter(|option| !text.contains(&**option));
    missing.extend(untold.map(|option| format!("the answer \"{option}\"")));
}

/// What a belief is derived from: how everybody stood before the last sale, and how it ended.
fn standings(call: &Call, number: &mut impl FnMut(&str, f64)) {
    let briefing = call.last("briefing").unwrap();
    let mut profits = vec![0.0; numbers_of(briefing.fact("players").unwrap())[0] as usize];
    let mut sales: Vec<&SeenEvent> = call.all("hammer").collect();
    let is_sold = call.seen.last().is_some_and(|event| event.kind == "hammer");
    let last = if is_sold { sales.pop() } else { None };
    let fact = |sale: &SeenEvent, name: &str| numbers_of(sale.fact(name).unwrap())[0];
    for sale in sales {
        profits[fact(sale, "winner") as usize] += fact(sale, "true_value") - fact(sale, "price");
        number("a price that was paid before", fact(sale, "price"));
    }
    for profit in profits {
        number("a profit before the sale", profit);
    }
    for name in ["price", "true_value"] {
        if let Some(last) = last {
            number(name, fact(last, name));
        }
    }
    let budget = call.last("item_opened").unwrap().fact("budget").unwrap();
    number("the budget before the sale", numbers_of(budget)[0]);
}

/// A small game of every kind.
fn games() -> Vec<Game> {
    let games = registry::GAMES.iter().map(|registration| {
        let name = &*registration.info.name;
        let built = registration.build(&table::settings(json!({}))).unwrap();
        let mut params = json!({ "players": 5 });
        if built.params.contains_key("rounds") {
            params["rounds"] = 4.into();
        }
        // Numbers that stand for nothing else.
        if name == "el_farol" {
            params["home"] = 37.into();
            params["max"] = 83.into();
        }
        table::play(name, &table::settings(params), 11, 0)
    });
    games.collect()
}

/// Every agent that plays a game, in every version; asked for JSON, whose form a schema may
/// enforce or not, and for words.
fn players(game: &Game) -> Vec<PlayerSpec> {
    let library = PromptLibrary::builtin();
    let mut players = Vec::new();
    for agent in AGENTS
        .iter()
        .filter(|agent| agent.plays(game.name) && agent.name != "person")
    {
        let folder = agent.folder(game.name, &library);
        for version in library.versions(&folder) {
            for reply in ["structured", "text"] {
                for settings in agent.rehearsals {
                    let mut settings: serde_json::Value = serde_json::from_str(settings).unwrap();
                    settings["agent"] = agent.name.into();
                    settings["prompt"] = (*version).into();
                    settings["model"] = "sim".into();
                    if settings.get("reply").is_none() {
                        settings["reply"] = reply.into();
                    }
                    players.push(player(settings));
                }
            }
        }
    }
    players
}

/// What the calls of these players miss, with who misses it, and how many calls there were.
fn faults(
    game: &Game,
    players: &[PlayerSpec],
    library: &PromptLibrary,
) -> (BTreeSet<String>, usize) {
    let (mut faults, mut looked_at) = (BTreeSet::new(), 0);
    for player in players {
        let [agent, version] = ["agent", "prompt"].map(|name| player.settings[name].clone());
        for call in calls(game, player, library) {
            looked_at += 1;
            let (name, purpose) = (game.name, call.thought.purpose);
            let missing = missing(&call).into_iter();
            faults.extend(missing.map(|one| format!("{name} {agent} {version} {purpose}: {one}")));
        }
    }
    (faults, looked_at)
}

#[test]
fn whatever_a_call_asks_for_can_be_derived_from_what_it_says() {
    let library = PromptLibrary::builtin();
    let mut all = 0;
    for game in games() {
        let (faults, looked_at) = faults(&game, &players(&game), &library);
        all += looked_at;
        assert!(faults.is_empty(), "{faults:#?}");
    }
    println!("{all} of {all} calls say what their answers need");
    assert!(all > 10_000, "{all}");
}

/// Templates, what is taken out of them, and what is missing then.
const PLANTED: [(&str, &str, &str); 6] = [
    // The fault that was found in Harbor's status update: it asked for what it did not show.
    (
        "english_auction_harbor/v1/belief.j2",
        r#"{% include "english_auction_harbor/v1/notes.j2" %}"#,
        "a profit before the sale",
    ),
    (
        "english_auction_bdi/v1/bid.j2",
        r#"{% include "english_auction_bdi/v1/status.j2" %}"#,
        "bid: budget",
    ),
    (
        "sealed_bid_auction/v1/open_valuation.j2",
        "{{ event.valuation }}",
        "valuation of",
    ),
    (
        "water_allocation/v1/open_day_opened.j2",
        "{{ event.balances[other] }}",
        "balances of",
    ),
    (
        "shared/answer.j2",
        " and {{ slot }} is {{ legal }}",
        "the answer",
    ),
    (
        "el_farol/v1/system.j2",
        r#"{{ game.home|counted("point") }}"#,
        "home of briefing",
    ),
];

#[test]
fn a_fact_that_is_taken_out_of_a_template_is_missed() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/prompts");
    for (path, taken, missed) in PLANTED {
        let text = std::fs::read_to_string(folder.join(path)).unwrap();
        assert!(text.contains(taken), "{path}: {text}");
        let replaced = [(path.to_owned(), text.replace(taken, ""))].into();
        let library = agon_agents::replaced(replaced).unwrap();
        let touched = |game: &Game| path.starts_with("shared/") || path.starts_with(game.name);
        let found = games().into_iter().filter(touched).any(|game| {
            let players = players(&game);
            let mut faults = faults(&game, &players, &library).0.into_iter();
            faults.any(|fault| fault.contains(missed))
        });
        assert!(found, "{path} without {taken}");
    }
}
