//! How strong players are, from who came before whom: Bradley and Terry's model of pairs (1952, "Rank
//! analysis of incomplete block designs") and Plackett and Luce's of whole orders (Plackett 1975, "The
//! analysis of permutations"; Luce 1959). Strengths are logarithms of odds and make 0 together; the
//! likelihood is penalised by `penalty * sum (strength^2)`, so that who always wins has a finite one. Of
//! players who came level every order is as likely. Unlike TrueSkill's, the order of sessions is nothing.

use std::collections::BTreeMap;

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::{Interval, StatisticsError};

/// The penalty: strengths as if drawn from a normal distribution with variance 10.
pub const PENALTY: f64 = 0.05;

/// Newton's steps end when none is longer.
const CLOSE: f64 = 1e-10;

/// Newton's steps; three or four are usual.
const MOST_STEPS: usize = 100;

/// The most players that may come level in a session of Plackett and Luce's model: all sets of them are
/// listed.
pub const MOST_LEVEL: usize = 12;

/// A player's strength and how exact it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rated {
    /// The strength that fits best.
    pub strength: f64,
    /// Its 95 % interval.
    pub interval: Interval,
    /// The best and the worst rank, from 1, that intervals of differences to the others leave open.
    pub ranks: (usize, usize),
}

/// Numbers of players by players.
type Matrix = Vec<Vec<f64>>;

/// Which model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Model {
    /// Of pairs: each of a session counts by itself, half for either where they came level.
    BradleyTerry,
    /// Of whole orders: the first is chosen among all, the second among the others, and so on.
    PlackettLuce,
}

/// What sessions said, ready to be fitted under any weights of sessions.
#[derive(Debug, Clone)]
pub struct Contests {
    model: Model,
    players: usize,
    /// Sets of players that one was chosen among.
    sets: Vec<Vec<usize>>,
    places: BTreeMap<Vec<usize>, usize>,
    sessions: Vec<Contest>,
    /// Where what depends on each other stands.
    clusters: BTreeMap<u64, usize>,
}

/// What one session said.
#[derive(Debug, Clone, Default)]
struct Contest {
    /// How often a player was chosen.
    chosen: Vec<(usize, f64)>,
    /// How often one was chosen among a set.
    among: Vec<(usize, f64)>,
}

impl Contests {
    /// None yet, of so many players.
    pub fn new(model: Model, players: usize) -> Self {
        Self {
            model,
            players,
            sets: Vec::new(),
            places: BTreeMap::new(),
            sessions: Vec::new(),
            clusters: BTreeMap::new(),
        }
    }

    /// How many sessions there are; those of one cluster are one.
    pub fn sessions(&self) -> usize {
        self.sessions.len()
    }

    /// Takes in a session of a cluster, a series, whose sessions depend on each other.
    ///
    /// # Errors
    /// As of [`Contests::add`].
    pub fn add_to(&mut self, cluster: u64, made: &[(usize, f64)]) -> Result<(), StatisticsError> {
        self.add(made)?;
        let last = self.sessions.len() - 1;
        let place = *self.clusters.entry(cluster).or_insert(last);
        if place != last
            && let Some(contest) = self.sessions.pop()
        {
            self.sessions[place].chosen.extend(contest.chosen);
            self.sessions[place].among.extend(contest.among);
        }
        Ok(())
    }

