//! `agon play`: one person at one seat, everything else in the same process. Starts the
//! roles, seats the person, and tells at the end how it went; the game itself is played
//! by a worker like any other. Started by `commands.rs`.

use std::io::IsTerminal as _;
use std::path::PathBuf;

use agon_coordinator::experiment::limits::MOST_SEED;
use agon_engine::record::StoredRecord;
use agon_engine::{Seat, SessionSpec};
use agon_outlets::InLine as _;
use agon_proto::v1::WatchExperimentResponse;
use agon_proto::v1::agent_gateway_service_client::AgentGatewayServiceClient;
use agon_report::{Telling, story};
use agon_service_kit::signals::shutdown_signal;

use crate::embedded::{self, Cluster};
use crate::experiment_arguments::ExperimentArguments;
use crate::failure::Failure;
use crate::handing_in::{Terms, hand_in};
use crate::inviting;
use crate::judged::JudgingArguments;
use crate::keeping::Keeping;
use crate::lines;
use crate::model_config::ModelArguments;
use crate::numbers::whole;
use crate::output;
use crate::outside::GameArguments;
use crate::pausing;
use crate::playing::seating::{self, Chair, Limit, Seated};
use crate::playing::sitting::{Ended, Sitting};
use crate::playing::typing::Typing;
use crate::results;
use crate::role::{LogArguments, StoreArguments, runtime};
use crate::run_folder::Outcome;
use crate::run_folder::{self as files, Place, RunFolder};

/// No record has more seats.
const LAST_SEAT: Seat = 999;

/// Headings of the help text.
const GAME: &str = "The game";

const EXAMPLES: &str = "Examples:
  agon play gamma-bench/quick-start --seat 0 --game pirate
                                          against built-in players, no key
  agon play auction.toml --seat 1 --model sim
                                          against a simulated model
  agon play auction.toml --seat 1 --model openai/gpt-4o-mini --name alice
  agon play auction.toml --seat 1 --deadline 2m --stand-in truthful
                                          after 2 minutes the stand-in answers

You see what your seat may see, and type a bid, `withdraw`, or whatever is asked; `help` says \
what. An answer that breaks the rules is refused with its reason, and counts as a foul as it would \
for a model. You have as much time as you like unless the experiment or a --deadline says \
otherwise. `quit` or Ctrl-C leaves; the same command goes on where you stopped.";

/// Arguments of `agon play`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Play {
    /// An experiment file (TOML), or the name of a preset; its first session is played
    #[arg(value_name = "EXPERIMENT")]
    experiment: String,
    /// The seat you take, from 0
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole::<Seat>(0, LAST_SEAT))]
    seat: Seat,
    /// What you are called, in the record too
    #[arg(long, default_value = "human", value_name = "NAME")]
    name: String,
    /// Time for each of your answers, such as 2m, or none; then the stand-in answers
    /// [default: as the experiment says; else as long as you like]
    #[arg(long, value_name = "TIME")]
    deadline: Option<Limit>,
    /// The built-in strategy that answers when your time is up; `agon games NAME`
    /// lists them [default: as the experiment says; else equilibrium]
    #[arg(long, value_name = "STRATEGY")]
    stand_in: Option<String>,
    /// Of an experiment with several games, this one
    #[arg(long, value_name = "GAME", help_heading = GAME)]
    game: Option<String>,
    /// Of several settings the one with this number, from 1
    #[arg(long, default_value_t = 1, value_name = "N", help_heading = GAME)]
    setting: usize,
    /// Put this model in the place of the player `subject`
    #[arg(long, value_name = "MODEL", help_heading = GAME)]
    model: Option<String>,
    /// Put a model in the place of any player
    #[arg(long = "player", value_name = "NAME=MODEL", help_heading = GAME,
          value_parser = crate::experiment_arguments::pair)]
    players: Vec<(String, String)>,
    /// Set any value, such as params.rounds=5
    #[arg(long, value_name = "PATH=VALUE", help_heading = GAME)]
    set: Vec<String>,
    /// Seed of all chance; another one is another game
    #[arg(long, value_name = "N", help_heading = GAME, value_parser = whole(0, MOST_SEED),
          allow_negative_numbers = true)]
    seed: Option<u64>,
    /// Use the prompt templates in this folder in place of built-in ones
    #[arg(long, value_name = "DIR", help_heading = GAME)]
    templates: Option<PathBuf>,
    #[command(flatten)]
    models: ModelArguments,
    #[command(flatten)]
    store: StoreArguments,
    #[command(flatten)]
    games: GameArguments,
}

