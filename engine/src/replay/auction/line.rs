//! The form of a recorded auction, and its parameters as ours. What is played and
//! compared is in `auction.rs`.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::json;

use crate::games::english_auction::MOST_ROUNDS;
use crate::replay::{RecordedError, forms};
use crate::spec::Settings;

/// A line of the file; what it does not name is about where it came from.
#[derive(Deserialize)]
pub(super) struct Line {
    pub(super) params: RecordedParams,
    pub(super) bidders: Vec<Bidder>,
    pub(super) items: Vec<Sale>,
    #[serde(rename = "final")]
    pub(super) reports: Vec<Report>,
}

forms! {
    struct RecordedParams {
        budget: i64,
        min_markup: f64,
        discount_unsold: bool,
        discount: f64,
        discount_rounds: u32,
        rule_max_bids_per_item: u32,
        items: Vec<OfferedItem>,
    }

    struct OfferedItem {
        name: String,
        starting_price: i64,
        true_value: i64,
    }

    struct Bidder {
        name: String,
        kind: Kind,
        overestimate_percent: i64,
    }

    struct Sale {
        item: String,
        starting_price: i64,
        true_value: i64,
        rounds: Vec<Round>,
        winner: Option<String>,
        price: Option<i64>,
    }

    struct Round {
        starting_price: i64,
        bids: Vec<Bid>,
        leader: Option<String>,
        highest: Option<i64>,
    }

    struct Bid {
        bidder: String,
        /// Every amount said, refused ones first.
        attempts: Vec<i64>,
        bid: i64,
    }

    struct Report {
        name: String,
        budget_left: i64,
        profit: i64,
        items_won: Vec<(String, i64)>,
        failed_bids: i64,
        engagements: BTreeMap<String, i64>,
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Kind {
    Scripted,
    Rule,
}

/// The recorded parameters as ours.
pub(super) fn settings(line: &Line) -> Result<Settings, RecordedError> {
    let params = &line.params;
    let items = params.items.iter().map(|item| {
        let OfferedItem {
            name,
            starting_price,
            true_value,
        } = item;
        json!({ "name": name, "starting_price": starting_price, "true_value": true_value })
    });
    let bidders = line.bidders.iter();
    let overestimates: Vec<i64> = bidders.map(|one| one.overestimate_percent).collect();
    let settings = json!({
        "players": line.bidders.len(),
        "items": items.collect::<Vec<_>>(),
        "budget": params.budget,
        "overestimate_percent": overestimates,
        "minimum_increase_percent": percent("min_markup", params.min_markup)?,
        "discount_unsold": params.discount_unsold,
        "discount_percent": percent("discount", params.discount)?,
        "discount_rounds": params.discount_rounds,
        "max_rounds": MOST_ROUNDS,
    });
    Ok(serde_json::from_value(settings).unwrap_or_default())
}

/// A share that is a whole number of percent.
fn percent(name: &str, share: f64) -> Result<i64, RecordedError> {
    let percent = (share * 100.0).round();
    if (share * 100.0 - percent).abs() < 1e-9 {
        return Ok(percent as i64);
    }
    Err(RecordedError::Field {
        path: format!("params.{name}"),
        message: format!("{share} is not a whole number of percent"),
    })
}
