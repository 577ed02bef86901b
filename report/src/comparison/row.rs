//! Rows of a comparison: what two sets have in common, session by session, and what must be said of it.
//! Called by `comparison.rs`.

use std::collections::BTreeSet;

use super::{SCORE, SESSIONS, Set, Sided, Values, What};
use crate::accumulator::Accumulator;
use crate::basis::{Basis, Note};
use crate::table::count;

/// A row, before p-values are adjusted.
pub(super) struct Row {
    pub what: What,
    /// Which set is beside the first.
    pub beside: usize,
    /// Who plays, where a side has several.
    pub players: Option<String>,
    pub pairs: Vec<(f64, f64)>,
    /// Sessions or series that only one side has.
    pub alone: [usize; 2],
    /// Those that both have.
    pub in_both: usize,
    /// What those rest on, by side.
    pub bases: [Basis; 2],
    /// One side is simulated and the other is not, or one side is both.
    pub is_mixed: bool,
    /// A simulated model answered.
    pub is_simulated: bool,
}

impl Row {
    /// What must be said of it: sessions without a partner, and what the numbers of each side rest on.
    pub fn notes(&self, differences: &Accumulator) -> String {
        let mut notes = Vec::new();
        for (alone, side) in self.alone.iter().zip(["A", "B"]) {
            if *alone > 0 {
                notes.push(format!("{} only in {side}", count(*alone as u64)));
            }
        }
        let left_out = self.in_both - self.pairs.len();
        if self.is_mixed {
            notes.push("simulated and real: not compared".to_owned());
        } else if left_out > 0 {
            let [left_out, all] = [left_out, self.in_both].map(|one| count(one as u64));
            notes.push(format!("{left_out} of {all} pairs left out"));
        }
        let marks = self.bases.each_ref().map(marks);
        match marks {
            [a, b] if a.is_empty() && b.is_empty() => {}
            [a, b] if a == b => notes.push(format!("A and B: {a}")),
            [a, b] => {
                let sides = [("A", a), ("B", b)].into_iter();
                let sides = sides.filter(|(_, marks)| !marks.is_empty());
                notes.extend(sides.map(|(side, marks)| format!("{side}: {marks}")));
            }
        }
        let [a, b] = &self.bases;
        let differing = a.differs_from(b);
        if !differing.is_empty() {
            notes.push(format!("A and B differ in {}", differing.join(" and ")));
        }
        if self.is_simulated && !self.is_mixed {
            notes.push("simulated".to_owned());
        }
        if differences.standard_deviation() == Some(0.0) {
            notes.push("all differences are the same".to_owned());
        }
        notes.join("; ")
    }
}

/// What must be said of a side, in the words of other tables; whether it is simulated, its row says.
fn marks(basis: &Basis) -> String {
    let notes = basis.notes_below_title();
    let notes: Vec<String> = notes.iter().map(Note::in_words).collect();
    notes.join(", ")
}

impl Set {
    /// What it has of something; of scores, with the sessions that have none.
    fn of(&self, what: &What) -> Sided {
        let own = self.values.get(what).cloned().unwrap_or_default();
        if !what.measure.starts_with(SCORE) {
            return own;
        }
        let sessions = What {
            measure: SESSIONS.to_owned(),
            ..what.clone()
        };
        let mut all = self.values.get(&sessions).cloned().unwrap_or_default();
        for (players, values) in own.by_players {
            all.by_players.entry(players).or_default().extend(values);
        }
        all
    }
}

/// A row for everything that either of two sets has.
pub(super) fn rows_of(first: &Set, other: &Set, beside: usize) -> Vec<Row> {
    let whats = first.values.keys().chain(other.values.keys());
    let whats: BTreeSet<&What> = whats.filter(|what| what.measure != SESSIONS).collect();
    let rows = whats.into_iter().flat_map(|what| {
        let [a, b] = [first, other].map(|set| set.of(what));
        let simulated: BTreeSet<&bool> = a.simulated.union(&b.simulated).collect();
        let is_mixed = simulated.len() > 1;
        let is_simulated = simulated.contains(&true);
        let none = Values::default();
        let row = |players: Option<&String>, a: &Values, b: &Values| {
            let mut pairs = Vec::new();
            let (mut in_both, mut bases) = (0, <[Basis; 2]>::default());
            for (luck, own) in a {
                let Some(partner) = b.get(luck) else { continue };
                in_both += 1;
                if is_mixed {
                    continue;
                }
                pairs.extend(own.numbers.mean().zip(partner.numbers.mean()));
                bases[0].merge(&own.basis);
                bases[1].merge(&partner.basis);
            }
            Row {
                what: what.clone(),
                beside,
                players: players.cloned(),
                alone: [a.len() - in_both, b.len() - in_both],
                in_both,
                pairs,
                bases,
                is_mixed,
                is_simulated,
            }
        };
        let only = |sided: &Sided| sided.by_players.len() <= 1;
        if only(&a) && only(&b) {
            let [a, b] = [&a, &b].map(|sided| sided.by_players.values().next().unwrap_or(&none));
            return vec![row(None, a, b)];
        }
        // Of several players each is compared with itself.
        let both = a.by_players.keys().chain(b.by_players.keys());
        let both: BTreeSet<&String> = both.collect();
        let of = |sided: &Sided, players: &String| -> Values {
            sided.by_players.get(players).cloned().unwrap_or_default()
        };
        let rows = both.into_iter();
        rows.map(|players| row(Some(players), &of(&a, players), &of(&b, players)))
            .collect()
    });
    rows.collect()
}
