//! Recorded multi-item English auctions of AucArena's auctioneer: scripted
//! bidders' answers are fed in, refused ones included; the bids of recorded rule
//! bidders must come out of our own rule player; ties are settled as recorded.

use std::collections::BTreeSet;

use serde_json::{Map, json};

use super::about::named;
use super::check::Check;
use super::{Reader, Recorded, RecordedError, Scripted, build, impossible, read};
use crate::ask::{Action, Seat};
use crate::chance::TIES;
use crate::event::{Event, Value};
use crate::game::Built;
use crate::games::english_auction::{build_without_cap, tie_index};
use crate::play::{Play, Reaction};
use crate::rule_player::RulePlayer;
use crate::spec::{PlayerKind, PlayerSpec};

mod line;

use line::{Bid, Kind, Line, Round, Sale, settings};

/// The name of these auctions, in the record and in the registry.
const GAME: &str = "english_auction";

/// Our name of the recorded `rule` bidder.
const RULE_BIDDER: &str = "patient_raiser";

/// What stands for a withdrawal in the record.
const WITHDRAWAL: i64 = -1;

/// The reader of these auctions.
pub(super) const READERS: &[Reader] = &[Reader {
    game: GAME,
    read: read_auction,
}];

struct Auction {
    line: Line,
    built: Built,
}

fn read_auction(text: &str) -> Result<Box<dyn Recorded>, RecordedError> {
    let line: Line = read(text)?;
    let settings = settings(&line)?;
    let params = build(GAME, &settings)?.params;
    let game = build_without_cap(&settings).map_err(impossible)?;
    let built = Built { game, params };
    Ok(Box::new(Auction { line, built }))
}

impl Recorded for Auction {
    fn built(&self) -> &Built {
        &self.built
    }

    /// Our rule player where a rule bidder sat.
    fn rules(&self, check: &mut Check) -> Vec<Option<Box<dyn RulePlayer>>> {
        let mut settings = Map::new();
        let limit = self.line.params.rule_max_bids_per_item;
        settings.insert("bids_per_item".to_owned(), json!(limit));
        let mut rules = Vec::new();
        for (seat, bidder) in self.line.bidders.iter().enumerate() {
            let rule = match bidder.kind {
                Kind::Scripted => None,
                Kind::Rule => match self.built.game.rule_player(RULE_BIDDER, &settings, seat) {
                    Ok(rule) => Some(rule),
                    Err(error) => {
                        check.fault(error);
                        None
                    }
                },
            };
            rules.push(rule);
        }
        rules
    }

    /// Who leads after a tie at the top is a recorded draw.
    fn script(&self) -> Vec<Scripted> {
        let mut script = Vec::new();
        let mut standing = None;
        for (item, bid_round, _, round) in self.rounds() {
            if bid_round == 1 {
                standing = None;
            }
            let bids = round.bids.iter().filter(|bid| bid.bid != WITHDRAWAL);
            let equal = bids.filter(|bid| Some(bid.bid) == round.highest).count();
            // Nobody tied with the leader when no bid was made.
            let stood = usize::from(equal > 0 && standing == round.highest);
            if equal + stood > 1
                && let Some(leader) = round.leader.as_ref().and_then(|name| self.seat(name))
            {
                script.push((TIES, tie_index(item, bid_round), leader.into()));
            }
            standing = round.highest;
        }
        script
    }

    fn feed(&self, play: &mut Play, check: &mut Check) -> bool {
        let is_finished = self.answer_all(play, check);
        self.compare_sales(play, check);
        is_finished
    }

