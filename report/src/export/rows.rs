//! The rows of a session in each table, in the order of its columns (`columns.rs`). Text is as it was
//! said; what a format cannot hold is the writer's business.

use std::collections::BTreeSet;

use agon_engine::PlayerKind;
use agon_engine::record::StoredRecord;
use agon_engine::spec::Settings;

use super::columns::{TABLES, Table};
use super::{Cell, Rows};
use crate::axes::axes_of;
use crate::basis::SessionAnswers;
use crate::common;
use crate::observation::{At, Observation, SessionObservations};
use crate::reports::Reports;
use crate::session::{Session, Telemetry, cluster_of};

/// Nano-dollars of a dollar.
const NANODOLLARS: f64 = 1e9;

/// Hands out all rows of a session that are wanted.
///
/// # Errors
/// A row cannot be taken.
pub fn rows_of<R: Rows>(
    record: &StoredRecord,
    telemetry: &Telemetry,
    reports: &Reports,
    out: &mut R,
) -> Result<(), R::Error> {
    let [sessions, seats, rounds, actions, decisions, observations] = &TABLES;
    let answers = SessionAnswers::of(record);
    if out.wants(sessions) {
        session_row(record, telemetry, sessions, out)?;
    }
    if out.wants(seats) {
        seat_rows(record, &answers, seats, out)?;
    }
    if out.wants(actions) {
        action_rows(record, actions, out)?;
    }
    if out.wants(decisions) {
        decision_rows(record, decisions, out)?;
    }
    if out.wants(rounds) || out.wants(observations) {
        let mut all = vec![common::observe(record)];
        all.extend(reports.observe(record));
        for session in &all {
            for one in session.iter() {
                if out.wants(observations) {
                    observation_row(session, one, observations, out)?;
                }
                if one.at.round.is_some() && out.wants(rounds) {
                    round_row(session, one, rounds, out)?;
                }
            }
        }
    }
    Ok(())
}

fn session_row<R: Rows>(
    record: &StoredRecord,
    telemetry: &Telemetry,
    table: &'static Table,
    out: &mut R,
) -> Result<(), R::Error> {
    let session = Session::of(record);
    let spec = &record.spec;
    let setting = serde_json::to_string(&axes_of(spec)).unwrap_or_default();
    let params = serde_json::to_string(&spec.params).unwrap_or_default();
    let models = words(
        spec.seats
            .iter()
            .filter_map(|seat| word(&seat.settings, "model")),
        " ",
    );
    let answered_by = record
        .decisions
        .iter()
        .map(|decision| &*decision.answered_by);
    let answered_by = words(answered_by, " ");
    let endpoints = spec.origins.values().map(|origin| &*origin.endpoint);
    let endpoints = words(endpoints, "; ");
    let cluster = cluster_of(record.session.as_str(), &record.spec);
    let (players, notes) = (session.players(), session.notes());
    let usage = &telemetry.usage;
    let cost = usage.known_cost().map(|cost| cost as f64 / NANODOLLARS);
    out.row(
        table,
        &[
            Cell::Text(record.session.as_str()),
            Cell::Text(&spec.experiment),
            Cell::Text(&spec.game),
            Cell::Text(&setting),
            Cell::Text(&params),
            count(spec.luck.seed),
            count(spec.luck.repeat),
            count(spec.luck.place),
            Cell::Text(&cluster),
            count(spec.rules_version),
            optional(spec.prompts_version.as_deref()),
            optional(spec.prompt_bundle.as_deref()),
            Cell::Text(&players),
            some(&models),
            some(&answered_by),
            some(&endpoints),
            Cell::Flag(record.simulated),
            Cell::Flag(!session.answers().all().suffice()),
            count(session.asks()),
            count(session.forfeits()),
            count(session.answers().by_stand_in()),
            count(session.fouls()),
            count(record.decisions.len() as u64),
            count(usage.input_tokens),
            count(usage.output_tokens),
            real(cost),
            count(usage.unpriced_decisions),
            count(usage.estimated_decisions),
            Cell::Number(telemetry.seconds),
            count(telemetry.attempt),
            Cell::Number(session.mean_payoff()),
            some(&notes),
        ],
    )
}

fn seat_rows<R: Rows>(
    record: &StoredRecord,
    answers: &SessionAnswers,
    table: &'static Table,
    out: &mut R,
) -> Result<(), R::Error> {
    for (seat, player) in record.spec.seats.iter().enumerate() {
        let of_seat = answers.of_seat(seat);
        let asked = of_seat.asks();
        let outcome = &record.outcome;
        let settings = serde_json::to_string(&player.settings).unwrap_or_default();
        out.row(
            table,
            &[
                Cell::Text(record.session.as_str()),
                Cell::Text(&record.spec.game),
                count(seat as u64),
                Cell::Text(&player.name),
                Cell::Text(match player.kind {
                    PlayerKind::Rule => "rule",
                    PlayerKind::Model => "model",
                }),
                optional(word(&player.settings, "model")),
                optional(word(&player.settings, "agent")),
                optional(word(&player.settings, "strategy")),
                Cell::Text(&settings),
                real(outcome.payoffs.get(seat).copied()),
                count(asked.asks),
                count(outcome.fouls_of(seat)),
                count(asked.forfeited),
                count(asked.by_stand_in),
                Cell::Flag(!of_seat.suffice()),
            ],
        )?;
    }
    Ok(())
}

