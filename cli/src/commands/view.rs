//! `agon view`: pages in a browser that show runs and sessions, served on this machine alone. Finds the
//! records, lists them while pages are looked at, and hands them to the web server. Begins what waits for
//! people once they are ready, and changes nothing else. Started by `commands.rs`.

use std::sync::Arc;

use agon_service_kit::tasks::{TaskKind, Tasks};
use agon_web::seats::People;
use agon_worker::Transport;

use crate::connecting::transport_to;
use crate::coordinators;
use crate::failure::Failure;
use crate::gathering::RunArguments;
use crate::inviting::doors::GatewayDoors;
use crate::inviting::lobby::{self, Lobby};
use crate::inviting::{self, PeopleArguments, PeopleFolder, Seating};
use crate::output;
use crate::results::experiment_client;
use crate::role::{LogArguments, OnSignals, run_service, typed};
use crate::viewing::listing::Listing;
use crate::viewing::{Files, Following, LISTEN, Pages, Source};

/// A door at which nobody is asked: whether it may be followed says the same of all.
const ANY_DOOR: &str = "lobby";

const EXAMPLES: &str = "Examples:
  agon view                             every run that is kept here
  agon view my-niche                    one of them
  agon view results/ other-lab.jsonl    folders and files of records
  agon view --listen 127.0.0.1:8080     at a port of your choice
  agon view --coordinator http://coordinator:7700
                                        what a cluster plays, as it plays it
  agon view --coordinator URL --gateway URL --people people.toml
                                        also seats for whom you `agon invite`

Open the address that is printed; it holds the access token. Only this machine reaches the pages.";

/// Arguments of `agon view`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct View {
    #[command(flatten)]
    runs: RunArguments,
    /// Where to listen; an address of this machine alone
    #[arg(long, default_value = LISTEN, value_name = "ADDRESS")]
    listen: String,
    /// Show the experiments of the coordinator at this address instead, as they are played; where
    /// runs are named, what the variable says does not count
    #[arg(
        long,
        env = "AGON_COORDINATOR",
        hide_env_values = true,
        value_name = "URL"
    )]
    coordinator: Option<String>,
    /// The gateway of that cluster, for costs, what waits for quota, and asking people
    #[arg(
        long,
        env = "AGON_GATEWAY",
        hide_env_values = true,
        value_name = "URL",
        requires = "coordinator"
    )]
    gateway: Option<String>,
    #[command(flatten)]
    people: PeopleArguments,
}

/// Serves until it is told to stop.
///
/// # Errors
/// Exit 2 when there is no such run, or the address is not of this machine alone; 3 when it cannot be
/// listened on.
pub fn run(arguments: &View, log: &LogArguments) -> Result<(), Failure> {
    let coordinator = arguments.followed()?;
    let paths = match coordinator {
        Some(_) => Vec::new(),
        None => arguments.runs.paths()?,
    };
    let files = match coordinator {
        Some(_) => Files::default(),
        None => Files::below(&paths)?,
    };
    let files = Arc::new(files);
    run_service(log, "view", async |tasks| {
        let pages = Pages::open(&arguments.listen, &files).await?;
        for fault in &files.faults {
            output::tell(&format!("unreadable: {fault}"));
        }
        output::print(&format!("agon view: {}", pages.address()));
        match coordinator {
            None => {
                let listing = Listing {
                    files,
                    paths,
                    library: pages.library(),
                    stopping: tasks.shutdown_token(),
                };
                tasks.spawn(TaskKind::UPKEEP, "list of sessions", listing.keep());
                pages.serve(&tasks, None, None)?;
            }
            Some(url) => {
                let gateway = arguments.gateway.as_deref().map(transport_to).transpose()?;
                let experiments = coordinators::in_charge(url)?;
                let client = experiment_client(experiments.clone());
                let asking = gateway.clone().zip(arguments.gateway.as_deref());
                let following = Following::begin(
                    &tasks,
                    tasks.shutdown_token(),
                    Source::of_this_process(experiments, gateway),
                    pages.library(),
                    files,
                )?;
                let seats = match (asking, arguments.invited()?) {
                    (Some((gateway, url)), Some((people, folder))) => {
                        let games = inviting::games_of(client.clone(), &folder).await?;
                        tell_what_is_held_back(gateway.clone(), url).await;
                        let doors = Arc::new(GatewayDoors::new(gateway, tasks.clone(), games));
                        let seating = Seating {
                            people,
                            folder,
                            doors: Arc::clone(&doors),
                        };
                        let seats = seating.seats(pages.library(), &following);
                        begin_what_waits(&tasks, Lobby::new(Arc::clone(&seats), doors, client));
                        Some(seats)
                    }
                    (None, Some(_)) if arguments.people.people.is_some() => {
                        let text = "--people has no effect without --gateway: people are asked at \
                                    doors of the cluster's gateway";
                        return Err(Failure::BadInput(text.to_owned()));
                    }
                    _ => None,
                };
                pages.serve(&tasks, Some(following), seats)?;
            }
        }
        Ok(OnSignals::default())
    })
}

impl View {
    /// The coordinator to follow, unless runs are named.
    fn followed(&self) -> Result<Option<&String>, Failure> {
        let names_runs = !self.runs.named().is_empty();
        if names_runs && typed(self.coordinator.as_ref(), "AGON_COORDINATOR") {
            let text = "name runs, or follow a coordinator with --coordinator: not both";
            return Err(Failure::BadInput(text.to_owned()));
        }
        Ok(self.coordinator.as_ref().filter(|_| !names_runs))
    }

    /// What people are told and where their invitations are, once somebody was invited here.
    fn invited(&self) -> Result<Option<(People, PeopleFolder)>, Failure> {
        let data = self.runs.data();
        let has_invited = self.people.people.is_some() || PeopleFolder::is_in(&data);
        match has_invited {
            true => Ok(Some((self.people.read()?, PeopleFolder::open(&data)?))),
            false => Ok(None),
        }
    }
}

/// Says what people can and cannot do on these pages.
async fn tell_what_is_held_back(gateway: Transport, url: &str) {
    match lobby::require_doors(gateway, url, ANY_DOOR).await {
        Err(failure) => output::tell(&format!("nobody can play on these pages: {failure}")),
        Ok(()) => output::tell(
            "People play on these pages. An experiment submitted with `agon run --web` begins once \
             everybody invited is ready; others begin at once.",
        ),
    }
}

/// Begins what waits for people once they are ready, for as long as pages are served.
fn begin_what_waits(tasks: &Tasks, lobby: Lobby) {
    let stopping = tasks.shutdown_token();
    tasks.spawn(TaskKind::UPKEEP, "lobby", async move {
        let beginning = lobby.begin_whatever_is_ready();
        let _ = stopping.run_until_cancelled(beginning).await;
    });
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;

    #[derive(Debug, clap::Parser)]
    struct Line {
        #[command(flatten)]
        view: View,
    }

    #[test]
    fn runs_that_are_named_are_not_looked_for_at_a_coordinator_of_the_surroundings() {
        let view = |words: &[&str]| Line::parse_from([&["view"], words].concat()).view;
        let url = "http://coordinator:7700";
        let typed = view(&["--coordinator", url]);
        assert_eq!(typed.followed().unwrap().unwrap(), url);
        assert!(view(&["my-run", "--coordinator", url]).followed().is_err());
        assert!(view(&["my-run"]).followed().unwrap().is_none());
    }
}
