//! The raw results that the authors of gamma-Bench publish (github.com/CUHK-ARISE/GAMABench,
//! `raw_results/`), one JSON file per game, as lines of recorded games. What was played is taken from
//! a file, prompts and replies are passed over; which model played which variant stands in its name.
//! Scores are not in it: our rules give them.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value, json};

/// The model whose files have no prefix.
const UNNAMED: &str = "gpt-3.5-turbo-0125";

/// Turns after which their battle royale ends.
const MOST_TURNS: u64 = 20;

/// Games: what a round has in no other game, what we call it, and how its files are named.
const GAMES: [(&str, &str, &[&str], Reader); 8] = [
    (
        "mean_ratio",
        "guess_two_thirds",
        &["guessing_game"],
        guesses,
    ),
    (
        "go_num",
        "el_farol",
        &["bar_game_explicit", "bar_game_implicit"],
        visits,
    ),
    ("total_proposal", "divide_dollar", &["divide_dollar"], bids),
    (
        "total_tokens",
        "public_goods",
        &["public_goods"],
        contributions,
    ),
    ("cheap_player", "diners_dilemma", &["diner_dilemma"], dishes),
    (
        "bid_winner",
        "sealed_bid_auction",
        &["sealed_bid_auction"],
        auctions,
    ),
    (
        "player_shooting",
        "battle_royale",
        &["battle_royale"],
        shots,
    ),
    ("gold_distribution", "pirate", &["pirate_game"], plans),
];

type Reader = fn(&Raw) -> Result<Played, String>;

/// Parameters and rounds of a recorded game.
type Played = (Value, Vec<Value>);

/// A file, as far as it is read.
#[derive(Deserialize)]
struct Raw {
    meta: Map<String, Value>,
    round_records: Vec<Map<String, Value>>,
    player_data: Vec<Player>,
}

/// A player, whose answers stand in its own order: those of a round were shuffled in older files.
#[derive(Deserialize)]
struct Player {
    model: Option<Value>,
    models: Option<Value>,
    #[serde(default)]
    records: Vec<Value>,
    #[serde(default)]
    utility: Vec<Value>,
    #[serde(default)]
    prompt: Vec<Message>,
}

#[derive(Deserialize)]
struct Message {
    content: Value,
}

/// Whether a file holds such a game, whatever else is wrong with it.
pub(super) fn is_meant(text: &str) -> bool {
    text.contains("\"round_records\"")
}

/// The line of the recorded game that a file holds; `None` for a snapshot of a game that went on.
///
/// # Errors
/// It is none of these files; says what is missing.
pub(super) fn line(path: &str, text: &str) -> Result<Option<String>, String> {
    let file = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let stem = file.strip_suffix(".json").unwrap_or(file);
    if stem.contains("savept") {
        return Ok(None);
    }
    let raw: Raw = serde_json::from_str(text)
        .map_err(|error| format!("no raw result of gamma-Bench: {error}"))?;
    let first = raw.round_records.first().ok_or("it has no round")?;
    let of_round = GAMES.iter().find(|(mark, ..)| first.contains_key(*mark));
    let (_, game, names, read) = of_round.ok_or("its rounds are of no game of gamma-Bench")?;
    let (params, rounds) = read(&raw)?;
    let named = Named::of(stem, names, &raw);
    let folder = match params.get("price").and_then(Value::as_str) {
        Some(price) => format!("{price}_price/"),
        None => String::new(),
    };
    let line = json!({
        "id": format!("gamma/{game}/{folder}{stem}"),
        "game": game,
        "params": params,
        "models": raw.models(),
        "file_model": named.model,
        "variant": named.variant,
        "variant_class": named.class,
        "rounds": rounds,
        "raw_S": {},
        "score_iclr2025": null,
        "score_arxiv2024": null,
    });
    Ok(Some(line.to_string()))
}

/// What the name of a file says.
struct Named {
    model: Option<String>,
    variant: Option<String>,
    /// "run" for the repeats that the published leaderboard is of.
    class: &'static str,
}

impl Named {
    fn of(stem: &str, names: &[&str], raw: &Raw) -> Self {
        let parts = names.iter().find_map(|name| stem.split_once(name));
        let (before, after) = parts.unwrap_or(("", ""));
        let before = before.trim_end_matches(['_', '-']);
        let models = raw.models();
        let played = models.first().filter(|first| first.as_str() != "");
        let model = match (before, played) {
            ("", Some(played)) if played != "gpt-3.5-turbo" => Some(played.clone()),
            ("", None) if parts.is_none() => None,
            ("", _) => Some(UNNAMED.to_owned()),
            (before, _) => Some(before.to_owned()),
        };
        let version = raw.meta.get("version").and_then(Value::as_str);
        let variant = match after.trim_start_matches(['_', '-']) {
            "" => version
                .filter(|version| *version != "v1")
                .map(str::to_owned),
            after => Some(after.to_owned()),
        };
        let class = match variant.as_deref() {
            None => "run",
            Some(variant) if is_repeat(variant) => "run",
            Some(_) => "variant",
        };
        Self {
            model,
            variant,
            class,
        }
    }
}

