//! A pilot: the first repeats of every setting are played, and from what they took follows what the
//! whole experiment will take. The run goes on from them. Called by `plan.rs`.

use std::collections::BTreeMap;
use std::time::Duration;

use agon_agent_gateway::GatewayConfig;
use agon_agent_gateway::money::NanoDollars;
use agon_coordinator::experiment::{Plan, Range};
use agon_outlets::InLine as _;
use agon_report::accumulator::Accumulator;
use agon_report::statistics::{Interval, Prediction, predicted_total};
use agon_report::{dollars, grouped};

use super::pace;
use crate::commands::run::{self, Run};
use crate::experiment_arguments::CheckedExperiment;
use crate::failure::Failure;
use crate::gathering::gather;
use crate::output::{self, Columns, counted};
use crate::role::LogArguments;

/// What a repeat of a setting took: its session, or those of its series together.
#[derive(Debug, Clone, Copy, Default)]
struct Taken {
    decisions: u64,
    input_tokens: u64,
    output_tokens: u64,
    seconds: f64,
    /// In nano-dollars; `None` where something has no price.
    cost: Option<u64>,
}

/// What was taken, by setting and repeat.
type Repeats = BTreeMap<String, BTreeMap<u32, Taken>>;

/// Plays at least so many sessions, a whole number of repeats of every setting.
///
/// # Errors
/// It would be the whole experiment, there are more settings than sessions, or the run failed.
pub fn play(
    run: &Run,
    checked: &CheckedExperiment,
    sessions: u32,
    log: &LogArguments,
) -> Result<(), Failure> {
    let document = &checked.document;
    let of_a_repeat = checked.settings * u64::from(document.series_length());
    let name = document.name.in_line();
    if of_a_repeat > u64::from(sessions) {
        return Err(Failure::BadInput(format!(
            "--pilot {sessions}: {name} has {}, and a pilot plays each of them at least once: \
             --pilot {of_a_repeat} does, or fewer settings by --set",
            counted(checked.settings, "setting")
        )));
    }
    let repeats = u64::from(sessions).div_ceil(of_a_repeat);
    let all = u64::from(document.repeats);
    if repeats >= all {
        return Err(Failure::BadInput(format!(
            "--pilot {sessions}: {name} has no more than {}; a pilot of at most {} leaves something \
             to predict, and `agon run` plays all of it",
            counted(checked.sessions(), "session"),
            of_a_repeat * (all - 1)
        )));
    }
    output::tell(&format!(
        "pilot: {}, {} of each of {}; they are paid for and kept, the run goes on from them",
        counted(repeats * of_a_repeat, "session"),
        counted(repeats, "repeat"),
        counted(checked.settings, "setting")
    ));
    let mut pilot = run.clone();
    // Fewer than all repeats, which are a number of that kind.
    pilot.experiment.repeats = u32::try_from(repeats).ok();
    pilot.unseen = true;
    run::run(&pilot, log)
}

/// Repeats of a setting below which intervals cover less than they say, and what is said of them, from
/// `docs/statistics.md`.
const FEW: usize = 30;
const CAVEAT: &str =
    "95 %: of fewer than 30 repeats of a setting such an interval covers 93 to 95 %";

