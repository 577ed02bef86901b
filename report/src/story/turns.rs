//! Which events belong to which turn, and how each answer reads. Found by handing the
//! recorded answers to the game once more: a record does not say it. Nothing is told of
//! a record that this program's rules do not lead to. Called by `teller.rs`.

use agon_engine::game::player_name;
use agon_engine::record::{StoredMove, StoredRecord};
use agon_engine::session::game_of;
use agon_engine::{Action, Chance, Form, Foul, FoulKind, Play};

/// The shape of a session.
pub struct Turns {
    /// For each turn, in order: how many events had happened before it.
    pub begin: Vec<usize>,
    /// For each move of the record, what it answers to.
    pub forms: Vec<Form>,
}

impl Turns {
    /// Finds them; `None` when this program plays by other rules.
    pub fn of(record: &StoredRecord) -> Option<Self> {
        let spec = &record.spec;
        let game = game_of(spec).ok()?;
        if game.seats() != spec.seats.len() {
            return None;
        }
        // Rule players' answers are in the record like all others.
        let nobody = spec.seats.iter().map(|_| None).collect();
        let mut play = Play::start(game, Chance::seeded(spec.luck), nobody);
        let mut turns = Self {
            begin: Vec::new(),
            forms: Vec::new(),
        };
        let mut moves = record.moves.iter();
        // Fouls of answers that were refused are among those of the moves.
        let said = record.said().ok()?.into_iter();
        let mut said = said.filter(|(_, reply)| reply.refused.is_empty());
        while !play.is_finished() {
            if play.awaited_reply().is_some() {
                play.reply(said.next()?.1).ok()?;
                continue;
            }
            turns.begin.push(play.log().all().len());
            let asks: Vec<_> = play.waiting().cloned().collect();
            for ask in asks {
                let made = moves.next()?;
                if (made.turn, made.seat) != (play.turn(), ask.seat) {
                    return None;
                }
                play.answer(ask.seat, offer(made, &ask.form)?);
                if made.forfeited {
                    forfeit(&mut play, made);
                }
                turns.forms.push(ask.form);
            }
        }
        let same = play.log().all().len() == record.events.len() && moves.next().is_none();
        same.then_some(turns)
    }
}

fn offer(made: &StoredMove, form: &Form) -> Option<Result<Action, Foul>> {
    if made.forfeited {
        return Some(Err(nothing()));
    }
    form.read(&made.action).ok().map(Ok)
}

/// Fouls until the ask is closed. A rule player's foul forfeits at once, so the
/// recorded ones may be fewer than are needed here.
fn forfeit(play: &mut Play, made: &StoredMove) {
    while play.turn() == made.turn && play.waiting().any(|ask| ask.seat == made.seat) {
        play.answer(made.seat, Err(nothing()));
    }
}

fn nothing() -> Foul {
    Foul::new(FoulKind::NoReply, "forfeited")
}

/// An answer as a player would say it.
pub fn said(form: Option<&Form>, made: &StoredMove) -> String {
    let action = form.and_then(|form| form.read(&made.action).ok());
    match (action, form) {
        (Some(Action::Target(seat)), _) => player_name(seat),
        (Some(Action::Pass), Some(Form::Integer { pass, .. } | Form::Target { pass, .. })) => {
            pass.as_deref().unwrap_or("pass").to_owned()
        }
        _ if made.action.is_null() => "pass".to_owned(),
        _ => super::words::json(&made.action),
    }
}