/// Whether a variant is one of the repeats: `v1_1` to `v1_5`, or more of them.
fn is_repeat(variant: &str) -> bool {
    let number = variant.strip_prefix("v1_");
    number
        .is_some_and(|number| !number.is_empty() && number.bytes().all(|one| one.is_ascii_digit()))
}

impl Raw {
    /// The models of the players, as they were asked for.
    fn models(&self) -> Vec<String> {
        let named = ["model", "models"].map(|key| self.meta.get(key));
        let of_all = named.into_iter().flatten().find_map(Value::as_str);
        let players = self.player_data.iter();
        let models = players.map(|player| {
            let own = [&player.model, &player.models].into_iter().flatten();
            let own = own.filter_map(Value::as_str).next();
            own.or(of_all).unwrap_or_default().to_owned()
        });
        models.collect()
    }

    fn seats(&self) -> usize {
        self.player_data.len()
    }

    fn parameter(&self, name: &str) -> Result<&Value, String> {
        let found = self.meta.get(name);
        found.ok_or_else(|| format!("meta.{name} is missing"))
    }

    /// Parameters of these names, each as our records call it and as the file does.
    fn parameters(&self, names: &[(&str, &str)]) -> Result<Map<String, Value>, String> {
        let mut all = Map::new();
        all.insert("players".to_owned(), json!(self.seats()));
        for (ours, theirs) in names {
            all.insert((*ours).to_owned(), self.parameter(theirs)?.clone());
        }
        Ok(all)
    }

    /// What each player answered in a round.
    fn answers(&self, round: usize) -> Result<Vec<&Value>, String> {
        let players = self.player_data.iter().enumerate();
        let answers = players.map(|(seat, player)| {
            let answer = player.records.get(round);
            answer.ok_or_else(|| format!("player_data[{seat}].records[{round}] is missing"))
        });
        answers.collect()
    }

    /// What each player got in a round.
    fn utilities(&self, round: usize) -> Result<Vec<&Value>, String> {
        let players = self.player_data.iter().enumerate();
        let utilities = players.map(|(seat, player)| {
            let utility = player.utility.get(round);
            utility.ok_or_else(|| format!("player_data[{seat}].utility[{round}] is missing"))
        });
        utilities.collect()
    }

    /// All rounds, each of what `round` makes of its record and number.
    fn rounds(
        &self,
        mut round: impl FnMut(&Map<String, Value>, usize) -> Result<Value, String>,
    ) -> Result<Vec<Value>, String> {
        let records = self.round_records.iter().enumerate();
        records
            .map(|(number, record)| {
                let made = round(record, number);
                made.map_err(|why| format!("round_records[{number}]: {why}"))
            })
            .collect()
    }
}

/// A field of a round.
fn field<'a>(record: &'a Map<String, Value>, name: &str) -> Result<&'a Value, String> {
    record.get(name).ok_or_else(|| format!("{name} is missing"))
}

/// Fields of a round under the names that they have.
fn fields(record: &Map<String, Value>, names: &[&str]) -> Result<Map<String, Value>, String> {
    let fields = names.iter().map(|name| {
        let value = field(record, name)?.clone();
        Ok(((*name).to_owned(), value))
    });
    fields.collect()
}

fn guesses(raw: &Raw) -> Result<Played, String> {
    let names = ["min", "max", "ratio", "ratio_str"].map(|name| (name, name));
    let rounds = raw.rounds(|record, round| {
        let outcome = fields(record, &["mean", "mean_ratio", "winner", "winner_num"])?;
        Ok(json!({ "actions": raw.answers(round)?, "outcome": outcome }))
    })?;
    Ok((raw.parameters(&names)?.into(), rounds))
}

fn visits(raw: &Raw) -> Result<Played, String> {
    let names = ["mode", "ratio", "ratio_str", "max", "min", "home"].map(|name| (name, name));
    let rounds = raw.rounds(|record, round| {
        let mut outcome = fields(record, &["go_num", "go_ratio", "winner", "utility"])?;
        outcome.insert("utilities".to_owned(), json!(raw.utilities(round)?));
        Ok(json!({ "actions": raw.answers(round)?, "outcome": outcome }))
    })?;
    Ok((raw.parameters(&names)?.into(), rounds))
}

