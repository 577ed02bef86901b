//! The course of a participation: which stages it has, and where somebody is. Pure.
//! Called by `service.rs`.

use super::invitations::Claim;
use super::people::People;
use super::seat_state::Stage;

/// How an experiment stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Nobody has begun it.
    NotBegun,
    /// It is being played.
    Going,
    /// Nothing more will be played.
    Over,
}

/// Somebody's participation.
pub struct Course<'a> {
    /// What there is to be told and asked.
    pub people: &'a People,
    /// Whose.
    pub claim: &'a Claim,
    /// Whether nobody else is invited.
    pub alone: bool,
}

impl Course<'_> {
    fn has_consent(&self) -> bool {
        !self.people.consent.text.trim().is_empty()
    }

    fn has_instructions(&self) -> bool {
        !self.people.instructions.text.trim().is_empty() || !self.people.check.is_empty()
    }

    fn is_informed(&self) -> bool {
        let agreed = self.claim.consented || !self.has_consent();
        agreed && (self.claim.understood || !self.has_instructions())
    }

    /// Whether the game may begin for them.
    pub fn is_ready(&self) -> bool {
        self.is_informed() && (self.claim.ready || self.alone)
    }

    /// All stages, in order.
    pub fn stages(&self) -> Vec<Stage> {
        let stages = [
            (Stage::Consent, self.has_consent()),
            (Stage::Instructions, self.has_instructions()),
            (Stage::Lobby, !self.alone),
            (Stage::Play, true),
            (Stage::Questions, !self.people.questions.is_empty()),
            (Stage::Thanks, true),
        ];
        let stages = stages.into_iter().filter(|(_, has)| *has);
        stages.map(|(stage, _)| stage).collect()
    }

    /// Where they are before they play; none once they do.
    pub fn stage_before_play(&self, standing: Standing) -> Option<Stage> {
        let claim = self.claim;
        if claim.left {
            return Some(Stage::Left);
        }
        if !claim.consented && self.has_consent() {
            return Some(Stage::Consent);
        }
        if !self.is_informed() {
            return Some(Stage::Instructions);
        }
        let waits = !self.alone && standing == Standing::NotBegun;
        waits.then_some(Stage::Lobby)
    }

    /// Where they are once every game is over.
    pub fn stage_after_play(&self) -> Stage {
        match self.claim.answered || self.people.questions.is_empty() {
            true => Stage::Thanks,
            false => Stage::Questions,
        }
    }
}
