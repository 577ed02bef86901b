//! `agon invite`: makes, lists and withdraws invitations to seats at which people play in a browser.
//! Works on the data folder that `agon run --web` or `agon view` serves from. Started by `commands.rs`.

use std::time::Duration;

use agon_web::seats::{Invitation, Keeper as _};

use crate::failure::Failure;
use crate::inviting::{self, PeopleArguments, PeopleFolder, now};
use crate::output::{self, Columns};
use crate::role::DataArguments;
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
    #[arg(long, value_name = "URL")]
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
    Ok(())
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
