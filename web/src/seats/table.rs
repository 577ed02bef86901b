//! The table of one person: the question that is open, the game around it as the seat saw it last, and
//! games that are over as their records tell that seat. Called by `service.rs`, which holds one for
//! each person.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use agon_report::viewing::{Live, Viewing};

use super::invitations::PlayedGame;
use super::ports::{DoorAsk, Message, Speaker};
use super::seat_state::{AskState, GameState};

/// Records arrive within this time after an experiment is over; games that have none by then were
/// set aside.
const RECORDS_WITHIN: Duration = Duration::from_secs(10);

/// A question that is still put so long after its answer was lost on the way, such as with a gateway
/// that died, and is put to the person again.
const TAKEN_WITHIN: Duration = Duration::from_secs(10);

/// See the module.
#[derive(Default)]
pub struct Tables {
    /// What was asked last, whether it is open or not.
    last: Option<Asked>,
    /// What has to be said of the last question.
    pub notice: Option<String>,
    finished: HashMap<String, GameState>,
    /// Since when nothing is awaited but records.
    over_since: Option<Instant>,
}

struct Asked {
    ask: DoorAsk,
    live: Option<Live>,
    is_open: bool,
    /// What the person answered, and when.
    answer: Option<(String, Instant)>,
    /// It was not at the door when that was looked at last.
    is_gone: bool,
}

impl DoorAsk {
    /// Its name on pages: where the answer belongs.
    pub fn id(&self) -> String {
        let (session, seat, index) = (&self.session, self.seat, self.index);
        format!("{session}:{seat}:{index}")
    }

    /// The game that it belongs to. Sessions of a team are kept under its name at the gateway.
    pub fn game(&self) -> PlayedGame {
        let session = self.session.rsplit('/').next().unwrap_or_default();
        PlayedGame {
            session: session.to_owned(),
            seat: self.seat,
        }
    }
}

impl Tables {
    /// Looks at what waits at the door. A game is gone on with before another one.
    pub fn look(&mut self, asks: &[DoorAsk], experiment: &str) {
        let own = || asks.iter().filter(|ask| ask.experiment == experiment);
        let before = self
            .last
            .as_ref()
            .map(|last| (last.ask.id(), last.ask.game()));
        let same = before
            .as_ref()
            .and_then(|(id, _)| own().find(|ask| ask.id() == *id));
        let of_game = before.as_ref();
        let of_game = of_game.and_then(|(_, game)| own().find(|ask| ask.game() == *game));
        let Some(ask) = same.or(of_game).or_else(|| own().next()) else {
            self.close();
            if let Some(last) = &mut self.last {
                last.is_gone = true;
            }
            return;
        };
        let is_same = before.is_some_and(|(id, _)| id == ask.id());
        if is_same {
            if let Some(last) = &mut self.last {
                // One that is answered stays at the door for a moment.
                let is_taken = |(_, at): &(String, Instant)| at.elapsed() < TAKEN_WITHIN;
                last.answer
                    .take_if(|answer| last.is_gone || !is_taken(answer));
                last.is_gone = false;
                last.is_open = last.answer.is_none();
                // A question that is put again has its whole time again.
                last.ask.until = ask.until;
                last.ask.digest.clone_from(&ask.digest);
            }
            return;
        }
        self.close();
        self.over_since = None;
        if self.last.as_ref().is_some_and(|last| last.answer.is_some()) {
            self.notice = None;
        }
        self.last = Some(Asked {
            live: ask.seen.as_deref().map(Live::of),
            ask: ask.clone(),
            is_open: true,
            answer: None,
            is_gone: false,
        });
    }

    /// The open question is gone; says what became of it, if the person did not answer it.
    fn close(&mut self) {
        let Some(last) = &mut self.last else { return };
        if !last.is_open {
            return;
        }
        last.is_open = false;
        if last.answer.is_none() {
            self.notice = Some(gone(&last.ask));
        }
    }

    /// The person answered.
    pub fn answered(&mut self, id: &str, answer: String) {
        let last = self.last.as_mut().filter(|last| last.ask.id() == id);
        if let Some(last) = last {
            last.is_open = false;
            last.answer = Some((answer, Instant::now()));
            self.notice = None;
        }
    }

    /// What is asked now.
    pub fn ask(&self) -> Option<AskState> {
        let last = self.last.as_ref().filter(|last| last.is_open)?;
        let ask = &last.ask;
        let question = ask.messages.last().map(|message| message.text.clone());
        let refused = ask.seen.as_ref().and_then(|seen| seen.refused.as_ref());
        Some(AskState {
            id: ask.id(),
            kind: ask.kind.clone(),
            schema: ask.schema.clone(),
            question: question.unwrap_or_default(),
            until: ask.until,
            stand_in: ask.stand_in.clone(),
            refused: refused.map(|foul| foul.reason.clone()),
        })
    }

    /// The game that was asked about last.
    pub fn current_game(&self) -> Option<PlayedGame> {
        self.last.as_ref().map(|last| last.ask.game())
    }

    /// A game that is over, if it was looked at before.
    pub fn finished(&self, game: &PlayedGame) -> Option<GameState> {
        self.finished.get(&game.session).cloned()
    }

    /// A game that is over, as its record tells its seat.
    pub fn finish(&mut self, game: &PlayedGame, viewing: &Viewing) -> GameState {
        let going = self.going(game);
        let record = viewing.record();
        let has_seat = game.seat < record.spec.seats.len();
        let payoff = record.outcome.payoffs.get(game.seat).copied();
        let state = GameState {
            live: has_seat.then(|| viewing.live(game.seat)),
            payoff: payoff.filter(|_| has_seat),
            over: true,
            ..going
        };
        self.finished.insert(game.session.clone(), state.clone());
        state
    }

    /// A game that goes on, as it was seen last.
    pub fn going(&self, game: &PlayedGame) -> GameState {
        let last = self.last.as_ref().filter(|last| last.ask.game() == *game);
        let Some(Asked {
            ask, live, answer, ..
        }) = last
        else {
            return Self::unseen(game);
        };
        let (rules, told): (Vec<&Message>, Vec<&Message>) = ask
            .messages
            .iter()
            .partition(|message| message.from == Speaker::Rules);
        let rules = rules.iter().map(|message| &*message.text);
        let mut history: Vec<Message> = told.into_iter().cloned().collect();
        match answer {
            // The question itself stands beside its controls.
            None => drop(history.pop()),
            Some((answer, _)) => history.push(Message {
                from: Speaker::You,
                text: answer.clone(),
            }),
        }
        GameState {
            live: live.clone(),
            rules: rules.collect::<Vec<&str>>().join("\n"),
            history,
            ..Self::unseen(game)
        }
    }

    /// A game of which nothing was seen yet.
    pub fn unseen(game: &PlayedGame) -> GameState {
        GameState {
            session: game.session.clone(),
            live: None,
            rules: String::new(),
            history: Vec::new(),
            payoff: None,
            over: false,
        }
    }

    /// Whether records have had their time.
    pub fn is_told(&mut self) -> bool {
        let since = *self.over_since.get_or_insert_with(Instant::now);
        since.elapsed() >= RECORDS_WITHIN
    }
}

/// What is said of a question that the person did not answer.
pub fn gone(ask: &DoorAsk) -> String {
    match &ask.stand_in {
        Some(name) => format!("Time was up: {name} has answered for you."),
        None => "This question was answered from elsewhere.".to_owned(),
    }
}
