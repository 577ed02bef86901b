//! What an experiment will cost before it is played: sessions, decisions, tokens.
//!
//! Decisions follow from the rules. Tokens are an estimate from the constants below, meant to
//! tell one dollar from a hundred, not to predict a bill.

use std::cell::RefCell;
use std::collections::BTreeMap;

use agon_engine::{PlayerKind, PlayerSpec};
use serde::Serialize;
use serde_json::Value;

use super::document::ExperimentDocument;
use super::expand::Cells;
use super::faults::Faults;

mod aside;

/// Tokens of the rules and the persona, sent with every call.
const SYSTEM_TOKENS: u64 = 350;
/// Tokens of one ask.
const ASK_TOKENS: u64 = 60;
/// Tokens that one past round leaves in the conversation: what was told about it; the answer comes
/// on top.
const ROUND_TOKENS: u64 = 60;
/// Tokens that a round may tell about every seat, in games that tell of all of them.
const SEAT_TOKENS: u64 = 12;
/// Tokens of a refused answer and the reason, seen by the next try.
const FOUL_TOKENS: u64 = 80;
/// A conversation is cut at this length unless `memory_tokens` says otherwise.
const MEMORY_TOKENS: u64 = 16_000;
/// Tokens of a plain answer.
const ANSWER_TOKENS: u64 = 20;
/// Tokens of a call in which a bidder with words of its own speaks of the auction, besides its list
/// of items.
const AUCTION_TOKENS: u64 = 500;
/// Tokens of one item in such a call.
const ITEM_TOKENS: u64 = 30;
/// Tokens of an answer that is thought through first.
const REASONED_ANSWER_TOKENS: u64 = 300;

/// What an experiment comes to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Plan {
    /// Cells of the grid.
    pub settings: u64,
    /// Sessions.
    pub sessions: u64,
    /// How many sessions follow each other in each series; 1 without series.
    pub series_length: u64,
    /// What each model is asked, by its name.
    pub models: BTreeMap<String, ModelPlan>,
}

/// What one model is asked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct ModelPlan {
    /// Sessions that it plays in.
    pub sessions: u64,
    /// Answers it gives.
    pub decisions: Range,
    /// Tokens it reads.
    pub input_tokens: Range,
    /// Tokens it writes.
    pub output_tokens: Range,
}

/// An expectation and a bound.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Range {
    /// When every answer is legal at once and the game goes to its end.
    pub expected: u64,
    /// When every foul that is forgiven is committed.
    pub most: u64,
}

/// What a plan is told by those who know the models and the agents.
#[derive(Clone, Copy)]
pub struct Estimates<'a> {
    /// What a model writes in a call: by its name, the `max_output_tokens` and the
    /// `reasoning_effort` that its player sets.
    pub writes: &'a WritesOf<'a>,
    /// What a player's agent does at a table.
    pub agent: &'a dyn Fn(&PlayerSpec, &Table) -> AgentPlan,
}

/// See [`Estimates::writes`].
pub type WritesOf<'a> = dyn Fn(&str, Option<u64>, Option<&str>) -> Writes + 'a;

/// How many tokens a model writes in a call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Writes {
    /// The longest answer, of which its conversation is made.
    pub longest_answer: u64,
    /// What it thinks before that.
    pub thoughts: Range,
}

impl Writes {
    /// Answers of at most so many tokens, without a thought.
    pub fn answers(longest_answer: u64) -> Self {
        Self {
            longest_answer,
            thoughts: Range::default(),
        }
    }

    /// The most that a call may take.
    fn most(&self) -> u64 {
        self.longest_answer.saturating_add(self.thoughts.most)
    }

    /// What a call takes whose answer usually has so many tokens.
    fn usual(&self, answer: u64) -> u64 {
        let answer = answer.min(self.longest_answer);
        answer.saturating_add(self.thoughts.expected)
    }
}

