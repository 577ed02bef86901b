//! Why there is no money for a call, with what to do about it. Made by `budgets.rs` and by
//! `budgets/quote.rs`.

use super::store::{BudgetScope, Shortage};
use crate::money::NanoDollars;

/// Why a call may not be made.
#[derive(Debug, thiserror::Error)]
pub enum MoneyRefusal {
    #[error(
        "model {model} has no known price, but {scope} has a budget: write price = {{ \
         input_per_million_dollars = \"..\", output_per_million_dollars = \"..\" }} under \
         [models.\"{model}\"], or a row into the file that prices under [gateway] names"
    )]
    NoPrice { model: String, scope: BudgetScope },
    #[error(
        "the budget of {} leaves too little for another call: {} of {} spent, {} reserved for calls \
         under way, this call may cost {most}; raise {}",
        shortage.scope, shortage.spent, shortage.budget, shortage.reserved, to_raise(&shortage.scope)
    )]
    Spent {
        shortage: Shortage,
        most: NanoDollars,
    },
}

fn to_raise(scope: &BudgetScope) -> &'static str {
    match scope {
        BudgetScope::Team(_) => "the team's budget_dollars in the gateway's configuration",
        BudgetScope::Experiment(_) => "the experiment's budget",
    }
}
