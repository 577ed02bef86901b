//! Tries templates out before they are used: plays a game with default
//! parameters, answering at random, and renders everything every seat would be
//! told and asked. Templates of an agent's own are tried by letting it play.
//! Called when a user's templates replace built-in ones.

use std::collections::BTreeMap;
use std::sync::Arc;

use agon_engine::chance::Luck;
use agon_engine::registry::Registration;
use agon_engine::rule_player::Random;
use agon_engine::spec::Settings;
use agon_engine::view::SeenEvent;
use agon_engine::{
    Ask, Chance, Foul, FoulKind, Game, ParameterError, Play, RulePlayer, Seat, registry,
};

use crate::agent::AgentError;
use crate::forms::Thinking;
use crate::forms::fields::Fields;
use crate::library::PromptLibrary;
use crate::mind::ModelSettings;
use crate::narrator::{Narrator, Summing};
use crate::settings::{Others, PERSONAS, Persona, PlayerSettings, ReplyStyle};

mod agents;

/// Every way to ask.
const WAYS: [Thinking; 8] = [
    Thinking::None,
    Thinking::Explained,
    Thinking::StepByStep,
    Thinking::Stated(Fields::Opening),
    Thinking::Stated(Fields::Reviewing),
    Thinking::Stated(Fields::StepByStep),
    Thinking::Foreseeing { in_words: false },
    Thinking::Foreseeing { in_words: true },
];

/// Where every rehearsal's chance comes from.
const LUCK: Luck = Luck::new(1, 0);

/// The built-in templates, some of them replaced: path inside the template folder
/// (`guess_two_thirds/v1/system.j2`) to text.
///
/// # Errors
/// A path is not one of a built-in template; a text is no template, too long or nested too
/// deeply, uses a variable that does not exist, or does too much work. Every replaced template
/// is tried on a game with default parameters.
pub fn replaced(templates: BTreeMap<String, String>) -> Result<PromptLibrary, AgentError> {
    let library = PromptLibrary::with_overrides(templates)?;
    for (game, version) in library.touched() {
        rehearse(&library, game, version)?;
    }
    if library.replaces(&[]) {
        agents::rehearse_shared(&library)?;
    }
    Ok(library.tried())
}

/// Renders all templates of a game's version.
pub(crate) fn rehearse(
    library: &PromptLibrary,
    game: &str,
    version: &str,
) -> Result<(), AgentError> {
    let Ok(registration) = registry::find(game) else {
        return agents::rehearse(library, game, version);
    };
    let built = short_game(registration).map_err(|error| AgentError::Template {
        template: format!("{game}/{version}"),
        message: format!("the game cannot be tried with default parameters: {error}"),
    })?;
    let narrator = |seat| {
        Narrator::new(
            &settings(version, seat),
            &registration.info,
            seat,
            library.clone(),
        )
    };
    let mut narrators: Vec<Narrator> = (0..built.seats()).map(narrator).collect();
    play(built, |seat, moment| match moment {
        Moment::Told(events) => {
            let mut told = events.iter();
            told.try_for_each(|event| narrators[seat].tell(event).map(drop))
        }
        Moment::Asked(ask) => {
            let foul = Foul::new(FoulKind::Unreadable, "no answer could be read");
            let narrator = &narrators[seat];
            for thinking in WAYS {
                narrator.ask(ask, thinking)?;
                narrator.refuse(ask, thinking, &foul)?;
                narrator.recall(ask, thinking == Thinking::None)?;
            }
            say_between_asks(narrator, ask)
        }
    })
}

/// What happens to a seat.
enum Moment<'a> {
    /// It is told these events.
    Told(&'a [SeenEvent]),
    /// It is asked this; the answer is made up.
    Asked(&'a Ask),
}

/// Plays a game at random, and says what every seat is told and asked.
fn play<E>(
    game: Arc<dyn Game>,
    mut happens: impl FnMut(Seat, Moment<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let mut told = vec![0; game.seats()];
    let chance = Chance::seeded(LUCK);
    let mut luck = chance.for_rule_player(0);
    let mut play = Play::start(game, chance, told.iter().map(|_| None).collect());
    loop {
        for (seat, told) in told.iter_mut().enumerate() {
            let sights = play.view(seat).sights().skip(*told);
            let events: Vec<SeenEvent> = sights.map(|sight| sight.to_event()).collect();
            *told += events.len();
            if !events.is_empty() {
                happens(seat, Moment::Told(&events))?;
            }
        }
        let next = play.waiting().next().cloned();
        let Some(ask) = next else {
            return Ok(());
        };
        happens(ask.seat, Moment::Asked(&ask))?;
        let action = Random.act(&ask, &play.view(ask.seat), &mut luck);
        play.answer(ask.seat, Ok(action));
    }
}

/// What is said to a model beside its asks.
fn say_between_asks(narrator: &Narrator, ask: &Ask) -> Result<(), AgentError> {
    for (earlier, problem) in [(false, None), (true, Some("it is empty"))] {
        let summing = Summing {
            rounds: (1, 2),
            earlier,
            words: 100,
        };
        narrator.sum_up(&summing, problem)?;
    }
    narrator.summary((1, 2), "We met, and we parted.")?;
    narrator.to_read(ask, "> What?", "> That.").map(|_| ())
}

/// The game with default parameters, but few rounds: later ones bring nothing new.
fn short_game(registration: &Registration) -> Result<Arc<dyn Game>, ParameterError> {
    const ROUNDS: u32 = 3;
    let defaults = registration.build(&Settings::new())?;
    if !defaults.params.contains_key("rounds") {
        return Ok(defaults.game);
    }
    let params = Settings::from([("rounds".to_owned(), ROUNDS.into())]);
    Ok(registration.build(&params)?.game)
}

/// Settings that differ from seat to seat, so that all of them are tried.
fn settings(version: &str, seat: usize) -> PlayerSettings {
    let persona = match seat % (PERSONAS.len() + 2) {
        0 => None,
        1 => Some(Persona::Own("You are a poet.".to_owned())),
        named => Some(Persona::Named(PERSONAS[named - 2].to_owned())),
    };
    PlayerSettings {
        model: Arc::new(ModelSettings {
            model: "rehearsal".to_owned(),
            ..ModelSettings::default()
        }),
        prompt: version.to_owned(),
        persona,
        others: match seat % 4 {
            0 => None,
            1 => Some(Others::Rational),
            2 => Some(Others::CommonKnowledge),
            _ => Some(Others::Alike),
        },
        reply: match seat % 3 {
            0 => ReplyStyle::Structured,
            1 => ReplyStyle::Text,
            _ => ReplyStyle::Typed,
        },
        ..PlayerSettings::default()
    }
}
