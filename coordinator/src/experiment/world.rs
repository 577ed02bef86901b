//! Worlds: what there is to sell, and who may want it, as data. A game names a world and says
//! what of it is played; items are drawn here from the experiment's seed, once for all repeats or
//! anew for each. What an item or a persona means is left to games and agents.
//!
//! Source of matched items and personas: "Harbor: Exploring Persona Dynamics in Multi-Agent
//! Competition", sections 3.3 and 4; the world file's form is ours.

use std::collections::{BTreeMap, BTreeSet};

use agon_engine::names::among;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::faults::Faults;
use super::path::TreePath;
use super::values::in_plain_words;

/// Most items of a world, and most personas: far more than anybody describes by hand.
const MOST_ENTRIES: usize = 10_000;

/// Most personas of a seat.
const MOST_WORN: usize = 100;

/// A world.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct World {
    /// For people.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Kinds of bidders, in the order in which they are rotated.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub personas: Vec<Persona>,
    /// What there is to sell: entries of a game's parameter `items`, with a `name` and, where
    /// there are personas, those that it suits under `suits`.
    pub items: Vec<Map<String, Value>>,
}

/// A kind of bidder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Persona {
    /// Its name.
    pub name: String,
    /// What a bidder of this kind is told about itself.
    pub text: String,
    /// What others are told about such a bidder; the text itself where this is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
}

/// What of a world a game plays.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// The world's name: a built-in one, or a file.
    pub name: String,
    /// How many items are drawn; all of them when absent.
    pub items: Option<usize>,
    /// Of these, how many suit the personas of a seat; as chance has it when absent.
    pub matched: Option<usize>,
    /// Personas of each seat.
    pub personas: Vec<Vec<String>>,
    /// How many places every persona moves on in the world's list, which it goes round.
    pub rotate: usize,
    /// How many places personas move on among the seats that have some, the last to the first.
    pub turn: usize,
    /// Whether all repeats play what was drawn once.
    pub draw: Draws,
}

/// How often items and their order are drawn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Draws {
    /// Once: the repeats of a setting are one auction many times.
    #[default]
    Once,
    /// For each repeat.
    PerRepeat,
}

/// What chance draws from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seed {
    /// The experiment's seed.
    pub seed: u64,
    /// The repeat that is drawn for, from 0; always 0 where all repeats play the same.
    pub repeat: u32,
}

impl Seed {
    /// Where chance puts an item among the others: it depends on the item alone, so that adding
    /// one to a world moves no other.
    fn rank(self, purpose: &str, name: &str) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.seed.to_le_bytes());
        hasher.update(purpose.as_bytes());
        hasher.update(&[0]);
        hasher.update(name.as_bytes());
        if self.repeat > 0 {
            hasher.update(&[0]);
            hasher.update(&self.repeat.to_le_bytes());
        }
        *hasher.finalize().as_bytes()
    }
}

/// What was drawn.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Drawn {
    /// The items, in order of sale.
    pub items: Vec<Value>,
    /// Personas of each seat.
    pub personas: Vec<Vec<String>>,
}

/// Reads a world that stands at `at`, and notes everything that is wrong with it.
pub fn read(tree: &Value, at: &TreePath, faults: &mut Faults) -> World {
    match typed::<World>(tree, at) {
        Ok(world) => {
            world.check(at, faults);
            world
        }
        Err((at, message)) => {
            faults.value(&at, message);
            World::default()
        }
    }
}

/// What stands at `at`, as its type.
///
/// # Errors
/// It is none: where inside it, and why.
pub fn typed<'a, T: Deserialize<'a>>(
    tree: &'a Value,
    at: &TreePath,
) -> Result<T, (TreePath, String)> {
    serde_path_to_error::deserialize(tree).map_err(|error| {
        let inside = TreePath::read(&error.path().to_string());
        let at = inside.map_or_else(|_| at.clone(), |inside| at.join(inside.steps()));
        (at, in_plain_words(&error.into_inner().to_string()))
    })
}

/// The worlds that the games of an experiment file name, in its own tree or in its grids.
pub fn named(tree: &Value) -> BTreeSet<String> {
    let games = tree.get("games").and_then(Value::as_array);
    let games = || games.into_iter().flatten();
    let direct = games().filter_map(|game| game.get("world"));
    let tables = std::iter::once(tree).chain(games());
    let varied = tables.flat_map(|table| {
        let grid = table.get("grid").and_then(Value::as_object);
        let axes = grid.into_iter().flatten();
        let axes = axes.flat_map(|(path, values)| {
            let values = values.as_array().into_iter().flatten();
            values.map(move |value| (path, value))
        });
        let rows = table.get("rows").and_then(Value::as_array);
        let rows = rows.into_iter().flatten().filter_map(Value::as_object);
        axes.chain(rows.flatten())
    });
    let varied = varied.filter(|(path, _)| ["world", "world.name"].contains(&path.as_str()));
    let all = direct.chain(varied.map(|(_, value)| value));
    let names = all.filter_map(|value| value.as_str().or_else(|| value.get("name")?.as_str()));
    names.map(str::to_owned).collect()
}

