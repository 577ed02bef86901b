//! Who judges which record: all judges or some of them in turn, never one who played in that session; or
//! the person who played. Changes the entries of an experiment that judges, one for each record.

use std::collections::BTreeSet;

use agon_coordinator::experiment::ExperimentFile;
use serde_json::{Map, Value};

use super::entries::Entry;
use super::{PERSONS, most_judges};
use crate::inviting;

/// Seats the judges of every entry: `each` of those that it names, in turn, or all of them. An entry for
/// which nobody is left, because all judges played in its session, has no seats afterwards.
///
/// # Errors
/// The entries do not name their judges, or fewer than `each`.
pub fn seat_judges(
    file: &ExperimentFile,
    entries: &mut [Entry],
    each: Option<usize>,
) -> Result<(), String> {
    let Some(first) = entries.first() else {
        return Ok(());
    };
    let judges = match (seated(&first.value), each) {
        (Some(judges), _) => judges,
        // Whoever they are, they all judge.
        (None, None) => return Ok(()),
        (None, Some(_)) => {
            return Err(
                "`seats` must list the judges by name, such as seats = [\"ann\", \"ben\"]"
                    .to_owned(),
            );
        }
    };
    if each.is_some_and(|each| each > judges.len()) {
        let judges = crate::output::counted(judges.len() as u64, "judge");
        return Err(format!("there are only {judges}"));
    }
    let doors: Vec<Option<&str>> = judges.iter().map(|judge| door(file, judge)).collect();
    let mut turns = Turns::new(judges.len());
    for entry in entries {
        let played = |judge: &usize| doors[*judge].is_some_and(|door| entry.people.contains(door));
        let free: Vec<usize> = (0..judges.len()).filter(|judge| !played(judge)).collect();
        let chosen = turns.next(&free, each.unwrap_or(judges.len()));
        entry.value["seats"] = chosen
            .into_iter()
            .map(|judge| judges[judge].as_str())
            .collect();
    }
    Ok(())
}

/// The judges of an entry, one name for each seat, if it lists them so.
fn seated(entry: &Value) -> Option<Vec<String>> {
    let mut judges = Vec::new();
    for seat in entry.get("seats")?.as_array()? {
        let (player, count) = match seat {
            Value::String(player) => (player.as_str(), 1),
            seat => {
                let count = seat.get("count").map_or(Some(1), Value::as_u64)?;
                (seat.get("player")?.as_str()?, count.min(most_judges() + 1))
            }
        };
        judges.extend((0..count).map(|_| player.to_owned()));
    }
    (judges.len() as u64 <= most_judges()).then_some(judges)
}

/// The door of a player that is a person.
fn door<'a>(file: &'a ExperimentFile, player: &str) -> Option<&'a str> {
    inviting::door_of(file.player(player)?.get("model")?.as_str()?)
}

/// Whose turn it is.
struct Turns {
    /// How many records each judge has.
    records: Vec<usize>,
    /// How many records each two share.
    shared: Vec<Vec<usize>>,
}

impl Turns {
    fn new(judges: usize) -> Self {
        Self {
            records: vec![0; judges],
            shared: vec![vec![0; judges]; judges],
        }
    }

    /// The judges of the next record, in the order of their seats: always those of the free ones who have
    /// the fewest records so far, and of these whoever shares the fewest with the others.
    fn next(&mut self, free: &[usize], each: usize) -> Vec<usize> {
        let judges = self.records.len();
        let mut chosen: Vec<usize> = Vec::with_capacity(each.min(free.len()));
        while chosen.len() < each {
            // Each time that all have had their turn somebody else begins: else the last are always
            // the same.
            let first = self.records.iter().sum::<usize>() / judges % judges;
            let left = free.iter().copied().filter(|judge| !chosen.contains(judge));
            let next = left.min_by_key(|judge| {
                let shared = chosen
                    .iter()
                    .map(|other| self.shared[*judge][*other].pow(2));
                let shared: usize = shared.sum();
                (
                    self.records[*judge],
                    shared,
                    (judge + judges - first) % judges,
                )
            });
            let Some(next) = next else { break };
            for other in &chosen {
                self.shared[next][*other] += 1;
                self.shared[*other][next] += 1;
            }
            self.records[next] += 1;
            chosen.push(next);
        }
        chosen.sort_unstable();
        chosen
    }
}

