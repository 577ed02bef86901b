//! `agon conformance`: whether the process of a game that is played elsewhere keeps what every game
//! must hold, and the contract. Plays hundreds of sessions with it. Started by `commands.rs`.

use std::collections::{BTreeMap, BTreeSet};

use agon_engine::conformance::{PROPERTIES, cases};
use agon_referee::{CLAUSES, PLAYS, TestedGame};

use crate::failure::Failure;
use crate::output::{self, counted};
use crate::outside::connect_to;
use crate::role::runtime;

/// Properties of the kit that are not asked of games that are played elsewhere: what they declare to
/// nobody cannot be held against them, and their draws are made where they are.
const LEFT_OUT: [(&str, &str); 5] = [
    ("declared", "such a game does not declare who is told what"),
    ("secrets", "such a game does not declare who is told what"),
    ("equilibrium", "such a game states no equilibrium"),
    (
        "strategies",
        "its rule players are those that play any game",
    ),
    ("listed_outcomes", "its draws are made in its own process"),
];

/// Faults of one property that are shown.
const SHOWN: usize = 3;

/// Letters of a fault.
const LETTERS: usize = 500;

/// Arguments of `agon conformance`.
#[derive(Debug, clap::Args)]
pub struct Conformance {
    /// Where the game's process listens, such as http://127.0.0.1:9000
    #[arg(value_name = "URL")]
    address: String,
}

/// Checks everything.
///
/// # Errors
/// Exit 1 when something does not hold, 2 when what is described is no game, 3 when nobody answers.
pub fn run(arguments: &Conformance) -> Result<(), Failure> {
    let runtime = runtime()?;
    let client = runtime.block_on(connect_to(&arguments.address))?;
    let tested = TestedGame::new(client, runtime.handle().clone());
    let game = tested.description();
    output::print(&format!(
        "{} ({}), rules version {}",
        game.title, game.name, game.rules_version
    ));
    let mut report = Report::default();
    for clause in [PLAYS].iter().chain(CLAUSES) {
        let held = (clause.holds)(&tested);
        let faults = held.err().map(|why| (why, String::new()));
        report.say(clause.name, clause.statement, faults.into_iter().collect());
        if clause.name == PLAYS.name && report.broken > 0 {
            return Err(Failure::BadNews(
                "the rest is not asked of a game that does not play, see above".to_owned(),
            ));
        }
    }
    let registration = tested.registration();
    let mut left_out: BTreeMap<&str, &str> = LEFT_OUT.into_iter().collect();
    if game.payoff_bounds.is_none() {
        left_out.insert("payoffs", "the game states no payoff_bounds");
    }
    let all = cases(&registration);
    for property in PROPERTIES {
        if left_out.contains_key(property.name) {
            continue;
        }
        let mut faults = Vec::new();
        for case in &all {
            let held = (property.holds)(case);
            if let Some(why) = tested.take_fault().or(held.err()) {
                let params = serde_json::to_string(&case.params).unwrap_or_default();
                faults.push((why, format!(" (seed {}, {params})", case.luck.seed)));
            }
        }
        report.say(property.name, property.statement, faults);
    }
    for (name, why) in &left_out {
        output::print(&format!("not asked  {name}: {why}"));
    }
    let tried = format!(
        "{} with {} of parameters and luck",
        counted(tested.steps(), "step"),
        counted(all.len() as u64, "combination")
    );
    match report.broken {
        0 => {
            output::print(&format!("{} conforms: {tried}", game.name));
            Ok(())
        }
        some => Err(Failure::BadNews(format!(
            "{}, see above: {tried}",
            counted(some, "fault")
        ))),
    }
}

/// What was found, as it is printed.
#[derive(Default)]
struct Report {
    broken: u64,
    said: BTreeSet<String>,
}

impl Report {
    /// Says whether something holds, with a few of the faults: what went wrong, and in which case.
    fn say(&mut self, name: &str, statement: &str, mut faults: Vec<(String, String)>) {
        let mark = if faults.is_empty() { "holds" } else { "BROKEN" };
        output::print(&format!("{mark:6}  {name}: {statement}"));
        if faults.is_empty() {
            return;
        }
        self.broken += 1;
        let all = faults.len();
        faults.retain(|(why, _)| self.said.insert(why.clone()));
        for (why, case) in faults.iter().take(SHOWN) {
            let why: String = why.chars().take(LETTERS).collect();
            output::print(&format!("        {}{case}", why.replace('\n', " | ")));
        }
        let shown = faults.len().min(SHOWN);
        if all > shown {
            let rest = counted((all - shown) as u64, "case");
            let which = if shown == 0 { "as above" } else { "and" };
            output::print(&format!("        {which} in {rest}"));
        }
    }
}
