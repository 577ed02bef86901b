//! Scores of the pirate game, played and predicted. Called by the game only.

use crate::event::{Event, EventLog};
use crate::game::{Equilibrium, ExpectedScore};
use crate::games::EXACT;
use crate::games::pirate::theory::{Theory, reference_plan};
use crate::games::pirate::{ACCEPT, PirateParams};
use crate::measures::{Measures, mean};

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
    let (of_hundred, of_gold) = (
        reference_plan(plan.len(), SCALED_GOLD),
        reference_plan(plan.len(), gold),
    );
    let scale = |share: i64| (SCALED_GOLD * share) as f64 / gold as f64;
    let scaled = plan
        .iter()
        .zip(of_hundred)
        .map(|(share, right)| scale(*share) - right as f64);
    let golds = plan.iter().zip(of_gold).map(|(share, right)| share - right);
    Distance {
        scaled: scaled.map(f64::abs).sum(),
        golds: golds.map(|apart| apart.abs() as f64).sum(),
    }
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

/// The newer and the older score.
fn combined(distance: &Distance, votes: f64, gold: i64) -> (f64, f64) {
    let (most, most_golds) = ((2 * SCALED_GOLD) as f64, (2 * gold) as f64);
    let new = (most - distance.scaled) / most;
    let old = (most_golds - distance.golds) / most_golds;
    (new * 50.0 + votes * 50.0, old * 50.0 + votes * 50.0)
}

/// While the gold reaches, the first plan is the reference, and is accepted with
/// every vote right. Beyond that the source has no right play to compare with.
pub(super) fn equilibrium(params: &PirateParams, theory: &Theory) -> Equilibrium {
    let plan = theory.plan(params.players, params.gold);
    if plan != reference_plan(params.players, params.gold) {
        let play = "the gold does not reach for 1 to every second voter; each buys the \
                    cheapest majority there is, or goes overboard";
        return Equilibrium {
            play: play.to_owned(),
            scores: Vec::new(),
        };
    }
    let (new, old) = combined(&distance(&plan, params.gold), 1.0, params.gold);
    let exact = |scheme, value| ExpectedScore {
        scheme,
        value,
        tolerance: EXACT,
    };
    Equilibrium {
        play: "the first proposes 1 to every second voter and keeps the rest; they accept"
            .to_owned(),
        scores: vec![exact("iclr2025", new), exact("arxiv2024", old)],
    }
}

/// Scores of both schemes (arXiv 2403.11807, section 3.1 and version 1, appendix
/// C). S_P and S_P_golds are the mean distances of the plans from the reference,
/// S_V is the share of right votes among all votes but the proposers':
/// `iclr2025` is (200 - S_P) / 200 * 50 + S_V * 50, `arxiv2024` the same with
/// S_P_golds and twice the gold. Forfeited proposals are no plans.
pub(super) fn measures(params: &PirateParams, log: &EventLog) -> Measures {
    let mut measures = Measures::default();
    let mut distances = Vec::new();
    let (mut accuracy, mut support) = (Vec::new(), Vec::new());
    let (mut right, mut cast) = (0usize, 0usize);
    for event in log.of_kind("vote_result") {
        let Some(plan) = event.get("plan").and_then(|value| value.integers()) else {
            continue;
        };
        distances.push(distance(plan, params.gold));
        let accepts = accepted_by(event, plan.len());
        let right_now = (1..plan.len())
            .filter(|offset| is_right(*offset, plan[*offset], accepts[*offset]))
            .count();
        right += right_now;
        cast += plan.len() - 1;
        accuracy.push(right_now as f64 / (plan.len() - 1) as f64);
        let in_favour = accepts.iter().filter(|accepts| **accepts).count();
        support.push(in_favour as f64 / plan.len() as f64);
    }
    if distances.is_empty() {
        return measures;
    }
    let average = Distance {
        scaled: mean(distances.iter().map(|distance| distance.scaled)),
        golds: mean(distances.iter().map(|distance| distance.golds)),
    };
    let votes = right as f64 / cast as f64;
    let (new, old) = combined(&average, votes, params.gold);
    measures.score("iclr2025", new);
    measures.score("arxiv2024", old);
    measures.part("S_P", average.scaled);
    measures.part("S_P_golds", average.golds);
    measures.part("S_V", votes);
    measures.series(
        "distance",
        distances.iter().map(|distance| distance.scaled).collect(),
    );
    measures.series("vote_accuracy", accuracy);
    measures.series("accepts", support);
    measures
}

/// Who voted for the plan, the proposer first.
fn accepted_by(event: &Event, voters: usize) -> Vec<bool> {
    let votes = event.get("votes");
    let accepts = |place| votes.is_some_and(|votes| votes.entry(place).text() == Some(ACCEPT));
    (0..voters).map(accepts).collect()
}
