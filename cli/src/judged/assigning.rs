//! Who judges which record: some of the judges in turn, or the person who played. Changes the
//! entries of an experiment that judges, one for each record.

use agon_coordinator::experiment::ExperimentFile;
use serde_json::{Map, Value, json};

use super::PERSONS;
use crate::failure::Failure;
use crate::inviting;

/// Leaves each record `each` of the judges that its entry seats: always those who have the fewest
/// records so far, and of these the ones who have met the others least, in the order of their seats.
///
/// # Errors
/// The entries seat fewer.
pub fn take_turns(entries: &mut [Value], each: usize) -> Result<(), Failure> {
    let Some(judges) = entries.first().map(seated).transpose()? else {
        return Ok(());
    };
    if judges.len() < each {
        return Err(Failure::BadInput(format!(
            "--judges {each}: the experiment seats {} under `seats`",
            crate::output::counted(judges.len() as u64, "judge")
        )));
    }
    for (entry, turn) in entries.iter_mut().zip(Turns::new(judges.len(), each)) {
        entry["seats"] = turn
            .into_iter()
            .map(|judge| judges[judge].clone())
            .collect();
    }
    Ok(())
}

/// The judges of an entry, one name for each seat.
fn seated(entry: &Value) -> Result<Vec<Value>, Failure> {
    let unclear = || {
        let text =
            "--judges: `seats` must list the judges by name, such as seats = [\"ann\", \"ben\"]";
        Failure::BadInput(text.to_owned())
    };
    let seats = entry.get("seats").and_then(Value::as_array);
    let mut judges = Vec::new();
    for seat in seats.ok_or_else(unclear)? {
        match (seat, seat.get("player"), seat.get("count")) {
            (Value::String(_), ..) => judges.push(seat.clone()),
            (_, Some(player @ Value::String(_)), count) => {
                let count = count
                    .map_or(Some(1), Value::as_u64)
                    .filter(|count| *count <= 100);
                let count = count.ok_or_else(unclear)? as usize;
                judges.extend(std::iter::repeat_n(player.clone(), count));
            }
            _ => return Err(unclear()),
        }
    }
    Ok(judges)
}

/// Turns of judges, without an end.
struct Turns {
    each: usize,
    /// How many records each has.
    records: Vec<usize>,
    /// How many each two have in common.
    met: Vec<Vec<usize>>,
}

impl Turns {
    fn new(judges: usize, each: usize) -> Self {
        Self {
            each,
            records: vec![0; judges],
            met: vec![vec![0; judges]; judges],
        }
    }
}

impl Iterator for Turns {
    type Item = Vec<usize>;

    /// The judges of the next record, in the order of their seats.
    fn next(&mut self) -> Option<Vec<usize>> {
        let judges = self.records.len();
        let mut chosen: Vec<usize> = Vec::with_capacity(self.each);
        while chosen.len() < self.each {
            // Each time that all have had their turn somebody else begins: else the last are
            // always the same.
            let first = self.records.iter().sum::<usize>() / judges;
            let free = (0..judges).filter(|judge| !chosen.contains(judge));
            let next = free.min_by_key(|judge| {
                let met: usize = chosen.iter().map(|other| self.met[*judge][*other]).sum();
                (
                    self.records[*judge],
                    met,
                    (judge + judges - first % judges) % judges,
                )
            })?;
            for other in &chosen {
                self.met[next][*other] += 1;
                self.met[*other][next] += 1;
            }
            self.records[next] += 1;
            chosen.push(next);
        }
        chosen.sort_unstable();
        Some(chosen)
    }
}

/// Seats as the only judge of each entry the person who played there, and says so in its label.
///
/// # Errors
/// The experiment has a player of such a name that is somebody else.
pub fn seat_people<'a>(
    file: &mut ExperimentFile,
    entries: &mut [Value],
    people: impl IntoIterator<Item = Option<&'a str>>,
) -> Result<(), Failure> {
    for (entry, person) in entries.iter_mut().zip(people) {
        if let Some(door) = person {
            seat_person(file, entry, door)?;
        }
    }
    Ok(())
}

fn seat_person(file: &mut ExperimentFile, entry: &mut Value, door: &str) -> Result<(), Failure> {
    let model = inviting::model_of(door);
    match file.player(door).map(|player| player.get("model")) {
        None => file.add_player(door, inviting::player(door)),
        Some(Some(known)) if known.as_str() == Some(&model) => {}
        Some(_) => {
            return Err(Failure::BadInput(format!(
                "--own: the player {door} of the experiment is not the person `{model}` who is to \
                 judge; give it another name"
            )));
        }
    }
    let label = entry
        .get("label")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let label = match label.starts_with(PERSONS) {
        true => label.to_owned(),
        false => format!("{PERSONS}-{label}"),
    };
    let entry = entry.as_object_mut().into_iter();
    let changes = [("seats", json!([door])), ("label", label.into())];
    entry.for_each(|entry: &mut Map<String, Value>| {
        entry.extend(changes.clone().map(|(key, value)| (key.to_owned(), value)));
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn judges_have_equally_many_records_and_meet_equally_often() {
        // The paper's: ten people, of whom five judge each of thirty records.
        for (judges, each, records) in [(10, 5, 30), (6, 2, 30), (4, 3, 9), (12, 4, 60), (7, 1, 20)]
        {
            let turns: Vec<Vec<usize>> = Turns::new(judges, each).take(records).collect();
            let count = |judge: usize| turns.iter().filter(|turn| turn.contains(&judge)).count();
            let counts: Vec<usize> = (0..judges).map(count).collect();
            assert_eq!(counts.iter().sum::<usize>(), records * each);
            let apart = |all: &[usize]| all.iter().max().unwrap() - all.iter().min().unwrap();
            assert!(apart(&counts) <= 1, "{judges} {each}: {counts:?}");
            let pairs = (0..judges).flat_map(|one| (0..one).map(move |other| (one, other)));
            let met = |(one, other): (usize, usize)| {
                let both = |turn: &&Vec<usize>| turn.contains(&one) && turn.contains(&other);
                turns.iter().filter(both).count()
            };
            let met: Vec<usize> = pairs.map(met).collect();
            assert!(
                met.is_empty() || apart(&met) <= 2,
                "{judges} {each}: {met:?}"
            );
            assert!(
                turns
                    .iter()
                    .all(|turn| turn.is_sorted_by(|one, next| one < next))
            );
        }
    }

    #[test]
    fn seats_of_any_form_are_judges_and_too_few_are_refused() {
        let seats = json!({ "seats": ["ann", { "player": "model", "count": 2 }] });
        let mut entries = vec![seats.clone(), seats.clone(), seats.clone()];
        take_turns(&mut entries, 2).unwrap();
        let seated: Vec<&Value> = entries.iter().map(|entry| &entry["seats"]).collect();
        let one = json!(["ann", "model"]);
        assert_eq!(seated, [&one, &json!(["model", "model"]), &one]);
        let refused = take_turns(&mut [seats], 4).unwrap_err().to_string();
        assert!(
            refused.contains("--judges 4") && refused.contains("3 judges"),
            "{refused}"
        );
    }
}
