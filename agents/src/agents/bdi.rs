//! The bidder with beliefs, desires and intentions: plans before the first item,
//! bids when it is asked, brings its beliefs up to date after each item, and plans
//! again. After an auction it may write lessons down for the next one.
//!
//! Source: AucArena, arXiv 2310.05746, section 3.2; strategies, section 4.4;
//! desires, sections 3.2 and 4.4; belief errors, section 4.2.

use async_trait::async_trait;
use minijinja::value::Serde;
use minijinja::{Value, context};

use crate::agents::auction::bidder::{brief, rounds_of};
use crate::agents::auction::{Bidder, Bids, Detail, Happened};
use crate::info::{AgentInfo, OwnCalls, OwnSettings, Seating};
use crate::mind::{Mind, MindError};
use crate::notes::{Status, Tips};

mod options;
mod tips;

use options::{Options, Strategy};

/// What there is to know of it.
pub const INFO: AgentInfo = AgentInfo {
    settings: Options::NAMES,
    calls,
    rehearsals: &[
        "{}",
        r#"{ "strategy": "static", "desire": "maximize_items", "tips": ["Wait."], "learn": true }"#,
        r#"{ "strategy": "none", "reply": "text", "correct_beliefs": false, "learn": true }"#,
    ],
    check: |own| Options::read(own).map(|_| ()),
    ..AgentInfo::with_own_prompts(
        "bdi",
        "plans, bids, keeps its beliefs up to date and plans again, in auctions",
        |seating| Ok(Box::new(new(&seating)?)),
    )
};

/// It brings its beliefs up to date after every item, plans before every one or once, and
/// learns at the end.
fn calls(own: &OwnSettings) -> OwnCalls {
    let options = Options::read(own).unwrap_or_default();
    let (once, plans) = match options.strategy {
        Strategy::None => (0, 0),
        Strategy::Static => (1, 0),
        Strategy::Adaptive => (0, 1),
    };
    OwnCalls {
        once: once + u64::from(options.learn),
        per_item: 1 + plans,
        tries: options.tries.into(),
        ..OwnCalls::NONE
    }
}

/// A bidder with its settings, its lessons among them.
fn new(seating: &Seating<'_>) -> Result<Bidder<Options>, String> {
    let mut options = Options::read(&seating.settings.own)?;
    // The lessons of the auction before hold those of all before it.
    if let Some(lessons) = seating.carried(tips::NOTE).and_then(tips::carried) {
        options.tips = lessons;
    }
    Ok(Bidder::new(seating, options.tries, options))
}

#[async_trait]
impl Bids for Options {
    async fn hear(
        bidder: &mut Bidder<Self>,
        happened: Happened,
        mind: &dyn Mind,
    ) -> Result<(), MindError> {
        let strategy = bidder.own.strategy;
        match happened {
            Happened::Briefed if strategy != Strategy::None => bidder.make_plan("plan", mind).await,
            Happened::ItemOver(item) => {
                let correct = bidder.own.correct_beliefs;
                bidder.update_belief(item, correct, mind).await?;
                let is_last = bidder.picture.remaining().is_empty();
                match strategy {
                    Strategy::Adaptive if !is_last => bidder.make_plan("replan", mind).await,
                    _ => Ok(()),
                }
            }
            Happened::Over if bidder.own.learn => learn(bidder, mind).await,
            _ => Ok(()),
        }
    }

    fn told(bidder: &Bidder<Self>, _: Option<usize>, detail: Detail) -> Value {
        let (picture, options) = (&bidder.picture, &bidder.own);
        let sale = |item| {
            let (rounds, left_out) = rounds_of(Some(item), detail);
            context! { item => Serde(brief(item)), rounds, left_out }
        };
        let tips = options.tips.iter().map(|tip| detail.of(tip).to_owned());
        context! {
            desire => options.desire.map_or(&*picture.objective, |desire| desire.name()),
            tips => tips.collect::<Vec<String>>(),
            last_item => picture.past().last().map(|item| item.name.clone()),
            sales => picture.past().iter().map(sale).collect::<Vec<Value>>(),
            status => Serde(told_of(&bidder.status, picture.items.len(), detail)),
        }
    }
}

/// Learning: lessons from this auction and the ones before it.
async fn learn(bidder: &mut Bidder<Options>, mind: &dyn Mind) -> Result<(), MindError> {
    let format = ("tips", tips::SCHEMA.to_owned());
    let answered = bidder.ask("learn", format, tips::read, mind).await?;
    let source = answered.source();
    let tips = answered.found.unwrap_or_else(|| bidder.own.tips.clone());
    bidder.note(Tips { tips, source });
    Ok(())
}

/// How everybody stands by the bidder's own notes. It may believe in items that do not exist,
/// with names of any length; nobody is told to have won more than there are.
fn told_of(status: &Status, items: usize, detail: Detail) -> Status {
    let mut told = status.clone();
    for won in told.winning_bids.values_mut() {
        let named = std::mem::take(won).into_iter().take(items);
        *won = named
            .map(|(item, bid)| (detail.of(&item).to_owned(), bid))
            .collect();
    }
    told
}

#[cfg(test)]
mod tests;