/// How the person's time ended.
enum End {
    Over(WatchExperimentResponse),
    Left,
    Interrupted,
}

/// Plays.
///
/// # Errors
/// Exit 1 when the session was set aside, 2 on wrong input, 3 when something is
/// missing, 130 when left by Ctrl-C.
pub fn run(arguments: &Play, log: &LogArguments) -> Result<(), Failure> {
    let experiment = ExperimentArguments {
        models: None,
        experiment: arguments.experiment.clone(),
        model: arguments.model.clone(),
        players: arguments.players.clone(),
        name: None,
        set: arguments.set.clone(),
        repeats: None,
        max_cost: None,
        seed: arguments.seed,
        templates: arguments.templates.clone(),
        judging: JudgingArguments::default(),
        games: arguments.games.clone(),
    };
    let chair = Chair {
        seat: arguments.seat,
        person: &arguments.name,
        deadline: arguments.deadline,
        stand_in: arguments.stand_in.as_deref(),
        game: arguments.game.as_deref(),
        setting: arguments.setting,
    };
    let seated = seating::seat(&experiment.check()?, &chair)?;
    let place = Place {
        data: arguments.store.data.clone(),
        out: None,
    };
    let folder = RunFolder::claim(&place, &seated.checked.document.name)?;
    runtime()?.block_on(async {
        let guard = log.start("play", true)?;
        let ended = play(arguments, &seated, folder).await;
        guard.shutdown().await;
        ended
    })
}

async fn play(arguments: &Play, seated: &Seated, folder: RunFolder) -> Result<(), Failure> {
    let checked = &seated.checked;
    // A person is at no server and has no price.
    let mut others = checked.models.clone();
    others.remove(&inviting::model_of(&arguments.name));
    let config = arguments.models.load(&others)?;
    pausing::require_prices(&config, &checked.document, &others)?;
    let options = embedded::Options {
        redis: arguments.store.redis.clone(),
        data: arguments.store.data.clone(),
        experiment: checked.document.name.clone(),
        workers: 1,
        places: 1,
        games: arguments.games.clone(),
    };
    let cluster = Cluster::start(&options, config, &others).await?;
    let mut keeping = Keeping::begin(folder, checked, arguments.store.state())?;
    let sat = tokio::select! {
        sat = sit(arguments, seated, &mut keeping, &cluster) => sat,
        _ = shutdown_signal() => Ok(End::Interrupted),
        reason = cluster.trouble() => Err(Failure::Surroundings(format!(
            "cannot write in {}: {reason}; free some space and run the same command \
             again: what you answered before is kept",
            arguments.store.data.in_line()
        ))),
    };
    let ended = match sat {
        Ok(End::Over(state)) => conclude(arguments, &mut keeping, &cluster, &state).await,
        Ok(End::Left) => {
            output::print(&come_back());
            let ended = cluster.stop(Ok(())).await;
            return keeping.finish_as(Outcome::Interrupted, ended);
        }
        Ok(End::Interrupted) => {
            // The terminal has written ^C behind the prompt.
            if std::io::stdin().is_terminal() {
                output::tell("");
            }
            cluster.exit_at_second_signal();
            Err(Failure::Interrupted(come_back()))
        }
        Err(failure) => Err(failure),
    };
    keeping.finish(cluster.stop(ended).await)
}

