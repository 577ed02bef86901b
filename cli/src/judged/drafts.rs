//! Experiments that judge, drafted for somebody who looks at the draw before anything is played: the same
//! players, turns and entries as `--records` gives, with the judges named on a page.

use agon_coordinator::experiment::{ExperimentDocument, ExperimentFile};
use agon_engine::record::StoredRecord;
use agon_engine::{Seat, registry};
use agon_web::judging::{
    DrawnPlayer, Judging, JudgingCriterion, JudgingDraft, JudgingWanted, Listed,
};
use serde_json::{Map, Value, json};

use super::drawing::candidates;
use super::{JUDGING, assigning, draw, entries};
use crate::inviting;

/// Beside whose marks those of judges are shown (Mao et al., arXiv 2311.03220, table 3).
const PUBLISHED: &str = "alympics-judging";

/// Judges of one model are drawn at this temperature: at 0 they would be one judge.
const TEMPERATURE: f64 = 1.0;

/// See the module.
pub struct Drafts;

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

    fn draw(
        &self,
        sessions: Listed<'_>,
        wanted: &JudgingWanted,
    ) -> Result<Vec<(String, Seat)>, String> {
        let (mut ids, mut all) = (Vec::new(), Vec::new());
        for (id, spec) in sessions.filter(|(_, spec)| spec.game != JUDGING) {
            all.extend(candidates(ids.len(), id, spec));
            ids.push(id);
        }
        if all.is_empty() {
            return Err("there are no sessions to judge in this run".to_owned());
        }
        let drawn = draw(all, wanted.judged as usize, wanted.own)?;
        let place = |session: usize, seat: Seat| (ids[session].to_owned(), seat);
        Ok(drawn
            .iter()
            .map(|one| place(one.session, one.seat))
            .collect())
    }

    fn draft(
        &self,
        run: &str,
        players: &[(StoredRecord, Seat)],
        wanted: &JudgingWanted,
    ) -> Result<JudgingDraft, String> {
        let name = format!("judging-{}", run.replace('~', "-"));
        let (judges, seats) = judges(wanted)?;
        let like = entry(wanted, &seats)?;
        let tree = json!({
            "name": name,
            "description": format!("Players of {run}, judged"),
            "players": judges,
            "report": { "compare": PUBLISHED },
        });
        let head = toml::to_string(&tree).map_err(|error| error.to_string())?;
        let mut file = ExperimentFile::parse(&name, &head).map_err(|error| error.to_string())?;
        let judged = players
            .iter()
            .map(|(record, seat)| entries::entry_for(&like, record, *seat));
        let mut judged: Vec<Value> = judged.collect();
        let refused = |failure: crate::failure::Failure| failure.to_string();
        if wanted.own {
            let people = players
                .iter()
                .map(|(record, seat)| inviting::person_at(&record.spec, *seat));
            assigning::seat_people(&mut file, &mut judged, people).map_err(refused)?;
        } else if let Some(each) = wanted.judges {
            assigning::take_turns(&mut judged, each as usize).map_err(refused)?;
        }
        let drawn = players
            .iter()
            .zip(&judged)
            .map(|((record, seat), entry)| drawn(record, *seat, entry));
        let drawn = drawn.collect();
        file.replace_games(judged, "the draw");
        let document = file.check().map_err(|error| error.to_string())?;
        let is_for_people = wanted.own || !wanted.people.is_empty();
        let file = format!("{name}.toml");
        let web = if is_for_people { " --web" } else { "" };
        Ok(JudgingDraft {
            drawn,
            text: text(&document, run)?,
            command: format!("agon run {file}{web}"),
            file,
        })
    }
}

/// The experiment as a file.
fn text(document: &ExperimentDocument, run: &str) -> Result<String, String> {
    let text = toml::to_string(document).map_err(|error| error.to_string())?;
    Ok(format!(
        "# Players of {run} are judged. Their records stand in this file.\n\n{text}"
    ))
}

/// The players who judge, and who sits where.
fn judges(wanted: &JudgingWanted) -> Result<(Map<String, Value>, Vec<String>), String> {
    let (mut players, mut seats) = (Map::new(), Vec::new());
    if wanted.own {
        return Ok((players, seats));
    }
    for person in &wanted.people {
        if players
            .insert(person.clone(), inviting::player(person))
            .is_some()
        {
            return Err(format!("{person} is named twice"));
        }
        seats.push(person.clone());
    }
    for (number, model) in (1..).zip(&wanted.models) {
        let name = format!("judge_{number}");
        let judge = json!({
            "kind": "model", "model": model, "explain": true, "temperature": TEMPERATURE,
        });
        if players.insert(name.clone(), judge).is_some() {
            return Err(format!(
                "{name} is what models are called here; call the person otherwise"
            ));
        }
        seats.push(name);
    }
    match seats.is_empty() {
        true => Err("name at least one judge, a person or a model".to_owned()),
        false => Ok((players, seats)),
    }
}

/// The entry of the game, before records are put into it.
fn entry(wanted: &JudgingWanted, seats: &[String]) -> Result<Value, String> {
    let mut entry = json!({ "game": JUDGING, "seats": seats });
    if wanted.criteria.is_empty() {
        return Ok(entry);
    }
    let is_wanted = |criterion: &Value, name: &String| {
        criterion.get("name").and_then(Value::as_str) == Some(name)
    };
    let all = all_criteria();
    let unknown = |name: &&String| !all.iter().any(|criterion| is_wanted(criterion, name));
    if let Some(unknown) = wanted.criteria.iter().find(unknown) {
        return Err(format!("there is no criterion {unknown}"));
    }
    let chosen = all.iter().filter(|criterion| {
        wanted
            .criteria
            .iter()
            .any(|name| is_wanted(criterion, name))
    });
    entry["params"] = json!({ "criteria": chosen.collect::<Vec<_>>() });
    Ok(entry)
}

/// The criteria that the game has by default.
fn all_criteria() -> Vec<Value> {
    let game = registry::find(JUDGING).ok();
    let built = game.and_then(|game| game.build(&Default::default()).ok());
    let criteria = built.and_then(|built| built.params.get("criteria").cloned());
    criteria
        .and_then(|criteria| criteria.as_array().cloned())
        .unwrap_or_default()
}

fn drawn(record: &StoredRecord, seat: Seat, entry: &Value) -> DrawnPlayer {
    let params = entry.get("params");
    let judged = params
        .and_then(|params| params.get("judged"))
        .and_then(Value::as_str);
    let seats = entry.get("seats").and_then(Value::as_array);
    let judges = seats.into_iter().flatten().filter_map(Value::as_str);
    DrawnPlayer {
        session: record.session.to_string(),
        seat,
        name: judged.unwrap_or_default().to_owned(),
        has_persona: params.and_then(|params| params.get("has_persona"))
            == Some(&Value::Bool(true)),
        judges: judges.map(str::to_owned).collect(),
    }
}
