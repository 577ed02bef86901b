//! `agon invite`: makes, lists and withdraws invitations to seats at which people play in a browser.
//! Works on the data folder that `agon run --web` or `agon view` serves from. Started by `commands.rs`.

use std::path::Path;
use std::time::Duration;

use agon_coordinator::experiment::ExperimentDocument;
use agon_outlets::InLine as _;
use agon_service_kit::files::read_whole;
use agon_web::seats::{Invitation, Keeper as _, People};

use crate::failure::Failure;
use crate::inviting::{self, PeopleArguments, PeopleFolder, now};
use crate::output::{self, Columns};
use crate::role::DataArguments;
use crate::run_folder::{DOCUMENT, MOST_BESIDE_BYTES, history};
use crate::viewing::LISTEN;

const EXAMPLES: &str = "Examples:
  agon invite market alice bob          a link for each of these doors
  agon invite market alice --expires 2h --address https://play.example.org
  agon invite market --list             who was invited, and who came
  agon invite market --revoke 5f0c2a9b  that link opens nothing any more

A door is what follows `human/` in a player's model. The links open while `agon run --web`, also in a \
cluster, or `agon view --coordinator URL --gateway URL` serves pages from the same data folder. A link is shown \
once: only a digest of it is kept.";

/// Arguments of `agon invite`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Invite {
    /// Name of the experiment
    #[arg(value_name = "EXPERIMENT")]
    experiment: String,
    /// Doors at which people are asked: NAME of the model human/NAME
    #[arg(value_name = "DOOR", required_unless_present_any = ["list", "revoke"])]
    doors: Vec<String>,
    /// List the invitations of the experiment
    #[arg(long, conflicts_with_all = ["doors", "revoke"])]
    list: bool,
    /// Withdraw an invitation by its name; whoever sits there loses the seat
    #[arg(long, value_name = "ID", conflicts_with = "doors")]
    revoke: Option<String>,
    /// How long the link is good for [default: as --people says, else 7days]
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    expires: Option<Duration>,
    /// Where people open the pages [default: as --people says, else http://127.0.0.1:7790]
    #[arg(long, value_name = "URL", value_parser = address_of_pages)]
    address: Option<String>,
    #[command(flatten)]
    people: PeopleArguments,
    #[command(flatten)]
    data: DataArguments,
}

/// Makes, lists or withdraws.
///
/// # Errors
/// Exit 2 when there is no such invitation, 3 when they cannot be kept.
pub fn run(arguments: &Invite) -> Result<(), Failure> {
    let people = arguments.people.read()?;
    let folder = PeopleFolder::open(&arguments.data.folder())?;
    if arguments.list {
        return list(&folder, &arguments.experiment);
    }
    if let Some(id) = &arguments.revoke {
        return revoke(&folder, &arguments.experiment, id);
    }
    let named = arguments.address.as_deref().or(people.address.as_deref());
    let here = format!("http://{LISTEN}");
    let good_for = arguments.expires.unwrap_or_else(|| people.expires());
    for door in &arguments.doors {
        let experiment = &arguments.experiment;
        let (id, secret) = inviting::invite(&folder, experiment, door, good_for)?;
        let link = inviting::link(named.unwrap_or(&here), &secret);
        output::print(&format!("{door} ({id}): {link}"));
    }
    let runs = arguments.data.runs();
    if let Some(warning) = opens_nothing(&runs, &arguments.experiment, &arguments.doors) {
        output::tell(&warning);
    }
    Ok(())
}

/// An address at which a browser finds the pages, as `--people` states it.
fn address_of_pages(text: &str) -> Result<String, String> {
    let address = text.trim_end_matches('/').to_owned();
    let people = People {
        address: Some(address.clone()),
        ..People::default()
    };
    match people.faults().is_empty() {
        true => Ok(address),
        false => Err("write it as https://play.example.org, without a path".to_owned()),
    }
}

