//! The settings of a `harbor` bidder, read from its player and checked: which of
//! its modules are on, and the personas of its world. Names that do not exist were
//! refused before; see `settings.rs`.

use serde::Deserialize;

use crate::agents::auction::bidder::check_tries;
use crate::agents::world::World;
use crate::info::OwnSettings;
use crate::settings::{read_table, settings};

settings! {
    /// What a bidder is set to: it plans and bids; every other module is switched on by itself.
    Options {
        /// Whether it keeps a list of priorities (section 3.2).
        plan: bool = true,
        /// Whether it says after each item how everybody stands (appendix E, figure 9).
        beliefs: bool = false,
        /// Whether it profiles its rivals (section 3.4).
        profile: bool = false,
        /// From what it knows what its rivals want (section 4.5).
        theory_of_mind: TheoryOfMind = TheoryOfMind::None,
        /// Whether, with a theory of mind, it first predicts what each rival wants, in a call of
        /// its own per item; else it goes by what it knows of them. The paper has no such call.
        predict: bool = true,
        /// Whether it chooses one of six actions before each bid (section 3.5).
        strategic: bool = false,
        /// Whether it predicts how its rivals profile it (section 4.5).
        second_order: bool = false,
        /// How often a plan, a belief, a profile, a choice or a prediction is asked for at most.
        tries: u32 = 4,
        /// The personas of its world.
        world: World = World::default(),
    }
}

/// From what a bidder knows what its rivals want.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TheoryOfMind {
    /// It does not.
    None,
    /// From their true personas, which it is told.
    True,
    /// From its own profiles of them.
    Inferred,
}

impl Options {
    /// Whether it predicts what its rivals want.
    pub fn predicts(&self) -> bool {
        self.predict && self.theory_of_mind != TheoryOfMind::None
    }

    /// Reads and checks the settings.
    ///
    /// # Errors
    /// One is impossible, or misses another; says what would be right.
    pub fn read(own: &OwnSettings) -> Result<Self, String> {
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