/// What an agent does at a table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AgentPlan {
    /// Calls that it makes for itself, besides those that answer an ask.
    pub own_calls: Range,
    /// Whether replies to these are long.
    pub own_calls_reason: bool,
    /// Whether its answers are thought through in the same reply, and so long.
    pub reasons: bool,
    /// Whether it words its own calls, and so is told everything anew in each.
    pub own_prompts: bool,
}

/// Plans an experiment.
///
/// # Errors
/// It cannot be expanded.
pub fn plan(document: &ExperimentDocument, estimates: Estimates<'_>) -> Result<Plan, Faults> {
    plan_left(document, estimates, &|_| 0)
}

/// Plans what is left of an experiment, of which so many sessions of each setting are done; settings
/// count from 0. `sessions` of the plan are all of them nevertheless.
///
/// # Errors
/// It cannot be expanded.
pub fn plan_left(
    document: &ExperimentDocument,
    estimates: Estimates<'_>,
    done: &dyn Fn(u64) -> u64,
) -> Result<Plan, Faults> {
    let series_length = u64::from(document.series_length());
    let repeats = u64::from(document.repeats) * series_length;
    let mut plan = Plan {
        series_length,
        ..Plan::default()
    };
    // The same few models are asked about in every cell.
    let known = RefCell::new(BTreeMap::new());
    let writes = |model: &str, most: Option<u64>, effort: Option<&str>| {
        let asked = (model.to_owned(), most, effort.map(str::to_owned));
        let mut known = known.borrow_mut();
        let answer = || (estimates.writes)(model, most, effort);
        *known.entry(asked).or_insert_with(answer)
    };
    let mut cells = Cells::of(document);
    for (setting, cell) in (0..).zip(&mut cells) {
        plan.settings += 1;
        plan.sessions += repeats;
        let repeats = repeats.saturating_sub(done(setting));
        if repeats == 0 {
            continue;
        }
        let seats = cell.spec.seats.len() as u64;
        let fouls = cell
            .spec
            .params
            .get("foul_allowance")
            .and_then(Value::as_u64)
            .unwrap_or(0);
        let mut seen: Vec<&str> = Vec::new();
        for player in &cell.spec.seats {
            let Some(model) = model_of(player) else {
                continue;
            };
            let entry = plan.models.entry(model.to_owned()).or_default();
            if !seen.contains(&model) {
                seen.push(model);
                entry.sessions = entry.sessions.saturating_add(repeats);
            }
            let asks = u64::from(cell.game.asks_per_seat());
            let param = |name: &str| cell.spec.params.get(name);
            let items = param("items").and_then(Value::as_array).map_or(0, Vec::len) as u64;
            let rounds = param("rounds").and_then(Value::as_u64);
            let table = Table {
                asks,
                usual_asks: u64::from(cell.game.usual_asks_per_seat()),
                fouls,
                seats,
                items,
                rounds: rounds.unwrap_or(if items > 0 { items } else { asks }),
            };
            let setting = |key: &str| player.settings.get(key);
            let written = writes(
                model,
                setting("max_output_tokens").and_then(Value::as_u64),
                setting("reasoning_effort").and_then(Value::as_str),
            );
            let agent = (estimates.agent)(player, &table);
            entry.add(&seat_plan(player, &table, agent, written), repeats);
            entry.add(&aside::summaries(player, &table, written), repeats);
            let of_reader = |reader: &str| writes(reader, None, None);
            if let Some((reader, calls)) = aside::reader(player, &table, &of_reader) {
                let entry = plan.models.entry(reader.to_owned()).or_default();
                if !seen.contains(&reader) {
                    seen.push(reader);
                    entry.sessions = entry.sessions.saturating_add(repeats);
                }
                entry.add(&calls, repeats);
            }
        }
    }
    cells.finish()?;
    Ok(plan)
}

impl ModelPlan {
    fn add(&mut self, seat: &Self, times: u64) {
        let parts = [
            (&mut self.decisions, seat.decisions),
            (&mut self.input_tokens, seat.input_tokens),
            (&mut self.output_tokens, seat.output_tokens),
        ];
        for (sum, part) in parts {
            sum.expected = sum
                .expected
                .saturating_add(part.expected.saturating_mul(times));
            sum.most = sum.most.saturating_add(part.most.saturating_mul(times));
        }
    }
}

