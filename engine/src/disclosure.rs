//! Who is told what of a session's parameters and draws. Every game declares it for each
//! of them (`Parameters::DISCLOSURES`, `Rules::disclosures`), and the conformance kit holds the game to it: what a seat
//! is not told must not show in what it sees and is asked. Nothing in play reads it.

use crate::chance::Stream;

/// Who is told some of a game's parameters and draws.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Disclosure {
    /// Parameters by path: `budget`, or `items.true_value` for a field of each entry of a
    /// list. A path stands for everything below it.
    pub parameters: &'static [&'static str],
    /// Draws by stream.
    pub draws: &'static [Stream],
    /// Who is told.
    pub told: Told,
    /// The rule that says so, in one sentence.
    pub rule: &'static str,
    /// The kind of event in which the rules make it public, if they do.
    pub until: Option<&'static str>,
    /// Facts of a seat's own in which the rules tell it what follows for itself.
    pub seen_in: &'static [&'static str],
}

/// Who is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Told {
    /// Every seat.
    Everybody,
    /// Each seat its own entry, and nothing of the entries of others. A parameter of this
    /// kind is a list with one entry per seat, or one value that stands for such a list; a
    /// draw is a list with one entry per seat.
    Owner,
    /// No seat.
    Nobody,
}

impl Disclosure {
    /// Parameters that every seat is told, or could know from the rules.
    pub const fn to_everybody(rule: &'static str, parameters: &'static [&'static str]) -> Self {
        Self::to(Told::Everybody, rule, parameters)
    }

    /// Parameters that the briefing tells every seat.
    pub const fn briefed(parameters: &'static [&'static str]) -> Self {
        Self::to_everybody("the briefing tells everybody", parameters)
    }

    /// Parameters that some seats need not be told.
    pub const fn alike(parameters: &'static [&'static str]) -> Self {
        let rule = "it holds for all seats alike and is nobody's secret";
        Self::to_everybody(rule, parameters)
    }

    /// Parameters of which each seat is told its own entry.
    pub const fn to_owner(rule: &'static str, parameters: &'static [&'static str]) -> Self {
        Self::to(Told::Owner, rule, parameters)
    }

    /// Parameters that no seat is told.
    pub const fn to_nobody(rule: &'static str, parameters: &'static [&'static str]) -> Self {
        Self::to(Told::Nobody, rule, parameters)
    }

    /// The same for draws.
    #[must_use]
    pub const fn draws(self, draws: &'static [Stream]) -> Self {
        Self { draws, ..self }
    }

    /// Until an event of this kind makes it public.
    #[must_use]
    pub const fn until(self, event: &'static str) -> Self {
        let until = Some(event);
        Self { until, ..self }
    }

    /// Apart from facts of a seat's own that follow from it.
    #[must_use]
    pub const fn seen_in(self, facts: &'static [&'static str]) -> Self {
        Self {
            seen_in: facts,
            ..self
        }
    }

    const fn to(told: Told, rule: &'static str, parameters: &'static [&'static str]) -> Self {
        Self {
            parameters,
            draws: &[],
            told,
            rule,
            until: None,
            seen_in: &[],
        }
    }
}