fn bids(raw: &Raw) -> Result<Played, String> {
    let rounds = raw.rounds(|record, round| {
        let mut outcome = fields(record, &["total_proposal"])?;
        outcome.insert("utilities".to_owned(), json!(raw.utilities(round)?));
        Ok(json!({ "actions": raw.answers(round)?, "outcome": outcome }))
    })?;
    Ok((raw.parameters(&[("golds", "golds")])?.into(), rounds))
}

fn contributions(raw: &Raw) -> Result<Played, String> {
    let told = tokens_told(raw);
    let rounds = raw.rounds(|record, round| {
        let mut outcome = fields(record, &["total_tokens"])?;
        outcome.insert("kept".to_owned(), json!(raw.utilities(round)?));
        outcome.insert("tokens_after".to_owned(), json!(told.get(&round)));
        Ok(json!({ "actions": raw.answers(round)?, "outcome": outcome }))
    })?;
    let names = ["tokens", "ratio"].map(|name| (name, name));
    let mut params = raw.parameters(&names)?;
    for name in ["token_initialization", "reset"] {
        params.extend(
            raw.meta
                .get(name)
                .map(|value| (name.to_owned(), value.clone())),
        );
    }
    if let Some(ratio) = ratio_paid(raw, &told) {
        params.insert("ratio".to_owned(), json!(ratio));
    }
    Ok((params.into(), rounds))
}

/// How many tokens everybody was told to have after a round (from 0), as far as the messages of
/// the first player are kept; they are worded so in the first version of the prompts alone.
fn tokens_told(raw: &Raw) -> BTreeMap<usize, Vec<f64>> {
    const BEFORE: &str = "Tokens of each player after round ";
    let messages = raw
        .player_data
        .iter()
        .take(1)
        .flat_map(|player| &player.prompt);
    let told = messages.filter_map(|message| {
        let (_, said) = message.content.as_str()?.split_once(BEFORE)?;
        let (round, tokens) = said.split_once(':')?;
        let round = round.trim().parse::<usize>().ok()?.checked_sub(1)?;
        Some((round, serde_json::from_str(tokens.trim()).ok()?))
    });
    told.collect()
}

/// The factor by which players were paid, where it is not the one that the file states: one
/// published file states another.
fn ratio_paid(raw: &Raw, told: &BTreeMap<usize, Vec<f64>>) -> Option<f64> {
    let [stated, tokens] = ["ratio", "tokens"].map(|name| raw.meta.get(name)?.as_f64());
    let (stated, tokens) = (stated?, tokens?);
    let (_, paid) = told.iter().find_map(|(round, after)| {
        let record = raw.round_records.get(*round)?;
        let total = record
            .get("total_tokens")?
            .as_f64()
            .filter(|total| *total > 0.0)?;
        let given = raw.player_data.first()?.records.get(*round)?.as_f64()?;
        let gained = after.first()? - (tokens - given);
        Some((round, gained * raw.seats() as f64 / total))
    })?;
    // Told tokens have two decimals, so that a ratio is known to a tenth.
    let paid = (paid * 10.0).round() / 10.0;
    ((paid - stated).abs() > 0.1).then_some(paid)
}

fn dishes(raw: &Raw) -> Result<Played, String> {
    let names = [
        ("cheap_cost", "cheap_cost"),
        ("cheap_utility", "cheap_utility"),
        ("costly_cost", "exp_cost"),
        ("costly_utility", "exp_utility"),
    ];
    let rounds = raw.rounds(|record, round| {
        let mut outcome = fields(record, &["cheap_player", "total_cost", "avg_cost"])?;
        outcome.insert("utilities".to_owned(), json!(raw.utilities(round)?));
        let said = raw.answers(round)?;
        // Whatever was not exactly "cheap" counted as the costly dish.
        let actions = said.iter().map(|word| match word.as_str() {
            Some("cheap") => "cheap",
            _ => "costly",
        });
        let odd = said.iter().enumerate().filter_map(|(seat, word)| {
            let word = word.as_str()?;
            let is_odd = !["cheap", "costly"].contains(&word);
            is_odd.then(|| (seat.to_string(), json!(word)))
        });
        let odd: Map<String, Value> = odd.collect();
        let actions: Vec<&str> = actions.collect();
        Ok(json!({ "actions": actions, "raw_actions": odd, "outcome": outcome }))
    })?;
    Ok((raw.parameters(&names)?.into(), rounds))
}

