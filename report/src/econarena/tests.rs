//! Measures of contests and auctions small enough to work out by hand, of rule players that
//! say what the test tells them to.

use crate::layout::Layout;
use serde_json::{Value, json};

use super::*;
use crate::game_report::GameReport;
use crate::testing::{Table, close, fits, golden};

/// Two runs under a bound of 60: a says 30 then 15, b 60 then 30, c 6 and then nothing
/// valid. Targets: 2/3 of 32 is 21.3, closest 30; 2/3 of 22.5 is 15, so a wins twice.
const CONTEST: [(&str, &[f64]); 3] = [
    ("a", &[30.0, 15.0]),
    ("b", &[60.0, 30.0]),
    ("c", &[6.0, 999.0]),
];

fn contest(params: Value, setting: Value, seats: &[(&str, &[f64])]) -> StoredRecord {
    let mut all = json!({ "bound_min": 60, "bound_max": 60, "rounds": 2 });
    for (name, value) in params.as_object().unwrap() {
        all[name] = value.clone();
    }
    Table {
        game: "beauty_contest",
        params: all,
        setting,
        seats,
        repeat: 0,
    }
    .played()
}

fn auction(seats: &[(&str, &[f64])], setting: Value) -> StoredRecord {
    Table {
        game: "second_price_auction",
        params: json!({ "rounds": 1, "value_sd": 10, "value_mean": 50 }),
        setting,
        seats,
        repeat: 0,
    }
    .played()
}

fn one(record: &StoredRecord) -> Setting {
    EconArenaReport::of([record]).settings().remove(0)
}

#[test]
fn a_contest_by_hand() {
    let setting = one(&contest(json!({}), json!({}), &CONTEST));
    assert_eq!(
        (
            setting.measures.count("rounds"),
            setting.measures.count("history_shown")
        ),
        (2, 3)
    );
    let [a, b, c] = setting.rows("players") else {
        panic!("{setting:?}");
    };
    // A prize of 1 in each run; a third of it in equilibrium.
    assert_eq!(
        (a.count("sat"), a.number("payoff"), b.number("payoff")),
        (1, Some(1.0), Some(0.0))
    );
    close(a.number("equilibrium_payoff"), 1.0 / 3.0);
    close(a.number("payoff_gap"), 2.0 / 3.0);
    close(a.number("rationality"), 3.0);
    assert_eq!((a.number("wins"), c.number("wins")), (Some(1.0), Some(0.0)));
    assert_eq!(
        (a.number("rule_breaking"), c.number("rule_breaking")),
        (Some(0.0), Some(50.0))
    );
    assert_eq!((a.count("actions"), c.count("actions")), (2, 1));
    close(a.number("action"), 22.5);
    close(a.number("action_sd"), (2.0 * 7.5f64.powi(2)).sqrt());
    close(a.number("relative_action"), 0.375);
    close(a.number("deviation"), 0.375);
    close(b.number("deviation"), 0.75);
    // Nothing of auctions.
    assert_eq!(
        (
            a.number("final_over_equilibrium"),
            a.number("final_over_initial")
        ),
        (None, None)
    );
    assert_eq!(a.number("payoff_sd"), None);
}