fn model_of(player: &PlayerSpec) -> Option<&str> {
    let is_model = player.kind == PlayerKind::Model;
    player.settings.get("model").filter(|_| is_model)?.as_str()
}

/// What a seat's plan depends on, besides its player.
#[derive(Debug, Clone, Copy, Default)]
pub struct Table {
    /// Most asks of a seat.
    pub asks: u64,
    /// Asks of a seat in a usual game.
    pub usual_asks: u64,
    /// Fouls forgiven per ask.
    pub fouls: u64,
    /// Seats.
    pub seats: u64,
    /// Items, in games that sell some.
    pub items: u64,
    /// Rounds that a game has at most: its items where it sells some, and its asks where it
    /// does not say.
    pub rounds: u64,
}

fn seat_plan(player: &PlayerSpec, table: &Table, agent: AgentPlan, writes: Writes) -> ModelPlan {
    let number = |key: &str| player.settings.get(key).and_then(Value::as_u64);
    let Table {
        asks,
        usual_asks,
        fouls,
        seats,
        items,
        ..
    } = *table;
    let memory = number("memory_tokens").unwrap_or(MEMORY_TOKENS);
    let tokens_of = |is_long: bool| match is_long {
        true => REASONED_ANSWER_TOKENS,
        false => ANSWER_TOKENS,
    };
    let (answer, own_answer) = (tokens_of(agent.reasons), tokens_of(agent.own_calls_reason));
    // Tokens of one call besides the conversation.
    let fixed = SYSTEM_TOKENS + ASK_TOKENS;
    let longest_round = SEAT_TOKENS
        .saturating_mul(seats)
        .saturating_add(ROUND_TOKENS)
        .saturating_add(writes.longest_answer)
        .saturating_add(fouls.saturating_mul(FOUL_TOKENS));
    let told_anew = AUCTION_TOKENS.saturating_add(ITEM_TOKENS.saturating_mul(items));
    let own = agent.own_calls;
    let tries = fouls.saturating_add(1);
    let again = FOUL_TOKENS.saturating_mul(fouls.saturating_mul(tries) / 2);
    let pasts = if agent.own_prompts {
        usual_asks.min(asks).saturating_mul(told_anew.min(memory))
    } else {
        sum_of_pasts(usual_asks.min(asks), ROUND_TOKENS + answer, memory)
    };
    let longest_pasts = sum_of_pasts(asks, longest_round, memory);
    let mut read = Range {
        expected: usual_asks
            .min(asks)
            .saturating_mul(fixed)
            .saturating_add(pasts),
        most: asks
            .saturating_mul(fixed)
            .saturating_add(longest_pasts)
            .saturating_mul(tries)
            .saturating_add(asks.saturating_mul(again)),
    };
    // Others speak of themselves in the conversation that they answer in.
    let usual_call = if agent.own_prompts {
        fixed.saturating_add(told_anew)
    } else {
        read.expected / usual_asks.max(1)
    };
    let expected = own.expected.saturating_mul(usual_call);
    read.expected = read.expected.saturating_add(expected);
    let longest = fixed.saturating_add(memory).saturating_add(FOUL_TOKENS);
    read.most = read.most.saturating_add(own.most.saturating_mul(longest));
    let decisions = Range {
        expected: usual_asks.saturating_add(own.expected),
        most: asks.saturating_mul(tries).saturating_add(own.most),
    };
    ModelPlan {
        sessions: 1,
        decisions,
        input_tokens: read,
        output_tokens: Range {
            expected: usual_asks
                .saturating_mul(writes.usual(answer))
                .saturating_add(own.expected.saturating_mul(writes.usual(own_answer))),
            most: decisions.most.saturating_mul(writes.most()),
        },
    }
}

