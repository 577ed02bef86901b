//! The pages of a run: shows what is played while it lasts, and where people play, invites them and serves
//! their seats. The port is opened before anything is handed in. Called by `run.rs` and `cluster.rs`.

use std::collections::BTreeSet;
use std::sync::Arc;

use agon_service_kit::tasks::Tasks;
use agon_web::seats::{People, Seats};
use agon_worker::Transport;

use super::Run;
use crate::experiment_arguments::CheckedExperiment;
use crate::failure::Failure;
use crate::inviting::doors::GatewayDoors;
use crate::inviting::{self, PeopleFolder, Seating};
use crate::output;
use crate::viewing::{Files, Following, Pages, Source};

/// Pages that are about to be served.
pub struct OpenedPages<'a> {
    checked: &'a CheckedExperiment,
    pages: Pages,
    files: Arc<Files>,
    invited: Option<Invited>,
}

/// The people of a run.
struct Invited {
    doors: BTreeSet<String>,
    people: People,
    folder: PeopleFolder,
}

impl<'a> OpenedPages<'a> {
    /// Opens the port, and what is kept of people if any play.
    ///
    /// # Errors
    /// Either cannot be opened.
    pub async fn open(
        arguments: &Run,
        checked: &'a CheckedExperiment,
        listen: &str,
    ) -> Result<Self, Failure> {
        let files = Arc::new(Files::default());
        let pages = Pages::open(listen, &files).await?;
        let doors = inviting::doors(&checked.models);
        let invited = match doors.is_empty() {
            true => None,
            false => Some(Invited {
                doors,
                people: arguments.people.read()?,
                folder: PeopleFolder::open(&arguments.store.data)?,
            }),
        };
        Ok(Self {
            checked,
            pages,
            files,
            invited,
        })
    }

    /// A door at which people of the run are asked.
    pub fn door(&self) -> Option<&str> {
        let invited = self.invited.as_ref()?;
        invited.doors.first().map(String::as_str)
    }

    /// Serves them until `tasks` end, tells their address, and invites people to their seats, at whose
    /// doors a gateway asks.
    ///
    /// # Errors
    /// Invitations cannot be kept, or there is no room for records.
    pub fn serve(
        self,
        tasks: &Tasks,
        experiments: Transport,
        gateway: Option<Transport>,
    ) -> Result<Option<Arc<Seats>>, Failure> {
        let (pages, name) = (self.pages, &self.checked.document.name);
        let source = Source::of_this_process(experiments, gateway.clone()).only(name);
        let stopping = tasks.shutdown_token();
        let following = Following::begin(tasks, stopping, source, pages.library(), self.files)?;
        output::tell(&format!("watch it at {}", pages.address()));
        let seats = match (self.invited, gateway) {
            (Some(invited), Some(gateway)) => {
                let Invited {
                    doors,
                    people,
                    folder,
                } = invited;
                inviting::invite_all(&folder, name, &doors, &people, &pages.origin())?;
                let games = [(name.clone(), inviting::games(&self.checked.document)?)];
                let doors = Arc::new(GatewayDoors::new(gateway, tasks.clone(), games.into()));
                let seating = Seating {
                    people,
                    folder,
                    doors,
                };
                Some(seating.seats(pages.library(), &following))
            }
            _ => None,
        };
        pages.serve(tasks, Some(following), seats.clone())?;
        Ok(seats)
    }
}
