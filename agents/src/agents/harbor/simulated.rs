//! What a simulated bidder for houses says. It knows, as no real model does, which houses suit
//! which buyers: so a dry run has preferences that show in bids and that can be profiled. Its
//! replies are told to the simulated model alone.

use std::collections::BTreeMap;

use agon_engine::{Action, Ask, Form, Seat};
use serde_json::{Map, Value, json};

use super::{Harbor, Rival, by_name};
use crate::agents::auction::{Bidder, Bids, Item};
use crate::info::Seating;
use crate::settings::ReplyStyle;

/// By how much a profile moves on when a rival bid for a house, and when it did not.
const SEEN: f64 = 0.35;
const NOT_SEEN: f64 = -0.2;

/// Of what it believes of a rival, from here on it counts.
const BELIEVED: f64 = 0.3;

/// What a house is worth to it at most, of its estimate, and what one that does not suit it.
const SUITED: f64 = 0.95;
const UNSUITED: f64 = 0.6;

/// Up to which share of its estimate it makes a rival pay for a house.
const DRAINED: f64 = 0.5;

/// The houses of an auction, with the personas that each suits.
#[derive(Debug)]
pub(super) struct SimulatedBuyer {
    suits: BTreeMap<String, Vec<String>>,
}

impl SimulatedBuyer {
    /// Of the houses of a session whose seat has the simulated model.
    pub(super) fn of(seating: &Seating<'_>) -> Option<Self> {
        let items = seating.session?.params.get("items")?.as_array()?;
        let suits = items.iter().filter_map(|item| {
            let suits = item["suits"].as_array()?.iter();
            let suits = suits.filter_map(|one| one.as_str().map(str::to_owned));
            Some((item["name"].as_str()?.to_owned(), suits.collect()))
        });
        Some(Self {
            suits: suits.collect(),
        })
    }

    fn suits(&self, item: &Item, personas: &[String]) -> bool {
        let suits = self.suits.get(&item.name);
        suits.is_some_and(|suits| suits.iter().any(|one| personas.contains(one)))
    }

    /// A bid that goes by its persona: for a house that suits it up to its estimate, for any
    /// other one while it is cheap. Once it has chosen to raise it raises.
    pub(super) fn bid(&self, bidder: &Bidder<Harbor>, ask: &Ask, usual: Action) -> Action {
        let (Some(item), Form::Integer { min, max, .. }) = (bidder.picture.item(), &ask.form)
        else {
            return usual;
        };
        let raises = bidder.own.means_to_bid();
        let has_persona = !bidder.own.options.world.own.is_empty();
        let Some(least) = min.filter(|_| has_persona || raises) else {
            return usual;
        };
        let worth = self.worth(bidder, item);
        let affordable = max.is_none_or(|most| least <= most);
        match usual {
            Action::Integer(bid) if bid as f64 <= worth => usual,
            _ if affordable && (raises || least as f64 <= worth) => Action::Integer(least),
            _ => Action::Pass,
        }
    }

    /// What a house is worth to the bidder at most.
    fn worth(&self, bidder: &Bidder<Harbor>, item: &Item) -> f64 {
        let share = match self.suits(item, &bidder.own.options.world.own) {
            true => SUITED,
            false => UNSUITED,
        };
        item.estimate as f64 * share
    }

    /// What it says to a question of this purpose; `None` where it has nothing to add.
    pub(super) fn says(
        &self,
        bidder: &Bidder<Harbor>,
        purpose: &str,
        rival: Option<&Rival>,
    ) -> Option<String> {
        let picture = &bidder.picture;
        let said = match (purpose, rival) {
            ("plan" | "replan", _) => return self.plan(bidder),
            ("profile", Some(rival)) => {
                let weights = self.moved(bidder, &rival.weights, rival.seat);
                match bidder.reply {
                    ReplyStyle::Structured => {
                        json!({ "reason": "By its bids.", "weights": weights })
                    }
                    _ => json!(weights),
                }
            }
            ("second_order", Some(rival)) => json!({
                "reason": "By my bids.",
                "weights": self.moved(bidder, &rival.believes, picture.seat),
                "mislead": "I bid on a house that does not suit me while it is cheap.",
            }),
            ("predict", _) => {
                let item = picture.item()?;
                let row = |rival: &Rival| {
                    let wants = self.is_wanted_by(bidder, item, rival);
                    let not = if wants { "suits" } else { "does not suit" };
                    let said = json!({ "detail": format!("It {not} it."), "wants": wants });
                    (rival.name.clone(), said)
                };
                let rows: Map<_, _> = bidder.own.rivals.iter().map(row).collect();
                json!({ "predictions": rows })
            }
            ("strategy", _) => self.choice(bidder, picture.item()?),
            _ => return None,
        };
        Some(said.to_string())
    }