    /// Takes in a session: its players and what each made of it; more is better, and the same is
    /// level.
    ///
    /// # Errors
    /// A number is not finite, a player stands there twice or is none of these, or too many came level.
    pub fn add(&mut self, made: &[(usize, f64)]) -> Result<(), StatisticsError> {
        let mut order = made.to_vec();
        order.sort_by(|one, other| other.1.total_cmp(&one.1));
        if order.iter().any(|(_, number)| !number.is_finite()) {
            return Err(StatisticsError::NotFinite);
        }
        let mut players: Vec<usize> = order.iter().map(|(player, _)| *player).collect();
        players.sort_unstable();
        let is_twice = players.windows(2).any(|pair| pair[0] == pair[1]);
        if is_twice || players.last().is_some_and(|last| *last >= self.players) {
            return Err(StatisticsError::OutOfRange);
        }
        let groups = order.chunk_by(|one, other| one.1 == other.1);
        let groups: Vec<Vec<usize>> = groups
            .map(|group| group.iter().map(|(player, _)| *player).collect())
            .collect();
        let contest = match self.model {
            Model::BradleyTerry => self.pairs(&groups),
            Model::PlackettLuce => {
                let level = groups.iter().map(Vec::len).max().unwrap_or(0);
                super::at_most(MOST_LEVEL, level)?;
                self.choices(&groups)
            }
        };
        self.sessions.push(contest);
        Ok(())
    }

    fn place(&mut self, mut set: Vec<usize>) -> usize {
        set.sort_unstable();
        let next = self.sets.len();
        let place = *self.places.entry(set.clone()).or_insert(next);
        if place == next {
            self.sets.push(set);
        }
        place
    }

    fn pairs(&mut self, groups: &[Vec<usize>]) -> Contest {
        let mut contest = Contest::default();
        for (place, group) in groups.iter().enumerate() {
            for (seat, one) in group.iter().enumerate() {
                for level in &group[seat + 1..] {
                    contest.chosen.extend([(*one, 0.5), (*level, 0.5)]);
                    contest.among.push((self.place(vec![*one, *level]), 1.0));
                }
                for beaten in groups[place + 1..].iter().flatten() {
                    contest.chosen.push((*one, 1.0));
                    contest.among.push((self.place(vec![*one, *beaten]), 1.0));
                }
            }
        }
        contest
    }

    fn choices(&mut self, groups: &[Vec<usize>]) -> Contest {
        let mut contest = Contest::default();
        for (place, group) in groups.iter().enumerate() {
            let below: Vec<usize> = groups[place + 1..].iter().flatten().copied().collect();
            contest.chosen.extend(group.iter().map(|one| (*one, 1.0)));
            let sizes: Vec<f64> = (0..=group.len())
                .map(|size| sets_of(group.len(), size))
                .collect();
            // Of every size one set is left of the group, and each as likely as another.
            for left in 1u32..1 << group.len() {
                let members = group.iter().enumerate();
                let members = members.filter(|(seat, _)| left >> seat & 1 == 1);
                let members = members.map(|(_, player)| *player);
                let set = members.chain(below.iter().copied()).collect();
                let share = 1.0 / sizes[left.count_ones() as usize];
                contest.among.push((self.place(set), share));
            }
        }
        contest
    }

    /// The strengths under which what was seen is most likely, sessions counted so often as `weights`
    /// say; `None` where they are not found.
    pub fn strengths(&self, weights: &[f64]) -> Option<Vec<f64>> {
        let mut chosen = vec![0.0; self.players];
        let mut among = vec![0.0; self.sets.len()];
        for (contest, weight) in self.sessions.iter().zip(weights) {
            for (player, often) in &contest.chosen {
                chosen[*player] += weight * often;
            }
            for (set, often) in &contest.among {
                among[*set] += weight * often;
            }
        }
        let mut strengths = vec![0.0; self.players];
        for _ in 0..MOST_STEPS {
            let mut slope: Vec<f64> = chosen.clone();
            let mut curve = vec![vec![0.0; self.players]; self.players];
            for (own, strength) in strengths.iter().enumerate() {
                slope[own] -= 2.0 * PENALTY * strength;
                curve[own][own] += 2.0 * PENALTY;
            }
            for (set, often) in self
                .sets
                .iter()
                .zip(&among)
                .filter(|(_, often)| **often > 0.0)
            {
                add_choice(set, *often, &strengths, &mut slope, &mut curve);
            }
            let step = solved(curve, slope)?;
            let longest = step
                .iter()
                .fold(0.0, |longest: f64, one| longest.max(one.abs()));
            let share = (1.0 / longest).min(1.0);
            for (strength, step) in strengths.iter_mut().zip(&step) {
                *strength += share * step;
            }
            if longest < CLOSE {
                return Some(strengths);
            }
        }
        None
    }
}