/// Tokens of the past that so many asks see: each a step more than the one before, up to a bound.
fn sum_of_pasts(asks: u64, step: u64, bound: u64) -> u64 {
    // Asks whose past is not cut.
    let whole = bound
        .checked_div(step)
        .map_or(asks, |steps| asks.min(steps.saturating_add(1)));
    let (asks, step) = (u128::from(asks), u128::from(step));
    let (whole, bound) = (u128::from(whole), u128::from(bound));
    let growing = (whole * whole.saturating_sub(1) / 2).saturating_mul(step);
    let cut = (asks - whole).saturating_mul(bound);
    u64::try_from(growing.saturating_add(cut)).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn pasts_are_summed_up_as_if_one_by_one() {
        for (asks, step, bound) in [
            (0, 5, 9),
            (1, 5, 9),
            (7, 5, 9),
            (9, 0, 4),
            (6, 3, 0),
            (50, 7, 91),
        ] {
            let one_by_one: u64 = (0..asks).map(|ask| (ask * step).min(bound)).sum();
            assert_eq!(
                sum_of_pasts(asks, step, bound),
                one_by_one,
                "{asks} {step} {bound}"
            );
        }
    }

    #[test]
    fn numbers_beyond_64_bits_end_at_the_largest() {
        let player: PlayerSpec = serde_json::from_value(json!({
            "name": "gpt", "kind": "model",
            "settings": { "memory_tokens": u64::MAX, "max_output_tokens": u64::MAX },
        }))
        .unwrap();
        let table = Table {
            asks: 3,
            usual_asks: 3,
            fouls: u64::MAX,
            seats: u64::MAX,
            items: u64::MAX,
            rounds: u64::MAX,
        };
        let endless = Writes::answers(u64::MAX);
        let mut sum = seat_plan(&player, &table, AgentPlan::default(), endless);
        assert_eq!(sum.decisions.most, u64::MAX);
        assert_eq!(sum.input_tokens.most, u64::MAX);
        assert_eq!(sum.output_tokens.most, u64::MAX);
        sum.add(&sum.clone(), u64::MAX);
        assert_eq!(sum.input_tokens.expected, u64::MAX);
    }

    #[test]
    fn thoughts_are_written_and_not_remembered() {
        let player: PlayerSpec =
            serde_json::from_value(json!({ "name": "ann", "kind": "model" })).unwrap();
        let table = Table {
            asks: 10,
            usual_asks: 10,
            fouls: 1,
            ..Table::default()
        };
        let thoughts = Range {
            expected: 1_500,
            most: 16_384,
        };
        let thinks = Writes {
            thoughts,
            ..Writes::answers(100)
        };
        let plain = seat_plan(&player, &table, AgentPlan::default(), Writes::answers(100));
        let thinking = seat_plan(&player, &table, AgentPlan::default(), thinks);
        assert_eq!(thinking.input_tokens, plain.input_tokens);
        assert_eq!(thinking.output_tokens.expected, 10 * (20 + 1_500));
        assert_eq!(thinking.output_tokens.most, 20 * (100 + 16_384));
    }

    #[test]
    fn predictions_of_rivals_cost_about_as_much_as_answers() {
        let player: PlayerSpec =
            serde_json::from_value(json!({ "name": "ann", "kind": "model" })).unwrap();
        let table = Table {
            asks: 20,
            usual_asks: 10,
            fouls: 3,
            seats: 5,
            items: 0,
            rounds: 20,
        };
        let answers = seat_plan(&player, &table, AgentPlan::default(), Writes::answers(1024));
        // Four rivals, before each answer.
        let own_calls = Range {
            expected: 40,
            most: 160,
        };
        let agent = AgentPlan {
            own_calls,
            ..AgentPlan::default()
        };
        let all = seat_plan(&player, &table, agent, Writes::answers(1024));
        assert_eq!(all.decisions.expected, 5 * answers.decisions.expected);
        assert_eq!(
            all.output_tokens.expected,
            5 * answers.output_tokens.expected
        );
        assert_eq!(all.input_tokens.expected, 5 * answers.input_tokens.expected);
    }
}
