//! `agon run --coordinator`: hands the experiment to a cluster and follows it. Where people play in pages of
//! this process, nothing of the experiment begins before they are ready, nor after this process was
//! stopped until it is started again. Called by `run.rs`.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use agon_proto::v1::{SubmitExperimentResponse, WatchExperimentResponse};
use agon_report::grouped;
use agon_service_kit::tasks::Tasks;
use agon_web::seats::Seats;
use agon_web::sweeps::WAITING_FOR_PEOPLE;
use agon_worker::Transport;
use tonic::Status;

use super::held_back::{self, is_paused_by_others};
use super::pages::OpenedPages;
use super::{End, Run, conclude, hand_in_as, lost, watch_to_end};
use crate::connecting::transport_to;
use crate::coordinators;
use crate::experiment_arguments::CheckedExperiment;
use crate::failure::Failure;
use crate::handing_in::Terms;
use crate::inviting::lobby;
use crate::keeping::Keeping;
use crate::output;
use crate::results::{experiment_client, reason};
use crate::run_folder::RunFolder;

/// Pages end within this time.
const PAGES_STOP_WITHIN: Duration = Duration::from_secs(2);

/// Where the cluster is.
struct Services {
    experiments: Transport,
    gateway: Option<Transport>,
}

/// Hands the experiment in, and follows it to its end or to Ctrl-C.
pub(super) async fn in_cluster(
    arguments: &Run,
    checked: &CheckedExperiment,
    folder: RunFolder,
    url: &str,
    interrupt: impl Future<Output = &'static str> + Unpin,
) -> Result<(), Failure> {
    let gateway = arguments.gateway.as_deref().map(transport_to).transpose()?;
    let services = Services {
        experiments: coordinators::in_charge(url)?,
        gateway,
    };
    let opened = match &arguments.web {
        Some(listen) => Some(OpenedPages::open(arguments, checked, listen).await?),
        None => None,
    };
    if let Some(door) = opened.as_ref().and_then(OpenedPages::door) {
        require_gateway(arguments, &services, door).await?;
    }
    let mut keeping = Keeping::begin(folder, checked, arguments.state())?;
    if !arguments.quiet {
        keeping.show_fetching();
    }
    let tasks = Tasks::new();
    let run = Followed {
        arguments,
        checked,
        services,
        tasks: &tasks,
    };
    let ended = run.follow(&mut keeping, opened, interrupt).await;
    // A page's task that failed has said so already.
    let _ = tasks.shutdown(PAGES_STOP_WITHIN).await;
    keeping.finish(ended)
}

/// People are asked at doors of the gateway.
async fn require_gateway(arguments: &Run, services: &Services, door: &str) -> Result<(), Failure> {
    match (&services.gateway, &arguments.gateway) {
        (Some(gateway), Some(url)) => lobby::require_doors(gateway.clone(), url, door).await,
        _ => Err(Failure::BadInput(
            "people play in this experiment, and are asked at doors of the cluster's gateway: say \
             where that is with --gateway URL"
                .to_owned(),
        )),
    }
}

/// An experiment that was submitted, and whose pages are served.
struct Begun {
    submitted: SubmitExperimentResponse,
    seats: Option<Arc<Seats>>,
    /// How it stood then, where people play in it.
    standing: WatchExperimentResponse,
}

/// A run that a cluster plays.
struct Followed<'a> {
    arguments: &'a Run,
    checked: &'a CheckedExperiment,
    services: Services,
    tasks: &'a Tasks,
}

