//! What the contract asks of a game's process beside what the conformance kit asks of every game.
//! Each check plays over the wire and compares what is said.

use agon_engine::outside_game::OutsideState;
use agon_engine::rule_player::{Random, RulePlayer};
use agon_engine::spec::Settings;
use agon_engine::{Answer, Chance, EventLog, Luck, OutsideReply, State, View};

use crate::history::{Given, History, given};
use crate::kit::TestedGame;
use crate::wire::StepReply;

/// Something that the contract asks of a process.
pub struct Clause {
    /// Short name.
    pub name: &'static str,
    /// What it says.
    pub statement: &'static str,
    /// Checks it.
    ///
    /// # Errors
    /// The process does not keep it; says what it does.
    pub holds: fn(&TestedGame) -> Result<(), String>,
}

/// The first clause: nothing else can be asked of a process that does not keep it.
pub const PLAYS: Clause = Clause {
    name: "plays",
    statement: "sessions with default parameters come to their end, and every reply makes a game",
    holds: plays_to_the_end,
};

/// All others.
pub const CLAUSES: &[Clause] = &[
    Clause {
        name: "forgetting",
        statement: "told a session's whole history, it says what it said when it was told turn by turn",
        holds: forgets_without_harm,
    },
    Clause {
        name: "unknown",
        statement: "of a session that it does not remember, or not at this turn, it says so",
        holds: says_what_is_unknown,
    },
    Clause {
        name: "rules",
        statement: "a session of other rules than its own it does not play, and says so",
        holds: refuses_other_rules,
    },
    Clause {
        name: "together",
        statement: "sessions that are asked about together do not touch each other",
        holds: keeps_sessions_apart,
    },
    Clause {
        name: "luck",
        statement: "the same luck leads to the same, and other luck to the same where it does not draw",
        holds: follows_from_luck,
    },
];

/// Sessions that are asked about together.
const TOGETHER: u32 = 16;

/// Letters of a reply that are shown.
const LETTERS: usize = 400;

/// One way to play the game with default parameters: the answers of each turn, at random, and what
/// was said to them, from the start. It ends early where an answer is refused.
struct Course {
    params: Settings,
    seats: usize,
    answers: Vec<Given>,
    said: Vec<StepReply>,
}

impl Course {
    fn of(tested: &TestedGame, luck: Luck) -> Result<Self, String> {
        let built = tested.registration().build(&Settings::new());
        let built = built.map_err(|error| error.to_string())?;
        let (game, params) = (built.game, built.params);
        let seats = game.seats();
        let mut history = tested.history(&params, seats, luck);
        let mut course = Self {
            params,
            seats,
            answers: Vec::new(),
            said: Vec::new(),
        };
        let mut chance = Chance::seeded(luck);
        let mut random = chance.for_rule_player(0);
        let mut log = EventLog::default();
        let mut state = OutsideState::awaiting(seats, game.asks_per_seat());
        loop {
            let last = course.answers.last();
            let told = tested.told(&history, last)?;
            let turn = course.said.len();
            let reply = ruled(&told, turn)?;
            course.said.push(told);
            if !reply.refused.is_empty() {
                return Ok(course);
            }
            history.push(last.cloned());
            let taken = state.hand_in(reply);
            taken.map_err(|why| format!("turn {turn}: {why}"))?;
            state.advance(&[], &mut chance, &mut log);
            if state.asks().is_empty() {
                return Ok(course);
            }
            let answers = state.asks().iter().map(|ask| {
                let view = View::new(ask.seat, log.all());
                Answer::Given(Random.act(ask, &view, &mut random))
            });
            course.answers.push(given(answers));
        }
    }

    /// A play of it with some luck that has not begun.
    fn play(&self, tested: &TestedGame, luck: Luck) -> History {
        tested.history(&self.params, self.seats, luck)
    }

    /// The answers that lead to what was said at a place; none to the start.
    fn answers_to(&self, turn: usize) -> Option<&Given> {
        turn.checked_sub(1).map(|last| &self.answers[last])
    }

    /// A play that stands before a turn.
    fn before(&self, mut play: History, turn: usize) -> History {
        for answers in self.answers.iter().take(turn.saturating_sub(1)) {
            play.push(Some(answers.clone()));
        }
        play
    }

    fn compare(&self, turn: usize, reply: &StepReply, when: &str) -> Result<(), String> {
        let said = &self.said[turn];
        if reply.reply == said.reply && reply.error == said.error && !reply.unknown {
            return Ok(());
        }
        let text = |reply: &StepReply| {
            let text = serde_json::to_string(&reply.reply).unwrap_or_default();
            text.chars().take(LETTERS).collect::<String>()
        };
        Err(format!(
            "turn {turn} leads to something else {when}: first {}, then {}",
            text(said),
            text(reply)
        ))
    }
}

