//! What a bidder believes about the auction, and how far it is right: budget,
//! profits and winning bids (arXiv 2310.05746, sections 3.2 and 4.2), checked
//! against the seat's own picture. A bidder that a belief leaves out counts as one
//! that has won nothing.

use std::collections::BTreeMap;

use serde_json::json;

use super::Picture;
use crate::forms::{TEXT, object_schema};
use crate::mind::Reply;
use crate::notes::{About, Mistake, MistakeKind, Status};
use crate::reading::json::Json;
use crate::reading::{embedded, said, same, whole_number};

/// Fields of a belief, in the order in which they are asked for.
const FIELDS: [&str; 3] = ["remaining_budget", "total_profits", "winning_bids"];

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
        let named = |key: &str| FIELDS.iter().any(|field| same(key, field));
        let found = values
            .iter()
            .rev()
            .find_map(|value| value.object_with(&named));
        let Some(map) = found else {
            let fields = FIELDS.join("\", \"");
            return Err(match &*reply.finish_reason {
                _ if text.is_empty() => format!("the reply was empty, without \"{fields}\""),
                "length" => format!("the reply was cut off before its JSON with \"{fields}\""),
                _ => format!("no JSON object with the fields \"{fields}\" was found"),
            });
        };
        let field = |name: &str| {
            map.iter()
                .find(|(key, _)| same(key, name))
                .map(|(_, value)| value)
                .ok_or_else(|| format!("the field \"{name}\" is missing"))
        };
        let budget = field(FIELDS[0])?;
        let remaining_budget = whole_number(budget);
        if remaining_budget.is_none() {
            return Err(format!(
                "remaining_budget is {budget}, but must be a whole number"
            ));
        }
        Ok(Self {
            remaining_budget,
            total_profits: profits(field(FIELDS[1])?, picture)?,
            winning_bids: wins(field(FIELDS[2])?, picture)?,
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
            let about = if name == me {
                About::Myself
            } else {
                About::Others
            };
            mistakes.push(Mistake {
                try_number,
                kind,
                about,
                detail,
            });
        };
        if let (Some(believed), Some(true_budget)) = (self.remaining_budget, truth.remaining_budget)
            && believed != true_budget
        {
            let detail = format!("remaining_budget is {true_budget}, not {believed}");
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

fn profits(value: &Json, picture: &Picture) -> Result<BTreeMap<String, i64>, String> {
    let map = value
        .as_object()
        .ok_or("total_profits must be an object with a whole number per bidder")?;
    let mut profits = BTreeMap::new();
    for (key, value) in map.iter() {
        let name = bidder(key, picture)?;
        let profit = whole_number(value).ok_or_else(|| {
            format!("the total profit of {name} is {value}, but must be a whole number")
        })?;
        profits.insert(name, profit);
    }
    Ok(profits)
}

fn wins(
    value: &Json,
    picture: &Picture,
) -> Result<BTreeMap<String, BTreeMap<String, i64>>, String> {
    let map = value
        .as_object()
        .ok_or("winning_bids must be an object with the items won per bidder")?;
    let mut wins = BTreeMap::new();
    for (key, value) in map.iter() {
        let name = bidder(key, picture)?;
        let won = won(value, picture).ok_or_else(|| {
            format!("the winning bids of {name} must be its items with a whole number each")
        })?;
        wins.insert(name, won);
    }
    Ok(wins)
}

/// Items with their bids: an object, a list of objects with an item each, or
/// nothing at all.
fn won(value: &Json, picture: &Picture) -> Option<BTreeMap<String, i64>> {
    let mut won = BTreeMap::new();
    match value {
        Json::Null => {}
        Json::Object(map) => {
            for (item, bid) in map.iter() {
                won.insert(item_name(item, picture), whole_number(bid)?);
            }
        }
        Json::Array(rows) => {
            for row in rows {
                let row = row.as_object()?;
                let field = |names: &[&str]| names.iter().find_map(|name| row.get(name));
                let item = field(&["item", "name", "item_name"]).and_then(Json::as_str);
                match (item, field(&["bid", "price", "winning_bid", "amount"])) {
                    (Some(item), Some(bid)) => {
                        won.insert(item_name(item, picture), whole_number(bid)?);
                    }
                    _ => {
                        for (item, bid) in row.iter() {
                            won.insert(item_name(item, picture), whole_number(bid)?);
                        }
                    }
                }
            }
        }
        _ => return None,
    }
    Some(won)
}

/// The bidder that a key names.
fn bidder(key: &str, picture: &Picture) -> Result<String, String> {
    let names = picture.names();
    let found = names.iter().find(|name| same(name, key));
    found.cloned().ok_or_else(|| {
        let names = names.join(", ");
        format!("there is no bidder \"{key}\"; the bidders are {names}")
    })
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
