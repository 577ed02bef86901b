//! What a bidder believes about the auction, and how far it is right: budget,
//! profits and winning bids (arXiv 2310.05746, sections 3.2 and 4.2), checked
//! against the seat's own picture. A bidder that a belief leaves out counts as one
//! that has won nothing. Mistakes are put right by the bidder, in the end by the auctioneer;
//! or only counted, when beliefs are not corrected.

use std::collections::BTreeMap;

use agon_engine::game::player_name;
use serde_json::json;

use super::rows::{given, is_among};
use super::{Bidder, Bids, Picture};
use crate::forms::{TEXT, object_schema};
use crate::mind::{CUT_OFF_THINKING, Mind, MindError, Reply};
use crate::notes::{About, Belief, Mistake, MistakeKind, Source, Status};
use crate::reading::json::Json;
use crate::reading::{CUT_OFF_IN_THOUGHT, embedded, said, same, whole_number};

/// Fields of a belief, in the order in which they are asked for.
const FIELDS: [&str; 3] = ["remaining_budget", "total_profits", "winning_bids"];

impl<A: Bids> Bidder<A> {
    /// Takes stock after an item. Where nothing could be read and beliefs are not corrected,
    /// the bidder goes on with what it believed before.
    pub async fn update_belief(
        &mut self,
        item: usize,
        correct: bool,
        mind: &dyn Mind,
    ) -> Result<(), MindError> {
        let (picture, truth) = (&self.picture, Status::truth(&self.picture));
        let me = player_name(picture.seat);
        // What each try said, and what is wrong with it.
        let mut tries: Vec<(Option<Status>, Vec<Mistake>)> = Vec::new();
        let read = |reply: &Reply| {
            let try_number = tries.len() as u32 + 1;
            let read = Status::read(reply, picture);
            let wrong = match &read {
                Ok(status) => status.mistakes(&truth, &me, try_number),
                Err(problem) => vec![Mistake {
                    try_number,
                    kind: MistakeKind::Shape,
                    about: About::Myself,
                    detail: problem.clone(),
                }],
            };
            let details: Vec<&str> = wrong.iter().map(|one| &*one.detail).collect();
            let details = details.join("\n");
            tries.push((read.clone().ok(), wrong));
            match read {
                Ok(_) if correct && !details.is_empty() => Err(details),
                read => read,
            }
        };
        let format = ("belief", schema(picture));
        let answered = self.ask("belief", format, read, mind).await?;
        let first = tries.first().filter(|(said, _)| said.is_some());
        let (checked, wrong) =
            first.map_or((0, 0), |(_, wrong)| (Status::facts(picture), wrong.len()));
        let said = tries.iter().rev().find_map(|(said, _)| said.clone());
        let (status, source) = match answered.found {
            Some(status) => (status, Source::Model),
            None if correct => (truth.clone(), Source::Auctioneer),
            None => {
                let kept = said.clone().unwrap_or_else(|| self.status.clone());
                (kept, Source::Kept)
            }
        };
        let errors: Vec<Mistake> = tries.into_iter().flat_map(|(_, wrong)| wrong).collect();
        self.note(Belief {
            after_item: item,
            believed: said.unwrap_or_default(),
            checked,
            wrong,
            tries: answered.tries,
            // Who is left out has won nothing and made no profit, as when it is checked.
            corrected: !errors.is_empty() && status.mistakes(&truth, &me, 0).is_empty(),
            errors,
            truth,
            source,
        });
        self.status = status;
        Ok(())
    }
}

impl Status {
    /// How the auction really stands, as far as the seat may know.
    pub fn truth(picture: &Picture) -> Self {
        let standings = picture.standings.iter();
        let profit = |one: &super::Standing| (one.name.clone(), one.profit);
        let won = |one: &super::Standing| (one.name.clone(), one.won.iter().cloned().collect());
        Self {
            remaining_budget: Some(picture.budget),
            total_profits: standings.clone().map(profit).collect(),
            winning_bids: standings.map(won).collect(),
        }
    }

    /// How many facts a belief states: the budget, and a profit and a list of wins
    /// of each bidder.
    pub fn facts(picture: &Picture) -> usize {
        1 + 2 * picture.players
    }

    /// Reads a belief from a reply.
    ///
    /// # Errors
    /// What is wrong with its shape, and what would be right.
    pub fn read(reply: &Reply, picture: &Picture) -> Result<Self, String> {
        let text = said(reply);
        let values = embedded::values(text);
        let found = values.iter().rev();
        let mut found = found.filter_map(|value| value.object_with(&|key| is_among(&FIELDS, key)));
        let Some(map) = found.next() else {
            let fields = FIELDS.join("\", \"");
            return Err(match &*reply.finish_reason {
                CUT_OFF_THINKING => {
                    format!("{CUT_OFF_IN_THOUGHT}; give a JSON object with the fields \"{fields}\"")
                }
                _ if text.is_empty() => format!("the reply was empty, without \"{fields}\""),
                "length" => format!("the reply was cut off before its JSON with \"{fields}\""),
                _ => format!("no JSON object with the fields \"{fields}\" was found"),
            });
        };
        let [budget, profits, wins] = FIELDS;
        let field = |name: &str| {
            let field = given(map.iter(), name).next();
            field.ok_or_else(|| format!("the field \"{name}\" is missing"))
        };
        let budget = field(budget)?;
        let remaining_budget =
            Some(whole_number(budget).ok_or_else(|| {
                format!("remaining_budget is {budget}, but must be a whole number")
            })?);
        let profit = |name: &str, value: &Json| {
            whole_number(value).ok_or_else(|| {
                format!("the total profit of {name} is {value}, but must be a whole number")
            })
        };
        let wins_of = |name: &str, value: &Json| {
            won(value, picture).ok_or_else(|| {
                format!("the winning bids of {name} must be its items with a whole number each")
            })
        };
        let what = "total_profits must be an object with a whole number per bidder";
        let total_profits = per_bidder(field(profits)?, picture, what, profit)?;
        let what = "winning_bids must be an object with the items won per bidder";
        let winning_bids = per_bidder(field(wins)?, picture, what, wins_of)?;
        Ok(Self {
            remaining_budget,
            total_profits,
            winning_bids,
        })
    }