    fn compare_end(&self, play: &Play, check: &mut Check) {
        let measures = play.measures();
        let items = self.line.items.len();
        if play.log().of_kind("auction_over").count() != 1 {
            check.fault("the auction was not reported");
        }
        check.same(
            "reports",
            self.line.reports.len(),
            Some(self.line.bidders.len()),
        );
        let mut reported = BTreeSet::new();
        for report in &self.line.reports {
            check.at(&*report.name);
            if !reported.insert(&report.name) {
                check.fault("it is reported twice");
            }
            let Some(seat) = self.seat(&report.name) else {
                check.fault("there is no such bidder");
                continue;
            };
            let of_seat = |name: &str| measures.series.get(name)?.get(seat).copied();
            for (name, recorded) in [
                ("budget_left", report.budget_left),
                ("profit", report.profit),
                ("failed_bids", report.failed_bids),
                ("items_won", report.items_won.len() as i64),
            ] {
                check.same(name, recorded as f64, of_seat(name));
            }
            let bought = won(&bought(play, seat));
            check.same("items_won", won(&report.items_won), Some(bought));
            let recorded = self.line.items.iter().map(|sale| {
                let count = report.engagements.get(&sale.item);
                count.copied().unwrap_or(0) as f64
            });
            let computed = measures.series.get("engagements").map(|all| {
                let seats = self.line.bidders.len();
                let of_item = |item| all.get(item * seats + seat).copied();
                (0..items).filter_map(of_item).collect::<Vec<f64>>()
            });
            check.same("engagements", recorded.collect::<Vec<f64>>(), computed);
            for name in report.engagements.keys() {
                if !self.line.items.iter().any(|sale| sale.item == *name) {
                    check.fault(format!("engagements: there is no item {name}"));
                }
            }
        }
    }

    fn adjusted(&self) -> &'static [&'static str] {
        &["max_rounds"]
    }

    fn seats(&self) -> Vec<PlayerSpec> {
        let bidders = self.line.bidders.iter();
        let seats = bidders.map(|bidder| match bidder.kind {
            Kind::Scripted => named(&bidder.name),
            Kind::Rule => PlayerSpec {
                kind: PlayerKind::Rule,
                settings: [("strategy".to_owned(), json!(RULE_BIDDER))].into(),
                ..named(&bidder.name)
            },
        });
        seats.collect()
    }
}

impl Auction {
    fn seat(&self, name: &str) -> Option<Seat> {
        self.line
            .bidders
            .iter()
            .position(|bidder| bidder.name == name)
    }

    /// Bid rounds with the item's number and their own, both from 1.
    fn rounds(&self) -> impl Iterator<Item = (u32, u32, &Sale, &Round)> {
        (1..).zip(&self.line.items).flat_map(|(item, sale)| {
            let rounds = (1..).zip(&sale.rounds);
            rounds.map(move |(bid_round, round)| (item, bid_round, sale, round))
        })
    }

    /// Answers every ask from the record; whether the auction came to its end.
    fn answer_all(&self, play: &mut Play, check: &mut Check) -> bool {
        let rounds: Vec<_> = self.rounds().collect();
        while !play.is_finished() {
            let Some((_, bid_round, sale, round)) = rounds.get(play.turn() as usize - 1) else {
                check.at("");
                check.fault("the auction goes on, but the record ends");
                return false;
            };
            check.at(place(sale, *bid_round));
            let asked: Vec<Seat> = play.waiting().map(|ask| ask.seat).collect();
            for seat in asked {
                let name = &self.line.bidders[seat].name;
                let bid = round.bids.iter().find(|bid| bid.bidder == *name);
                let Some(bid) = bid else {
                    check.fault(format!("{name} is asked, but the record has no bid of it"));
                    return false;
                };
                if let Err(why) = say(play, seat, bid) {
                    check.fault(format!("{name}: {why}"));
                    return false;
                }
            }
        }
        true
    }

    fn compare_sales(&self, play: &Play, check: &mut Check) {
        let mut events = play.log().of_kind("bid_round");
        for (item, sale) in (1..).zip(&self.line.items) {
            check.at(&*sale.item);
            let first = play.log().of_round("item_opened", item);
            check.same("item", sale.item.clone(), value(first, "item"));
            check.same(
                "starting_price",
                sale.starting_price,
                value(first, "starting_price"),
            );
            for (bid_round, round) in (1..).zip(&sale.rounds) {
                check.at(place(sale, bid_round));
                match events.next() {
                    Some(event) => self.compare_round(item, round, event, check),
                    None if play.is_finished() => check.fault("recorded, but the auction was over"),
                    None => return,
                }
                let price = starting_price(play, item, bid_round);
                check.same("starting_price", round.starting_price, price);
            }
            check.at(&*sale.item);
            self.compare_sale(item, sale, play, check);
        }
        if events.next().is_some() {
            check.at("");
            check.fault("the auction had more bid rounds than the record");
        }
    }