/// Prints what all of it will take, according to the sessions of the pilot; answers the dollars that
/// are expected and the upper end of their interval, where all prices are known.
///
/// # Errors
/// The sessions cannot be read.
pub fn predict(
    run: &Run,
    checked: &CheckedExperiment,
    config: &GatewayConfig,
    plan: &Plan,
) -> Result<Option<(NanoDollars, NanoDollars)>, Failure> {
    let document = &checked.document;
    let mut taken = Repeats::new();
    let _ = gather(&[run.place().of(&document.name)], &[], |session| {
        let spec = &session.record.spec;
        let setting = serde_json::to_string(&(&spec.game, &spec.setting)).unwrap_or_default();
        let usage = session.telemetry.usage;
        let priced = usage
            .cost_nanodollars
            .filter(|_| usage.unpriced_decisions == 0);
        let repeats = taken.entry(setting).or_default();
        let one = repeats.entry(spec.luck.repeat).or_insert(Taken {
            cost: Some(0),
            ..Taken::default()
        });
        one.decisions += session.record.decisions.len() as u64;
        one.input_tokens += usage.input_tokens;
        one.output_tokens += usage.output_tokens;
        one.seconds += session.telemetry.seconds;
        one.cost = one.cost.zip(priced).map(|(sum, more)| sum + more);
        Ok(())
    })?;
    let repeats = u64::from(document.repeats);
    let total = |of: &dyn Fn(&Taken) -> Option<f64>| -> Option<Prediction> {
        let settings = taken.values().map(|repeats| {
            let mut numbers = Accumulator::default();
            for one in repeats.values() {
                numbers.add(of(one)?);
            }
            Some(numbers)
        });
        predicted_total(&settings.collect::<Option<Vec<_>>>()?, repeats)
    };
    let decisions = total(&|one| Some(one.decisions as f64));
    let input = total(&|one| Some(one.input_tokens as f64));
    let output_tokens = total(&|one| Some(one.output_tokens as f64));
    let cost = total(&|one| Some(one.cost? as f64));
    let seconds = total(&|one| Some(one.seconds));
    let mut columns = Columns::new(["predicted from the pilot", "in all", "95 %"]);
    let whole = |number: f64| grouped(number.round() as u64);
    let priced = |number: f64| dollars(number.round() as u64);
    for (name, prediction) in [
        ("decisions", decisions),
        ("input tokens", input),
        ("output tokens", output_tokens),
    ] {
        columns.row(row(name, prediction, &whole));
    }
    columns.row(row("dollars", cost, &priced));
    output::print(&columns.to_string());
    if taken.values().any(|repeats| repeats.len() < FEW) {
        output::print(CAVEAT);
    }
    if cost.is_none() {
        output::print(
            "No dollars: something was played whose price is unknown; `agon plan` says of which model",
        );
    }
    let Some(((decisions, input), (output_tokens, seconds))) =
        decisions.zip(input).zip(output_tokens.zip(seconds))
    else {
        return Ok(None);
    };
    let played: Vec<&Taken> = taken.values().flat_map(BTreeMap::values).collect();
    let longest = played.iter().map(|one| one.seconds).fold(0.0, f64::max);
    let done: f64 = played.iter().map(|one| one.seconds).sum();
    let at = |end: fn(&Prediction) -> f64| {
        let under_limits = pace::shortest(
            &scaled(plan, end(&decisions), end(&input), end(&output_tokens)),
            config,
        );
        let share = 1.0 - done / seconds.total.max(f64::MIN_POSITIVE);
        let playing = (end(&seconds) * share / run.at_a_time(checked) as f64).max(longest);
        let limited = under_limits.map_or(0.0, |time| time.as_secs_f64()) * share;
        (playing.max(limited), limited > playing)
    };
    let (time, is_limited) = at(|prediction| prediction.total);
    let [(low, _), (high, _)] = [
        at(|prediction| ends(prediction).low),
        at(|prediction| ends(prediction).high),
    ];
    let shown = |seconds: f64| {
        let whole = Duration::from_secs(
            Duration::try_from_secs_f64(seconds)
                .unwrap_or_default()
                .as_secs()
                .max(1),
        );
        humantime::format_duration(whole).to_string()
    };
    let why = match is_limited {
        true => "the limits of its keys, if nothing else uses them".to_owned(),
        false => format!(
            "how long sessions take, {} of them at a time",
            grouped(run.at_a_time(checked))
        ),
    };
    output::print(&format!(
        "time for what is left: {} ({} to {}), according to {why}",
        shown(time),
        shown(low),
        shown(high)
    ));
    let nano = |dollars: f64| NanoDollars(dollars.round() as u64);
    Ok(cost.map(|cost| (nano(cost.total), nano(ends(&cost).high))))
}

fn ends(prediction: &Prediction) -> Interval {
    let point = Interval::point(prediction.total);
    prediction.interval.unwrap_or(point)
}

fn row(name: &str, prediction: Option<Prediction>, shown: &dyn Fn(f64) -> String) -> [String; 3] {
    let Some(prediction) = prediction else {
        return [name.to_owned(), "unknown".to_owned(), String::new()];
    };
    let interval = prediction.interval.map_or_else(
        || "unknown: one setting, played once".to_owned(),
        |interval| format!("{} to {}", shown(interval.low), shown(interval.high)),
    );
    [name.to_owned(), shown(prediction.total), interval]
}

/// The plan with its expected figures made these in all, in the same shares of models.
fn scaled(plan: &Plan, decisions: f64, input: f64, output: f64) -> Plan {
    let mut plan = plan.clone();
    let models = || plan.models.values();
    let sums = [
        models().map(|needs| needs.decisions.expected).sum::<u64>(),
        models().map(|needs| needs.input_tokens.expected).sum(),
        models().map(|needs| needs.output_tokens.expected).sum(),
    ];
    let scale = |range: &mut Range, wanted: f64, sum: u64| {
        range.expected = (range.expected as f64 * wanted / sum.max(1) as f64).round() as u64;
    };
    for needs in plan.models.values_mut() {
        scale(&mut needs.decisions, decisions, sums[0]);
        scale(&mut needs.input_tokens, input, sums[1]);
        scale(&mut needs.output_tokens, output, sums[2]);
    }
    plan
}
