//! The bidder of house auctions: a persona or a mix of two, a list of priorities,
//! profiles of all rivals, a theory of mind, and six actions to choose from before
//! each bid. Every module but bidding can be switched off by itself.
//!
//! Source: "Harbor: Exploring Persona Dynamics in Multi-Agent Competition",
//! sections 3.2 to 3.5 and 4.5.

use agon_engine::game::player_name;
use agon_engine::{Action, Ask, Seat};
use async_trait::async_trait;
use minijinja::Value;

use crate::agents::auction::{Bidder, Bids, Detail, Happened};
use crate::agents::world;
use crate::info::{AgentInfo, OwnCalls, OwnSettings, Seating};
use crate::mind::{Mind, MindError, Reply};
use crate::notes::{self, Source};
use crate::settings::read_table;

mod choices;
mod options;
mod predictions;
mod profiles;
mod simulated;
mod words;

use choices::Choice;
use options::{Options, TheoryOfMind};
use predictions::Prediction;
use profiles::{Weights, by_name};
use simulated::SimulatedBuyer;

/// What there is to know of it.
pub const INFO: AgentInfo = AgentInfo {
    settings: Options::NAMES,
    calls,
    rehearsals: &[
        "{}",
        r#"{ "beliefs": true, "profile": true, "theory_of_mind": "inferred", "strategic": true, "second_order": true,
            "world": { "own": ["a"], "personas": [{ "name": "a", "text": "You like a." }, { "name": "b", "text": "You like b." }] } }"#,
        r#"{ "plan": false, "beliefs": true, "theory_of_mind": "true", "strategic": true, "reply": "text",
            "world": { "own": ["a", "b"], "seats": [["a", "b"], ["a"], []],
            "personas": [{ "name": "a", "text": "You like a." }, { "name": "b", "text": "You like b." }] } }"#,
        r#"{ "profile": true, "strategic": true, "second_order": true, "reply": "text",
            "world": { "personas": [{ "name": "a", "text": "You like a." }, { "name": "b", "text": "You like b." }] } }"#,
    ],
    check: |own| Options::read(own).map(|_| ()),
    ..AgentInfo::with_own_prompts(
        "harbor",
        "bids for houses with a persona, profiles its rivals and reads their minds",
        |seating| Ok(Box::new(new(&seating)?)),
    )
};

/// It calls for the modules that it has: for some of them once per rival and item, for the
/// strategic one before each bid. What its world must hold is not looked at.
fn calls(own: &OwnSettings) -> OwnCalls {
    let mut own = own.clone();
    own.remove(world::SETTING);
    let options: Options = read_table(own).unwrap_or_default();
    let count = |modules: &[bool]| modules.iter().map(|on| u64::from(*on)).sum();
    OwnCalls {
        per_item: count(&[options.plan, options.beliefs, options.predicts()]),
        per_item_and_rival: count(&[options.profile, options.second_order]),
        per_ask: count(&[options.strategic]),
        tries: options.tries.into(),
        ..OwnCalls::NONE
    }
}

/// What makes a bidder one for houses.
#[derive(Debug)]
struct Harbor {
    options: Options,
    /// The other seats, in seat order, and what is thought of each.
    rivals: Vec<Rival>,
    /// The item that predictions were made for last; a discount opens it again.
    predicted: Option<usize>,
    /// What was chosen for the ask that is open.
    choice: Option<Choice>,
    /// What it goes by if its model is the simulated one.
    simulated: Option<SimulatedBuyer>,
}

/// What a bidder thinks of one rival.
#[derive(Debug, Clone)]
struct Rival {
    seat: Seat,
    name: String,
    /// Its profile so far; empty without profiling.
    weights: Weights,
    /// What it is expected to do about the item that is up.
    prediction: Prediction,
    /// How it is thought to profile this bidder; empty without second order.
    believes: Weights,
    /// What the bidder means to make of that.
    misleading: Option<String>,
}

fn new(seating: &Seating<'_>) -> Result<Bidder<Harbor>, String> {
    let options = Options::read(&seating.settings.own)?;
    let own = |options| Harbor {
        options,
        rivals: Vec::new(),
        predicted: None,
        choice: None,
        simulated: SimulatedBuyer::of(seating),
    };
    Ok(Bidder::new(seating, options.tries, own(options)))
}

