//! The settings of a `harbor` bidder, read from its player and checked: which of
//! its modules are on, and the personas of its world. Names that do not exist were
//! refused before; see `settings.rs`.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::auction::bidder::check_tries;
use crate::settings::read_table;

/// Names of the settings, for the roster.
pub const NAMES: &[&str] = &[
    "plan",
    "beliefs",
    "profile",
    "theory_of_mind",
    "strategic",
    "second_order",
    "tries",
    "world",
];

/// The setting with what is known of the personas of the world.
const SETTING: &str = "world";

/// Most personas of a world: all of them stand in every profile.
const MOST_PERSONAS: usize = 50;

/// Most personas of one bidder: one, or a mix of two (section 3.3).
const MOST_OWN: usize = 2;

/// What a bidder is set to.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default)]
pub struct Options {
    /// Whether it keeps a list of priorities (section 3.2).
    pub plan: bool,
    /// Whether it says after each item how everybody stands (appendix E, figure 9).
    pub beliefs: bool,
    /// Whether it profiles its rivals (section 3.4).
    pub profile: bool,
    /// Whether it predicts what its rivals want, and from what (section 4.5).
    pub theory_of_mind: TheoryOfMind,
    /// Whether it chooses one of six actions before each bid (section 3.5).
    pub strategic: bool,
    /// Whether it predicts how its rivals profile it (section 4.5).
    pub second_order: bool,
    /// How often a plan, a belief, a profile, a choice or a prediction is asked for at most.
    pub tries: u32,
    /// The personas of its world.
    pub world: World,
}

/// From what a bidder predicts what its rivals want.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TheoryOfMind {
    /// It does not.
    #[default]
    None,
    /// From their true personas, which it is told.
    True,
    /// From its own profiles of them.
    Inferred,
}

/// What a bidder knows of the personas of its world.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct World {
    /// Names of its own personas; none, one, or a mix of two.
    pub own: Vec<String>,
    /// Every persona that bidders may have.
    pub personas: Vec<Persona>,
    /// The true personas of every seat by name, its own among them; empty for a
    /// bidder that is not told.
    pub seats: Vec<Vec<String>>,
}

/// A kind of buyer.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Persona {
    /// Its name in profiles.
    pub name: String,
    /// What a bidder of this persona is told about itself.
    pub text: String,
}

impl Default for Options {
    /// Plans and bids; every other module is switched on by itself.
    fn default() -> Self {
        Self {
            plan: true,
            beliefs: false,
            profile: false,
            theory_of_mind: TheoryOfMind::None,
            strategic: false,
            second_order: false,
            tries: 4,
            world: World::default(),
        }
    }
}

impl Options {
    /// Reads and checks the settings.
    ///
    /// # Errors
    /// One is impossible, or misses another; says what would be right.
    pub fn read(own: &Map<String, Value>) -> Result<Self, String> {
        World::of(own)?;
        let options: Self = read_table(own.clone())?;
        check_tries(options.tries)?;
        options.check_modules()?;
        Ok(options)
    }

    fn check_modules(&self) -> Result<(), String> {
        let infers = self.theory_of_mind == TheoryOfMind::Inferred;
        let needs = [
            (infers && !self.profile, "theory_of_mind", "profile = true"),
            (
                self.second_order && !(self.profile && self.strategic),
                "second_order",
                "profile = true and strategic = true",
            ),
            (
                self.profile && self.world.personas.len() < 2,
                "profile",
                "the personas of its world, as world = \"own\"",
            ),
            (
                self.theory_of_mind == TheoryOfMind::True && self.world.seats.is_empty(),
                "theory_of_mind",
                "the personas of all seats, as world = \"all\"",
            ),
        ];
        let missing = needs.into_iter().find(|(misses, _, _)| *misses);
        missing.map_or(Ok(()), |(_, setting, what)| {
            Err(format!("{setting} needs {what}"))
        })
    }
}

impl World {
    /// The world that the setting `world` gives; one without personas when it is absent.
    ///
    /// # Errors
    /// It is still a word, names a persona that does not exist, or is no world at all.
    pub fn of(own: &Map<String, Value>) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Only {
            world: World,
        }
        let Some(given) = own.get(SETTING) else {
            return Ok(Self::default());
        };
        if let Value::String(word) = given {
            return Err(format!(
                "world is \"{word}\" and the game gives no world to take it from; \
                 name one, as world = \"houses\" under the game"
            ));
        }
        let only = Map::from_iter([(SETTING.to_owned(), given.clone())]);
        let Only { world } = read_table(only)?;
        world.check()?;
        Ok(world)
    }

    /// The personas of this bidder.
    pub fn own(&self) -> impl Iterator<Item = &Persona> {
        let known = |name: &String| self.personas.iter().find(|one| one.name == *name);
        self.own.iter().filter_map(known)
    }

    /// Names of all personas, in their order.
    pub fn names(&self) -> Vec<&str> {
        self.personas.iter().map(|one| one.name.as_str()).collect()
    }

    fn check(&self) -> Result<(), String> {
        let names = self.names();
        if names.len() > MOST_PERSONAS || names.iter().any(|name| name.trim().is_empty()) {
            return Err(format!(
                "world.personas must be at most {MOST_PERSONAS}, each with a name"
            ));
        }
        let twice = |(at, name): (usize, &&str)| names[..at].contains(name);
        if names.iter().enumerate().any(twice) {
            return Err("world.personas must have different names".to_owned());
        }
        if self.own.len() > MOST_OWN {
            return Err(format!("world.own must be at most {MOST_OWN} personas"));
        }
        let mut worn = self.own.iter().chain(self.seats.iter().flatten());
        match worn.find(|name| !names.contains(&name.as_str())) {
            Some(name) => Err(format!("world.personas has no \"{name}\"")),
            None => Ok(()),
        }
    }
}
