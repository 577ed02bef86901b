//! The table of a game that goes on, as one seat sees it now, and what that seat was told: made of its
//! view alone. Called by the web server for people who play.

use agon_engine::game::player_name;
use agon_engine::spec::Settings;
use agon_engine::view::SeenEvent;
use agon_engine::{Event, Seat, SeatView, Value, View, registry};
use serde::Serialize;
use utoipa::ToSchema;

use super::sentences::Sentences;
use super::step::{in_sentence, stated};
use super::{Viewing, as_sentence};
use crate::board::{Board, Table};
use crate::story::one_line;

/// The kind of event that tells the rules and who plays.
const BRIEFING: &str = "briefing";

/// What a seat in play has before it.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Live {
    /// Registered name of the game.
    pub game: String,
    /// What the game is, in one sentence.
    pub about: String,
    /// The seat whose table it is.
    pub seat: Seat,
    /// Names of all seats in the game, in order.
    pub names: Vec<String>,
    /// The table now.
    pub board: Board,
    /// What happened, oldest first.
    pub told: Vec<Told>,
}

/// Something that happened, in words.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(as = ToldEvent)]
pub struct Told {
    /// Its round; 0 before the first.
    pub round: u32,
    /// One sentence.
    pub says: String,
}

impl Live {
    /// What a seat that has seen so much has before it.
    pub fn of(view: &SeatView) -> Self {
        let viewer = Some(view.seat);
        let events: Vec<Event> = view.events().collect();
        let briefing = events.iter().find(|event| event.kind == BRIEFING);
        let name = |seat| name_in_game(briefing, seat);
        let sentences = Sentences {
            name: &name,
            seats: view.seats,
        };
        // The briefing has every parameter that players know, under its name.
        let params = briefing.map(told_parameters).unwrap_or_default();
        let mut table = Table::new(&view.game, &params, view.seats, viewer);
        let mut told = Vec::with_capacity(events.len());
        for event in &events {
            table.see(event);
            let sight = View::new(view.seat, std::slice::from_ref(event));
            let facts: Vec<(&str, Value)> = sight.sights().flat_map(|one| one.facts()).collect();
            let facts = stated(facts.iter().map(|(name, value)| (*name, value)));
            told.push(Told {
                round: event.round,
                says: in_sentence(&sentences, event, viewer, &facts),
            });
        }
        let about = registry::find(&view.game).ok();
        let about = about.map(|found| as_sentence(&found.info.summary));
        Self {
            game: view.game.clone(),
            about: about.unwrap_or_default(),
            seat: view.seat,
            names: (0..view.seats).map(name).collect(),
            board: table.board(),
            told,
        }
    }
}

impl Viewing {
    /// What a seat has before it at the end.
    pub fn live(&self, seat: Seat) -> Live {
        let record = self.record();
        let mut seen = SeatView::new(&record.spec.game, seat, record.spec.seats.len());
        let view = View::new(seat, &record.events);
        let sights: Vec<SeenEvent> = view.sights().map(|sight| sight.to_event()).collect();
        seen.see(&sights);
        Live::of(&seen)
    }
}

fn name_in_game(briefing: Option<&Event>, seat: Seat) -> String {
    let names = briefing.and_then(|event| event.get("names"));
    let name = names.map(|names| names.entry(seat));
    let name = name.as_ref().and_then(Value::text).map(one_line);
    name.unwrap_or_else(|| player_name(seat))
}

fn told_parameters(briefing: &Event) -> Settings {
    let facts = briefing.facts.iter();
    let facts = facts.filter_map(|(name, value)| {
        let value = serde_json::to_value(value).ok()?;
        Some((name.to_string(), value))
    });
    facts.collect()
}