#[test]
fn the_distance_of_a_path_halves_in_one_run() {
    let setting = one(&contest(json!({}), json!({}), &CONTEST));
    let [a, _, c] = setting.rows("paths") else {
        panic!("{setting:?}");
    };
    let points: Vec<_> = a
        .rows("runs")
        .iter()
        .map(|point| (point.count("run"), point.number("action")))
        .collect();
    assert_eq!(points, [(1, Some(30.0)), (2, Some(15.0))]);
    close(a.rows("runs")[0].number("distance"), 0.5);
    close(a.number("slope"), -0.25);
    close(a.number("log_slope"), 0.5f64.ln());
    close(a.number("half_life"), 1.0);
    // c said one valid number.
    assert_eq!(
        (
            c.rows("runs")[1].count("actions"),
            c.rows("runs")[1].number("distance")
        ),
        (0, None)
    );
    assert_eq!((c.number("slope"), c.number("half_life")), (None, None));
    let still: [(&str, &[f64]); 2] = [("zero", &[0.0]), ("riser", &[10.0, 20.0])];
    let setting = one(&contest(json!({}), json!({}), &still));
    let [zero, riser] = setting.rows("paths") else {
        panic!("{setting:?}");
    };
    // No logarithm of 0, and what grows never halves.
    assert_eq!(
        (
            zero.number("slope"),
            zero.number("log_slope"),
            zero.number("half_life")
        ),
        (Some(0.0), None, None)
    );
    close(riser.number("log_slope"), 2f64.ln());
    assert_eq!(riser.number("half_life"), None);
    let single = one(&contest(json!({ "rounds": 1 }), json!({}), &still));
    assert!(single.rows("paths").is_empty() && single.measures.count("history_shown") == 0);
}

#[test]
fn an_auction_by_hand() {
    let record = auction(
        &[("a", &[90.0]), ("b", &[60.0]), ("c", &[101.0])],
        json!({}),
    );
    let values = record.measures.series["private_values"].clone();
    let setting = one(&record);
    let [a, b, c] = setting.rows("players") else {
        panic!("{setting:?}");
    };
    // a pays 60; b and c keep their 100; in equilibrium the highest value pays the second.
    let mut sorted = values.clone();
    sorted.sort_by(|one, other| other.total_cmp(one));
    let best = |value: f64| {
        if value == sorted[0] {
            100.0 - sorted[1] + sorted[0]
        } else {
            100.0
        }
    };
    close(a.number("payoff"), 40.0 + values[0]);
    close(a.number("final_over_initial"), 0.4 + values[0] / 100.0);
    close(
        a.number("rationality"),
        (40.0 + values[0]) / best(values[0]),
    );
    assert_eq!(a.number("final_over_equilibrium"), a.number("rationality"));
    close(a.number("payoff_gap"), 40.0 + values[0] - best(values[0]));
    close(
        a.number("deviation"),
        ((40.0 + values[0]) / best(values[0]) - 1.0).abs(),
    );
    close(a.number("relative_action"), 90.0 / values[0]);
    close(b.number("rationality"), 100.0 / best(values[1]));
    assert_eq!(
        (b.number("wins"), b.number("rule_breaking")),
        (Some(0.0), Some(0.0))
    );
    // Out of range: no action, one foul in one run.
    assert_eq!(
        (
            c.count("actions"),
            c.number("action"),
            c.number("rule_breaking")
        ),
        (0, None, Some(100.0))
    );
}

#[test]
fn an_ascending_auction_tells_a_limit_by_what_was_stayed_at_and_refused() {
    let record = Table {
        game: "ascending_auction",
        params: json!({ "rounds": 2, "increment": 10, "history": 2 }),
        setting: json!({}),
        seats: &[("rational", &[]), ("rational", &[]), ("timid", &[])],
        repeat: 0,
    }
    .played_by(&[
        json!({ "strategy": "equilibrium" }),
        json!({ "strategy": "equilibrium" }),
        json!({ "strategy": "shade", "factor": 0.5 }),
    ]);
    let value = record.measures.series["private_values"][2];
    let setting = one(&record);
    let [rational, timid] = setting.rows("paths") else {
        panic!("{setting:?}");
    };
    // Whatever the winner would have gone to.
    assert_eq!(rational.rows("runs")[0].number("distance"), Some(0.0));
    assert_eq!(
        (rational.number("slope"), rational.number("log_slope")),
        (Some(0.0), None)
    );
    // It refuses the first price above half its value.
    let refused = 10.0 * ((value / 20.0).floor() + 1.0);
    close(
        timid.rows("runs")[1].number("distance"),
        (value - refused) / 100.0,
    );
    close(timid.rows("runs")[1].number("action"), refused - 10.0);
    let row = &setting.rows("players")[1];
    assert_eq!(
        (row.number("wins"), row.number("final_over_initial")),
        (Some(0.0), Some(1.0))
    );
    assert!(
        EconArenaReport::of([&record])
            .render(Layout::Text(100))
            .contains("Ascending auction, run by run")
    );
}

