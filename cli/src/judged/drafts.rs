//! Experiments that judge, drafted for somebody who looks at the draw before anything is played: the same
//! players, turns and entries as `--records` gives, with the judges named on a page.

use std::collections::BTreeMap;

use agon_coordinator::experiment::{ExperimentFile, is_player_name};
use agon_engine::record::StoredRecord;
use agon_engine::{Seat, registry};
use agon_web::judging::{
    DrawnPlayer, Judging, JudgingCriterion, JudgingDraft, JudgingDrafting, JudgingWanted,
    LeftOutPlayers, Listed,
};
use serde_json::{Map, Value, json};

use super::drawing::{Candidate, candidates};
use super::entries::Entry;
use super::{By, Draw, Drawn, JUDGING, most_judges, rates_personas_alone};
use crate::inviting;

/// Beside whose marks those of judges are shown (Mao et al., arXiv 2311.03220, table 3).
const PUBLISHED: &str = "alympics-judging";

/// Judges of one model are drawn at this temperature: at 0 they would be one judge.
const TEMPERATURE: f64 = 1.0;

/// Longest name of a person or a model.
const LONGEST_NAME: usize = 100;

/// Letters of the run's name in that of the experiment, and of what tells its drafts apart.
const LONGEST_RUN: usize = 70;
const DIGITS: usize = 6;

/// See the module.
pub struct Drafts {
    /// What follows `agon run FILE` to have an experiment played where these pages are.
    pub to: &'static str,
}

impl Drafts {
    /// Those of pages that a coordinator serves.
    pub const OF_A_CLUSTER: Self = Self {
        to: " --coordinator URL --gateway URL",
    };
    /// Those of pages on a machine of one's own.
    pub const HERE: Self = Self { to: "" };
}

impl Judging for Drafts {
    fn criteria(&self) -> Vec<JudgingCriterion> {
        let criteria = all_criteria();
        let criteria = criteria.iter().filter_map(|criterion| {
            let text = |key: &str| criterion.get(key)?.as_str().map(str::to_owned);
            let marks = criterion.get("marks").and_then(Value::as_array);
            let marks = marks.into_iter().flatten().filter_map(Value::as_str);
            Some(JudgingCriterion {
                name: text("name")?,
                question: text("question")?,
                marks: marks.map(str::to_owned).collect(),
                needs_persona: criterion.get("needs_persona") == Some(&Value::Bool(true)),
            })
        });
        criteria.collect()
    }

    fn begin(&self, run: &str, wanted: &JudgingWanted) -> Result<Box<dyn JudgingDrafting>, String> {
        let (judges, seats) = judges(wanted)?;
        let like = entry(wanted, &seats)?;
        let name = name(run, wanted);
        let tree = json!({
            "name": name,
            "description": format!("Judges players of {run}"),
            "players": judges,
            "report": { "compare": PUBLISHED },
        });
        let head = toml::to_string(&tree).map_err(|error| error.to_string())?;
        let is_for_people = wanted.own || !wanted.people.is_empty();
        let web = if is_for_people { " --web" } else { "" };
        Ok(Box::new(Drafting {
            file: ExperimentFile::parse(&name, &head).map_err(|error| error.to_string())?,
            command: format!("agon run {name}.toml{}{web}", self.to),
            run: run.to_owned(),
            by: By::wanted(wanted.own, wanted.judges),
            draw: Draw {
                most: wanted.judged as usize,
                own: wanted.own,
                personas: rates_personas_alone(&like),
            },
            name,
            like,
            drawn: Drawn::default(),
            numbers: BTreeMap::new(),
        }))
    }
}

/// A draft that is being made.
struct Drafting {
    name: String,
    run: String,
    command: String,
    file: ExperimentFile,
    like: Value,
    by: By,
    draw: Draw,
    drawn: Drawn,
    /// The numbers of the sessions that were drawn, by id.
    numbers: BTreeMap<String, usize>,
}

impl JudgingDrafting for Drafting {
    fn draw(&mut self, sessions: Listed<'_>) -> Result<Vec<(String, Seat)>, String> {
        let (mut ids, mut all) = (Vec::new(), Vec::new());
        for (id, played) in sessions.filter(|(_, played)| played.game != JUDGING) {
            all.extend(candidates(ids.len(), id, &played.seats));
            ids.push(id);
        }
        if all.is_empty() {
            let text = "this run lists no sessions that can be judged; judgements are not, and sessions \
                        that stand in another run as well are listed there";
            return Err(text.to_owned());
        }
        let drawn = self.draw.from(all)?;
        let place = |one: &Candidate| (ids[one.session].to_owned(), one.seat);
        let places: Vec<(String, Seat)> = drawn.iter().map(place).collect();
        let numbers = drawn.iter().zip(&places);
        self.numbers = numbers
            .map(|(one, (id, _))| (id.clone(), one.session))
            .collect();
        Ok(places)
    }

    fn add(&mut self, record: &StoredRecord, seat: Seat) {
        let number = self.numbers.get(&record.session.to_string());
        let place = (number.copied().unwrap_or_default(), seat);
        self.drawn.add(&self.like, record, place, self.by);
    }