impl Contests {
    /// The players' strengths with their intervals; `None` of fewer than two sessions, and where no
    /// strengths are found.
    ///
    /// An interval is as wide as the larger of two errors says, with t of as many degrees of freedom as
    /// there are sessions but one: that of the model's curvature, which takes all that was seen for
    /// independent and the model for true, and that of sessions (sandwich; White 1982, "Maximum
    /// likelihood estimation of misspecified models"), which is too small where they are few. Sets
    /// drawn again covered less than either (`docs/statistics.md`).
    pub fn rated(&self) -> Option<Vec<Rated>> {
        let sessions = self.sessions() as f64;
        if sessions < 2.0 {
            return None;
        }
        let strengths = self.strengths(&vec![1.0; self.sessions()])?;
        let variances = self.variances(&strengths)?;
        let t = StudentsT::new(0.0, 1.0, (sessions - 1.0).min(1e6)).ok()?;
        let t = t.inverse_cdf(0.975);
        let error_between = |one: usize, other: usize| {
            let of = |matrix: &Matrix| {
                matrix[one][one] + matrix[other][other] - 2.0 * matrix[one][other]
            };
            variances.iter().map(of).fold(0.0, f64::max).sqrt()
        };
        let rated = strengths.iter().enumerate().map(|(own, strength)| {
            let half = t * variances
                .iter()
                .map(|matrix| matrix[own][own])
                .fold(0.0, f64::max)
                .sqrt();
            let others = || (0..self.players).filter(|other| *other != own);
            let is_apart = |other: &usize, lead: f64| lead > t * error_between(own, *other);
            let above = others().filter(|other| is_apart(other, strengths[*other] - strength));
            let below = others().filter(|other| is_apart(other, strength - strengths[*other]));
            Rated {
                strength: *strength,
                interval: Interval {
                    low: strength - half,
                    high: strength + half,
                },
                ranks: (above.count() + 1, self.players - below.count()),
            }
        });
        Some(rated.collect())
    }

    /// Variances of these strengths: by the curvature, and by sessions.
    fn variances(&self, strengths: &[f64]) -> Option<[Matrix; 2]> {
        let size = self.players;
        let mut curve = vec![vec![0.0; size]; size];
        let mut between = curve.clone();
        for (own, row) in curve.iter_mut().enumerate() {
            row[own] = 2.0 * PENALTY;
        }
        for contest in &self.sessions {
            let mut slope = vec![0.0; size];
            for (player, often) in &contest.chosen {
                slope[*player] += often;
            }
            for (set, often) in &contest.among {
                add_choice(&self.sets[*set], *often, strengths, &mut slope, &mut curve);
            }
            for (row, own) in between.iter_mut().zip(&slope) {
                for (cell, other) in row.iter_mut().zip(&slope) {
                    *cell += own * other;
                }
            }
        }
        let unit = |own: usize| {
            (0..size)
                .map(|one| f64::from(u8::from(one == own)))
                .collect()
        };
        let inverse = (0..size).map(|own| solved(curve.clone(), unit(own)));
        let mut inverse = inverse.collect::<Option<Matrix>>()?;
        let sessions = self.sessions() as f64;
        let sandwich = product(&product(&inverse, &between), &inverse);
        let correction = sessions / (sessions - 1.0);
        let sandwich = sandwich.into_iter();
        let sandwich = sandwich.map(|row| row.iter().map(|cell| cell * correction).collect());
        // That all strengths make 0 is no news.
        let common = 1.0 / (2.0 * PENALTY * size as f64);
        inverse
            .iter_mut()
            .flatten()
            .for_each(|cell| *cell -= common);
        Some([inverse, sandwich.collect()])
    }
}