    fn compare_round(&self, item: u32, round: &Round, event: &Event, check: &mut Check) {
        check.same(
            "number of the item",
            i64::from(item),
            Some(i64::from(event.round)),
        );
        let mut bids = vec![Value::Nothing; self.line.bidders.len()];
        let mut withdrew = Vec::new();
        let mut bidders = BTreeSet::new();
        for bid in &round.bids {
            if !bidders.insert(&bid.bidder) {
                check.fault(format!("{} bids twice", bid.bidder));
            }
            match self.seat(&bid.bidder) {
                None => check.fault(format!("there is no bidder {}", bid.bidder)),
                Some(seat) if bid.bid == WITHDRAWAL => withdrew.push(seat),
                Some(seat) => bids[seat] = bid.bid.into(),
            }
        }
        withdrew.sort_unstable();
        check.same("bids", bids, value(Some(event), "bids"));
        check.same("withdrew", withdrew, value(Some(event), "withdrew"));
        let leader = round.leader.as_ref().map(|name| self.seat(name));
        check.same("leader", leader.flatten(), value(Some(event), "leader"));
        if leader == Some(None) {
            check.fault("the recorded leader is no bidder");
        }
        check.same("highest", round.highest, value(Some(event), "highest"));
    }

    fn compare_sale(&self, item: u32, sale: &Sale, play: &Play, check: &mut Check) {
        let of_item = |kind| play.log().of_round(kind, item);
        let closed = of_item("hammer").or_else(|| of_item("unsold"));
        if closed.is_none() && !play.is_finished() {
            return;
        }
        check.same("true_value", sale.true_value, value(closed, "true_value"));
        let winner = sale.winner.as_ref().map(|name| self.seat(name));
        if winner == Some(None) {
            check.fault("the recorded winner is no bidder");
        }
        let hammer = |name: &str| of_item("hammer").and_then(|event| event.get(name)).cloned();
        let computed = |name: &str| Some(hammer(name).unwrap_or(Value::Nothing));
        check.same("winner", winner.flatten(), computed("winner"));
        check.same("price", sale.price, computed("price"));
    }
}

/// What a seat bought, with prices, in order of sale.
fn bought(play: &Play, seat: Seat) -> Vec<(String, i64)> {
    let hammers = play.log().of_kind("hammer");
    let own = hammers.filter(|event| event.integer("winner") == Some(seat as i64));
    let item = |event: &Event| Some(event.get("item")?.text()?.to_owned());
    own.filter_map(|event| Some((item(event)?, event.integer("price")?)))
        .collect()
}

fn won(items: &[(String, i64)]) -> Value {
    let pairs = items
        .iter()
        .map(|(name, price)| format!("{name} at {price}").into());
    pairs.collect::<Vec<Value>>().into()
}

fn value(event: Option<&Event>, name: &str) -> Option<Value> {
    event?.get(name).cloned()
}

/// The starting price that held in a bid round of an item.
fn starting_price(play: &Play, item: u32, bid_round: u32) -> Option<Value> {
    let mut price = None;
    for event in play.log().all().iter().filter(|event| event.round == item) {
        match &*event.kind {
            "item_opened" => price = event.get("starting_price"),
            "bid_round" if value(Some(event), "bid_round") == Some(bid_round.into()) => break,
            _ => {}
        }
    }
    price.cloned()
}

fn place(sale: &Sale, bid_round: u32) -> String {
    format!("{}, bid round {bid_round}", sale.item)
}

/// Says everything that the recorded bidder said to one ask.
fn say(play: &mut Play, seat: Seat, bid: &Bid) -> Result<(), String> {
    let Some((last, refused)) = bid.attempts.split_last() else {
        return Err("the record has no attempt".to_owned());
    };
    if *last != bid.bid {
        return Err(format!(
            "the last attempt {last} is not the bid {}",
            bid.bid
        ));
    }
    for attempt in refused {
        match play.answer(seat, Ok(action(*attempt))) {
            Reaction::Refused { .. } => {}
            other => return Err(format!("{attempt} was refused, but ours led to {other:?}")),
        }
    }
    match play.answer(seat, Ok(action(*last))) {
        Reaction::Taken => Ok(()),
        Reaction::Refused { foul, .. } | Reaction::Forfeited { foul } => {
            Err(format!("the recorded {last} is a foul: {foul}"))
        }
        Reaction::NotAsked => Err("it is not asked".to_owned()),
    }
}

fn action(attempt: i64) -> Action {
    match attempt {
        WITHDRAWAL => Action::Pass,
        amount => Action::Integer(amount),
    }
}