    fn finish(mut self: Box<Self>) -> Result<JudgingDraft, String> {
        self.drawn.seat(&mut self.file, self.by)?;
        let left_out = self
            .drawn
            .left_out()
            .into_iter()
            .map(|(reason, players)| LeftOutPlayers {
                players,
                reason: reason.in_words().to_owned(),
            });
        let left_out = left_out.collect();
        let drawn = self.drawn.entries.iter().map(told).collect();
        let entries = self.drawn.entries.into_iter().map(|entry| entry.value);
        self.file.replace_games(entries.collect(), "the draw");
        let document = self.file.check().map_err(|error| error.to_string())?;
        let text = toml::to_string(&document).map_err(|error| error.to_string())?;
        Ok(JudgingDraft {
            drawn,
            left_out,
            file: format!("{}.toml", self.name),
            text: format!(
                "# Judges players of {}. The file contains their records.\n\n{text}",
                self.run
            ),
            command: self.command,
        })
    }
}

/// The experiment's name: other wishes are another experiment, with other people invited to it.
fn name(run: &str, wanted: &JudgingWanted) -> String {
    let plain = |letter: char| {
        if letter.is_ascii_alphanumeric() {
            letter
        } else {
            '-'
        }
    };
    let short: String = run.chars().take(LONGEST_RUN).map(plain).collect();
    let own = if wanted.own { "-own" } else { "" };
    let wishes = blake3::hash(format!("{run} {wanted:?}").as_bytes()).to_hex();
    format!("judging-{short}{own}-{}", &wishes[..DIGITS])
}

/// The players who judge, and who sits where.
fn judges(wanted: &JudgingWanted) -> Result<(Map<String, Value>, Vec<String>), String> {
    let (mut players, mut seats) = (Map::new(), Vec::new());
    if wanted.own {
        return Ok((players, seats));
    }
    let all = (wanted.people.len() + wanted.models.len()) as u64;
    let each = u64::from(wanted.judges.unwrap_or(1));
    if all == 0 {
        return Err("name at least one judge, a person or a model".to_owned());
    }
    let most = most_judges();
    if all > most {
        return Err(format!("{all} judges are named; there can be {most}"));
    }
    if each == 0 || each > all {
        let judges = crate::output::counted(all, "judge");
        return Err(format!(
            "{judges} named, so each record can have 1 to {all}, not {each}"
        ));
    }
    for person in &wanted.people {
        if person.len() > LONGEST_NAME || !is_player_name(person) {
            return Err(format!(
                "\"{person}\" cannot be a person's name here: start with a letter, then letters, digits, \
                 - and _"
            ));
        }
        if players
            .insert(person.clone(), inviting::player(person))
            .is_some()
        {
            return Err(format!("{person} is named twice"));
        }
        seats.push(person.clone());
    }
    for model in &wanted.models {
        if model.chars().count() > LONGEST_NAME
            || model
                .chars()
                .any(|letter| letter.is_whitespace() || letter.is_control())
        {
            return Err(format!("\"{model}\" is no name of a model"));
        }
        if let Some(person) = inviting::door_of(model) {
            return Err(format!(
                "{model} is a person: name {person} among the people"
            ));
        }
        let is_free = |name: &String| !players.contains_key(name);
        let mut free = (1..)
            .map(|number| format!("judge_{number}"))
            .filter(is_free);
        let name = free.next().unwrap_or_default();
        let judge = json!({
            "kind": "model", "model": model, "explain": true, "temperature": TEMPERATURE,
        });
        players.insert(name.clone(), judge);
        seats.push(name);
    }
    Ok((players, seats))
}

/// The entry of the game, before records are put into it.
fn entry(wanted: &JudgingWanted, seats: &[String]) -> Result<Value, String> {
    let mut entry = json!({ "game": JUDGING, "seats": seats });
    if wanted.criteria.is_empty() {
        return Ok(entry);
    }
    let is_named = |criterion: &Value, name: &String| {
        criterion.get("name").and_then(Value::as_str) == Some(name)
    };
    let all = all_criteria();
    let unknown = |name: &&String| !all.iter().any(|criterion| is_named(criterion, name));
    if let Some(unknown) = wanted.criteria.iter().find(unknown) {
        return Err(format!("there is no criterion {unknown}"));
    }
    let is_wanted =
        |criterion: &&Value| wanted.criteria.iter().any(|name| is_named(criterion, name));
    let chosen = all.iter().filter(is_wanted);
    entry["params"] = json!({ "criteria": chosen.collect::<Vec<_>>() });
    Ok(entry)
}

/// The criteria that the game has by default.
fn all_criteria() -> Vec<Value> {
    let game = registry::find(JUDGING).ok();
    let built = game.and_then(|game| game.build(&Default::default()).ok());
    let criteria = built.and_then(|built| built.params.get("criteria").cloned());
    let criteria = criteria.and_then(|criteria| criteria.as_array().cloned());
    criteria.unwrap_or_default()
}

fn told(entry: &Entry) -> DrawnPlayer {
    let (value, (_, seat)) = (&entry.value, entry.place);
    let judged = value.pointer("/params/judged").and_then(Value::as_str);
    let seats = value.get("seats").and_then(Value::as_array);
    let judges = seats.into_iter().flatten().filter_map(Value::as_str);
    DrawnPlayer {
        session: entry.session.clone(),
        seat,
        name: judged.unwrap_or_default().to_owned(),
        has_persona: value.pointer("/params/has_persona") == Some(&Value::Bool(true)),
        judges: judges.map(str::to_owned).collect(),
    }
}