#[test]
fn a_void_run_is_counted_and_nothing_else_of_it_but_its_fouls() {
    let setting = one(&auction(&[("a", &[50.0]), ("b", &[500.0])], json!({})));
    assert_eq!(setting.measures.count("void_rounds"), 1);
    let [a, b] = setting.rows("players") else {
        panic!("{setting:?}");
    };
    assert_eq!(
        (
            a.number("payoff"),
            a.number("rationality"),
            a.count("actions")
        ),
        (None, None, 0)
    );
    assert_eq!(
        (a.number("rule_breaking"), b.number("rule_breaking")),
        (Some(0.0), Some(100.0))
    );
}

#[test]
fn history_is_compared_with_the_same_without_it() {
    let low = json!({ "label": "low" });
    let high = json!({ "label": "high" });
    let once = |setting: Value, a: f64| {
        let seats: [(&str, &[f64]); 2] = [("a", &[a]), ("b", &[60.0])];
        contest(json!({ "rounds": 1, "history": 0 }), setting, &seats)
    };
    let twice = |setting: Value| {
        let seats: [(&str, &[f64]); 2] = [("a", &[6.0]), ("b", &[60.0])];
        contest(json!({ "rounds": 2, "history": 3 }), setting, &seats)
    };
    let axis = |setting: &Value, history: u32| {
        let mut setting = setting.clone();
        setting["params.history"] = history.into();
        setting
    };
    // The axis of history tells the two apart; labels stay labels of something else.
    let records = [
        once(axis(&low, 0), 30.0),
        once(axis(&high, 0), 12.0),
        twice(axis(&low, 3)),
        twice(axis(&high, 3)),
    ];
    let settings = EconArenaReport::of(&records).settings();
    assert!(settings[0].rows("history").is_empty() && settings[1].rows("history").is_empty());
    let gained = |setting: usize, without: &str, deviation: f64| {
        let row = &settings[setting].rows("history")[0];
        assert_eq!(
            (row.word("player"), &row.words("without")[..]),
            ("a", &[without][..])
        );
        close(row.number("deviation_without"), deviation);
        close(row.number("deviation_with"), 0.1);
        close(row.number("deviation_gain"), 0.1 - deviation);
        // a wins all runs against 60 in all settings: 1 over half a prize.
        assert_eq!(
            (
                row.number("rationality_without"),
                row.number("rationality_gain")
            ),
            (Some(2.0), Some(0.0))
        );
        assert_eq!(
            (row.number("wins_with"), row.number("wins_gain")),
            (Some(1.0), Some(0.0))
        );
    };
    gained(2, "low, history=0", 0.5);
    gained(3, "high, history=0", 0.2);
    // Labels that say which of the two has history.
    let records = [once(low.clone(), 30.0), twice(high)];
    let settings = EconArenaReport::of(&records).settings();
    assert_eq!(settings[1].rows("history")[0].words("without"), ["low"]);
    // Other seats are another game.
    let others: [(&str, &[f64]); 2] = [("a", &[6.0]), ("c", &[60.0])];
    let records = [
        once(low, 30.0),
        contest(json!({}), json!({ "label": "x" }), &others),
    ];
    let settings = EconArenaReport::of(&records).settings();
    assert!(settings[1].rows("history").is_empty(), "{settings:?}");
}

