//! What a cell takes from its world: the items of the game, the personas of its seats, and what
//! each player is told of them. Called by `cell.rs` before the game is built.

use agon_engine::names::among;
use agon_engine::registry::{Built, Registration};
use agon_engine::{PlayerKind, PlayerSpec};
use serde_json::{Value, json};

use super::Checking;
use crate::experiment::limits::{MOST_CELL_BYTES, MOST_SPEC_BYTES, bytes_of};
use crate::experiment::path::TreePath;
use crate::experiment::values::kind_of;
use crate::experiment::world::{Drawn, Draws, Request, Seed, World, typed};

/// The parameter that a world fills, and the one that says who wants what.
pub(super) const ITEMS: &str = "items";
const PERSONAS: &str = "personas";

/// The setting of a player that is filled with what it may know, and the words for how much.
const SETTING: &str = "world";
const WORDS: [&str; 2] = ["own", "all"];

/// What an entry of a world counts among what a cell is put together from: drawing looks at each.
const BYTES_OF_ENTRY: u64 = 100;

/// A world, what a cell asks of it, and what was drawn for the first repeat.
pub(super) struct Drawing<'a> {
    pub world: &'a World,
    pub drawn: Drawn,
    request: Request,
    seed: u64,
}

impl Drawing<'_> {
    /// Stands for all that repeats may draw, however many there are; none where all play what was drawn
    /// once.
    pub fn source(&self) -> Option<[u8; blake3::OUT_LEN]> {
        if self.request.draw == Draws::Once {
            return None;
        }
        let source = json!([self.world.items, self.world.personas, self.request]);
        Some(*blake3::hash(source.to_string().as_bytes()).as_bytes())
    }
}