/// The ruling in a reply.
fn ruled(told: &StepReply, turn: usize) -> Result<OutsideReply, String> {
    match (&told.error, &told.reply) {
        (Some(why), _) => Err(format!("turn {turn}: {why}")),
        (None, Some(reply)) => Ok(reply.clone()),
        (None, None) => Err(format!("turn {turn}: the answer of the game has no reply")),
    }
}

fn plays_to_the_end(tested: &TestedGame) -> Result<(), String> {
    let mut lucks = (0..4).map(|repeat| Luck::new(10, repeat));
    lucks.try_for_each(|luck| Course::of(tested, luck).map(drop))
}

fn forgets_without_harm(tested: &TestedGame) -> Result<(), String> {
    for repeat in 0..4 {
        let luck = Luck::new(11, repeat);
        let course = Course::of(tested, luck)?;
        for turn in 0..course.said.len() {
            let play = course.before(course.play(tested, luck), turn);
            let reply = tested.ask(play.whole(course.answers_to(turn)))?;
            course.compare(turn, &reply, "told from the start")?;
        }
    }
    Ok(())
}

fn says_what_is_unknown(tested: &TestedGame) -> Result<(), String> {
    let luck = Luck::new(12, 0);
    let course = Course::of(tested, luck)?;
    let Some(first) = course.answers.first() else {
        return Ok(());
    };
    let never = tested.ask(course.play(tested, luck).step(Some(first)))?;
    if !never.unknown {
        return Err("it answers for a session whose start it was never told".to_owned());
    }
    // A turn that was answered before, as after an answer that got lost: it may say that it does
    // not know, or the same again.
    let play = course.play(tested, luck);
    tested.told(&play, None)?;
    tested.told(&play, Some(first))?;
    let again = tested.ask(play.step(Some(first)))?;
    match again.unknown {
        true => Ok(()),
        false => course.compare(1, &again, "asked a second time"),
    }
}

fn refuses_other_rules(tested: &TestedGame) -> Result<(), String> {
    let luck = Luck::new(12, 1);
    let course = Course::of(tested, luck)?;
    let play = course.play(tested, luck);
    let others = play.by_rules(tested.description().rules_version + 1);
    let mut refuses = tested.ask(others.step(None))?.other_rules;
    if let Some(first) = course.answers.first() {
        tested.told(&play, None)?;
        let later = tested.ask(others.step(Some(first)))?;
        refuses &= later.other_rules || later.unknown;
    }
    match refuses {
        true => Ok(()),
        false => Err("it plays a session of the next rules_version".to_owned()),
    }
}

fn keeps_sessions_apart(tested: &TestedGame) -> Result<(), String> {
    let lucks = (0..TOGETHER).map(|repeat| Luck::new(13, repeat));
    let courses = lucks.map(|luck| {
        let course = Course::of(tested, luck)?;
        let play = course.play(tested, luck);
        Ok((course, play))
    });
    let mut courses: Vec<(Course, History)> = courses.collect::<Result<_, String>>()?;
    let longest = courses.iter().map(|(course, _)| course.said.len()).max();
    for turn in 0..longest.unwrap_or(0) {
        courses.retain(|(course, _)| turn < course.said.len());
        let asked = courses
            .iter()
            .map(|(course, play)| (play, course.answers_to(turn)));
        let replies = tested.told_together(asked)?;
        for ((course, play), reply) in courses.iter_mut().zip(&replies) {
            course.compare(turn, reply, "beside other sessions")?;
            play.push(course.answers_to(turn).cloned());
        }
    }
    Ok(())
}

fn follows_from_luck(tested: &TestedGame) -> Result<(), String> {
    let course = Course::of(tested, Luck::new(14, 0))?;
    let turn = course.said.len() - 1;
    let mut differs = false;
    for repeat in 0..8 {
        let play = course.play(tested, Luck::new(15, repeat));
        let play = course.before(play, turn);
        let whole = |play: &History| tested.ask(play.whole(course.answers_to(turn)));
        let reply = whole(&play)?;
        if reply.reply != whole(&play.as_another_play())?.reply {
            return Err("the same luck leads to something else the second time".to_owned());
        }
        differs |= course.compare(turn, &reply, "with other luck").is_err();
    }
    match differs && !tested.description().chance {
        true => Err(
            "other luck leads to something else, and the description says that it does not draw \
             (\"chance\": true would)"
                .to_owned(),
        ),
        false => Ok(()),
    }
}
