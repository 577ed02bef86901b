//! Judging of what a player did in another session.
//!
//! Judges read the record of one player (`record`, in words) and rate it, each for
//! itself: in every round all of them are asked the same criterion's question and give
//! a whole number from `lowest` to `highest`. Nobody is told what others said. Criteria
//! about a persona are asked only where the judged player had one (`has_persona`).
//! Nothing is won: every payoff is 0. It is played like a game so that people, models
//! and rules can judge under the same roof as they play.
//!
//! Source: Mao et al., arXiv 2311.03220, section 7 and appendix A.5 (subjective evaluation): six
//! criteria, five judges per record, ratings from 1 to 5. Questions are in our words.

use super::prelude::*;

mod players;

/// The event that puts a criterion before the judges.
const CRITERION: &str = "criterion_opened";

/// Longest record, in letters: twenty days with full replies take a quarter of it.
pub const LONGEST_RECORD: usize = 400_000;

/// Most criteria: more are hardly read.
const MOST_CRITERIA: usize = 50;

parameters! {
    /// Parameters of the game; its players are judges.
    pub struct JudgingParams(players = 5, foul_allowance = FOUL_ALLOWANCE);
    told {
        /// The name of the player that is judged, as the record calls it.
        judged: String = "Alex".to_owned();
        /// Whether that player was told to be somebody.
        has_persona: bool = false;
        /// The worst rating.
        lowest: i64 = 1, in 0..=1_000;
        /// The best rating.
        highest: i64 = 5;
        /// What is judged, in words, at most 400,000 letters.
        record: String = SAMPLE.to_owned();
    }
    declared {
        /// What is rated.
        criteria: Vec<Criterion> = the_papers_criteria();
    }
}

/// Something that is rated.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Criterion {
    /// Its name in tables.
    pub name: String,
    /// What judges are asked.
    pub question: String,
    /// What each rating means, from the lowest to the highest; nothing is said where it is
    /// empty.
    #[serde(default)]
    pub marks: Vec<String>,
    /// Asked only about players with a persona.
    #[serde(default)]
    pub needs_persona: bool,
}