    /// Three for what suits it, two or one for all else; nothing without a persona.
    fn plan(&self, bidder: &Bidder<Harbor>) -> Option<String> {
        let own = &bidder.own.options.world.own;
        let remaining = bidder.picture.remaining();
        let prices = remaining.iter().map(|item| item.starting_price);
        let mean = prices.sum::<i64>() / i64::try_from(remaining.len().max(1)).unwrap_or(1);
        let priority = |item: &Item| match self.suits(item, own) {
            true => 3,
            false if item.starting_price > mean => 2,
            false => 1,
        };
        let list = remaining.iter();
        let list: BTreeMap<&str, i64> = list.map(|item| (&*item.name, priority(item))).collect();
        let strategy = "I keep my budget for the houses that suit me.";
        (!own.is_empty()).then(|| bidder.planned(strategy, &json!(list)))
    }

    /// A profile after the last sale: what the house suits becomes likelier of who bid for it.
    fn moved(&self, bidder: &Bidder<Harbor>, before: &[f64], seat: Seat) -> Value {
        let names = bidder.own.options.world.names();
        let last = bidder.picture.past().last();
        let step = |name: &str| match last {
            Some(item) if self.suits(item, &[name.to_owned()]) => {
                let has_bid = item.bids_of(seat).next().is_some();
                if has_bid { SEEN } else { NOT_SEEN }
            }
            _ => 0.0,
        };
        let moved = names.iter().zip(before).map(|(name, weight)| {
            let weight = (weight + step(name)).clamp(-1.0, 1.0);
            (weight * 100.0).round() / 100.0
        });
        json!(by_name(&moved.collect::<Vec<f64>>(), &names))
    }

    /// By its true personas where they are told, else by its profile.
    fn is_wanted_by(&self, bidder: &Bidder<Harbor>, item: &Item, rival: &Rival) -> bool {
        let world = &bidder.own.options.world;
        match world.seats.get(rival.seat) {
            Some(personas) => self.suits(item, personas),
            None => {
                let profile = world.names().into_iter().zip(&rival.weights);
                let believed = profile.filter(|(_, weight)| **weight >= BELIEVED);
                let believed = believed.map(|(name, _)| name.to_owned());
                self.suits(item, &believed.collect::<Vec<String>>())
            }
        }
    }

    fn choice(&self, bidder: &Bidder<Harbor>, item: &Item) -> Value {
        let own = &bidder.own.options.world.own;
        let picture = &bidder.picture;
        let led = item.rounds.last().filter(|round| round.leader.is_some());
        let least = led.map_or(picture.starting_price, |round| round.least_bid);
        let raises = least <= picture.budget && least as f64 <= self.worth(bidder, item);
        let is_low = (least as f64) < DRAINED * item.estimate as f64;
        let mut rivals = bidder.own.rivals.iter();
        let wanted = rivals.any(|rival| self.is_wanted_by(bidder, item, rival));
        let mut remaining = picture.remaining().iter();
        let (letter, uses_profile, reason) = if raises && self.suits(item, own) {
            ("A", false, "It suits me.")
        } else if raises && wanted && is_low {
            ("B", true, "A rival wants it and shall pay for it.")
        } else if raises {
            ("C", false, "It is cheap.")
        } else if wanted {
            ("F", true, "A rival wants it more than I do.")
        } else if remaining.any(|one| self.suits(one, own)) {
            ("D", false, "A house that suits me is still to come.")
        } else {
            ("E", false, "The margin is gone.")
        };
        json!({ "reason": reason, "uses_profile": uses_profile, "choice": letter })
    }
}
