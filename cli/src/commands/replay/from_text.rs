//! `agon replay --from-text`: recorded replies are read once more, by the reader that
//! reads those of players, and compared with the answers that were taken from them when
//! they were recorded. Called by `replay.rs`.

use agon_agents::{Reply, reading};
use agon_engine::replay::{RecordedGame, RecordedReply, Reread};
use agon_engine::{Action, Ask, Foul};
use serde::Serialize;

use crate::output;

/// What became of the replies.
#[derive(Debug, Default, Serialize)]
pub struct Readings {
    replies: usize,
    /// Read as the answer that was used.
    same: usize,
    /// Read as another answer.
    other: Vec<Difference>,
    /// Not read as any answer; the recorded one is played.
    unread: Vec<Difference>,
}

/// A reply that was not read as it was used.
#[derive(Debug, Serialize)]
struct Difference {
    place: String,
    used: String,
    /// The other answer, or why there is none.
    read: String,
}

impl Readings {
    /// Reads the replies of a game, which is then played with what was read.
    pub fn of_game(&mut self, game: &mut RecordedGame, quiet: bool) {
        for reread in game.reread(&mut read) {
            self.add(&reread, quiet);
        }
    }

    /// Reads a line that holds a single reply; whether it does.
    pub fn of_reply(&mut self, line: &str, quiet: bool) -> bool {
        let Some(reply) = RecordedReply::from_json(line) else {
            return false;
        };
        self.add(&reply.reread(&mut read), quiet);
        true
    }

    /// How many replies there were.
    pub fn replies(&self) -> usize {
        self.replies
    }

    /// How many were read as another answer than the one that was used.
    pub fn misread(&self) -> usize {
        self.other.len()
    }

    /// All of it in one line.
    pub fn in_words(&self) -> String {
        let Self {
            replies,
            same,
            other,
            unread,
        } = self;
        let share = 100.0 * *same as f64 / (*replies).max(1) as f64;
        let (other, unread) = (other.len(), unread.len());
        format!(
            "{same} of {replies} replies read as the answer that was used ({share:.1} %); \
             {other} read as another, {unread} as none"
        )
    }

    fn add(&mut self, reread: &Reread, quiet: bool) {
        self.replies += 1;
        if reread.is_same() {
            self.same += 1;
            return;
        }
        let used = words(&reread.used);
        let (list, read) = match &reread.read {
            Ok(action) => (&mut self.other, words(action)),
            Err(foul) => (&mut self.unread, foul.reason.clone()),
        };
        let place = reread.place.clone();
        if !quiet {
            output::print(&format!("reply {place}: used {used}, read {read}"));
        }
        list.push(Difference { place, used, read });
    }
}

/// Reads a reply as one of a player that came whole.
fn read(ask: &Ask, text: &str) -> Result<Action, Foul> {
    let reply = Reply {
        text: text.to_owned(),
        finish_reason: "stop".to_owned(),
    };
    reading::read(ask, &reply).map(|reading| reading.action)
}

fn words(action: &Action) -> String {
    match action {
        Action::Integer(number) => number.to_string(),
        Action::Number(number) => number.to_string(),
        other => format!("{other:?}"),
    }
}