/// What choices among a set add to the slope and, negated, to the curvature of the likelihood.
fn add_choice(set: &[usize], often: f64, strengths: &[f64], slope: &mut [f64], curve: &mut Matrix) {
    let odds: Vec<f64> = set.iter().map(|player| strengths[*player].exp()).collect();
    let all: f64 = odds.iter().sum();
    for (player, own) in set.iter().zip(&odds) {
        let share = own / all;
        slope[*player] -= often * share;
        curve[*player][*player] += often * share;
        for (other, others) in set.iter().zip(&odds) {
            curve[*player][*other] -= often * share * others / all;
        }
    }
}

fn product(left: &Matrix, right: &Matrix) -> Matrix {
    let cell = |row: &[f64], column: usize| -> f64 {
        row.iter()
            .zip(right)
            .map(|(own, row)| own * row[column])
            .sum()
    };
    let rows = left.iter();
    rows.map(|row| (0..right.len()).map(|column| cell(row, column)).collect())
        .collect()
}

/// How many sets of `size` there are of so many.
fn sets_of(all: usize, size: usize) -> f64 {
    let terms = (0..size).map(|place| (all - place) as f64 / (place + 1) as f64);
    terms.product()
}

/// Solves `matrix x = right` for a symmetric positive definite matrix (Cholesky); `None` of another.
fn solved(mut matrix: Vec<Vec<f64>>, mut right: Vec<f64>) -> Option<Vec<f64>> {
    let size = right.len();
    for row in 0..size {
        for column in 0..=row {
            let sum: f64 = (0..column)
                .map(|one| matrix[row][one] * matrix[column][one])
                .sum();
            let rest = matrix[row][column] - sum;
            matrix[row][column] = match row == column {
                true if rest > 0.0 => rest.sqrt(),
                true => return None,
                false => rest / matrix[column][column],
            };
        }
        let sum: f64 = (0..row).map(|one| matrix[row][one] * right[one]).sum();
        right[row] = (right[row] - sum) / matrix[row][row];
    }
    for row in (0..size).rev() {
        let sum: f64 = (row + 1..size)
            .map(|one| matrix[one][row] * right[one])
            .sum();
        right[row] = (right[row] - sum) / matrix[row][row];
    }
    Some(right)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fitted(model: Model, players: usize, sessions: &[&[(usize, f64)]]) -> Vec<f64> {
        let mut contests = Contests::new(model, players);
        for session in sessions {
            contests.add(session).unwrap();
        }
        let weights = vec![1.0; contests.sessions()];
        contests.strengths(&weights).unwrap()
    }

    #[test]
    fn in_sessions_of_two_both_models_say_the_same() {
        let sessions: [&[(usize, f64)]; 4] = [
            &[(0, 2.0), (1, 1.0)],
            &[(0, 2.0), (1, 1.0)],
            &[(1, 5.0), (2, 5.0)],
            &[(2, 0.0), (0, -1.0)],
        ];
        let pairs = fitted(Model::BradleyTerry, 3, &sessions);
        let orders = fitted(Model::PlackettLuce, 3, &sessions);
        for (one, other) in pairs.iter().zip(&orders) {
            assert!((one - other).abs() < 1e-9, "{pairs:?} {orders:?}");
        }
        assert!(pairs[0] > pairs[1] && pairs.iter().sum::<f64>().abs() < 1e-9);
    }

    #[test]
    fn level_players_are_every_order_at_once() {
        let mut orders = Contests::new(Model::PlackettLuce, 4);
        // 2 is first, then 0, 1 and 3 in each of six orders, a sixth of the weight each.
        for [a, b, c] in [
            [0, 1, 3],
            [0, 3, 1],
            [1, 0, 3],
            [1, 3, 0],
            [3, 0, 1],
            [3, 1, 0],
        ] {
            orders
                .add(&[(2, 9.0), (a, 3.0), (b, 2.0), (c, 1.0)])
                .unwrap();
        }
        orders.add(&[(1, 1.0), (0, 0.0)]).unwrap();
        let weights = [vec![1.0 / 6.0; 6], vec![1.0]].concat();
        let listed = orders.strengths(&weights).unwrap();
        let level: [&[(usize, f64)]; 2] = [
            &[(0, 1.0), (1, 1.0), (2, 7.0), (3, 1.0)],
            &[(1, 1.0), (0, 0.0)],
        ];
        let level = fitted(Model::PlackettLuce, 4, &level);
        for (one, other) in level.iter().zip(&listed) {
            assert!((one - other).abs() < 1e-9, "{level:?} {listed:?}");
        }
    }

    #[test]
    fn sessions_of_a_cluster_are_one() {
        let sessions: [&[(usize, f64)]; 4] = [
            &[(0, 2.0), (1, 1.0)],
            &[(1, 2.0), (0, 1.0)],
            &[(0, 2.0), (1, 1.0)],
            &[(0, 4.0), (1, 1.0)],
        ];
        let in_clusters = |clusters: [u64; 4]| {
            let mut contests = Contests::new(Model::PlackettLuce, 2);
            for (cluster, session) in clusters.into_iter().zip(sessions) {
                contests.add_to(cluster, session).unwrap();
            }
            (contests.sessions(), contests.rated().unwrap()[0])
        };
        let (alone, apart) = in_clusters([1, 2, 3, 4]);
        let (joined, together) = in_clusters([7, 8, 7, 8]);
        assert_eq!((alone, joined), (4, 2));
        assert!((apart.strength - together.strength).abs() < 1e-9);
        assert!(together.interval.high > apart.interval.high, "{together:?}");
    }

    #[test]
    fn who_always_wins_has_a_finite_strength() {
        let sessions = vec![&[(0, 1.0), (1, 0.0)][..]; 500];
        let strengths = fitted(Model::BradleyTerry, 2, &sessions);
        assert!(strengths[0] > 2.0 && strengths[0] < 20.0, "{strengths:?}");
    }

    #[test]
    fn ranks_are_as_exact_as_sessions_leave_them() {
        let mut contests = Contests::new(Model::PlackettLuce, 3);
        for session in 0..40 {
            // 2 always comes last; 0 and 1 take turns.
            let (first, second) = if session % 2 == 0 { (0, 1) } else { (1, 0) };
            contests
                .add(&[(first, 3.0), (second, 2.0), (2, 1.0)])
                .unwrap();
        }
        let rated = contests.rated().unwrap();
        let ranks: Vec<(usize, usize)> = rated.iter().map(|one| one.ranks).collect();
        assert_eq!(ranks, [(1, 2), (1, 2), (3, 3)]);
        for one in &rated {
            assert!(one.interval.low < one.strength && one.strength < one.interval.high);
        }
        assert_eq!(contests.rated().unwrap(), rated);
        assert_eq!(Contests::new(Model::BradleyTerry, 2).rated(), None);
    }

    #[test]
    fn what_says_nothing_of_strength_is_refused() {
        use StatisticsError::{NotFinite, OutOfRange};
        let mut contests = Contests::new(Model::PlackettLuce, 2);
        assert_eq!(contests.add(&[(0, f64::NAN)]), Err(NotFinite));
        assert_eq!(contests.add(&[(0, 1.0), (0, 2.0)]), Err(OutOfRange));
        assert_eq!(contests.add(&[(2, 1.0)]), Err(OutOfRange));
        assert_eq!(contests.sessions(), 0);
        assert_eq!(contests.strengths(&[]), Some(vec![0.0, 0.0]));
    }
}
