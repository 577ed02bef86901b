//! People who are invited to seats of an experiment: what they are told (`--people`), their invitations
//! in the data folder, and the doors at which they are asked. Called by `agon run`, `agon view` and
//! `agon invite`.

pub mod doors;
mod keeper;
pub mod lobby;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use agon_agent_gateway::catalogue::ProviderKind;
use agon_agents::models_of;
use agon_coordinator::experiment::{ExperimentDocument, expand};
use agon_engine::PlayerSpec;
use agon_outlets::InLine as _;
use agon_proto::v1::experiment_service_client::ExperimentServiceClient;
use agon_proto::v1::{GetExperimentRequest, ModelOrigin};
use agon_service_kit::clock::unix_ms;
use agon_service_kit::files::read_whole;
use agon_web::Library;
use agon_web::seats::{Book, Keeper as _, People, Seats};
use agon_web::sweeps::Sweeps;
use agon_worker::Transport;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::output;
use doors::GatewayDoors;
pub use keeper::PeopleFolder;

/// Models that are people begin so.
const PEOPLE: &str = "human/";

/// No file of texts is larger.
const MOST_BYTES: u64 = 4 * 1024 * 1024;

/// What people are told.
#[derive(Debug, Clone, clap::Args)]
pub struct PeopleArguments {
    /// What people at human seats are told and asked around the game: consent, instructions and
    /// their check, questions at the end, return link (docs/playing.md) [default: short texts]
    #[arg(long, value_name = "FILE", help_heading = "People")]
    pub people: Option<PathBuf>,
}

impl PeopleArguments {
    /// Reads and checks the file; without one what is usual.
    ///
    /// # Errors
    /// It cannot be read, or something in it is wrong; says all of it.
    pub fn read(&self) -> Result<People, Failure> {
        let Some(path) = &self.people else {
            return Ok(People::default());
        };
        let name = path.in_line();
        let wrong = |reason: String| Failure::BadInput(format!("{name}: {reason}"));
        let bytes = read_whole(path, MOST_BYTES).map_err(|error| wrong(error.to_string()))?;
        let text = String::from_utf8(bytes).map_err(|error| wrong(error.to_string()))?;
        let people: People = toml::from_str(&text).map_err(|error| wrong(error.to_string()))?;
        let faults = people.faults();
        match faults.is_empty() {
            true => Ok(people),
            false => Err(wrong(faults.join("\n"))),
        }
    }
}

/// The door at which a model is asked that is a person.
pub fn door_of(model: &str) -> Option<&str> {
    model.strip_prefix(PEOPLE)
}

/// The door at which a player is asked, if it is a person.
pub fn person(player: &PlayerSpec) -> Option<&str> {
    door_of(player.settings.get("model")?.as_str()?)
}

/// The model that is the person at a door.
pub fn model_of(door: &str) -> String {
    format!("{PEOPLE}{door}")
}

/// The person at a door, as a player of an experiment.
pub fn player(door: &str) -> Value {
    json!({ "kind": "model", "model": model_of(door), "agent": "person" })
}

/// The doors at which people of an experiment are asked.
pub fn doors(models: &BTreeSet<String>) -> BTreeSet<String> {
    let doors = models.iter().filter_map(|model| door_of(model));
    doors.map(str::to_owned).collect()
}

/// How many sessions of an experiment ask at each door.
///
/// # Errors
/// The document is not good.
pub fn games(document: &ExperimentDocument) -> Result<BTreeMap<String, u64>, Failure> {
    let each = u64::from(document.repeats) * u64::from(document.series_length());
    let mut games = BTreeMap::new();
    for cell in expand(document).map_err(Failure::input)?.into_cells() {
        let models = cell.spec.seats.iter().flat_map(models_of);
        let doors: BTreeSet<&str> = models.filter_map(door_of).collect();
        for door in doors {
            *games.entry(door.to_owned()).or_insert(0) += each;
        }
    }
    Ok(games)
}

/// The address of a link, with the secret behind `#`, which browsers send to nobody.
pub fn link(address: &str, invitation: &str) -> String {
    let address = address.trim_end_matches('/');
    format!("{address}/seat#invite={invitation}")
}

/// Makes an invitation to a door; its name and the secret part of its link.
///
/// # Errors
/// It cannot be kept.
pub fn invite(
    folder: &PeopleFolder,
    experiment: &str,
    door: &str,
    good_for: Duration,
) -> Result<(String, String), Failure> {
    let expires = now().saturating_add(good_for.as_secs());
    let mut made = None;
    let kept = folder.change(&mut |book| made = Some(book.invite(experiment, door, expires)));
    kept.map_err(Failure::Surroundings)?;
    let made = made.ok_or_else(|| Failure::Surroundings("nothing was kept".to_owned()))?;
    made.map_err(Failure::surroundings)
}