#[test]
fn history_of_any_completeness_is_compared_with_none() {
    let played = |history: u32, shown: &str| {
        Table {
            game: "second_price_auction",
            params: json!({ "rounds": 2, "history": history, "shown": shown }),
            setting: json!({ "params.history": history, "params.shown": shown }),
            seats: &[("a", &[40.0]), ("b", &[60.0])],
            repeat: 0,
        }
        .played()
    };
    let records = [
        played(0, "strategies"),
        played(2, "strategies"),
        played(2, "strategies_and_values"),
    ];
    let settings = EconArenaReport::of(&records).settings();
    for setting in &settings[1..] {
        assert_eq!(
            setting.rows("history")[0].words("without"),
            ["history=0, shown=strategies"]
        );
        assert_eq!(setting.rows("history")[1].number("wins_gain"), Some(0.0));
    }
}

#[test]
fn opponents_are_the_names_of_all_others() {
    let records = [
        contest(json!({}), json!({ "label": "wild" }), &CONTEST),
        contest(
            json!({}),
            json!({ "label": "calm" }),
            &[("a", &[3.0]), ("b", &[60.0]), ("b", &[0.0])],
        ),
    ];
    let report = EconArenaReport::of(&records);
    let settings = report.settings();
    let names = |setting: usize| -> Vec<(String, Vec<String>)> {
        let rows = settings[setting].rows("opponents").iter();
        rows.map(|row| {
            (
                row.word("player").to_owned(),
                row.words("opponents")
                    .iter()
                    .map(|one| (*one).to_owned())
                    .collect(),
            )
        })
        .collect()
    };
    let named = |name: &str, others: &[&str]| {
        let others = others.iter().map(|other| (*other).to_owned());
        (name.to_owned(), others.collect::<Vec<_>>())
    };
    assert_eq!(names(1), [named("a", &["b"]), named("b", &["a", "b"])]);
    assert_eq!(names(0)[0], named("a", &["b", "c"]));
    let b = &settings[1].rows("opponents")[1];
    assert_eq!(
        (b.count("sat"), b.count("actions"), b.number("action")),
        (2, 4, Some(30.0))
    );
    let shown = report.render(Layout::Text(120));
    assert!(
        shown.contains("Beauty contest, by who else sat at the table"),
        "{shown}"
    );
    let alone = EconArenaReport::of(&records[..1]).render(Layout::Text(120));
    assert!(!alone.contains("by who else"), "{alone}");
}

#[test]
fn payoffs_of_the_first_sessions_are_kept() {
    let mut report = EconArenaReport::default();
    let won = contest(
        json!({ "rounds": 1 }),
        json!({}),
        &[("a", &[0.0]), ("b", &[60.0])],
    );
    let lost = contest(
        json!({ "rounds": 1 }),
        json!({}),
        &[("a", &[60.0]), ("b", &[0.0])],
    );
    for session in 0..61 {
        assert!(report.add(if session < 20 { &won } else { &lost }));
    }
    let settings = report.settings();
    let first = settings[0].rows("players")[0].rows("first_sessions");
    let known: Vec<_> = first
        .iter()
        .map(|row| (row.count("sessions"), row.number("payoff")))
        .collect();
    assert_eq!(known[0], (20, Some(1.0)));
    close(known[1].1, 1.0 / 3.0);
    assert_eq!(known.len(), 2);
    close(first[0].number("rationality"), 2.0);
    let beside = report
        .beside_published("econarena-senior", Layout::Text(120))
        .unwrap();
    let own = beside
        .lines()
        .find(|line| line.contains("yours") && line.contains(" a "))
        .unwrap();
    let cells: Vec<&str> = own.split_whitespace().collect();
    assert_eq!(
        cells,
        ["yours", "beauty_contest", "a", "1.000", "0.333", "-"]
    );
}

