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
/// How often such a bidder asks for a plan or a belief at most, unless `tries` says otherwise.
const TRIES: u64 = 4;
/// At which level a `k_level` player answers, unless `depth` says otherwise.
const DEPTH: u64 = 2;
/// How often it asks for a prediction at most, unless `tries` says otherwise.
const PREDICTION_TRIES: u64 = 2;
/// How often a draft of a `self_refine` player is judged, unless `rounds` says otherwise.
const FEEDBACK_ROUNDS: u64 = 1;
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

/// Plans an experiment. `longest_reply` says how many tokens a model may write at most when its
/// player does not set `max_output_tokens`.
///
/// # Errors
/// It cannot be expanded.
pub fn plan(
    document: &ExperimentDocument,
    longest_reply: &dyn Fn(&str) -> u64,
) -> Result<Plan, Faults> {
    plan_left(document, longest_reply, &|_| 0)
}

/// Plans what is left of an experiment, of which so many sessions of each setting are done; settings
/// count from 0. `sessions` of the plan are all of them nevertheless.
///
/// # Errors
/// It cannot be expanded.
pub fn plan_left(
    document: &ExperimentDocument,
    longest_reply: &dyn Fn(&str) -> u64,
    done: &dyn Fn(u64) -> u64,
) -> Result<Plan, Faults> {
    let series_length = u64::from(document.series_length());
    let repeats = u64::from(document.repeats) * series_length;
    let mut plan = Plan {
        series_length,
        ..Plan::default()
    };
    // The same few models are asked about in every cell.
    let known = RefCell::new(BTreeMap::<String, u64>::new());
    let longest_reply = |model: &str| {
        if let Some(longest) = known.borrow().get(model) {
            return *longest;
        }
        let longest = longest_reply(model);
        known.borrow_mut().insert(model.to_owned(), longest);
        longest
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
            let longest = longest_reply(model);
            entry.add(&seat_plan(player, &table, longest), repeats);
            entry.add(&aside::summaries(player, &table, longest), repeats);
            if let Some((reader, calls)) = aside::reader(player, &table, &longest_reply) {
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
struct Table {
    /// Most asks of a seat.
    asks: u64,
    /// Asks of a seat in a usual game.
    usual_asks: u64,
    /// Fouls forgiven per ask.
    fouls: u64,
    /// Seats.
    seats: u64,
    /// Items, in games that sell some.
    items: u64,
    /// Rounds that a game has at most: its items where it sells some, and its asks where it
    /// does not say.
    rounds: u64,
}

impl Table {
    /// So many calls per ask, each put so often at most.
    fn per_ask(&self, calls: u64, tries: u64) -> Range {
        Range {
            expected: calls.saturating_mul(self.usual_asks),
            most: calls.saturating_mul(self.asks).saturating_mul(tries),
        }
    }
}

/// Calls that an agent makes for itself, whatever it is asked: a `bdi` bidder plans, brings its
/// beliefs up to date after every item, plans again after every item but the last, and learns. A
/// `harbor` bidder calls for the modules that it has, some once per rival and item, and the
/// strategic one once per ask. A `k_level` player of depth K predicts every rival K - 1 times per
/// ask, and itself at all of these levels but the deepest. A `reflexion` player looks back at every
/// round but the last. A `self_refine` player makes two calls before each answer, per round of
/// feedback.
fn own_calls(player: &PlayerSpec, table: &Table) -> Range {
    let word = |key: &str| player.settings.get(key).and_then(Value::as_str);
    let is_on = |key: &str| player.settings.get(key) == Some(&Value::Bool(true));
    let items = table.items;
    let per_rival = items.saturating_mul(table.seats.saturating_sub(1));
    let count = |on: bool, calls: u64| if on { calls } else { 0 };
    let number = |key: &str| player.settings.get(key).and_then(Value::as_u64);
    let (calls, per_ask) = match word("agent") {
        Some("k_level") => {
            let levels = number("depth").unwrap_or(DEPTH).saturating_sub(1);
            let rivals = table.seats.saturating_sub(1);
            let of_rivals = levels.saturating_mul(rivals);
            let per_ask = of_rivals.saturating_add(levels.saturating_sub(1));
            let per_ask = count(rivals > 0, per_ask);
            let most = number("tries").unwrap_or(PREDICTION_TRIES);
            return table.per_ask(per_ask, most);
        }
        Some("reflexion") => {
            let most = table.rounds.min(table.asks).saturating_sub(1);
            return Range {
                expected: most.min(table.usual_asks.saturating_sub(1)),
                most,
            };
        }
        Some("self_refine") => {
            let rounds = number("rounds").unwrap_or(FEEDBACK_ROUNDS);
            return table.per_ask(rounds.saturating_mul(2), 1);
        }
        Some("bdi") => {
            let plans = match word("strategy").unwrap_or("adaptive") {
                "none" => 0,
                "static" => 1,
                _ => items.max(1),
            };
            let learns = u64::from(is_on("learn"));
            (items.saturating_add(plans).saturating_add(learns), 0)
        }
        Some("harbor") => {
            let plans = player.settings.get("plan") != Some(&Value::Bool(false));
            let predicts = word("theory_of_mind").unwrap_or("none") != "none";
            let calls = count(plans, items)
                .saturating_add(count(is_on("beliefs"), items))
                .saturating_add(count(is_on("profile"), per_rival))
                .saturating_add(count(predicts, items))
                .saturating_add(count(is_on("second_order"), per_rival));
            (calls, u64::from(is_on("strategic")))
        }
        _ => return Range::default(),
    };
    let tries = number("tries").unwrap_or(TRIES);
    let asked = table.per_ask(per_ask, tries);
    Range {
        expected: calls.saturating_add(asked.expected),
        most: calls.saturating_mul(tries).saturating_add(asked.most),
    }
}

fn seat_plan(player: &PlayerSpec, table: &Table, longest_reply: u64) -> ModelPlan {
    let number = |key: &str| player.settings.get(key).and_then(Value::as_u64);
    let most_output = number("max_output_tokens").unwrap_or(longest_reply);
    let Table {
        asks,
        usual_asks,
        fouls,
        seats,
        items,
        ..
    } = *table;
    let memory = number("memory_tokens").unwrap_or(MEMORY_TOKENS);
    let agent = player
        .settings
        .get("agent")
        .and_then(Value::as_str)
        .unwrap_or("direct");
    // Reflections are long, but not the answers that they stand before; predictions of rivals are
    // answers like any.
    let tokens_of = |plain: &[&str]| {
        if plain.contains(&agent) {
            ANSWER_TOKENS
        } else {
            REASONED_ANSWER_TOKENS
        }
    };
    let answer = tokens_of(&["direct", "k_level", "reflexion"]);
    let own_answer = tokens_of(&["k_level"]);
    // Tokens of one call besides the conversation.
    let fixed = SYSTEM_TOKENS + ASK_TOKENS;
    let longest_round = SEAT_TOKENS
        .saturating_mul(seats)
        .saturating_add(ROUND_TOKENS)
        .saturating_add(most_output)
        .saturating_add(fouls.saturating_mul(FOUL_TOKENS));
    // A bidder with words of its own is told everything anew in every call.
    let own_words = ["bdi", "harbor"].contains(&agent);
    let told_anew = AUCTION_TOKENS.saturating_add(ITEM_TOKENS.saturating_mul(items));
    let own = own_calls(player, table);
    let tries = fouls.saturating_add(1);
    let again = FOUL_TOKENS.saturating_mul(fouls.saturating_mul(tries) / 2);
    let pasts = if own_words {
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
    let usual_call = if own_words {
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
                .saturating_mul(answer.min(most_output))
                .saturating_add(own.expected.saturating_mul(own_answer.min(most_output))),
            most: decisions.most.saturating_mul(most_output),
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
        let mut sum = seat_plan(&player, &table, 1024);
        assert_eq!(sum.decisions.most, u64::MAX);
        assert_eq!(sum.input_tokens.most, u64::MAX);
        assert_eq!(sum.output_tokens.most, u64::MAX);
        sum.add(&sum.clone(), u64::MAX);
        assert_eq!(sum.input_tokens.expected, u64::MAX);
    }

    #[test]
    fn bidders_are_counted_with_the_calls_they_make_for_themselves() {
        let calls = |settings: Value| {
            let player: PlayerSpec = serde_json::from_value(
                json!({ "name": "ann", "kind": "model", "settings": settings }),
            )
            .unwrap();
            let table = Table {
                asks: 100,
                usual_asks: 30,
                fouls: 3,
                seats: 3,
                items: 10,
                rounds: 10,
            };
            let own = own_calls(&player, &table);
            (own.expected, own.most)
        };
        assert_eq!(calls(json!({ "agent": "direct" })), (0, 0));
        assert_eq!(calls(json!({ "agent": "bdi" })), (20, 80));
        assert_eq!(
            calls(json!({ "agent": "bdi", "strategy": "static", "learn": true })),
            (12, 48)
        );
        assert_eq!(
            calls(json!({ "agent": "bdi", "strategy": "none", "tries": 1 })),
            (10, 10)
        );
        assert_eq!(calls(json!({ "agent": "harbor" })), (10, 40));
        assert_eq!(
            calls(json!({ "agent": "harbor", "beliefs": true })),
            (20, 80)
        );
        assert_eq!(
            calls(json!({ "agent": "harbor", "profile": true, "plan": false })),
            (20, 80)
        );
        let all = json!({ "agent": "harbor", "profile": true, "theory_of_mind": "inferred",
            "strategic": true, "second_order": true, "tries": 2 });
        assert_eq!(calls(all), (10 + 20 + 10 + 20 + 30, 2 * (60 + 100)));
    }

    #[test]
    fn players_that_think_more_than_once_are_counted_with_all_their_calls() {
        let table = Table {
            asks: 20,
            usual_asks: 10,
            fouls: 3,
            seats: 5,
            items: 0,
            rounds: 20,
        };
        let player = |settings: Value| -> PlayerSpec {
            let player = json!({ "name": "ann", "kind": "model", "settings": settings });
            serde_json::from_value(player).unwrap()
        };
        let calls = |settings: Value| {
            let own = own_calls(&player(settings), &table);
            (own.expected, own.most)
        };
        // Four rivals, at one level.
        assert_eq!(calls(json!({ "agent": "k_level" })), (40, 160));
        assert_eq!(calls(json!({ "agent": "k_level", "depth": 1 })), (0, 0));
        // Four rivals at two levels, and the player itself at the first.
        let deep = json!({ "agent": "k_level", "depth": 3, "tries": 1 });
        assert_eq!(calls(deep), (90, 180));
        assert_eq!(calls(json!({ "agent": "reflexion" })), (9, 19));
        // Several asks in a round are looked back on once.
        let stepwise = Table { rounds: 4, ..table };
        let reflexion = player(json!({ "agent": "reflexion" }));
        let own = own_calls(&reflexion, &stepwise);
        assert_eq!((own.expected, own.most), (3, 3));
        assert_eq!(calls(json!({ "agent": "self_refine" })), (20, 40));
        assert_eq!(
            calls(json!({ "agent": "self_refine", "rounds": 2 })),
            (40, 80)
        );
        let one_call = json!({ "agent": "prediction_chain_of_thought" });
        assert_eq!(calls(one_call), (0, 0));
        // A prediction is about as long as an answer, and reads about as much.
        let direct = seat_plan(&player(json!({ "agent": "direct" })), &table, 1024);
        let deep = seat_plan(&player(json!({ "agent": "k_level" })), &table, 1024);
        assert_eq!(deep.decisions.expected, 5 * direct.decisions.expected);
        assert_eq!(
            deep.output_tokens.expected,
            5 * direct.output_tokens.expected
        );
        assert_eq!(deep.input_tokens.expected, 5 * direct.input_tokens.expected);
    }
}
