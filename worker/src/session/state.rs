//! What a session decides, without waiting for anything: a report of a seat goes
//! in, effects come out. Everything that ends up in the record is decided here or
//! in the engine.

use std::collections::BTreeSet;

use agon_agents::{MindError, Note, Verdict};
use agon_engine::extent::TooLarge;
use agon_engine::view::SeenEvent;
use agon_engine::{
    Answer, Ask, Foul, OutsideReply, Play, Reaction, Record, RecordedDecision, Seat, SeatNote,
    SessionSpec, View,
};

use crate::seat::SeatReport;

/// What the actor must do.
#[derive(Debug)]
pub(super) enum Effect {
    /// Put an ask to a seat.
    Ask {
        seat: Seat,
        verdict: Option<Verdict>,
        events: Vec<SeenEvent>,
        ask: Ask,
        refused: Option<Foul>,
    },
    /// Ask the referee what the answers of a turn lead to.
    Rule { turn: u32, answers: Vec<Answer> },
    /// Show a seat how the game ended.
    Close {
        seat: Seat,
        verdict: Option<Verdict>,
        events: Vec<SeenEvent>,
    },
    /// Everything is in: write the record.
    Finish,
    /// Stop without a record.
    Fail(MindError),
    /// Stop: the game has produced more than a record may hold.
    Overflow(TooLarge),
    /// Stop: what the referee says makes no game.
    Unruly(String),
    /// Stop: the program itself is at fault.
    Crash(String),
}

/// A session in progress.
pub(super) struct SessionState {
    play: Play,
    notes: Vec<SeatNote>,
    /// Per seat, how many events of the log it has been shown.
    shown: Vec<usize>,
    /// Per seat, its last answer.
    answered: Vec<Answered>,
    /// Seats with an agent.
    outside: Vec<Seat>,
    /// Seats that have an ask and have not reported on it.
    asked: BTreeSet<Seat>,
    /// Seats that have not reported on the end yet; filled when the game ends.
    closing: Option<BTreeSet<Seat>>,
}

/// The last answer of a seat.
#[derive(Clone, Default)]
struct Answered {
    /// The turn that it belongs to.
    turn: u32,
    /// How its ask ended, until the seat is told.
    verdict: Option<Verdict>,
}

impl SessionState {
    pub(super) fn new(play: Play, outside: Vec<Seat>) -> Self {
        let seats = play.game().seats();
        Self {
            play,
            notes: Vec::new(),
            shown: vec![0; seats],
            answered: vec![Answered::default(); seats],
            outside,
            asked: BTreeSet::new(),
            closing: None,
        }
    }

    /// The first asks, or the end of a game that needed nobody.
    pub(super) fn begin(&mut self) -> Vec<Effect> {
        self.ask_next()
    }

    /// A seat has reported.
    pub(super) fn on_report(&mut self, seat: Seat, report: SeatReport) -> Vec<Effect> {
        match report {
            SeatReport::Answered {
                settled,
                offer,
                notes,
            } => {
                self.keep_notes(seat, self.answered[seat].turn, settled);
                let turn = self.play.turn();
                self.keep_notes(seat, turn, notes);
                self.asked.remove(&seat);
                let reaction = self.play.answer(seat, offer);
                let verdict = Verdict::of(&reaction);
                self.answered[seat] = Answered { turn, verdict };
                match reaction {
                    Reaction::Refused { foul, .. } => self.ask_again(seat, foul),
                    // Nobody is asked twice at a time, so this cannot be; and if
                    // it were, the game has not changed.
                    Reaction::NotAsked => Vec::new(),
                    Reaction::Taken | Reaction::Forfeited { .. } => self.ask_next(),
                }
            }
            SeatReport::Closed { settled, notes } => {
                self.keep_notes(seat, self.answered[seat].turn, settled);
                self.keep_notes(seat, self.play.turn(), notes);
                let closing = self.closing.get_or_insert_default();
                closing.remove(&seat);
                if closing.is_empty() {
                    vec![Effect::Finish]
                } else {
                    Vec::new()
                }
            }
            SeatReport::Failed(error) => vec![Effect::Fail(error)],
            SeatReport::Crashed(reason) => {
                vec![Effect::Crash(format!("seat {seat} crashed: {reason}"))]
            }
        }
    }

