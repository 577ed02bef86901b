//! Who sits where in a cell: groups of seats, checked against the players and the game. Whether a
//! strategy fits the game is checked by `cell.rs`, which calls this.

use agon_engine::PlayerSpec;
use agon_engine::names::among;
use agon_engine::registry::{Built, Registration};
use serde_json::{Map, Value, json};

use super::Checking;
use crate::experiment::limits::{MOST_SPEC_BYTES, bytes_of_table};
use crate::experiment::path::TreePath;
use crate::experiment::players::{SUBJECT, player};
use crate::experiment::values::kind_of;

impl Checking<'_> {
    /// The player of every seat, by name.
    pub(super) fn seats(
        &mut self,
        tree: &Value,
        defaults: &Built,
        registration: &Registration,
    ) -> Option<Vec<String>> {
        let at = TreePath::root().key("seats");
        let players = &self.document.players;
        let (fewest, most) = registration.info.seats;
        let Some(seats) = tree.get("seats") else {
            let mut names = players.keys();
            let only = names.next().filter(|_| names.next().is_none());
            let filler = only.or_else(|| players.get_key_value(SUBJECT).map(|(name, _)| name));
            if let Some(filler) = filler {
                return Some(vec![filler.clone(); defaults.game.seats()]);
            }
            let known: Vec<&str> = players.keys().map(String::as_str).collect();
            let message = format!(
                "needs seats, as seats = [{{ player = \"{}\", count = {fewest} }}]; the players are {}",
                known.first().unwrap_or(&"subject"),
                known.join(", ")
            );
            self.fault(&at, message);
            return None;
        };
        let Value::Array(groups) = seats else {
            self.fault(
                &at,
                format!("must be a list of players, not {}", kind_of(seats)),
            );
            return None;
        };
        let mut counted = Vec::with_capacity(groups.len());
        let mut complete = true;
        for (index, group) in groups.iter().enumerate() {
            match self.seat_group(group, &at.index(index)) {
                Some(group) => counted.push(group),
                None => complete = false,
            }
        }
        if !complete {
            return None;
        }
        let total = counted
            .iter()
            .fold(0u64, |total, (_, count)| total.saturating_add(*count));
        if total < fewest as u64 || total > most as u64 {
            let range = if fewest == most {
                format!("{fewest}")
            } else {
                format!("{fewest} to {most}")
            };
            let game = &*registration.info.name;
            let given = match total {
                1 => "1 is given".to_owned(),
                total => format!("{total} are given"),
            };
            self.fault(&at, format!("{game} needs {range} seats, but {given}"));
            return None;
        }
        let names = counted
            .into_iter()
            .flat_map(|(name, count)| vec![name; count as usize]);
        Some(names.collect())
    }

    fn seat_group(&mut self, group: &Value, at: &TreePath) -> Option<(String, u64)> {
        let single;
        let table = match group {
            Value::String(_) => {
                single = Map::from_iter([("player".to_owned(), group.clone())]);
                &single
            }
            Value::Object(table) => table,
            other => {
                let message = format!(
                    "must be a player's name or {{ player, count }}, not {}",
                    kind_of(other)
                );
                self.fault(at, message);
                return None;
            }
        };
        let before = self.sound;
        for key in table
            .keys()
            .filter(|key| !["player", "count"].contains(&key.as_str()))
        {
            self.key_fault(
                &at.key(key.as_str()),
                format!("unknown key{}", among(key, ["player", "count"])),
            );
        }
        let inside = |key| {
            if group.is_string() {
                at.clone()
            } else {
                at.key(key)
            }
        };
        let count = table
            .get("count")
            .map_or(Some(1), Value::as_u64)
            .filter(|count| *count > 0);
        if count.is_none() {
            self.fault(
                &inside("count"),
                "must be a whole number, 1 or greater".to_owned(),
            );
        }
        let players = &self.document.players;
        let known = || players.keys().map(String::as_str);
        match table.get("player") {
            Some(Value::String(name)) if players.contains_key(name) => {
                return Some((name.clone(), count?)).filter(|_| self.sound == before);
            }
            Some(Value::String(name)) => {
                self.fault(
                    &inside("player"),
                    format!("no player \"{name}\"{}", among(name, known())),
                );
            }
            Some(other) => {
                self.fault(
                    &inside("player"),
                    format!("must be a player's name, not {}", kind_of(other)),
                );
            }
            None => self.fault(at, format!("needs a player{}", among("", known()))),
        }
        None
    }

    /// The players of the seats, each with its own settings.
    pub(super) fn players(&mut self, tree: &Value, names: &[String]) -> Option<Vec<PlayerSpec>> {
        let mut made: Vec<PlayerSpec> = Vec::with_capacity(names.len());
        let mut model: Option<Map<String, Value>> = None;
        let none = Map::new();
        let mut complete = true;
        let mut bytes = 0u64;
        // Seats of one player stand together, mostly.
        for group in names.chunk_by(|one, next| one == next) {
            let name = &group[0];
            let at = TreePath::root().key("players").key(name.as_str());
            let document = self.document;
            let written = || document.players.get(name).map(|own| json!(own));
            let own = at.get(tree).cloned().or_else(written);
            let Some(Value::Object(own)) = own else {
                complete = false;
                let given = kind_of(own.as_ref().unwrap_or(&Value::Null));
                self.fault(&at, format!("a player must be a table, not {given}"));
                continue;
            };
            // Only models take the settings of all models.
            let is_model = own.get("kind") == Some(&Value::from("model"));
            let model = if is_model {
                model.get_or_insert_with(|| match tree.get("model") {
                    Some(varied) => varied.as_object().cloned().unwrap_or_default(),
                    None => document.model.clone().into_iter().collect(),
                })
            } else {
                &none
            };
            let shared = bytes_of_table(model);
            let each = bytes_of_table(&own) + shared;
            self.bytes = self.bytes.saturating_add(each);
            bytes = bytes.saturating_add(each.saturating_mul(group.len() as u64));
            if bytes > MOST_SPEC_BYTES {
                let seats = names.len();
                self.too_large(&at, &format!("the players of {seats} seats"), bytes);
                return None;
            }
            match player(name, &own, model) {
                Ok(player) => made.extend(std::iter::repeat_n(player, group.len())),
                Err((key, message)) => {
                    complete = false;
                    self.fault(&key.map_or_else(|| at.clone(), |key| at.key(key)), message);
                }
            }
        }
        complete.then_some(made)
    }
}
