//! A finished session told for readers: who sat where, what was asked, answered and
//! refused, what happened and how it ended. A pure function of the record; auctions
//! have a log of their own, every other game is told by its events. Called by
//! `agon show` and at the end of `agon play`.

mod any_game;
mod ending;
mod english_auction;
mod heading;
mod notes;
mod teller;
mod turns;
mod words;

use agon_engine::record::StoredRecord;
use agon_engine::{PlayerSpec, Seat, View};
use serde_json::{Value, json};

pub(crate) use notes::lines as note_lines;
pub(crate) use teller::Teller;
pub(crate) use turns::Turns;
pub(crate) use words::{json as json_in_words, number, one_line, value};

/// The game whose sessions are told as an auctioneer does.
const ENGLISH_AUCTION: &str = "english_auction";

/// What of a session is told.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Telling {
    /// Only what this seat could see, and what its own player concluded.
    pub seat: Option<Seat>,
    /// Plans, strategies and tips as well.
    pub plans: bool,
    /// Beliefs, profiles and predictions as well.
    pub beliefs: bool,
    /// What was said in each refused answer as well.
    pub said: bool,
    /// What was said in each answer that counted as well, whole.
    pub replies: bool,
    /// Players by their names in the game only.
    pub anonymous: bool,
}

/// The whole session as text, without a line break at the end. A seat that the
/// session does not have is told nothing.
pub fn tell(record: &StoredRecord, telling: Telling) -> String {
    let mut teller = Teller::new(record, telling);
    heading::tell(&mut teller);
    if record.spec.game == ENGLISH_AUCTION {
        english_auction::tell(&mut teller);
    } else {
        any_game::tell(&mut teller);
        ending::tell(&mut teller);
    }
    parts(&teller.into_text()).collect::<Vec<_>>().join("\n\n")
}

/// The parts of what was told, without the turns of which there is nothing to tell: who is
/// out of a game sees nothing of its later ones.
fn parts(whole: &str) -> impl Iterator<Item = &str> {
    let says_something = |part: &&str| part.lines().count() > 1 || !part.starts_with("Turn ");
    whole.split("\n\n").filter(says_something)
}

/// What one seat saw, said and concluded, for people and models who judge its player. `told`
/// is each event of the record in the words in which the seat was told of it, if it was;
/// without any they are told by their facts. Says nothing of who or what that player is, but
/// for the person that it was told to be.
pub fn for_judges(record: &StoredRecord, seat: Seat, told: Vec<String>) -> String {
    let telling = Telling {
        seat: Some(seat),
        plans: true,
        beliefs: true,
        said: true,
        replies: true,
        anonymous: true,
    };
    let mut teller = Teller::new(record, telling);
    if let Some(persona) = record.spec.seats.get(seat).and_then(persona) {
        let (name, persona) = (teller.name(seat), one_line(&persona));
        teller.line(0, format!("{name} was given this persona: {persona}"));
    }
    if record.spec.game == ENGLISH_AUCTION {
        english_auction::tell(&mut teller);
    } else {
        if told.is_empty() {
            let seats = 0..record.spec.seats.len();
            let names = seats.map(|seat| format!("{seat} is {}", teller.name_in_game(seat)));
            let names: Vec<String> = names.collect();
            teller.line(0, format!("Seats by number: {}", names.join(", ")));
        }
        teller.told = told;
        any_game::tell(&mut teller);
    }
    parts(&teller.into_text()).collect::<Vec<_>>().join("\n\n")
}

/// Who a player was told to be.
pub fn persona(player: &PlayerSpec) -> Option<String> {
    let persona = player.settings.get("persona")?;
    let text = persona.as_str().or_else(|| persona.get("text")?.as_str());
    text.map(str::to_owned)
}

/// The name that a seat has in its game.
pub fn name_in_game(record: &StoredRecord, seat: Seat) -> String {
    Teller::new(record, Telling::default()).name_in_game(seat)
}

/// The last item or turn of which there is something to tell, and how the session ended:
/// for an auction the personal reports.
pub fn tell_last(record: &StoredRecord, telling: Telling) -> String {
    let whole = tell(record, telling);
    let parts: Vec<&str> = parts(&whole).collect();
    // Without a seat an auction's measures are a part of their own.
    let ending = if record.spec.game == ENGLISH_AUCTION && telling.seat.is_none() {
        3
    } else {
        2
    };
    parts[parts.len().saturating_sub(ending)..].join("\n\n")
}

/// What one seat could see, with its own moves and notes, for other programs.
pub fn seat_as_json(record: &StoredRecord, seat: Seat) -> Value {
    let view = View::new(seat, &record.events);
    let events: Vec<_> = view.sights().map(|sight| sight.to_event()).collect();
    let moves = record.moves.iter().filter(|made| made.seat == seat);
    let moves: Vec<Value> = moves
        .map(|made| {
            json!({
                "turn": made.turn,
                "ask": made.ask,
                "action": made.action,
                "forfeited": made.forfeited,
                "fouls": made.fouls,
            })
        })
        .collect();
    let carried = record.carried.iter().flat_map(|carried| &carried.notes);
    let carried: Vec<_> = carried.filter(|note| note.seat == seat).collect();
    let notes: Vec<_> = record.notes.iter().filter(|n| n.seat == seat).collect();
    json!({
        "session": record.session,
        "game": record.spec.game,
        "seat": seat,
        "player": record.spec.seats.get(seat),
        "payoff": record.outcome.payoffs.get(seat),
        "events": events,
        "moves": moves,
        "carried": carried,
        "notes": notes,
    })
}

#[cfg(test)]
mod tests;
