//! What a bidder intends: a strategy in words, and a priority for every item that is still to
//! come (arXiv 2310.05746, section 3.3).

use minijinja::{Value, context};

use super::{Bidder, Bids, Detail, Picture, priorities};
use crate::mind::{Mind, MindError};
use crate::notes;

/// The priority of an item that no plan has spoken of: the middle one.
const NO_PRIORITY: i64 = 2;

/// What a bidder intends.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Plan {
    /// In words.
    pub strategy: Option<String>,
    /// One per item, in order of sale.
    pub priorities: Vec<i64>,
}

impl Plan {
    /// What templates are told of it: what concerns the items that are up or still to come.
    pub fn values(&self, picture: &Picture, detail: Detail) -> Value {
        let behind = self.priorities.iter().skip(picture.place);
        let rows = picture.remaining().iter().zip(behind);
        let rows = rows.map(|(item, priority)| vec![Value::from(&*item.name), (*priority).into()]);
        let strategy = self.strategy.as_deref().map(|text| detail.of(text));
        context! { strategy, priorities => rows.collect::<Vec<_>>() }
    }
}

impl<A: Bids> Bidder<A> {
    /// Plans, or plans again. What cannot be read leaves the plan as it was.
    ///
    /// # Errors
    /// The model could not be called, or a template does not render.
    pub async fn make_plan(
        &mut self,
        purpose: &'static str,
        mind: &dyn Mind,
    ) -> Result<(), MindError> {
        let place = self.picture.place;
        let names = self.picture.items.iter().map(|item| &*item.name);
        let names: Vec<&str> = names.collect();
        let (past, wanted) = names.split_at(place.min(names.len()));
        let format = ("plan", priorities::schema(wanted));
        let read = |reply: &_| priorities::read(reply, wanted, past);
        let answered = self.ask(purpose, format, read, mind).await?;
        let mut plan = self.plan.clone().unwrap_or_else(|| Plan {
            strategy: None,
            priorities: vec![NO_PRIORITY; names.len()],
        });
        let source = answered.source();
        let mut past_items = Vec::new();
        if let Some(found) = answered.found {
            plan.strategy = found.strategy;
            plan.priorities.truncate(place);
            plan.priorities.extend(found.of);
            past_items = found.past;
        }
        let rows = plan.priorities.iter().enumerate();
        self.note(notes::Plan {
            at_item: place,
            priorities: rows
                .map(|(at, priority)| (at >= place).then_some(*priority))
                .collect(),
            strategy: plan.strategy.clone(),
            tries: answered.tries,
            source,
            problems: answered.problems,
            past_items,
        });
        self.plan = Some(plan);
        Ok(())
    }
}