/// That nobody is asked at these doors, as far as results that are kept here say; an experiment may
/// still be run, and a cluster's may be known elsewhere.
fn opens_nothing(runs: &Path, experiment: &str, doors: &[String]) -> Option<String> {
    let results = history::results(&runs.join(experiment));
    let Some(last) = results.as_ref().and_then(|results| results.runs.last()) else {
        return Some(format!(
            "WARNING: no run of \"{experiment}\" is kept in {}; the links open nothing until an \
             experiment of that name runs",
            runs.in_line()
        ));
    };
    let document = last.path.join(DOCUMENT);
    let document = read_whole(&document, MOST_BESIDE_BYTES).ok()?;
    let document: ExperimentDocument = serde_json::from_slice(&document).ok()?;
    let known = inviting::games(&document).ok()?;
    let mut unknown = doors.iter().filter(|door| !known.contains_key(*door));
    let door = unknown.next()?;
    let known: Vec<&str> = known.keys().map(String::as_str).collect();
    Some(match known.is_empty() {
        true => format!("WARNING: {experiment} has no player of a model human/{door}"),
        false => format!(
            "WARNING: {experiment} has no player of a model human/{door}; its doors are {}",
            known.join(", ")
        ),
    })
}

fn list(folder: &PeopleFolder, experiment: &str) -> Result<(), Failure> {
    let book = folder.read().map_err(Failure::Surroundings)?;
    let mut columns = Columns::new(["invitation", "door", "state", "person"]);
    let mut count = 0;
    for one in &book.invitations {
        if one.experiment == experiment {
            count += 1;
            let person = one.claim.as_ref().map(|claim| claim.pseudonym.clone());
            let person = person.unwrap_or_default();
            columns.row([one.id.clone(), one.door.clone(), standing(one), person]);
        }
    }
    match count {
        0 => output::print(&format!("nobody was invited to {experiment}")),
        _ => output::print(&columns.to_string()),
    }
    Ok(())
}

fn standing(one: &Invitation) -> String {
    if let Err(reason) = one.is_good(now()) {
        return match reason {
            agon_web::seats::ClaimError::Revoked => "withdrawn",
            _ => "expired",
        }
        .to_owned();
    }
    let state = match &one.claim {
        None => "not opened",
        Some(claim) if claim.left => "left",
        Some(claim) if claim.answered || claim.finished => "done",
        Some(claim) if !claim.games.is_empty() => "playing",
        Some(_) => "came",
    };
    state.to_owned()
}

fn revoke(folder: &PeopleFolder, experiment: &str, id: &str) -> Result<(), Failure> {
    let mut found = false;
    let changed = folder.change(&mut |book| {
        let mut all = book.invitations.iter();
        found = all.any(|one| one.id == id && one.experiment == experiment) && book.revoke(id);
    });
    changed.map_err(Failure::Surroundings)?;
    match found {
        true => {
            output::print(&format!("invitation {id} is withdrawn"));
            Ok(())
        }
        false => Err(Failure::BadInput(format!(
            "{experiment} has no invitation {id}; `agon invite {experiment} --list` shows all"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_is_one_that_browsers_open_and_links_of_unknown_experiments_are_said_to_open_nothing()
    {
        for good in ["https://play.example.org", "http://127.0.0.1:7790/"] {
            assert_eq!(address_of_pages(good).unwrap(), good.trim_end_matches('/'));
        }
        for wrong in [
            "play.example.org",
            "nonsense",
            "https://",
            "https://a.org/b",
            "ftp://a.org",
        ] {
            assert!(address_of_pages(wrong).is_err(), "{wrong}");
        }
        let folder = tempfile::tempdir().unwrap();
        let warning = opens_nothing(folder.path(), "market", &["alice".to_owned()]).unwrap();
        assert!(
            warning.starts_with("WARNING: no run of \"market\" is kept in "),
            "{warning}"
        );
    }
}