/// Seats as the only judge of each entry the person who played there, and says so in its label. Whoever is
/// no player of the experiment becomes one.
pub fn seat_people(file: &mut ExperimentFile, entries: &mut [Entry]) {
    let people: BTreeSet<&str> = entries
        .iter()
        .filter_map(|entry| entry.person.as_deref())
        .collect();
    let mut names = Map::new();
    for person in people {
        let known = file.players().find(|name| door(file, name) == Some(person));
        let name = match known {
            Some(name) => name.to_owned(),
            None => {
                let is_free = |name: &String| file.player(name).is_none();
                let mut free = (1..)
                    .map(|number| format!("person_{number}"))
                    .filter(is_free);
                let name = free.next().unwrap_or_default();
                file.add_player(&name, inviting::player(person));
                name
            }
        };
        names.insert(person.to_owned(), name.into());
    }
    for entry in entries {
        let Some(person) = &entry.person else {
            continue;
        };
        entry.value["seats"] = vec![names[person].clone()].into();
        let label = entry.value["label"].as_str().unwrap_or_default();
        if label != PERSONS && !label.starts_with(&format!("{PERSONS}-")) {
            entry.value["label"] = format!("{PERSONS}-{label}").into();
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn judges_have_equally_many_records_and_share_them_with_everybody() {
        // The paper's: ten people, of whom five judge each of thirty records.
        for (judges, each, records) in [
            (10, 5, 30),
            (10, 5, 20),
            (14, 7, 20),
            (15, 5, 20),
            (6, 2, 30),
            (4, 3, 9),
            (12, 4, 60),
            (7, 1, 20),
        ] {
            let (mut dealt, free) = (Turns::new(judges), (0..judges).collect::<Vec<usize>>());
            for _ in 0..records {
                let turn = dealt.next(&free, each);
                assert_eq!(turn.len(), each);
                assert!(turn.is_sorted_by(|one, next| one < next));
            }
            let (fewest, most) = (
                dealt.records.iter().min().unwrap(),
                dealt.records.iter().max().unwrap(),
            );
            assert!(most - fewest <= 1, "{judges} {each}: {:?}", dealt.records);
            assert_eq!(dealt.records.iter().sum::<usize>(), records * each);
            let expected = (records * each * (each - 1)) as f64 / (judges * (judges - 1)) as f64;
            let most = dealt.shared.iter().flatten().max().unwrap();
            assert!(
                *most as f64 <= 1.5 * expected + 1.0,
                "{judges} {each}: {:?}",
                dealt.shared
            );
        }
    }

    fn file() -> ExperimentFile {
        let text = "name = \"x\"\n[players.ann]\nkind = \"model\"\nmodel = \"human/7f3a\"\n\
                    [players.model]\nkind = \"model\"\nmodel = \"sim\"\n";
        ExperimentFile::parse("x", text).unwrap()
    }

    fn entry(people: &[&str], person: Option<&str>) -> Entry {
        Entry {
            value: json!({ "seats": ["ann", { "player": "model", "count": 2 }], "label": "Alex-0" }),
            people: people.iter().map(|door| (*door).to_owned()).collect(),
            person: person.map(str::to_owned),
            session: String::new(),
            place: (0, 0),
        }
    }

    fn seats(entries: &[Entry]) -> Vec<Value> {
        entries
            .iter()
            .map(|entry| entry.value["seats"].clone())
            .collect()
    }

    #[test]
    fn whoever_played_in_a_session_judges_nobody_there() {
        let mut entries = [entry(&[], None), entry(&["7f3a"], None)];
        seat_judges(&file(), &mut entries, None).unwrap();
        let all = json!(["ann", "model", "model"]);
        assert_eq!(seats(&entries), [all, json!(["model", "model"])]);
        let mut entries = [entry(&["7f3a"], None), entry(&[], None), entry(&[], None)];
        seat_judges(&file(), &mut entries, Some(2)).unwrap();
        let both = json!(["ann", "model"]);
        assert_eq!(
            seats(&entries),
            [json!(["model", "model"]), both.clone(), both]
        );
        let refused = seat_judges(&file(), &mut entries, Some(4)).unwrap_err();
        assert!(refused.contains("only 2 judges"), "{refused}");
    }

    #[test]
    fn people_judge_themselves_under_names_that_players_may_have() {
        let mut file = file();
        let mut entries = [
            entry(&["7f3a"], Some("7f3a")),
            entry(&["cy.d"], Some("cy.d")),
        ];
        seat_people(&mut file, &mut entries);
        assert_eq!(seats(&entries), [json!(["ann"]), json!(["person_1"])]);
        assert_eq!(file.player("person_1").unwrap()["model"], "human/cy.d");
        assert_eq!(entries[1].value["label"], "persons-Alex-0");
    }
}