/// Tells one link per door that nobody was invited to yet, and who was invited before.
///
/// # Errors
/// Invitations cannot be read or kept.
pub fn invite_all(
    folder: &PeopleFolder,
    experiment: &str,
    doors: &BTreeSet<String>,
    people: &People,
    address: &str,
) -> Result<(), Failure> {
    let book: Arc<Book> = folder.read().map_err(Failure::Surroundings)?;
    let before = book.seats(experiment, now());
    let address = people.address.as_deref().unwrap_or(address);
    for door in doors {
        match before.iter().find(|seat| seat.door == *door) {
            None => {
                let (_, secret) = invite(folder, experiment, door, people.expires())?;
                output::tell(&format!("invite {door}: {}", link(address, &secret)));
            }
            Some(seat) => {
                let who = seat.claim.as_ref().map(|claim| claim.pseudonym.as_str());
                let taken = who.map_or("not opened yet", |who| who);
                output::tell(&format!(
                    "{door} was invited before ({taken}); `agon invite {experiment} {door}` makes \
                     another link"
                ));
            }
        }
    }
    Ok(())
}

/// What seats of people are made of.
pub struct Seating {
    /// What they are told.
    pub people: People,
    /// Where invitations are kept.
    pub folder: PeopleFolder,
    /// Where they are asked.
    pub doors: Arc<GatewayDoors>,
}

impl Seating {
    /// The seats; finished games are found in the library.
    pub fn seats(self, library: Arc<Library>, sweeps: &Arc<dyn Sweeps>) -> Arc<Seats> {
        let keeper = Arc::new(self.folder);
        let seats = Seats::new(self.people, keeper, self.doors, library, Some(sweeps));
        Arc::new(seats)
    }
}

/// How many games each door of the experiments has to which somebody was invited, as far as a
/// coordinator knows them now.
///
/// # Errors
/// Invitations cannot be read.
pub async fn games_of(
    mut coordinator: ExperimentServiceClient<Transport>,
    folder: &PeopleFolder,
) -> Result<BTreeMap<String, BTreeMap<String, u64>>, Failure> {
    let book = folder.read().map_err(Failure::Surroundings)?;
    let names = book.invitations.iter().map(|one| one.experiment.clone());
    let names: BTreeSet<String> = names.collect();
    let mut all = BTreeMap::new();
    for experiment_id in names {
        let request = GetExperimentRequest {
            experiment_id: experiment_id.clone(),
        };
        // One that is handed in later is followed to its end without a number.
        let Ok(found) = coordinator.get_experiment(request).await else {
            continue;
        };
        if let Some(games) = games_in(&found.get_ref().document) {
            all.insert(experiment_id, games);
        }
    }
    Ok(all)
}

/// How many sessions ask at each door, of the document that a coordinator keeps of an experiment, if it
/// can be read.
pub fn games_in(document: &[u8]) -> Option<BTreeMap<String, u64>> {
    let document = serde_json::from_slice::<ExperimentDocument>(document);
    games(&document.ok()?).ok()
}

/// Now, in seconds since 1970.
pub fn now() -> u64 {
    unix_ms() / 1_000
}

/// Says that nobody can answer at the doors among these models, with what to do.
pub fn warn_of_closed_doors(models: &[ModelOrigin]) {
    let doors = models.iter();
    let doors = doors.filter(|one| one.provider_kind == ProviderKind::Door.name());
    let doors: Vec<&str> = doors.map(|one| &*one.model).collect();
    if !doors.is_empty() {
        output::tell(&format!(
            "WARNING: nobody can answer for {} in this run. Stop it and add --web (people play in a \
             browser) or --http-listen (programs answer), or take a seat with `agon play`",
            doors.join(", ")
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<People, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("people.toml");
        std::fs::write(&path, text).unwrap();
        let arguments = PeopleArguments { people: Some(path) };
        arguments.read().map_err(|failure| failure.to_string())
    }

    #[test]
    fn file_that_the_documents_show_is_good() {
        let shown = include_str!("../../docs/playing.md");
        let (_, from) = shown.split_once("```toml\naddress").unwrap();
        let (text, _) = from.split_once("```").unwrap();
        let people = read(&format!("address{text}")).unwrap();
        assert_eq!(people.host(), Some("play.example.org"));
        assert_eq!(people.check.len(), 1);
        assert_eq!(people.questions[0].steps, Some(7));
        assert_eq!(people.lobby_waits(), Duration::from_secs(1_800));
        assert_eq!(people.participant.parameters, ["PROLIFIC_PID"]);
    }

    #[test]
    fn what_is_wrong_is_told_with_the_file_and_the_place() {
        for (text, place) in [
            ("consent = 3", "consent"),
            ("[consent]\ntxt = \"x\"", "txt"),
            ("expires = \"soon\"", "7days"),
            (
                "[thanks]\nreturn_link = \"javascript:alert(1)\"",
                "https://",
            ),
            (
                "[[check]]\nquestion = \"q\"\nchoices = [\"a\", \"b\"]\nanswer = \"c\"",
                "check 1",
            ),
            (
                "[[questions]]\nname = \"a\"\nquestion = \"q\"\nkind = \"scale\"",
                "question 1",
            ),
        ] {
            let told = read(text).unwrap_err();
            assert!(
                told.contains("people.toml") && told.contains(place),
                "{told}"
            );
        }
        assert_eq!(read("").unwrap(), People::default());
    }

    #[test]
    fn doors_are_what_models_of_people_name() {
        let models = ["human/ann", "openai/x", "human/bob"].map(str::to_owned);
        let doors = doors(&models.into());
        assert_eq!(doors.into_iter().collect::<Vec<_>>(), ["ann", "bob"]);
        let link = link("https://play.example.org/", "5f.secret");
        assert_eq!(link, "https://play.example.org/seat#invite=5f.secret");
    }
}