/// That other seats are people's, whom nobody lets in here; nothing where there are none.
fn absent_people(spec: &SessionSpec, own: Seat) -> Option<String> {
    let seats = spec.seats.iter().enumerate();
    let others = seats.filter(|(seat, player)| *seat != own && inviting::person(player).is_some());
    let others: Vec<String> = others
        .map(|(seat, player)| format!("{} at seat {seat}", player.name))
        .collect();
    (!others.is_empty()).then(|| {
        format!(
            "WARNING: this game waits for {}, and only you can play in it. Put a model there with \
             --player NAME=MODEL; several people play with `agon run --web`\n",
            others.join(", ")
        )
    })
}

fn come_back() -> String {
    "you left the table; what you answered is kept, and the same command goes on where you stopped"
        .to_owned()
}

async fn sit(
    arguments: &Play,
    seated: &Seated,
    keeping: &mut Keeping,
    cluster: &Cluster,
) -> Result<End, Failure> {
    let lost = |refusal| results::refused("the game", &refusal);
    let mut experiments = results::experiment_client(cluster.experiments.clone());
    let submitted = hand_in(&mut experiments, &seated.checked, Terms::default())
        .await
        .map_err(lost)?;
    keeping.submitted(&submitted)?;
    let session_id = seated.session_id(&submitted.origins)?;
    let game = &seated.spec.game;
    if submitted.already_done > 0 {
        output::print("This game is over; another --seed is another game.");
    } else {
        let which = match seated.settings {
            1 => String::new(),
            several => format!(", setting {} of {several}", arguments.setting),
        };
        let (name, seat) = (&arguments.name, arguments.seat);
        output::print(&format!(
            "{name} sits at seat {seat} of {game}{which}. Type `help` whenever you like.\n"
        ));
        if let Some(warning) = absent_people(&seated.spec, arguments.seat) {
            output::tell(&warning);
        }
    }
    let sitting = Sitting {
        person: arguments.name.clone(),
        session_id,
        seat: u32::try_from(arguments.seat).map_err(Failure::input)?,
        gateway: AgentGatewayServiceClient::new(cluster.gateway.clone()),
        experiments,
        experiment_id: submitted.experiment_id,
    };
    let mut typing = Typing::start();
    Ok(match sitting.sit(&mut typing).await? {
        Ended::Over(state) => End::Over(state),
        Ended::Left => End::Left,
    })
}

/// Writes the results as `agon run` does, and tells how it ended.
async fn conclude(
    arguments: &Play,
    keeping: &mut Keeping,
    cluster: &Cluster,
    state: &WatchExperimentResponse,
) -> Result<(), Failure> {
    if let Some(aside) = state.parked.iter().chain(&state.dead).next() {
        return Err(Failure::BadNews(format!(
            "the game was set aside: {}; the same command tries it again",
            aside.reason
        )));
    }
    if !state.paused.is_empty() {
        let reason = &state.paused;
        return Err(Failure::Paused(format!(
            "{reason}; nothing is lost: with a higher budget the same command goes on"
        )));
    }
    keeping.keep(cluster.experiments.clone(), state).await?;
    let line = lines::read(&keeping.entry().file(files::RECORDS)).next();
    let line = line.ok_or_else(|| Failure::BadNews("the game left no record".to_owned()))?;
    let line = line.map_err(|error| Failure::Surroundings(error.to_string()))?;
    let record = StoredRecord::from_line(&line.text).map_err(Failure::surroundings)?;
    let telling = Telling {
        seat: Some(arguments.seat),
        ..Telling::default()
    };
    output::print(&format!("\n{}", story::tell_last(&record, telling)));
    let id = record.session.as_str();
    let data = arguments.store.data.in_line();
    output::print(&format!(
        "\nThe game is over. `agon show {} --data {data}` tells all of it.",
        &id[..id.len().min(8)]
    ));
    Ok(())
}