/// The paper's payoffs of auctions are a scale on which truthful bidders get some 1.3 on
/// average: the gap between the two highest of five values of group L, shared by five seats.
/// Final over equilibrium assets is 1 for all of them.
#[test]
fn truthful_bidders_earn_what_the_published_scale_says() {
    let names = ["a", "b", "c", "d", "e"];
    let sessions = (0..400).map(|repeat| {
        let seats = names.map(|name| (name, &[][..]));
        let params = json!({ "rounds": 1, "assets": 100, "value_mean": 50, "value_sd": 10 });
        Table {
            game: "second_price_auction",
            params,
            setting: json!({}),
            seats: &seats,
            repeat,
        }
        .played_by(&vec![json!({ "strategy": "equilibrium" }); names.len()])
    });
    let sessions: Vec<StoredRecord> = sessions.collect();
    let report = EconArenaReport::of(&sessions);
    let setting = report.settings().remove(0);
    let players = setting.rows("players").iter();
    let profits: Vec<f64> = players
        .clone()
        .filter_map(|row| row.number("profit"))
        .collect();
    let mean = profits.iter().sum::<f64>() / 5.0;
    assert!((1.0..1.6).contains(&mean), "{profits:?}");
    for row in players {
        close(row.number("final_over_equilibrium"), 1.0);
        close(row.number("profit"), row.number("payoff").unwrap() - 100.0);
    }
}

/// Both games, with and without history, one of them simulated.
fn all() -> EconArenaReport {
    let single = json!({ "rounds": 1 });
    let mut simulated = auction(
        &[("a", &[45.0]), ("b", &[60.0]), ("c", &[101.0])],
        json!({}),
    );
    simulated.simulated = true;
    let records = [
        contest(single, json!({ "params.rounds": 1 }), &CONTEST),
        contest(json!({}), json!({ "params.rounds": 2 }), &CONTEST),
        simulated,
    ];
    EconArenaReport::of(&records)
}

#[test]
fn tables_fit_80_and_100_columns() {
    let report = all();
    for (name, width) in [("econarena_100.txt", 100), ("econarena_80.txt", 80)] {
        let shown = report.render(Layout::Text(width));
        fits(&shown, width.into());
        golden(name, &shown);
    }
}

#[test]
fn json_has_one_object_per_setting_with_its_game() {
    let report = all();
    let settings = report.settings_as_json().unwrap();
    let settings: Vec<Value> = settings
        .iter()
        .map(|one| serde_json::from_str(one).unwrap())
        .collect();
    let games: Vec<&str> = settings
        .iter()
        .map(|one| one["game"].as_str().unwrap())
        .collect();
    assert_eq!(
        games,
        ["beauty_contest", "beauty_contest", "second_price_auction"]
    );
    assert_eq!(settings[1]["axes"], json!({ "params.rounds": 2 }));
    assert_eq!(settings[1]["paths"][0]["half_life"], json!(1.0));
    assert_eq!(settings[1]["history"][0]["without"], json!(["rounds=1"]));
    assert_eq!(settings[2]["simulated"], 1);
    assert_eq!(settings[2]["players"][2]["action"], Value::Null);
}

#[test]
fn own_figures_stand_below_published_ones_of_the_same_game_and_history() {
    let beside = all()
        .beside_published("econarena-melee", Layout::Text(400))
        .unwrap();
    let lines: Vec<&str> = beside.lines().collect();
    let own: Vec<usize> = lines
        .iter()
        .enumerate()
        .filter(|(_, line)| line.contains("yours"))
        .map(|(place, _)| place)
        .collect();
    // Below the nine contests without history.
    assert!(lines[own[0] - 1].contains("GPT4"), "{beside}");
    let cells: Vec<&str> = lines[own[0]].split_whitespace().collect();
    assert_eq!(
        cells,
        [
            "yours",
            "beauty_contest,",
            "no",
            "history",
            "a",
            "1.000",
            "0.00"
        ]
    );
    let auction = beside
        .lines()
        .find(|line| line.starts_with(" yours") && line.ends_with("simulated"));
    assert!(
        auction
            .unwrap()
            .contains("second_price_auction, no history"),
        "{beside}"
    );
    let with = beside.lines().find(|line| line.contains("with history"));
    assert!(with.unwrap().starts_with(" yours"), "{beside}");
}