    /// The reply that states it.
    pub fn as_reply(&self) -> String {
        let wins = self.winning_bids.iter().map(|(name, won)| {
            let rows = won
                .iter()
                .map(|(item, bid)| json!({ "item": item, "bid": bid }));
            (name, rows.collect::<Vec<_>>())
        });
        let [budget, profits, won] = FIELDS;
        json!({
            "summary": "The bidding went as far as the estimates allow.",
            budget: self.remaining_budget,
            profits: self.total_profits,
            won: wins.collect::<BTreeMap<_, _>>(),
        })
        .to_string()
    }

    /// What is wrong with a belief.
    pub fn mistakes(&self, truth: &Self, me: &str, try_number: u32) -> Vec<Mistake> {
        let mut mistakes = Vec::new();
        let mut wrong = |kind, name: &str, detail| {
            let is_own = name == me;
            mistakes.push(Mistake {
                try_number,
                kind,
                about: if is_own { About::Myself } else { About::Others },
                detail,
            });
        };
        if let (Some(believed), Some(budget)) = (self.remaining_budget, truth.remaining_budget)
            && believed != budget
        {
            let detail = format!("remaining_budget is {budget}, not {believed}");
            wrong(MistakeKind::Budget, me, detail);
        }
        for (name, profit) in &truth.total_profits {
            let believed = self.total_profits.get(name).copied().unwrap_or(0);
            if believed != *profit {
                let detail = format!("the total profit of {name} is {profit}, not {believed}");
                wrong(MistakeKind::Profit, name, detail);
            }
        }
        let nothing = BTreeMap::new();
        for (name, won) in &truth.winning_bids {
            let believed = self.winning_bids.get(name).unwrap_or(&nothing);
            if believed != won {
                let (won, believed) = (listed(won), listed(believed));
                let detail = format!("the winning bids of {name} are {won}, not {believed}");
                wrong(MistakeKind::Wins, name, detail);
            }
        }
        mistakes
    }
}

/// The schema of a belief, its summary first.
pub fn schema(picture: &Picture) -> String {
    let each = |of: &str| object_schema(picture.names().iter().map(|name| (name, of)));
    let whole = r#"{"type":"integer"}"#;
    let sold: Vec<&str> = picture.past().iter().map(|item| &*item.name).collect();
    let item = format!(r#"{{"type":"string","enum":{}}}"#, json!(sold));
    let row = object_schema([("item", &*item), ("bid", whole)]);
    let [budget, profits, wins] = FIELDS;
    object_schema([
        ("summary", TEXT),
        (budget, whole),
        (profits, &each(whole)),
        (wins, &each(&format!(r#"{{"type":"array","items":{row}}}"#))),
    ])
}

/// What an object gives each bidder.
fn per_bidder<T>(
    value: &Json,
    picture: &Picture,
    what: &str,
    read: impl Fn(&str, &Json) -> Result<T, String>,
) -> Result<BTreeMap<String, T>, String> {
    let names = picture.names();
    let rows = value.as_object().ok_or(what)?.iter();
    let rows = rows.map(|(key, value)| {
        let name = names.iter().find(|name| same(name, key));
        let name = name.ok_or_else(|| {
            let names = names.join(", ");
            format!("there is no bidder \"{key}\"; the bidders are {names}")
        })?;
        Ok((name.clone(), read(name, value)?))
    });
    rows.collect()
}

/// Items with their bids: an object, a list of objects with an item each, or
/// nothing at all.
fn won(value: &Json, picture: &Picture) -> Option<BTreeMap<String, i64>> {
    let mut won = BTreeMap::new();
    let mut add = |item: &str, bid: &Json| {
        won.insert(item_name(item, picture), whole_number(bid)?);
        Some(())
    };
    match value {
        Json::Null => {}
        Json::Object(map) => map.iter().try_for_each(|(item, bid)| add(item, bid))?,
        Json::Array(rows) => {
            for row in rows {
                let row = row.as_object()?;
                let field = |names: &[&str]| names.iter().find_map(|name| row.get(name));
                let item = field(&["item", "name", "item_name"]).and_then(Json::as_str);
                match (item, field(&["bid", "price", "winning_bid", "amount"])) {
                    (Some(item), Some(bid)) => add(item, bid)?,
                    _ => row.iter().try_for_each(|(item, bid)| add(item, bid))?,
                }
            }
        }
        _ => return None,
    }
    Some(won)
}

/// The item that a key names; a name of no item stays as it is, and is wrong.
fn item_name(key: &str, picture: &Picture) -> String {
    let found = picture.items.iter().find(|item| same(&item.name, key));
    found.map_or_else(|| key.to_owned(), |item| item.name.clone())
}

fn listed(won: &BTreeMap<String, i64>) -> String {
    if won.is_empty() {
        return "none".to_owned();
    }
    let rows: Vec<String> = won
        .iter()
        .map(|(item, bid)| format!("{item} at {bid}"))
        .collect();
    rows.join(" and ")
}
