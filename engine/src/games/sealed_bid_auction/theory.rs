//! What theory says about the sealed-bid auction: equilibrium bids, the scores
//! they lead to, and the scores of a played session. Called by the game only.

use crate::games::prelude::*;
use crate::games::sealed_bid_auction::{AuctionParams, Price};

/// The scale of `S_diff_200`.
const COMMON_SCALE: f64 = 200.0;

/// The equilibrium bid of a valuation.
///
/// Second price: the valuation itself, which is best whatever the others do.
///
/// First price: with n bidders whose valuations are independent and uniform
/// between min and max, the symmetric equilibrium of players who do not mind
/// risk bids what the best of the others is worth on average, given that oneself
/// is worth more: min + (v - min) (n - 1) / n. Our valuations are different
/// numbers of a ladder instead; there the same average is lower by interval / n,
/// less than a rung, and without an equilibrium in pure strategies the
/// continuous one stands in. Rounded to the nearest whole number, halves up.
pub(super) fn bid(params: &AuctionParams, valuation: i64) -> i64 {
    match params.price {
        Price::Second => valuation,
        Price::First => {
            let players = params.players as i64;
            let above = valuation - params.valuation_min;
            params.valuation_min + (2 * above * (players - 1) + players) / (2 * players)
        }
    }
}

/// What a bid gives away, in the terms of both schemes.
struct Shading {
    /// max((v - b) / v, 0), with 1 for a v of 0.
    relative: f64,
    /// v - b.
    absolute: f64,
}

fn shading(valuation: i64, bid: i64) -> Shading {
    let absolute = valuation as f64 - bid as f64;
    let scale = if valuation == 0 {
        1.0
    } else {
        valuation as f64
    };
    Shading {
        relative: larger(absolute / scale, 0.0),
        absolute,
    }
}

/// Every rung is equally likely at every seat, so a score is in expectation the
/// mean over all rungs. A round holds n different rungs, so no session is
/// farther from that than the n least or the n most shaded ones.
pub(super) fn equilibrium(params: &AuctionParams) -> Equilibrium {
    let rungs = (0..params.rungs()).map(|rung| {
        let valuation = params.valuation_min + rung * params.interval;
        shading(valuation, bid(params, valuation))
    });
    let (relative, absolute): (Vec<f64>, Vec<f64>) = rungs
        .map(|shading| (shading.relative, shading.absolute))
        .unzip();
    let (new, new_reach) = mean_and_reach(relative, params.players);
    let (old, old_reach) = mean_and_reach(absolute, params.players);
    let play = match params.price {
        Price::First => {
            let players = params.players;
            format!("everybody shades by 1/{players} of its valuation above the smallest")
        }
        Price::Second => "everybody bids its own valuation".to_owned(),
    };
    let (new_reach, old_reach) = (
        new_reach * 100.0 + ExpectedScore::EXACT,
        old_reach + ExpectedScore::EXACT,
    );
    let scores = vec![
        ExpectedScore::within("iclr2025", new * 100.0, new_reach),
        ExpectedScore::within("arxiv2024", 100.0 - old, old_reach),
    ];
    Equilibrium { play, scores }
}

/// The mean of all numbers, and how far the mean of `count` of them can be from
/// it.
fn mean_and_reach(mut numbers: Vec<f64>, count: usize) -> (f64, f64) {
    numbers.sort_by(f64::total_cmp);
    let middle = mean(numbers.iter().copied());
    let lowest = mean(numbers.iter().copied().take(count));
    let highest = mean(numbers.iter().copied().rev().take(count));
    (middle, larger(middle - lowest, highest - middle))
}

/// Scores of both schemes (arXiv 2403.11807, section 3.1 and version 1, appendix
/// C), over all bids of all rounds: S = mean max((v - b) / v, 0), with 1 for a v
/// of 0, and S_diff = mean (v - b): `iclr2025` is 100 S, `arxiv2024` is
/// 100 - S_diff, for both prices. S_diff_200 is what the authors' code of March
/// 2024 used: S_diff on the scale of valuations up to 200.
pub(super) fn measures(params: &AuctionParams, log: &EventLog) -> Measures {
    let mut measures = Measures::default();
    let (mut means, mut deviations) = (Vec::new(), Vec::new());
    let (mut relative, mut absolute) = (Vec::new(), Vec::new());
    for event in log.of_kind("round_result") {
        let first = relative.len();
        for shading in shadings(event) {
            relative.push(shading.relative);
            absolute.push(shading.absolute);
        }
        let round = &relative[first..];
        if !round.is_empty() {
            means.push(mean(round.iter().copied()));
            deviations.push(standard_deviation(round));
        }
    }
    if relative.is_empty() {
        return measures;
    }
    let shaded = mean(relative);
    let difference = mean(absolute);
    measures.score("iclr2025", shaded * 100.0);
    measures.score("arxiv2024", 100.0 - difference);
    measures.part("S", shaded);
    measures.part("S_diff", difference);
    let scale = COMMON_SCALE / params.valuation_max.max(1) as f64;
    measures.part("S_diff_200", difference * scale);
    measures.series("mean", means);
    measures.series("sd", deviations);
    measures
}

/// What each bid of a round gave away; seats without a bid are left out.
fn shadings(event: &Event) -> impl Iterator<Item = Shading> + '_ {
    let (valuations, bids) = (event.get("valuation"), event.get("bid"));
    let seats = valuations.map_or(0, Value::len);
    (0..seats).filter_map(move |seat| {
        let (valuation, bid) = (valuations?.integer_at(seat)?, bids?.integer_at(seat)?);
        Some(shading(valuation, bid))
    })
}
