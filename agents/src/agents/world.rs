//! The personas of a world of buyers, as far as one seat is told of them: read from the
//! setting `world` and checked. Used by the bidder `harbor` and by persons in its place.

use serde::Deserialize;
use serde_json::Value;

use crate::info::OwnSettings;
use crate::settings::read_one;

/// The setting with what is known of the personas of the world.
pub const SETTING: &str = "world";

/// Most personas of a world: all of them stand in every profile.
const MOST_PERSONAS: usize = 50;

/// Most personas of one bidder: one, or a mix of two (section 3.3).
const MOST_OWN: usize = 2;

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
    /// What others are told of such a bidder.
    #[serde(default)]
    about: Option<String>,
}

impl Persona {
    /// What others are told of such a bidder; what it is told itself where the world has no
    /// other words.
    pub fn about(&self) -> &str {
        self.about.as_deref().unwrap_or(&self.text)
    }
}

impl World {
    /// The world that the setting `world` gives; one without personas when it is absent.
    ///
    /// # Errors
    /// It is still a word, names a persona that does not exist, or is no world at all.
    pub fn of(own: &OwnSettings) -> Result<Self, String> {
        let Some(given) = own.get(SETTING) else {
            return Ok(Self::default());
        };
        if let Value::String(word) = given {
            return Err(format!(
                "world is \"{word}\" and the game gives no world to take it from; \
                 name one, as world = \"houses\" under the game"
            ));
        }
        let world: Self = read_one(SETTING, given.clone())?;
        world.check()?;
        Ok(world)
    }

    /// The personas of this bidder.
    pub fn own(&self) -> impl Iterator<Item = &Persona> {
        self.own.iter().filter_map(|name| self.persona(name))
    }

    /// The persona of this name.
    pub fn persona(&self, name: &str) -> Option<&Persona> {
        self.personas.iter().find(|one| one.name == name)
    }

    /// A persona as others are told of it.
    pub fn described(&self, name: &str) -> String {
        let about = self.persona(name).map_or("", Persona::about);
        format!("{name} ({about})")
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
