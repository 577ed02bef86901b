//! How a session of any game ended: payoffs, fouls and forfeits of each seat, scores
//! and what is behind them. Computes nothing. Called by `story.rs`.

use std::collections::BTreeMap;

use agon_engine::FoulKind;

use super::teller::Teller;
use super::words::number;
use crate::basis::SessionAnswers;
use crate::layout::Layout;
use crate::table::{Column, TextTable};

/// One line a seat: what judges are told is part of their sessions and must not wrap.
const WIDTH: u16 = u16::MAX;

/// Tells it.
pub fn tell(teller: &mut Teller<'_>) {
    let record = teller.record;
    let outcome = &record.outcome;
    teller.gap();
    teller.line(0, "Outcome");
    let columns = ["seat", "player", "payoff", "fouls", "forfeits"];
    let mut table = TextTable::new(columns.map(Column::words).into());
    for seat in teller.seats() {
        let payoff = outcome.payoffs.get(seat).copied().unwrap_or_default();
        let forfeits = outcome.forfeits.get(seat).copied().unwrap_or_default();
        table.row([
            teller.name_in_game(seat),
            record.spec.seats[seat].name.clone(),
            number(payoff),
            fouls(outcome.fouls.get(seat)),
            forfeits.to_string(),
        ]);
    }
    for line in table.fitted(Layout::Text(WIDTH)).lines() {
        teller.line(1, line.trim_start());
    }
    // Measures are of the whole table, not of what one seat could see.
    if teller.telling.seat.is_none() {
        tell_measures(teller);
    }
}

/// Scores and parts, and what they rest on; series are for programs.
pub fn tell_measures(teller: &mut Teller<'_>) {
    let (answers, measures) = (SessionAnswers::of(teller.record), &teller.record.measures);
    let notes = answers.notes();
    if !notes.is_empty() {
        teller.line(1, format!("Answers: {notes}"));
    }
    if !answers.all().suffice() {
        return;
    }
    for (what, numbers) in [("Scores", &measures.scores), ("Parts", &measures.parts)] {
        if numbers.is_empty() {
            continue;
        }
        let listed: Vec<String> = numbers
            .iter()
            .map(|(name, value)| format!("{name} {}", number(*value)))
            .collect();
        teller.line(1, format!("{what}: {}", listed.join(", ")));
    }
}

/// Classes of fouls with their counts.
fn fouls(fouls: Option<&BTreeMap<FoulKind, u32>>) -> String {
    let counted = fouls.into_iter().flatten().map(|(kind, count)| {
        let kind = serde_json::to_value(kind).unwrap_or_default();
        let kind = kind.as_str().unwrap_or_default().replace('_', " ");
        format!("{count} {kind}")
    });
    let counted: Vec<String> = counted.collect();
    if counted.is_empty() {
        "none".to_owned()
    } else {
        counted.join(", ")
    }
}
