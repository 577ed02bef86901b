//! Who sits where in a cell: groups of seats, checked against the players and the game. Whether a
//! strategy fits the game is checked by `cell.rs`, which calls this.

use agon_engine::PlayerSpec;
use agon_engine::names::among;
use agon_engine::registry::{Built, Registration};
use serde_json::{Map, Value};

use super::Checking;
use crate::experiment::document::kind_of;
use crate::experiment::path::TreePath;
use crate::experiment::players::{SUBJECT, player};

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
            let game = registration.info.name;
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

    pub(super) fn players(&mut self, tree: &Value, names: &[String]) -> Option<Vec<PlayerSpec>> {
        let mut made: Vec<PlayerSpec> = Vec::with_capacity(names.len());
        let empty = Map::new();
        let model = tree["model"].as_object().unwrap_or(&empty);
        let mut complete = true;
        for (seat, name) in names.iter().enumerate() {
            // Seats of one player stand together, mostly.
            if seat > 0 && names[seat - 1] == *name {
                if let Some(same) = made.last().filter(|last| last.name == *name).cloned() {
                    made.push(same);
                }
                continue;
            }
            let at = TreePath::root().key("players").key(name.as_str());
            match at.get(tree) {
                Some(Value::Object(own)) => match player(name, own, model) {
                    Ok(player) => made.push(player),
                    Err((key, message)) => {
                        complete = false;
                        self.fault(&key.map_or_else(|| at.clone(), |key| at.key(key)), message);
                    }
                },
                other => {
                    complete = false;
                    let given = kind_of(other.unwrap_or(&Value::Null));
                    self.fault(&at, format!("a player must be a table, not {given}"));
                }
            }
        }
        complete.then_some(made)
    }
}