fn auctions(raw: &Raw) -> Result<Played, String> {
    let mut is_second = raw
        .meta
        .get("mode")
        .and_then(Value::as_str)
        .map(|mode| mode.contains("second"));
    let rounds = raw.rounds(|record, round| {
        let bids = raw.answers(round)?;
        let [highest, paid] =
            ["bid_winner_proposed", "bid_winner_payment"].map(|name| field(record, name));
        let (highest, paid) = (highest?, paid?);
        if highest != paid {
            is_second.get_or_insert(true);
        }
        let winner = seat(field(record, "bid_winner")?).ok_or("bid_winner is no player")?;
        let tied = (0..bids.len()).filter(|one| bids.get(*one).is_some_and(|bid| *bid == highest));
        let tied: Vec<usize> = tied.collect();
        let several = tied.len() > 1;
        let utilities = match record.get("utility") {
            Some(utilities) => utilities.clone(),
            None => json!(raw.utilities(round)?),
        };
        Ok(json!({
            "actions": bids,
            "private": { "valuations": field(record, "valuations")? },
            "chance": {
                "tie_winner": several.then_some(winner),
                "tied": if several { tied } else { Vec::new() },
            },
            "outcome": {
                "winner": winner, "winning_bid": highest, "price": paid, "utilities": utilities,
            },
        }))
    })?;
    let names = ["valuation_min", "valuation_max", "interval"].map(|name| (name, name));
    let mut params = raw.parameters(&names)?;
    let price = if is_second == Some(true) {
        "second"
    } else {
        "first"
    };
    params.insert("price".to_owned(), json!(price));
    Ok((params.into(), rounds))
}

fn shots(raw: &Raw) -> Result<Played, String> {
    let first = raw.round_records.first().ok_or("it has no round")?;
    let rates: Vec<(Value, u64)> = serde_json::from_value(field(first, "initial_players")?.clone())
        .map_err(|error| format!("initial_players: {error}"))?;
    let rates: Vec<u64> = rates.into_iter().map(|(_, rate)| rate).collect();
    let interval = match rates.as_slice() {
        [first, second, ..] => second.saturating_sub(*first),
        _ => return Err("initial_players has no two players".to_owned()),
    };
    let rounds = raw.rounds(|record, _| {
        let shooter = seat(field(record, "player_shooting")?);
        let shooter = shooter.ok_or("player_shooting is no player")?;
        let target = seat(field(record, "shot_player")?);
        let alive = field(record, "initial_players")?.as_array();
        let alive = alive
            .into_iter()
            .flatten()
            .filter_map(|one| seat(one.get(0)?));
        let before: Vec<usize> = alive.collect();
        let out = field(record, "out")?.as_bool().ok_or("out is no flag")?;
        let after = before.iter().filter(|one| !(out && Some(**one) == target));
        let after: Vec<&usize> = after.collect();
        // A shot at somebody who is out draws nothing.
        let is_drawn = target.is_some_and(|target| before.contains(&target));
        Ok(json!({
            "actions": { "shooter": shooter, "target": target },
            "chance": { "hit": is_drawn.then_some(out) },
            "outcome": {
                "action": if target.is_some() { "shoot" } else { "miss" },
                "out": out, "alive_before": before, "alive_after": after,
            },
        }))
    })?;
    let params = json!({
        "players": raw.seats(),
        "base_hit_rate": rates.first(),
        "interval": interval,
        "max_turns": MOST_TURNS,
        "hit_rates": rates,
    });
    Ok((params, rounds))
}

fn plans(raw: &Raw) -> Result<Played, String> {
    let rounds = raw.rounds(|record, proposer| {
        let plan = field(record, "gold_distribution")?;
        let said = field(record, "responses")?
            .as_array()
            .ok_or("responses is no list")?;
        let votes = said.iter().map(|said| match said.as_str() {
            Some(said) if said.contains("accept") => "accept",
            _ => "reject",
        });
        let votes: Vec<&str> = votes.collect();
        let accepts = votes.iter().filter(|vote| **vote == "accept").count();
        let accepted = accepts * 2 >= votes.len();
        let shares = plan.as_array().into_iter().flatten().cloned();
        let payoffs: Vec<Value> = std::iter::repeat_n(json!(0), proposer)
            .chain(shares)
            .collect();
        Ok(json!({
            "actions": { "proposer": proposer, "proposal": plan, "votes": votes },
            "outcome": {
                "accepts": accepts, "voters": votes.len(), "accepted": accepted,
                "payoffs": accepted.then_some(payoffs),
            },
        }))
    })?;
    // Older files do not say how much gold there was.
    let gold = raw.meta.get("gold").cloned().unwrap_or(json!(100));
    Ok((json!({ "players": raw.seats(), "gold": gold }), rounds))
}

/// The seat that is meant by "player_3", "3" or 3; `None` for nobody ("null", -1).
fn seat(said: &Value) -> Option<usize> {
    match said {
        Value::String(said) => said.rsplit('_').next()?.trim().parse().ok(),
        said => usize::try_from(said.as_u64()?).ok(),
    }
}