impl<'a> Checking<'a> {
    /// Draws from the cell's world, if it has one, and puts items and personas among the
    /// parameters. The outer `None` is a fault.
    pub(super) fn world(
        &mut self,
        tree: &mut Value,
        registration: &Registration,
        takes: &dyn Fn(&str) -> bool,
        seats: Option<usize>,
    ) -> Option<Option<Drawing<'a>>> {
        let at = TreePath::root().key("world");
        let Some(given) = tree.get("world").cloned() else {
            return Some(None);
        };
        let request = self.request(given, &at)?;
        let document = self.document;
        let known = || document.worlds.keys().map(String::as_str);
        let Some(world) = document.worlds.get(&request.name) else {
            let which = among(&request.name, known());
            let message = format!("no world \"{}\"{which}", request.name);
            self.fault(&at.key("name"), message);
            return None;
        };
        let fault = if !takes(ITEMS) {
            let game = &*registration.info.name;
            Some((
                at.clone(),
                format!("{game} has no parameter \"{ITEMS}\", so it takes no world"),
            ))
        } else if tree["params"].get(ITEMS).is_some() {
            let message = "comes from the game's world; leave it out here, or the world there";
            Some((
                TreePath::root().key("params").key(ITEMS),
                message.to_owned(),
            ))
        } else if seats.is_some_and(|seats| ![0, seats].contains(&request.personas.len())) {
            let (given, seats) = (request.personas.len(), seats.unwrap_or_default());
            let message =
                format!("must have as many entries as there are seats, {seats}; it has {given}");
            Some((at.key(PERSONAS), message))
        } else {
            None
        };
        if let Some((at, message)) = fault {
            self.fault(&at, message);
            return None;
        }
        let Some(seed) = tree["seed"].as_u64() else {
            // Said where the seed is checked.
            return Some(None);
        };
        let seats_drawn_for = request.personas.len().max(1) as u64;
        let drawn_from = (world.items.len() + world.personas.len()) as u64;
        self.bytes += drawn_from * seats_drawn_for * BYTES_OF_ENTRY;
        match world.draw(&request, Seed { seed, repeat: 0 }) {
            Ok(drawn) => {
                self.drawn = Some((request.name.clone(), world.places(&drawn)));
                tree["params"][ITEMS] = json!(drawn.items);
                if takes(PERSONAS) && !drawn.personas.is_empty() {
                    tree["params"][PERSONAS] = json!(drawn.personas);
                }
                Some(Some(Drawing {
                    world,
                    drawn,
                    request,
                    seed,
                }))
            }
            Err((key, message)) => {
                self.cannot_draw(&at.key(key), message);
                None
            }
        }
    }

    /// The cells of a grid that miss what they draw from differ in words alone.
    fn cannot_draw(&mut self, at: &TreePath, message: String) {
        self.sound = false;
        if !self.faults.has(&self.origin(at)) {
            self.fault(at, message);
        }
    }

    /// The items of the second repeat and all further ones, as the game takes them; none where
    /// all repeats play what was drawn once.
    pub(super) fn redraw(
        &mut self,
        registration: &Registration,
        built: &Built,
        drawing: &Drawing<'_>,
    ) -> Vec<Value> {
        let repeats = match drawing.request.draw {
            Draws::Once => 1,
            Draws::PerRepeat => self.document.repeats,
        };
        let at = TreePath::root().key("world");
        let each = built.params.get(ITEMS).map_or(0, bytes_of);
        let all = each.saturating_mul(repeats.into());
        if all > MOST_CELL_BYTES {
            self.too_large(&at.key("draw"), "the items of all repeats", all);
            return Vec::new();
        }
        let mut redrawn = Vec::new();
        for repeat in 1..repeats {
            let seed = drawing.seed;
            let drawn = drawing.world.draw(&drawing.request, Seed { seed, repeat });
            let params = match drawn {
                Ok(drawn) => {
                    let mut params = built.params.clone();
                    params.insert(ITEMS.to_owned(), json!(drawn.items));
                    params
                }
                Err((key, message)) => {
                    self.cannot_draw(&at.key(key), message);
                    return Vec::new();
                }
            };
            match registration.build(&params) {
                Ok(mut built) => redrawn.extend(built.params.remove(ITEMS)),
                Err(error) => {
                    let message = format!("repeat {repeat} (from 0): {}", error.message);
                    self.cannot_draw(&at.key("draw"), message);
                    return Vec::new();
                }
            }
        }
        self.bytes = self.bytes.saturating_add(all);
        redrawn
    }

    fn request(&mut self, given: Value, at: &TreePath) -> Option<Request> {
        let table = match given {
            Value::String(name) => json!({ "name": name }),
            table @ Value::Object(_) => table,
            other => {
                let given = kind_of(&other);
                let message =
                    format!("must be a world's name or {{ name, items, .. }}, not {given}");
                self.fault(at, message);
                return None;
            }
        };
        if table.get("name").is_none() {
            let message = "needs a name, as { name = \"houses\", items = 10 }";
            self.fault(at, message.to_owned());
            return None;
        }
        typed(&table, at)
            .map_err(|(at, message)| self.fault(&at, message))
            .ok()
    }

    /// Tells the players that ask for it what they may know.
    pub(super) fn tell(&mut self, seats: &mut [PlayerSpec], world: Option<&Drawing<'_>>) {
        if let Some(Drawing { world, .. }) = world {
            let told = seats
                .iter()
                .filter(|seat| seat.settings.contains_key(SETTING));
            let bytes = (world.bytes() + 64).saturating_mul(told.count() as u64);
            if bytes > MOST_SPEC_BYTES {
                let at = TreePath::root().key("world");
                return self.too_large(&at, "what the seats are told of the world", bytes);
            }
        }
        for (seat, player) in seats.iter_mut().enumerate() {
            let asked = player.settings.get(SETTING).and_then(Value::as_str);
            let (Some(word), Some(drawing), PlayerKind::Model) = (asked, world, player.kind) else {
                // Without a world, the player's agent says that it misses one.
                continue;
            };
            if !WORDS.contains(&word) {
                let message = format!("no view \"{word}\" of a world{}", among(word, WORDS));
                let at = TreePath::root().key("players").key(player.name.as_str());
                self.fault(&at.key(SETTING), message);
                continue;
            }
            let view = drawing.world.for_seat(&drawing.drawn, seat, word == "all");
            player.settings.insert(SETTING.to_owned(), view);
        }
    }
}