fn action_rows<R: Rows>(
    record: &StoredRecord,
    table: &'static Table,
    out: &mut R,
) -> Result<(), R::Error> {
    for made in &record.moves {
        let action = (!made.action.is_null()).then(|| made.action.to_string());
        let first = made.fouls.first().map(|foul| foul.kind.name());
        out.row(
            table,
            &[
                Cell::Text(record.session.as_str()),
                Cell::Text(&record.spec.game),
                count(made.turn),
                count(made.seat as u64),
                optional(player(record, made.seat)),
                Cell::Text(&made.ask),
                optional(action.as_deref()),
                real(made.action.as_f64()),
                Cell::Flag(made.forfeited),
                count(made.fouls.len() as u64),
                optional(first),
            ],
        )?;
    }
    Ok(())
}

fn decision_rows<R: Rows>(
    record: &StoredRecord,
    table: &'static Table,
    out: &mut R,
) -> Result<(), R::Error> {
    for made in &record.decisions {
        let seat = record.spec.seats.get(made.seat);
        let own = seat.and_then(|seat| word(&seat.settings, "model"));
        let applied = made.applied.as_ref();
        let not_sent = applied.map(|applied| applied.omitted.join(" "));
        let logprobs = Some(&made.logprobs).filter(|tokens| !tokens.is_empty());
        let logprobs = logprobs.and_then(|tokens| serde_json::to_string(tokens).ok());
        out.row(
            table,
            &[
                Cell::Text(record.session.as_str()),
                Cell::Text(&record.spec.game),
                count(made.seat as u64),
                optional(player(record, made.seat)),
                count(made.index),
                Cell::Text(&made.purpose),
                Cell::Text(&made.request),
                optional(made.model.as_deref().or(own)),
                some(&made.answered_by),
                some(&made.finish_reason),
                real(applied.and_then(|applied| applied.temperature)),
                whole(applied.and_then(|applied| applied.max_output_tokens)),
                optional(
                    applied
                        .map(|applied| &*applied.reply_format)
                        .filter(|form| !form.is_empty()),
                ),
                optional(not_sent.as_deref().filter(|words| !words.is_empty())),
                Cell::Text(&made.reply),
                some(&made.reasoning),
                optional(logprobs.as_deref()),
                Cell::Flag(made.simulated),
            ],
        )?;
    }
    Ok(())
}

fn observation_row<R: Rows>(
    session: &SessionObservations<'_>,
    one: &Observation<'_>,
    table: &'static Table,
    out: &mut R,
) -> Result<(), R::Error> {
    let (record, at) = (session.record, one.at);
    out.row(
        table,
        &[
            Cell::Text(record.session.as_str()),
            Cell::Text(&record.spec.game),
            Cell::Text(one.measure),
            Cell::Text(grain(at)),
            whole(at.seat.map(|seat| seat as u64)),
            optional(at.seat.and_then(|seat| session.player(seat))),
            whole(at.about.map(|seat| seat as u64)),
            whole(at.round),
            optional(at.item),
            whole(at.lot),
            at.price.map_or(Cell::Null, Cell::Integer),
            optional(at.category),
            Cell::Number(one.value),
            Cell::Flag(record.simulated),
            Cell::Flag(one.forfeited),
        ],
    )
}

fn round_row<R: Rows>(
    session: &SessionObservations<'_>,
    one: &Observation<'_>,
    table: &'static Table,
    out: &mut R,
) -> Result<(), R::Error> {
    let (record, at) = (session.record, one.at);
    out.row(
        table,
        &[
            Cell::Text(record.session.as_str()),
            Cell::Text(&record.spec.game),
            whole(at.round),
            whole(at.seat.map(|seat| seat as u64)),
            optional(at.seat.and_then(|seat| session.player(seat))),
            Cell::Text(one.measure),
            optional(at.category),
            Cell::Number(one.value),
            Cell::Flag(one.forfeited),
        ],
    )
}

/// What an observation is of.
fn grain(at: At<'_>) -> &'static str {
    match (at.seat.is_some(), at.about, at.item, at.round) {
        (_, Some(_), ..) => "pair",
        (true, _, Some(_), _) => "seat_item",
        (false, _, Some(_), _) => "item",
        (true, _, _, Some(_)) => "seat_round",
        (false, _, _, Some(_)) => "round",
        (true, ..) => "seat",
        (false, ..) => "session",
    }
}

fn player(record: &StoredRecord, seat: usize) -> Option<&str> {
    record.spec.seats.get(seat).map(|one| &*one.name)
}

fn word<'a>(settings: &'a Settings, key: &str) -> Option<&'a str> {
    settings.get(key)?.as_str()
}

/// Each of these words once, in order of name.
fn words<'a>(all: impl Iterator<Item = &'a str>, joint: &str) -> String {
    let all: BTreeSet<&str> = all.filter(|word| !word.is_empty()).collect();
    all.into_iter().collect::<Vec<_>>().join(joint)
}

fn count<'a>(number: impl Into<u64>) -> Cell<'a> {
    Cell::Integer(i64::try_from(number.into()).unwrap_or(i64::MAX))
}

fn whole<'a>(number: Option<impl Into<u64>>) -> Cell<'a> {
    number.map_or(Cell::Null, count)
}

fn real<'a>(number: Option<f64>) -> Cell<'a> {
    number.map_or(Cell::Null, Cell::Number)
}

fn optional(text: Option<&str>) -> Cell<'_> {
    text.map_or(Cell::Null, Cell::Text)
}

/// Text, or null where it is empty.
fn some(text: &str) -> Cell<'_> {
    optional(Some(text).filter(|text| !text.is_empty()))
}