/// A criterion of the paper: its name, its question, and what each mark from 1 to 5 means.
type PaperCriterion = (&'static str, &'static str, [&'static str; 5]);

/// The paper's criteria (appendix A.5, in our words); the last one needs a persona.
const CRITERIA: [PaperCriterion; 6] = [
    (
        "information_utilisation",
        "How well does the player use what it is told: the state of the game, its own means, \
         and what the others did before?",
        [
            "It ignores what it is told on the day, and its decisions come too late.",
            "It clearly overlooks some of what it is told.",
            "It uses the most important facts well enough, but could use more.",
            "It uses what it is told widely and decides rationally from it.",
            "It always uses everything it is told, and in time.",
        ],
    ),
    (
        "logical_reasoning",
        "How sound are the reasons that the player gives, and do its decisions follow from them?",
        [
            "Most of its decisions have no logic and could as well be random.",
            "Its decisions have obvious flaws.",
            "Its decisions mostly follow from what it knows and infers.",
            "Its decisions are reasonable and clearly logical.",
            "Its reasoning is outstanding, and its decisions are always the best ones.",
        ],
    ),
    (
        "strategic_effectiveness",
        "How well do the player's decisions serve its goal in the situations it is in?",
        [
            "Its strategy is simple, has no depth and does not work.",
            "Its strategy works a little but has only one idea.",
            "Its strategy works in certain situations and could be better.",
            "Its strategy works: it takes the most important factors into account and mostly succeeds.",
            "Its strategy works very well: it takes many factors into account and gives the player an advantage.",
        ],
    ),
    (
        "adaptability",
        "How well does the player change its strategy when the situation or the others change?",
        [
            "It never varies its strategy and is slow to respond to changes.",
            "It varies its strategy little and adapts badly to new situations.",
            "It adapts somewhat and adjusts its strategy to some extent.",
            "It changes its strategy flexibly when the situation or the others change.",
            "It is extremely flexible and adapts ahead of what is coming.",
        ],
    ),
    (
        "long_term_planning",
        "How well does the player weigh what it gains now against what it will need later?",
        [
            "It does not plan ahead and only reacts to the moment.",
            "It sometimes thinks ahead but decides mainly for the moment.",
            "Its strategy looks ahead but is short-sighted in some situations.",
            "Its strategy and its actions follow clear long-term plans throughout.",
            "It plans far ahead very well and considers all of its future actions.",
        ],
    ),
    (
        "identity_alignment",
        "How well do the player's words and decisions fit the person that it was told to be?",
        [
            "What it thinks and decides does not fit that person and shows no character.",
            "What it thinks and decides fits that person somewhat but is mediocre overall.",
            "What it thinks and decides mostly fits that person but has little of its own character.",
            "What it thinks and decides fits that person well and shows its character.",
            "What it thinks and decides fits that person completely and brings its character to life.",
        ],
    ),
];

/// What is judged when nothing is named, so that the game can be tried.
const SAMPLE: &str = "Day 1: the supply is 12 units; Alex needs 8 and has 70.\n\
    Alex: The supply is enough for one of us. I can spare half of my salary, so I bid 35.\n\
    Bob bid 30. Water went to Alex.\n\
    Day 2: the supply is 11 units; Alex needs 8 and has 105.\n\
    Alex: I have water and Bob has none, so Bob will bid high today. I save my money and bid 5.\n\
    Bob bid 60. Water went to Bob.";

fn the_papers_criteria() -> Vec<Criterion> {
    let criteria = CRITERIA.map(|(name, question, marks)| Criterion {
        name: name.to_owned(),
        question: question.to_owned(),
        marks: marks.map(str::to_owned).to_vec(),
        needs_persona: name == "identity_alignment",
    });
    criteria.to_vec()
}

fn check_criteria(params: &JudgingParams) -> Result<(), ParameterError> {
    let are_few = params.criteria.len() <= MOST_CRITERIA;
    require!(
        are_few,
        "criteria",
        "criteria must be at most {MOST_CRITERIA}"
    );
    for (place, criterion) in params.criteria.iter().enumerate() {
        let before = &params.criteria[..place];
        let twice = before.iter().any(|other| other.name == criterion.name);
        let plain = !criterion.name.chars().any(ends_a_line);
        require!(
            !criterion.name.trim().is_empty() && !twice && plain,
            format!("criteria[{place}].name"),
            "a criterion needs a name in one line that no other has"
        );
        require!(
            !criterion.question.trim().is_empty(),
            format!("criteria[{place}].question"),
            "a criterion needs a question"
        );
        let ratings = params.highest.saturating_sub(params.lowest) + 1;
        let marks = criterion.marks.len();
        require!(
            marks == 0 || i64::try_from(marks) == Ok(ratings),
            format!("criteria[{place}].marks"),
            "marks must say what each of the {ratings} ratings means, from the lowest to the \
             highest, or be left out; {marks} are given"
        );
    }
    require!(
        asked(params).next().is_some(),
        "criteria",
        "criteria must have at least one that is asked: without a persona those that need one \
         are left out"
    );
    Ok(())
}

/// The criteria that are asked, in order.
fn asked(params: &JudgingParams) -> impl Iterator<Item = &Criterion> {
    let fits = |criterion: &&Criterion| params.has_persona || !criterion.needs_persona;
    params.criteria.iter().filter(fits)
}

impl JudgingParams {
    fn rounds(&self) -> u32 {
        asked(self).count() as u32
    }
}

impl Rules for JudgingParams {
    const INFO: &'static GameInfo = &GameInfo {
        name: Name::Borrowed("judging"),
        title: Name::Borrowed("Judging"),
        summary: Name::Borrowed(
            "read what a player did in another session and rate it by several criteria",
        ),
        rules_version: 2,
        seats: (1, 100),
        source: Name::Borrowed("Alympics, arXiv 2311.03220, section 7"),
        ..GameInfo::USUAL
    };

    const STRATEGIES: &'static [Strategy<Self>] = players::STRATEGIES;

    type State = Rounds<RatingRound>;

    fn settle(&mut self) -> Result<(), ParameterError> {
        let letters = self.record.chars().count();
        require!(
            !self.record.trim().is_empty() && letters <= LONGEST_RECORD,
            "record",
            "record must have 1 to {LONGEST_RECORD} letters, not {letters}"
        );
        let is_name = !self.judged.trim().is_empty() && !self.judged.chars().any(ends_a_line);
        require!(is_name, "judged", "judged must be a name in one line");
        // The paper's marks are those of its own scale.
        if (self.lowest, self.highest) != (1, 5) && self.criteria == the_papers_criteria() {
            for criterion in &mut self.criteria {
                criterion.marks.clear();
            }
        }
        check_within("highest", self.highest, self.lowest + 1..=1_001)?;
        check_criteria(self)
    }

    fn disclosures(&self) -> Vec<Disclosure> {
        let rule = "a criterion is put before all judges; which of them are asked follows from \
                    the judged player";
        vec![Disclosure::to_everybody(rule, &["criteria"])]
    }

    fn asks_per_seat(&self) -> u32 {
        self.rounds()
    }

    fn payoff_bounds(&self) -> (f64, f64) {
        (0.0, 0.0)
    }

    fn start(self: &Arc<Self>, chance: &mut Chance, log: &mut EventLog) -> Self::State {
        let setup = Setup {
            rounds: Some(self.rounds()),
            ..self.setup()
        };
        log.push(self.brief(setup.briefing()));
        let form = Form::integer(self.lowest, self.highest);
        let ask = setup.ask(0, AskRole::Rating, "rating", form);
        let rules = RatingRound {
            params: Arc::clone(self),
        };
        Rounds::start(rules, setup, &ask, chance, log)
    }

    /// Nothing is at stake, so every rating is as good as any other.
    fn equilibrium(&self) -> Equilibrium {
        let middle = players::middle(self) as f64;
        Equilibrium::exact(
            "nothing is at stake: everybody says the middle of the range",
            [("rating", middle)],
        )
    }

    /// Score `rating`: the mean of all ratings. Per criterion that somebody rated, in the
    /// order asked: series `means`, `spreads` (how far its ratings lie apart), and
    /// `mean_criteria` (which one it is, places from 0); per rating that was given, by
    /// criterion and judge: `ratings`, `rating_criteria` (places from 0), `rating_judges`.
    fn measures(&self, log: &EventLog, _moves: &[Move]) -> Measures {
        let mut measures = Measures::default();
        let (mut rated, mut ratings) = (Vec::new(), Vec::new());
        for (place, event) in log.of_kind("round_result").enumerate() {
            let before = ratings.len();
            for judge in 0..self.players {
                if let Some(rating) = event.number_at("ratings", judge) {
                    ratings.push([rating, place as f64, judge as f64]);
                }
            }
            let given = || ratings[before..].iter().map(|[rating, ..]| *rating);
            if let (Some(low), Some(high)) = (given().reduce(smaller), given().reduce(larger)) {
                rated.push([mean(given()), high - low, place as f64]);
            }
        }
        if !ratings.is_empty() {
            measures.score("rating", mean(ratings.iter().map(|[rating, ..]| *rating)));
        }
        measures.columns(["means", "spreads", "mean_criteria"], &rated);
        measures.columns(["ratings", "rating_criteria", "rating_judges"], &ratings);
        measures
    }
}

/// What a round of ratings means.
#[derive(Clone)]
pub struct RatingRound {
    params: Arc<JudgingParams>,
}

impl RoundRules for RatingRound {
    fn open(&mut self, round: u32, _chance: &mut Chance, log: &mut EventLog) {
        if let Some(criterion) = asked(&self.params).nth(round as usize - 1) {
            let marks = criterion.marks.iter().cloned().map(Value::from).collect();
            log.push(
                Event::new(CRITERION, round)
                    .fact("criterion", criterion.name.clone())
                    .fact("question", criterion.question.clone())
                    .fact("marks", Value::List(marks)),
            );
        }
    }

    fn play(&mut self, round: Round<'_>) -> Vec<f64> {
        let answers = round.answers;
        let ratings = column(answers.iter().map(Answer::integer));
        // A judge knows its own ratings and is told no other.
        round
            .log
            .push(Event::new("round_result", round.number).hidden("ratings", ratings));
        Vec::new()
    }
}

#[cfg(test)]
mod tests;