impl World {
    /// Notes everything that is wrong with a world that stands at `at`.
    fn check(&self, at: &TreePath, faults: &mut Faults) {
        let names: Vec<&str> = self.personas.iter().map(|one| one.name.as_str()).collect();
        let mut seen = BTreeSet::new();
        for (place, persona) in self.personas.iter().enumerate() {
            let at = at.key("personas").index(place);
            if persona.name.trim().is_empty() || !seen.insert(persona.name.as_str()) {
                let message = "a persona needs a name that no other has";
                faults.value(&at.key("name"), message);
            }
            if persona.text.trim().is_empty() {
                faults.value(&at.key("text"), "a persona needs a text");
            }
        }
        if self.items.is_empty() || self.items.len().max(names.len()) > MOST_ENTRIES {
            let message = format!("a world has 1 to {MOST_ENTRIES} items, and no more personas");
            faults.key(at, message);
        }
        let known: BTreeSet<&str> = names.iter().copied().collect();
        let mut seen = BTreeSet::new();
        for (place, item) in self.items.iter().enumerate() {
            let at = at.key("items").index(place);
            let name = name_of(item);
            if name.trim().is_empty() || !seen.insert(name) {
                let message = "an item needs a name that no other has, as text";
                faults.value(&at.key("name"), message);
            }
            let suits = suits(item);
            let strange = suits.iter().find(|one| !known.contains(*one));
            if let Some(strange) = strange.filter(|_| !faults.is_full()) {
                let known = among(strange, names.iter().copied());
                faults.value(&at.key("suits"), format!("no persona \"{strange}\"{known}"));
            }
        }
    }

    /// Draws what is asked for. Settings that ask for nearly the same get nearly the same items:
    /// chance orders all items once, and each setting takes the first that fit.
    ///
    /// # Errors
    /// The key of the request that cannot be met, and why.
    pub fn draw(&self, request: &Request, seed: Seed) -> Result<Drawn, (&'static str, String)> {
        let personas = self.worn(request)?;
        let mut ranked: Vec<&Map<String, Value>> = self.items.iter().collect();
        ranked.sort_by_cached_key(|item| seed.rank("draw", name_of(item)));
        let mut taken: Vec<&Map<String, Value>> = match request.matched {
            Some(matched) => self.matched(&ranked, &personas, matched, request)?,
            None => {
                let count = request.items.unwrap_or(ranked.len());
                if count > ranked.len() {
                    let held = ranked.len();
                    let message = format!("the world \"{}\" has {held} items", request.name);
                    return Err(("items", message));
                }
                ranked.into_iter().take(count).collect()
            }
        };
        if request.items.is_none() && request.matched.is_none() {
            taken = self.items.iter().collect();
        } else {
            taken.sort_by_cached_key(|item| seed.rank("order", name_of(item)));
        }
        if taken.is_empty() {
            return Err(("items", "no item is drawn; draw 1 or more".to_owned()));
        }
        let items = taken.into_iter().cloned().map(Value::Object).collect();
        Ok(Drawn { items, personas })
    }

    /// About how many bytes its personas have, which players may be told of.
    pub fn bytes(&self) -> u64 {
        let personas = self.personas.iter();
        let bytes = personas.map(|one| one.name.len() + one.text.len() + 24);
        bytes.sum::<usize>() as u64
    }

    /// Where each drawn item stands among all items.
    pub fn places(&self, drawn: &Drawn) -> Vec<usize> {
        let places = self.items.iter().enumerate();
        // No two items have the same name.
        let places: BTreeMap<&str, usize> =
            places.map(|(place, item)| (name_of(item), place)).collect();
        let name = |item: &'_ Value| item.get("name").and_then(Value::as_str).map(str::to_owned);
        let place = |item| places.get(name(item)?.as_str()).copied();
        let drawn = drawn.items.iter();
        drawn.map(|item| place(item).unwrap_or_default()).collect()
    }

    /// What a player at a seat is told of the world: its own personas and the list of all, and
    /// with `told` also who the others are.
    pub fn for_seat(&self, drawn: &Drawn, seat: usize, told: bool) -> Value {
        let own = drawn.personas.get(seat).cloned().unwrap_or_default();
        let mut view = json!({ "own": own, "personas": self.personas });
        if told {
            view["seats"] = json!(drawn.personas);
        }
        view
    }

