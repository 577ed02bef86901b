//! What the contract asks of a game's process beside what the conformance kit asks of every game.
//! Each check plays over the wire and compares what is said.

use std::sync::Arc;

use agon_engine::rule_player::{Random, RulePlayer};
use agon_engine::spec::Settings;
use agon_engine::{Answer, Chance, EventLog, Game, Luck, State, View};

use crate::kit::TestedGame;
use crate::remote::new_play;
use crate::wire::{Step, StepReply, WireAnswer};

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

/// All clauses.
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

/// One way to play the game with default parameters: the answers of each turn, at random.
struct Course {
    params: Settings,
    seats: usize,
    luck: Luck,
    answers: Vec<Arc<[WireAnswer]>>,
    /// What was said to each turn, from the start.
    said: Vec<StepReply>,
}

impl Course {
    fn of(tested: &TestedGame, luck: Luck) -> Result<Self, String> {
        let built = tested.registration().build(&Settings::new());
        let built = built.map_err(|error| error.to_string())?;
        let (game, params): (Arc<dyn Game>, Settings) = (built.game, built.params);
        let mut chance = Chance::seeded(luck);
        let mut random = chance.for_rule_player(0);
        let mut log = EventLog::default();
        let mut state: Box<dyn State> = game.start(&mut chance, &mut log);
        let mut answers: Vec<Arc<[WireAnswer]>> = Vec::new();
        while !state.asks().is_empty() {
            let given = state.asks().iter().map(|ask| {
                let view = View::new(ask.seat, log.all());
                Answer::Given(Random.act(ask, &view, &mut random))
            });
            let given: Vec<Answer> = given.collect();
            state.advance(&given, &mut chance, &mut log);
            answers.push(given.into_iter().map(WireAnswer).collect());
        }
        if let Some(why) = tested.take_fault() {
            return Err(why);
        }
        let mut course = Self {
            params,
            seats: game.seats(),
            luck,
            answers,
            said: Vec::new(),
        };
        let play = new_play();
        for turn in 0..=course.answers.len() {
            let reply = course.told(tested, &play, turn)?;
            let is_refusal = reply
                .reply
                .as_ref()
                .is_some_and(|reply| !reply.refused.is_empty());
            course.said.push(reply);
            if is_refusal {
                // What the game refuses is not answered again here.
                course.answers.truncate(turn);
                break;
            }
        }
        Ok(course)
    }

    /// The request for a turn of a play that is remembered.
    fn step(&self, tested: &TestedGame, play: &Arc<str>, turn: usize) -> Step {
        let given = turn
            .checked_sub(1)
            .map(|last| Arc::clone(&self.answers[last]));
        let start = (turn == 0).then(|| tested.start(&self.params, self.seats, self.luck));
        Step {
            session: "conformance".into(),
            play: Arc::clone(play),
            rules_version: tested.description().rules_version,
            turn: turn as u32,
            start,
            answers: given.into_iter().collect(),
        }
    }

    /// What is said of a turn, told from the start where the play is not remembered.
    fn told(&self, tested: &TestedGame, play: &Arc<str>, turn: usize) -> Result<StepReply, String> {
        let reply = tested.ask(self.step(tested, play, turn))?;
        match reply.unknown {
            true => tested.ask(self.whole(tested, Arc::clone(play), turn)),
            false => Ok(reply),
        }
    }

    /// The request for a turn of a play that is not remembered.
    fn whole(&self, tested: &TestedGame, play: Arc<str>, turn: usize) -> Step {
        Step {
            session: "conformance".into(),
            play,
            rules_version: tested.description().rules_version,
            turn: turn as u32,
            start: Some(tested.start(&self.params, self.seats, self.luck)),
            answers: self.answers[..turn].to_vec(),
        }
    }

    fn compare(&self, turn: usize, reply: &StepReply, when: &str) -> Result<(), String> {
        let said = &self.said[turn];
        if reply.reply == said.reply && reply.error == said.error && !reply.unknown {
            return Ok(());
        }
        let text = |reply: &StepReply| {
            let text = serde_json::to_string(&reply.reply).unwrap_or_default();
            text.chars().take(400).collect::<String>()
        };
        Err(format!(
            "turn {turn} leads to something else {when}: first {}, then {}",
            text(said),
            text(reply)
        ))
    }
}