impl Followed<'_> {
    async fn follow(
        self,
        keeping: &mut Keeping,
        opened: Option<OpenedPages<'_>>,
        mut interrupt: impl Future<Output = &'static str> + Unpin,
    ) -> Result<(), Failure> {
        let Begun {
            submitted,
            seats,
            standing,
        } = self.begin(keeping, opened).await?;
        let name = &self.checked.document.name;
        let (experiments, gateway) = (&self.services.experiments, &self.services.gateway);
        let channels = || (experiments.clone(), gateway.clone());
        let (arguments, checked) = (self.arguments, self.checked);
        let ended = {
            let watched = watch_to_end(arguments, checked, submitted, channels(), &mut interrupt);
            let held = self.begin_when_ready(seats.as_deref());
            tokio::select! {
                ended = watched => ended?,
                refused = held => match refused {
                    Ok(never) => match never {},
                    Err(refusal) => return Err(lost(arguments, &refusal)),
                },
            }
        };
        match ended {
            End::Over(state) => {
                let conclusion = conclude(arguments, checked, keeping, channels(), &state);
                let ended = tokio::select! {
                    ended = conclusion => ended,
                    _ = &mut interrupt => return Err(keeping.stopped()),
                };
                if let Some(seats) = &seats {
                    // People still look at the end, and answer questions.
                    tokio::select! {
                        () = seats.everybody_done(name) => {}
                        _ = interrupt => {}
                    }
                }
                ended
            }
            End::Interrupted(state) => Err(Failure::Interrupted(match seats {
                Some(_) => self.left_behind(held_back::newest(standing, state)).await,
                None => format!(
                    "{} of {} sessions are done, and the cluster continues; the same \
                     command watches again, `agon experiments cancel {name}` ends it",
                    grouped(state.done),
                    grouped(state.sessions),
                ),
            })),
        }
    }

    /// Hands in, paused where people play, and serves pages.
    async fn begin(
        &self,
        keeping: &mut Keeping,
        opened: Option<OpenedPages<'_>>,
    ) -> Result<Begun, Failure> {
        let people_play = opened.as_ref().is_some_and(|pages| pages.door().is_some());
        let terms = Terms {
            accept_new: self.arguments.new,
            pause: people_play.then_some(WAITING_FOR_PEOPLE),
        };
        let mut client = experiment_client(self.services.experiments.clone());
        let submitted = hand_in_as(self.arguments, self.checked, keeping, &mut client, terms);
        let submitted = submitted.await?;
        let (name, is_finished) = (
            &self.checked.document.name,
            submitted.already_done == submitted.sessions,
        );
        if people_play && !submitted.paused && !is_finished {
            return Err(Failure::Surroundings(format!(
                "this coordinator is too old to hold an experiment for people, and has begun {name}: \
                 `agon experiments cancel {name}` ends it, `agon view --people` serves its pages"
            )));
        }
        let Some(opened) = opened else {
            return Ok(Begun {
                submitted,
                seats: None,
                standing: WatchExperimentResponse::default(),
            });
        };
        let (experiments, gateway) = (&self.services.experiments, &self.services.gateway);
        let seats = opened.serve(self.tasks, experiments.clone(), gateway.clone())?;
        let mut standing = WatchExperimentResponse::default();
        if let Some(seats) = seats.as_ref().filter(|_| submitted.paused) {
            // It may be played already, or be paused by somebody else.
            standing = lobby::standing(&mut client, name).await.unwrap_or_default();
            let waits = seats.lobby_waits();
            output::tell(&held_back::until_ready(name, &standing, waits));
        }
        Ok(Begun {
            submitted,
            seats,
            standing,
        })
    }

    /// Lets it begin when people are ready; ends only if that is refused.
    async fn begin_when_ready(&self, seats: Option<&Seats>) -> Result<Infallible, Status> {
        if let Some(seats) = seats {
            let mut client = experiment_client(self.services.experiments.clone());
            let name = &self.checked.document.name;
            lobby::begin_when_ready(seats, &mut client, name).await?;
        }
        std::future::pending().await
    }

    /// Lets nothing more begin, since the pages are gone on which people play; says how it goes on.
    async fn left_behind(&self, known: WatchExperimentResponse) -> String {
        let mut client = experiment_client(self.services.experiments.clone());
        let name = &self.checked.document.name;
        let (state, paused) = match lobby::standing(&mut client, name).await {
            // Somebody else's pause is left alone.
            Ok(now) if is_paused_by_others(&now) => (now, Ok(())),
            Ok(now) => {
                let paused = lobby::wait_for_people(&mut client, name).await;
                (now, paused)
            }
            Err(refusal) => (known, Err(refusal)),
        };
        let fault = paused.err().map(|refusal| reason(&refusal));
        held_back::left_behind(name, &state, fault.as_deref())
    }
}
