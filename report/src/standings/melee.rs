//! Sessions of a game in which players met, and how strong that shows them to be: strengths by two
//! models, and TrueSkill. Called by `standings.rs`.

use std::collections::BTreeMap;

use super::{MOST_DRAWN, RATING_DRAWS, from_to};
use crate::layout::Layout;
use crate::ranking;
use crate::ratings::Ratings;
use crate::selection::Selection;
use crate::statistics::Interval;
use crate::statistics::bootstrap::{draw_again, percentile_interval};
use crate::statistics::strength::{Contests, Model, PENALTY, Rated};
use crate::table::{Beside, Column, NONE, TextTable, count, number, paragraphs};
use crate::wrapping::prose;

/// Points of a strength's unit, as in chess: 400 points are odds of ten to one.
const POINTS: f64 = 400.0 / std::f64::consts::LN_10;

/// Points of a player as strong as the others together.
const MIDDLE: f64 = 1_000.0;

/// A strength in points.
pub(crate) fn points(strength: f64) -> f64 {
    MIDDLE + POINTS * strength
}

/// The same of an interval.
pub(crate) fn in_points(interval: Interval) -> Interval {
    interval.moved(MIDDLE, POINTS)
}

/// Sessions in which players met.
#[derive(Debug, Default)]
pub(crate) struct Melee {
    pub players: Vec<String>,
    /// Of each session its cluster, and what each player made.
    sessions: Vec<(u64, Vec<(usize, f64)>)>,
}

impl Melee {
    /// Takes in what players of a session of this cluster made.
    pub fn add(&mut self, cluster: u64, made: &[(String, f64)]) {
        let made = made.iter().map(|(player, payoff)| {
            let known = self.players.iter().position(|name| name == player);
            let place = known.unwrap_or_else(|| {
                self.players.push(player.clone());
                self.players.len() - 1
            });
            (place, *payoff)
        });
        let made = made.collect();
        self.sessions.push((cluster, made));
    }

    /// How many sessions there are.
    pub fn sessions(&self) -> usize {
        self.sessions.len()
    }

    /// In how many sessions a player was.
    pub fn sessions_of(&self, player: usize) -> u64 {
        let sessions = self.sessions.iter();
        let own = sessions.filter(|(_, made)| made.iter().any(|(one, _)| *one == player));
        own.count() as u64
    }

    /// The strength of each player by a model; `None` where too many came level, and of one session.
    pub fn strengths(&self, model: Model) -> Option<Vec<Rated>> {
        self.contests(model)?.rated()
    }

    fn contests(&self, model: Model) -> Option<Contests> {
        let mut contests = Contests::new(model, self.players.len());
        for (cluster, made) in &self.sessions {
            contests.add_to(*cluster, made).ok()?;
        }
        Some(contests)
    }

    /// TrueSkill of each player, with its interval over sessions drawn again in another order.
    pub fn skills(&self) -> Vec<(f64, Option<Interval>)> {
        let places: Vec<usize> = (0..self.sessions.len()).collect();
        let ratings = self.rated_in(&places);
        let mut drawn = vec![Vec::new(); self.players.len()];
        // Sessions of a series are drawn together.
        let mut clusters: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        for (place, (cluster, _)) in self.sessions.iter().enumerate() {
            clusters.entry(*cluster).or_default().push(place);
        }
        let clusters: Vec<Vec<usize>> = clusters.into_values().collect();
        if clusters.len() > 1 && self.sessions.len() <= MOST_DRAWN {
            draw_again(&[clusters.len()], RATING_DRAWS, |places| {
                let places = places[0].iter().flat_map(|place| &clusters[*place]);
                let places: Vec<usize> = places.copied().collect();
                for (drawn, skill) in drawn.iter_mut().zip(self.rated_in(&places)) {
                    drawn.push(skill);
                }
            });
        }
        let intervals = drawn.iter_mut().map(|drawn| percentile_interval(drawn));
        ratings.into_iter().zip(intervals).collect()
    }

    /// Mu of each player after these sessions.
    fn rated_in(&self, places: &[usize]) -> Vec<f64> {
        let mut ratings = Ratings::default();
        for place in places {
            let (_, made) = &self.sessions[*place];
            let players: Vec<&str> = made.iter().map(|(one, _)| &*self.players[*one]).collect();
            let payoffs: Vec<f64> = made.iter().map(|(_, payoff)| *payoff).collect();
            // Payoffs of records are finite and as many as players.
            let _ = ratings.rate(&players, &payoffs);
        }
        let players = self.players.iter();
        let mu = players.map(|player| ratings.rating(player).unwrap_or_default().mu);
        mu.collect()
    }

    /// Ratings of the players who met in the sessions of this game.
    pub fn table(&self, game: &str, simulated: bool, layout: Layout) -> String {
        let [pairs, orders] =
            [Model::BradleyTerry, Model::PlackettLuce].map(|model| self.strengths(model));
        let skills = self.skills();
        let columns = [
            Column::number("rank"),
            Column::key("player"),
            Column::number("sessions"),
            Column::number("Plackett-Luce"),
            Column::number("95 %"),
            Column::number("Bradley-Terry"),
            Column::number("95 %"),
            Column::number("TrueSkill"),
            Column::number("95 %"),
        ];
        let mut table = TextTable::new(columns.to_vec());
        let mut order: Vec<usize> = (0..self.players.len()).collect();
        let strength = |player: usize| orders.as_ref().map(|rated| rated[player].strength);
        let worth = |player: usize| strength(player).unwrap_or(skills[player].0);
        order.sort_by(|one, other| worth(*other).total_cmp(&worth(*one)));
        for player in order {
            let ranks = orders.as_ref().map(|rated| rated[player].ranks);
            let rank = ranks.map(|(best, worst)| ranking::in_words(best, worst));
            let mut cells = vec![
                rank.unwrap_or_else(|| NONE.to_owned()),
                self.players[player].clone(),
                count(self.sessions_of(player)),
            ];
            for rated in [&orders, &pairs] {
                let rated: Option<&Rated> = rated.as_ref().map(|rated| &rated[player]);
                cells.push(number(rated.map(|one| points(one.strength)), 0));
                let interval = rated.map(|one| in_points(one.interval));
                cells.push(from_to(interval, 0));
            }
            let (skill, interval) = skills[player];
            cells.extend([number(Some(skill), 1), from_to(interval, 1)]);
            let sessions = Selection::of_game(game).player(&self.players[player]);
            let beside = Beside::of(sessions.simulated(simulated));
            let rated = orders.as_ref().map(|rated| &rated[player]);
            let strength = rated.map(|one| points(one.strength));
            let interval = rated.map(|one| in_points(one.interval));
            table.row_with(cells, beside.bar(strength, interval));
        }
        let title = format!(
            "Ratings in {}{} over all its settings, by what sessions paid. Plackett-Luce and \
             Bradley-Terry in points: 400 are odds of ten to one, {MIDDLE} is the middle of these \
             players; maximum likelihood with a penalty of {PENALTY} times the squared strength, its \
             95 % wider than need be below 30 sessions (97 to 100 %); ranks, from the best to the worst \
             that Plackett-Luce leaves open. TrueSkill: mu after the sessions in their order; its 95 % of sessions drawn again in another order, up to {} sessions",
            game,
            if simulated { " (SIMULATED)" } else { "" },
            count(MOST_DRAWN as u64),
        );
        paragraphs([Some(prose(&title, layout)), Some(table.fitted(layout))])
    }
}
