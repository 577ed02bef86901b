//! Scores of the pirate game, played and predicted. What the right plan and vote
//! are is left to `theory.rs`. Called by the game only.

use crate::games::pirate::theory::{Theory, reference_plan};
use crate::games::pirate::{ACCEPT, PirateParams};
use crate::games::prelude::*;

/// The gold that the newer scheme scales every plan to.
const SCALED_GOLD: i64 = 100;

/// A plan's distance from the reference, in the terms of both schemes.
struct Distance {
    /// With the plan scaled to 100 gold, against the reference of 100 gold.
    scaled: f64,
    /// In gold, against the reference of the gold there is.
    golds: f64,
}

fn distance(plan: &[i64], gold: i64) -> Distance {
    let scale = SCALED_GOLD as f64;
    Distance {
        scaled: apart(plan, SCALED_GOLD, |share| scale * share / gold as f64),
        golds: apart(plan, gold, |share| share),
    }
}

/// The sum of the differences between scaled shares and the reference plan.
fn apart(plan: &[i64], reference_gold: i64, scaled: impl Fn(f64) -> f64) -> f64 {
    let right = reference_plan(plan.len(), reference_gold);
    let pairs = plan.iter().zip(right);
    pairs
        .map(|(share, right)| (scaled(*share as f64) - right as f64).abs())
        .sum()
}

/// Whether the source counts a vote as right: for a share of 2 or more, or of 1
/// at an even offset from the proposer; against a share of 0. A share of 1 at an
/// odd offset, or a negative one, is never voted on rightly.
fn is_right(offset: usize, share: i64, accepts: bool) -> bool {
    match share {
        2.. => accepts,
        1 => accepts && offset.is_multiple_of(2),
        0 => !accepts,
        _ => false,
    }
}

/// What the plans and votes of a session come to.
#[derive(Default)]
struct Tally {
    distances: Vec<Distance>,
    right: Vec<f64>,
    right_votes: usize,
    votes: usize,
}

impl Tally {
    /// Counts a plan and the votes on it; `accepts` is asked by offset from the
    /// proposer, whose own vote does not count.
    fn add(&mut self, plan: &[i64], gold: i64, accepts: impl Fn(usize) -> bool) {
        let offsets = 1..plan.len();
        let voters = offsets.len();
        let right = offsets
            .filter(|offset| is_right(*offset, plan[*offset], accepts(*offset)))
            .count();
        self.distances.push(distance(plan, gold));
        self.right.push(right as f64 / voters as f64);
        self.right_votes += right;
        self.votes += voters;
    }

    /// The mean distances and the share of right votes; `None` without a plan.
    fn parts(&self) -> Option<(Distance, f64)> {
        if self.distances.is_empty() {
            return None;
        }
        let average = Distance {
            scaled: mean(self.distances.iter().map(|distance| distance.scaled)),
            golds: mean(self.distances.iter().map(|distance| distance.golds)),
        };
        Some((average, self.right_votes as f64 / self.votes as f64))
    }
}

/// The newer and the older score.
fn combined(distance: &Distance, votes: f64, gold: i64) -> (f64, f64) {
    let (most, most_golds) = ((2 * SCALED_GOLD) as f64, (2 * gold) as f64);
    let new = (most - distance.scaled) / most;
    let old = (most_golds - distance.golds) / most_golds;
    (new * 50.0 + votes * 50.0, old * 50.0 + votes * 50.0)
}

/// Plays the theory through: one plan where the gold reaches for the votes that the
/// first needs, otherwise one for everybody who goes overboard first.
pub(super) fn equilibrium(params: &PirateParams, theory: &Theory) -> Equilibrium {
    let mut tally = Tally::default();
    let mut alive = params.players;
    while alive > 1 {
        let accepts = |offset, plan: &[i64]| theory.accepts(alive, offset, plan[offset]);
        let plan = theory.plan(alive, params.gold);
        tally.add(&plan, params.gold, |offset| accepts(offset, &plan));
        if theory.fates(alive)[0].is_some() {
            break;
        }
        alive -= 1;
    }
    let overboard = params.players - alive;
    let play = match overboard {
        0 => "the first buys the cheapest votes it needs and keeps the rest; it is accepted"
            .to_owned(),
        _ => format!("the gold does not reach: the first {overboard} go overboard"),
    };
    match tally.parts() {
        Some((distance, votes)) => {
            let (new, old) = combined(&distance, votes, params.gold);
            Equilibrium::exact(play, [("iclr2025", new), ("arxiv2024", old)])
        }
        None => Equilibrium::exact(play, []),
    }
}

/// Scores of both schemes (arXiv 2403.11807, section 3.1 and version 1, appendix
/// C). S_P and S_P_golds are the mean distances of the plans from the reference,
/// S_V is the share of right votes among all votes but the proposers':
/// `iclr2025` is (200 - S_P) / 200 * 50 + S_V * 50, `arxiv2024` the same with
/// S_P_golds and twice the gold. Forfeited proposals are no plans.
pub(super) fn measures(params: &PirateParams, log: &EventLog) -> Measures {
    let mut measures = Measures::default();
    let mut tally = Tally::default();
    let mut support = Vec::new();
    for event in log.of_kind("vote_result") {
        let plan = event.integers("plan");
        if plan.is_empty() {
            continue;
        }
        let accepts = |offset| event.entry("votes", offset).text() == Some(ACCEPT);
        tally.add(plan, params.gold, accepts);
        let in_favour = (0..plan.len()).filter(|offset| accepts(*offset)).count();
        support.push(in_favour as f64 / plan.len() as f64);
    }
    let Some((distance, votes)) = tally.parts() else {
        return measures;
    };
    let (new, old) = combined(&distance, votes, params.gold);
    measures.score("iclr2025", new);
    measures.score("arxiv2024", old);
    measures.part("S_P", distance.scaled);
    measures.part("S_P_golds", distance.golds);
    measures.part("S_V", votes);
    measures.series(
        "distance",
        tally
            .distances
            .iter()
            .map(|distance| distance.scaled)
            .collect(),
    );
    measures.series("vote_accuracy", tally.right);
    measures.series("accepts", support);
    measures
}