    /// The referee has ruled.
    pub(super) fn on_ruling(&mut self, reply: OutsideReply) -> Vec<Effect> {
        let (game, turn) = (self.play.game().info().name.clone(), self.play.turn());
        let reactions = match self.play.reply(reply) {
            Ok(reactions) => reactions,
            Err(why) => return vec![Effect::Unruly(format!("{game}, turn {turn}: {why}"))],
        };
        let mut effects = Vec::new();
        for (seat, reaction) in reactions {
            // It was told before that its answer counts.
            self.answered[seat].verdict = Verdict::of(&reaction);
            if let Reaction::Refused { foul, .. } = reaction {
                effects.extend(self.ask_again(seat, foul));
            }
        }
        effects.extend(self.ask_next());
        effects
    }

    /// The record of the finished session.
    pub(super) fn into_record(self, spec: SessionSpec, decisions: Vec<RecordedDecision>) -> Record {
        Record::new(spec, self.play, decisions, self.notes)
    }

    /// Asks whoever is to move and has not been asked, or ends the game.
    fn ask_next(&mut self) -> Vec<Effect> {
        if let Some(much) = self.play.overflow() {
            return vec![Effect::Overflow(much)];
        }
        if self.play.is_finished() {
            return self.close();
        }
        if let Some(answers) = self.play.awaited_reply() {
            let turn = self.play.turn();
            return vec![Effect::Rule { turn, answers }];
        }
        let waiting = self
            .play
            .waiting()
            .filter(|ask| !self.asked.contains(&ask.seat));
        let asks: Vec<Ask> = waiting.cloned().collect();
        asks.into_iter().map(|ask| self.ask(ask, None)).collect()
    }

    fn ask_again(&mut self, seat: Seat, foul: Foul) -> Vec<Effect> {
        let open = self.play.waiting().find(|ask| ask.seat == seat).cloned();
        open.map(|ask| self.ask(ask, Some(foul)))
            .into_iter()
            .collect()
    }

    fn ask(&mut self, ask: Ask, refused: Option<Foul>) -> Effect {
        let seat = ask.seat;
        self.asked.insert(seat);
        let verdict = self.answered[seat].verdict.take();
        let events = self.news_for(seat);
        Effect::Ask {
            seat,
            verdict,
            events,
            ask,
            refused,
        }
    }

    fn close(&mut self) -> Vec<Effect> {
        if self.closing.is_some() {
            return Vec::new();
        }
        self.closing = Some(self.outside.iter().copied().collect());
        if self.outside.is_empty() {
            return vec![Effect::Finish];
        }
        let seats = self.outside.clone();
        let close = |seat: Seat| Effect::Close {
            seat,
            verdict: self.answered[seat].verdict.take(),
            events: self.news_for(seat),
        };
        seats.into_iter().map(close).collect()
    }

    /// What the seat may see and has not been shown.
    fn news_for(&mut self, seat: Seat) -> Vec<SeenEvent> {
        let events = self.play.log().all();
        let fresh = View::new(seat, &events[self.shown[seat]..]);
        self.shown[seat] = events.len();
        fresh.sights().map(|sight| sight.to_event()).collect()
    }

    fn keep_notes(&mut self, seat: Seat, turn: u32, notes: Vec<Note>) {
        let kept = notes.into_iter().map(|note| SeatNote {
            seat,
            turn,
            note: note.kind().to_owned(),
            body: note.body(),
        });
        self.notes.extend(kept);
    }
}