    /// The personas of every seat, rotated.
    fn worn(&self, request: &Request) -> Result<Vec<Vec<String>>, (&'static str, String)> {
        if let Some(many) = request.personas.iter().find(|seat| seat.len() > MOST_WORN) {
            let many = many.len();
            let message = format!("a seat has {many} personas, and {MOST_WORN} are the most");
            return Err(("personas", message));
        }
        let names = || self.personas.iter().map(|one| one.name.as_str());
        let places: BTreeMap<&str, usize> = names().zip(0..).collect();
        let rotated = |name: &String| {
            let place = places.get(name.as_str()).copied().ok_or_else(|| {
                let known = among(name, names());
                ("personas", format!("no persona \"{name}\"{known}"))
            })?;
            let place = (place + request.rotate % self.personas.len()) % self.personas.len();
            Ok(self.personas[place].name.clone())
        };
        let seats = request.personas.iter();
        let seats = seats.map(|seat| seat.iter().map(rotated).collect());
        let seats: Vec<Vec<String>> = seats.collect::<Result<_, _>>()?;
        Ok(turned(seats, request.turn))
    }

    /// As many items as asked for that suit each seat's personas, and others that suit nobody.
    fn matched<'a>(
        &self,
        ranked: &[&'a Map<String, Value>],
        seats: &[Vec<String>],
        matched: usize,
        request: &Request,
    ) -> Result<Vec<&'a Map<String, Value>>, (&'static str, String)> {
        let wrong = |message: String| Err(("matched", message));
        let worn: BTreeSet<&str> = seats.iter().flatten().map(String::as_str).collect();
        let mut taken: Vec<&Map<String, Value>> = Vec::new();
        let mut is_taken = vec![false; ranked.len()];
        let groups = seats.iter().filter(|seat| !seat.is_empty());
        for group in groups.clone() {
            let own: BTreeSet<&str> = group.iter().map(String::as_str).collect();
            let others: BTreeSet<&str> = worn.difference(&own).copied().collect();
            // The items for each persona that suit nobody else, best rank last.
            let mut fitting: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
            for (place, item) in ranked.iter().enumerate().rev() {
                if suits_any(item, &others) {
                    continue;
                }
                for persona in suits(item) {
                    fitting.entry(persona).or_default().push(place);
                }
            }
            let mut held = count_matched(&taken, &own);
            // A mix takes from its personas in turns, so that both of them show.
            let mut turn = 0;
            while held < matched {
                let mut free = |persona: &String| {
                    let places = fitting.get_mut(persona.as_str())?;
                    std::iter::from_fn(|| places.pop()).find(|place| !is_taken[*place])
                };
                let mut order = (0..group.len()).map(|step| &group[(turn + step) % group.len()]);
                let Some(place) = order.find_map(&mut free) else {
                    let personas = group.join(" and ");
                    return wrong(format!(
                        "the world \"{}\" has {held} items for {personas} alone, not {matched}",
                        request.name
                    ));
                };
                is_taken[place] = true;
                taken.push(ranked[place]);
                held += 1;
                turn += 1;
            }
        }
        for group in groups {
            let own: BTreeSet<&str> = group.iter().map(String::as_str).collect();
            let found = count_matched(&taken, &own);
            if found != matched {
                let personas = group.join(" and ");
                return wrong(format!(
                    "{found} items suit {personas}, because seats share personas; give seats the \
                     same personas or different ones"
                ));
            }
        }
        let fillers = ranked.iter().filter(|item| !suits_any(item, &worn));
        let Some(total) = request.items else {
            taken.extend(fillers);
            return Ok(taken);
        };
        let Some(missing) = total.checked_sub(taken.len()) else {
            let matched = taken.len();
            return Err((
                "items",
                format!("{matched} matched items are more than {total}"),
            ));
        };
        let held = fillers.clone().count();
        if held < missing {
            let message = format!("{missing} items must suit nobody here, and there are {held}");
            return Err(("items", message));
        }
        taken.extend(fillers.take(missing));
        Ok(taken)
    }
}

/// Personas moved on by so many places among the seats that have some.
fn turned(mut seats: Vec<Vec<String>>, places: usize) -> Vec<Vec<String>> {
    let worn = seats.iter_mut().filter(|seat| !seat.is_empty());
    let mut worn: Vec<&mut Vec<String>> = worn.collect();
    let mut moved: Vec<Vec<String>> = worn.iter().map(|seat| (*seat).clone()).collect();
    if !moved.is_empty() {
        let places = places % moved.len();
        moved.rotate_right(places);
    }
    for (seat, personas) in worn.iter_mut().zip(moved) {
        **seat = personas;
    }
    seats
}

fn name_of(item: &Map<String, Value>) -> &str {
    item.get("name").and_then(Value::as_str).unwrap_or_default()
}

fn suits(item: &Map<String, Value>) -> Vec<&str> {
    let list = item.get("suits").and_then(Value::as_array);
    list.into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect()
}

fn suits_any(item: &Map<String, Value>, personas: &BTreeSet<&str>) -> bool {
    suits(item).iter().any(|one| personas.contains(one))
}

fn count_matched(items: &[&Map<String, Value>], personas: &BTreeSet<&str>) -> usize {
    let matched = items.iter().filter(|item| suits_any(item, personas));
    matched.count()
}

#[cfg(test)]
mod tests;
