//! How often bidders foresee what rivals do: first-order predictions (Harbor, section
//! 4.5) of whether a rival wants an item, against whether it bid for it. Reads the
//! `prediction` notes that say so; those of second order predict no action.

use agon_engine::Seat;
use serde::Serialize;

use super::reading::Auction;
use crate::by_player::ByPlayer;

/// Predictions that one player made of its rivals.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PredictionRow {
    /// Its name.
    pub player: String,
    /// Predictions that say whether a rival wants an item.
    pub predictions: u64,
    /// Those that leave it open, or could not be read.
    pub open: u64,
    /// The rival was said to want the item and bid for it.
    pub wanted_bid: u64,
    /// It was said to want the item and did not bid.
    pub wanted_silent: u64,
    /// It was said not to want the item and bid all the same.
    pub unwanted_bid: u64,
    /// It was said not to want the item and did not bid.
    pub unwanted_silent: u64,
    /// `(wanted_bid + unwanted_silent) / predictions`.
    pub accuracy: Option<f64>,
    /// Share of predictions whose rival bid: the accuracy of who always says yes.
    pub bid_share: Option<f64>,
}

/// Predictions so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Predictions {
    players: ByPlayer<Kept>,
}

#[derive(Debug, Clone, Default)]
struct Kept {
    open: u64,
    wanted_bid: u64,
    wanted_silent: u64,
    unwanted_bid: u64,
    unwanted_silent: u64,
}

impl Predictions {
    pub fn add(&mut self, auction: &Auction<'_>) {
        for (seat, prediction) in auction.notes("prediction") {
            let (Some(wants), Some(item), Some(about)) = (
                prediction.get("wants"),
                prediction["item"].as_u64().map(|item| item as usize),
                prediction["about"].as_u64().map(|about| about as Seat),
            ) else {
                continue;
            };
            let Some(item) = auction.items.get(item) else {
                continue;
            };
            let Some(bids) = item.engagements.get(about) else {
                continue;
            };
            let kept = self.players.of(auction.players[seat]);
            if !auction.is_measured(seat) {
                continue;
            }
            let counted = match (wants.as_bool(), *bids > 0.0) {
                (None, _) => &mut kept.open,
                (Some(true), true) => &mut kept.wanted_bid,
                (Some(true), false) => &mut kept.wanted_silent,
                (Some(false), true) => &mut kept.unwanted_bid,
                (Some(false), false) => &mut kept.unwanted_silent,
            };
            *counted += 1;
        }
    }

    pub fn rows(&self) -> Vec<PredictionRow> {
        let rows = self.players.iter().map(|(player, kept)| {
            let right = kept.wanted_bid + kept.unwanted_silent;
            let bid = kept.wanted_bid + kept.unwanted_bid;
            let predictions = right + kept.wanted_silent + kept.unwanted_bid;
            let share = |count: u64| (predictions > 0).then(|| count as f64 / predictions as f64);
            PredictionRow {
                player: player.to_owned(),
                predictions,
                open: kept.open,
                wanted_bid: kept.wanted_bid,
                wanted_silent: kept.wanted_silent,
                unwanted_bid: kept.unwanted_bid,
                unwanted_silent: kept.unwanted_silent,
                accuracy: share(right),
                bid_share: share(bid),
            }
        });
        rows.collect()
    }
}