fn forgets_without_harm(tested: &TestedGame) -> Result<(), String> {
    for repeat in 0..4 {
        let course = Course::of(tested, Luck::new(11, repeat))?;
        for turn in 0..course.said.len() {
            let whole = course.whole(tested, new_play(), turn);
            let reply = tested.ask(whole)?;
            course.compare(turn, &reply, "told from the start")?;
        }
    }
    Ok(())
}

fn says_what_is_unknown(tested: &TestedGame) -> Result<(), String> {
    let course = Course::of(tested, Luck::new(12, 0))?;
    if course.said.len() < 2 {
        return Ok(());
    }
    let never = tested.ask(course.step(tested, &new_play(), 1))?;
    if !never.unknown {
        return Err("it answers for a session whose start it was never told".to_owned());
    }
    // A turn that was answered before, as after an answer that got lost: it may say that it does
    // not know, or the same again.
    let play = new_play();
    course.told(tested, &play, 0)?;
    course.told(tested, &play, 1)?;
    let again = tested.ask(course.step(tested, &play, 1))?;
    match again.unknown {
        true => Ok(()),
        false => course.compare(1, &again, "asked a second time"),
    }
}

fn refuses_other_rules(tested: &TestedGame) -> Result<(), String> {
    let course = Course::of(tested, Luck::new(12, 1))?;
    let of_others = |step: Step| Step {
        rules_version: step.rules_version + 1,
        ..step
    };
    let play = new_play();
    let begun = tested.ask(of_others(course.step(tested, &play, 0)))?;
    let mut later = begun.clone();
    if course.said.len() > 1 {
        course.told(tested, &play, 0)?;
        later = tested.ask(of_others(course.step(tested, &play, 1)))?;
    }
    match begun.other_rules && (later.other_rules || later.unknown) {
        true => Ok(()),
        false => Err("it plays a session of the next rules_version".to_owned()),
    }
}

fn keeps_sessions_apart(tested: &TestedGame) -> Result<(), String> {
    let courses = (0..TOGETHER).map(|repeat| Course::of(tested, Luck::new(13, repeat)));
    let courses: Vec<Course> = courses.collect::<Result<_, _>>()?;
    let plays: Vec<Arc<str>> = courses.iter().map(|_| new_play()).collect();
    let longest = courses.iter().map(|course| course.said.len()).max();
    for turn in 0..longest.unwrap_or(0) {
        let open = courses.iter().zip(&plays);
        let open: Vec<_> = open
            .filter(|(course, _)| turn < course.said.len())
            .collect();
        let steps = open
            .iter()
            .map(|(course, play)| course.step(tested, play, turn));
        let replies = tested.ask_together(steps.collect())?;
        for ((course, play), mut reply) in open.iter().zip(replies) {
            if reply.unknown {
                reply = tested.ask(course.whole(tested, Arc::clone(play), turn))?;
            }
            course.compare(turn, &reply, "beside other sessions")?;
        }
    }
    Ok(())
}

fn follows_from_luck(tested: &TestedGame) -> Result<(), String> {
    let draws = tested.description().chance;
    let mut differs = false;
    let first = Course::of(tested, Luck::new(14, 0))?;
    for repeat in 0..8 {
        let luck = Luck::new(15, repeat);
        let other = Course {
            luck,
            params: first.params.clone(),
            answers: first.answers.clone(),
            said: first.said.clone(),
            ..first
        };
        let turn = first.said.len() - 1;
        let whole = || other.whole(tested, new_play(), turn);
        let reply = tested.ask(whole())?;
        let again = tested.ask(whole())?;
        if reply.reply != again.reply {
            return Err("the same luck leads to something else the second time".to_owned());
        }
        differs |= first.compare(turn, &reply, "with other luck").is_err();
    }
    match (draws, differs) {
        (false, true) => Err(
            "other luck leads to something else, and the description says that it does not draw \
             (\"chance\": true would)"
                .to_owned(),
        ),
        _ => Ok(()),
    }
}
