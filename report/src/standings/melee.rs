//! Sessions of a game in which players met, and how strong that shows them to be: strengths by two
//! models, and TrueSkill. Called by `standings.rs`.

use std::collections::BTreeMap;

use super::{MOST_DRAWN, RATING_DRAWS, from_to};
use crate::accumulator::Accumulator;
use crate::layout::Layout;
use crate::ranking;
use crate::ratings::Ratings;
use crate::selection::Selection;
use crate::statistics::Interval;
use crate::statistics::bootstrap::{draw_again, in_other_orders, percentile_interval};
use crate::statistics::strength::{Contests, Model, PENALTY, Rated};
use crate::statistics::trueskill::MU;
use crate::table::{Beside, Column, NONE, TextTable, count, number, paragraphs};
use crate::wrapping::prose;

/// Points of a strength's unit, as in chess: 400 points are odds of ten to one.
const POINTS: f64 = 400.0 / std::f64::consts::LN_10;

/// Points of a player as strong as the others together.
const MIDDLE: f64 = 1_000.0;

/// What TrueSkill and its interval are, for tables and figures.
pub(crate) const SKILLS: &str = "TrueSkill (of payoffs): mean of mu over random orders of the sessions; its 95 %, \
    the middle 95 % of mu over sessions drawn again in random order; none for a player of one session, where mu \
    is always the same, and above 500 sessions";

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

    /// TrueSkill of each player: the mean of its mu over sessions in random orders, which favour nobody who
    /// came late, and the middle 95 % of its mu over sessions drawn again, in random order too. No interval
    /// for a player of one session or series, and where it always comes out the same.
    pub fn skills(&self) -> Vec<(f64, Option<Interval>)> {
        let clusters = self.clusters();
        let draws = (RATING_DRAWS * MOST_DRAWN / self.sessions.len().max(1)).clamp(1, RATING_DRAWS);
        let players = self.players.len();
        let mut means = vec![Accumulator::default(); players];
        in_other_orders(clusters.len(), draws, |order| {
            for (mean, skill) in means.iter_mut().zip(self.rated_in(&clusters, order)) {
                mean.add_known(skill);
            }
        });
        let mut drawn = vec![Vec::new(); players];
        if self.sessions.len() <= MOST_DRAWN {
            draw_again(&[clusters.len()], RATING_DRAWS, |places| {
                for (drawn, skill) in drawn.iter_mut().zip(self.rated_in(&clusters, &places[0])) {
                    // Nothing is known of who is in none of the sessions that were drawn.
                    drawn.extend(skill);
                }
            });
        }
        let skills = means.into_iter().zip(&mut drawn).enumerate();
        let skills = skills.map(|(player, (mean, drawn))| {
            let interval = percentile_interval(drawn).filter(|interval| !interval.is_point());
            let interval = interval.filter(|_| self.clusters_of(player, &clusters) > 1);
            (mean.mean().unwrap_or(MU), interval)
        });
        skills.collect()
    }

    /// Sessions that are independent of others: those of a series are together, in their order.
    fn clusters(&self) -> Vec<Vec<usize>> {
        let mut clusters: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        for (place, (cluster, _)) in self.sessions.iter().enumerate() {
            clusters.entry(*cluster).or_default().push(place);
        }
        clusters.into_values().collect()
    }

    /// In how many of them a player is.
    fn clusters_of(&self, player: usize, clusters: &[Vec<usize>]) -> usize {
        let is_in = |session: &usize| {
            let (_, made) = &self.sessions[*session];
            made.iter().any(|(one, _)| *one == player)
        };
        let own = clusters
            .iter()
            .filter(|sessions| sessions.iter().any(is_in));
        own.count()
    }

    /// Mu of each player after the sessions of these clusters in this order; `None` of who is in none.
    fn rated_in(&self, clusters: &[Vec<usize>], order: &[usize]) -> Vec<Option<f64>> {
        let mut ratings = Ratings::default();
        for session in order.iter().flat_map(|cluster| &clusters[*cluster]) {
            let (_, made) = &self.sessions[*session];
            let players: Vec<&str> = made.iter().map(|(one, _)| &*self.players[*one]).collect();
            let payoffs: Vec<f64> = made.iter().map(|(_, payoff)| *payoff).collect();
            // Payoffs of records are finite and as many as players.
            let _ = ratings.rate(&players, &payoffs);
        }
        let players = self.players.iter();
        let mu = players.map(|player| Some(ratings.rating(player)?.mu));
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
             that Plackett-Luce leaves open. {SKILLS}",
            game,
            if simulated { " (SIMULATED)" } else { "" },
        );
        paragraphs([Some(prose(&title, layout)), Some(table.fitted(layout))])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sessions in which the first of each pair was paid more.
    fn melee(sessions: &[(&str, &str)]) -> Melee {
        let mut melee = Melee::default();
        for (cluster, (first, second)) in (0..).zip(sessions) {
            let made = [(first, 2.0), (second, 1.0)];
            melee.add(
                cluster,
                &made.map(|(name, made)| ((*name).to_owned(), made)),
            );
        }
        melee
    }

    #[test]
    fn a_rating_lies_in_its_interval_and_does_not_hang_on_the_order_of_runs() {
        // Each of five loses three times to the same one, whose rating rises run by run.
        let names = ["a", "b", "c", "d", "e"];
        let sessions = names.iter().flat_map(|name| [("best", *name); 3]);
        let melee = melee(&sessions.collect::<Vec<_>>());
        let skills = melee.skills();
        for (player, (mu, interval)) in melee.players.iter().zip(&skills) {
            let interval = interval.unwrap();
            let is_inside = interval.low < *mu && *mu < interval.high;
            assert!(is_inside, "{player}: {mu} {interval:?}");
        }
        let losers = skills[1..].iter().map(|(mu, _)| *mu);
        let (least, most) = (
            losers.clone().fold(f64::INFINITY, f64::min),
            losers.fold(0.0, f64::max),
        );
        assert!(most - least < 0.5, "{skills:?}");
    }

    #[test]
    fn sessions_that_all_end_alike_leave_no_interval_of_ratings() {
        for sessions in [1, 2, 12] {
            let skills = melee(&vec![("best", "other"); sessions]).skills();
            assert!(skills[0].0 > MU && skills[1].0 < MU, "{skills:?}");
            assert!(
                skills.iter().all(|(_, interval)| interval.is_none()),
                "{skills:?}"
            );
        }
        assert!(SKILLS.ends_with(&format!("above {MOST_DRAWN} sessions")));
    }

    #[test]
    fn who_met_others_once_has_a_rating_without_an_interval() {
        let melee = melee(&[("a", "b"), ("b", "a"), ("a", "b"), ("a", "once")]);
        let skills = melee.skills();
        assert!(skills[2].0 < MU && skills[2].1.is_none(), "{skills:?}");
        assert!(skills[0].1.is_some() && skills[1].1.is_some(), "{skills:?}");
    }
}