#[async_trait]
impl Bids for Harbor {
    async fn hear(
        bidder: &mut Bidder<Self>,
        happened: Happened,
        mind: &dyn Mind,
    ) -> Result<(), MindError> {
        let options = &bidder.own.options;
        let (plan, profile, second_order) = (options.plan, options.profile, options.second_order);
        match happened {
            Happened::Briefed => {
                meet_rivals(bidder);
                // Priority planning (section 3.2), before the auction and after each item.
                if plan {
                    bidder.make_plan("plan", mind).await?;
                }
            }
            Happened::Opened(item) if bidder.own.predicted != Some(item) => {
                bidder.own.predicted = Some(item);
                if bidder.own.options.predicts() {
                    predict(bidder, item, mind).await?;
                }
                if second_order {
                    predict_profiles(bidder, item, mind).await?;
                }
            }
            Happened::ItemOver(item) => {
                // The auctioneer puts it right in the end, so that what the bidder is told of
                // everybody later on is the truth in any case (appendix E and figure 9).
                if options.beliefs {
                    bidder.update_belief(item, true, mind).await?;
                }
                if profile {
                    update_profiles(bidder, mind).await?;
                }
                if plan && !bidder.picture.remaining().is_empty() {
                    bidder.make_plan("replan", mind).await?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    async fn decide(
        bidder: &mut Bidder<Self>,
        refused: bool,
        mind: &dyn Mind,
    ) -> Result<Option<Action>, MindError> {
        // What is asked again was thought over before: only the bid was wrong.
        if bidder.own.options.strategic && !refused {
            choose(bidder, mind).await?;
        }
        let quits = bidder.own.choice.is_some() && !bidder.own.means_to_bid();
        Ok(quits.then_some(Action::Pass))
    }

    /// The strategic module decides whether to raise or to quit (appendix E).
    fn means_to_bid(&self) -> bool {
        self.choice.as_ref().is_some_and(Choice::raises)
    }

    fn settled(&mut self) {
        self.choice = None;
    }

    fn told(bidder: &Bidder<Self>, rival: Option<usize>, detail: Detail) -> Value {
        words::values(bidder, rival, detail)
    }

    fn simulated_reply(
        bidder: &Bidder<Self>,
        purpose: &str,
        rival: Option<usize>,
    ) -> Option<String> {
        let rival = rival.and_then(|at| bidder.own.rivals.get(at));
        bidder.own.simulated.as_ref()?.says(bidder, purpose, rival)
    }

    fn simulated_bid(bidder: &Bidder<Self>, ask: &Ask, usual: Action) -> Action {
        match &bidder.own.simulated {
            Some(simulated) => simulated.bid(bidder, ask, usual),
            None => usual,
        }
    }
}

/// Before the first item every profile is a vector of zeros (section 3.4).
fn meet_rivals(bidder: &mut Bidder<Harbor>) {
    let (me, options) = (bidder.picture.seat, &bidder.own.options);
    let (profile, personas) = (options.profile, options.world.personas.len());
    let zeros = |on: bool| vec![0.0; if on { personas } else { 0 }];
    let seats = (0..bidder.picture.players).filter(|seat| *seat != me);
    let rivals = seats.map(|seat| Rival {
        seat,
        name: player_name(seat),
        weights: zeros(profile),
        prediction: Prediction::default(),
        believes: zeros(options.second_order),
        misleading: None,
    });
    bidder.own.rivals = rivals.collect();
    if profile {
        for at in 0..bidder.own.rivals.len() {
            note_profile(bidder, at, Source::Start, 0);
        }
    }
}

/// Persona profiling (section 3.4): one call per rival, side by side.
async fn update_profiles(bidder: &mut Bidder<Harbor>, mind: &dyn Mind) -> Result<(), MindError> {
    let (rivals, personas) = (&bidder.own.rivals, bidder.own.options.world.names());
    let format = ("profile", profiles::schema(&personas, &[]));
    let read = |at: usize, reply: &Reply| profiles::read(reply, &rivals[at].name, &personas);
    let answered = bidder.ask_of_each(rivals.len(), "profile", format, read, mind);
    for (at, answered) in answered.await?.into_iter().enumerate() {
        let source = answered.source();
        if let Some(weights) = answered.found {
            bidder.own.rivals[at].weights = weights;
        }
        note_profile(bidder, at, source, answered.tries);
    }
    Ok(())
}

fn note_profile(bidder: &mut Bidder<Harbor>, at: usize, source: Source, tries: u32) {
    let (rival, world) = (&bidder.own.rivals[at], &bidder.own.options.world);
    bidder.note(notes::Profile {
        after_item: bidder.picture.place,
        about: rival.seat,
        weights: by_name(&rival.weights, &world.names()),
        source,
        tries,
    });
}

/// First-order theory of mind (section 4.5): whether each rival wants the item.
async fn predict(
    bidder: &mut Bidder<Harbor>,
    item: usize,
    mind: &dyn Mind,
) -> Result<(), MindError> {
    let rivals = bidder.own.rivals.iter().map(|rival| &*rival.name);
    let rivals: Vec<&str> = rivals.collect();
    let format = ("predictions", predictions::schema(&rivals));
    let read = |reply: &Reply| predictions::read(reply, &rivals);
    let answered = bidder.ask("predict", format, read, mind).await?;
    let source = answered.source();
    // What was expected about another item says nothing of this one.
    let unknown = || vec![Prediction::default(); rivals.len()];
    let found = answered.found.unwrap_or_else(unknown);
    for (at, prediction) in found.into_iter().enumerate() {
        let rival = &mut bidder.own.rivals[at];
        rival.prediction = prediction.clone();
        let note = notes::Prediction::Wants {
            item,
            about: rival.seat,
            wants: prediction.wants,
            detail: prediction.detail,
            source,
        };
        bidder.note(note);
    }
    Ok(())
}

/// Second-order theory of mind (section 4.5): how each rival profiles this
/// bidder, and how it may be misled; one call per rival, side by side.
async fn predict_profiles(
    bidder: &mut Bidder<Harbor>,
    item: usize,
    mind: &dyn Mind,
) -> Result<(), MindError> {
    let (rivals, personas) = (&bidder.own.rivals, bidder.own.options.world.names());
    let format = ("profile", profiles::schema(&personas, &["mislead"]));
    let me = player_name(bidder.picture.seat);
    let read = |_: usize, reply: &Reply| {
        let weights = profiles::read(reply, &me, &personas)?;
        Ok((weights, profiles::text_field(reply, "mislead")))
    };
    let answered = bidder.ask_of_each(rivals.len(), "second_order", format, read, mind);
    for (at, answered) in answered.await?.into_iter().enumerate() {
        let source = answered.source();
        let rival = &mut bidder.own.rivals[at];
        rival.misleading = None;
        if let Some((weights, misleading)) = answered.found {
            rival.believes = weights;
            rival.misleading = misleading;
        }
        let note = notes::Prediction::Believes {
            item,
            about: rival.seat,
            believes: by_name(&rival.believes, &bidder.own.options.world.names()),
            detail: rival.misleading.clone(),
            source,
        };
        bidder.note(note);
    }
    Ok(())
}

/// The strategic module (section 3.5). Without a choice that can be read the
/// bid is asked for as if there were no such module.
async fn choose(bidder: &mut Bidder<Harbor>, mind: &dyn Mind) -> Result<(), MindError> {
    let format = ("choice", choices::SCHEMA.to_owned());
    let answered = bidder.ask("strategy", format, choices::read, mind).await?;
    let options = &bidder.own.options;
    let informed = options.profile || options.theory_of_mind == TheoryOfMind::True;
    let choice = answered.found.as_ref();
    let note = notes::Strategy {
        item: bidder.picture.place,
        round: bidder.picture.bid_round(),
        choice: choice.map(|choice| choice.letter),
        uses_profile: informed && choice.is_some_and(|choice| choice.uses_profile),
        reason: choice.map_or_else(String::new, |choice| choice.reason.clone()),
        tries: answered.tries,
        source: answered.source(),
    };
    bidder.own.choice = answered.found;
    bidder.note(note);
    Ok(())
}

#[cfg(test)]
mod tests;
