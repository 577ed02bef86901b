//! TrueSkill of the players of a setting over its sessions, in the order in which the
//! sessions are given: that of the experiment, whoever finished first. Rated is what
//! a session paid each seat. Its uncertainty takes every session for independent of the
//! others, those of a series too.

use crate::session::Session;
use crate::statistics::StatisticsError;
use crate::statistics::trueskill::{Rating, rate};

/// Ratings so far, of players in the order in which they first played.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ratings {
    players: Vec<(String, Rating)>,
    sessions: u64,
}

impl Ratings {
    /// Ratings after these sessions; empty without any.
    ///
    /// # Errors
    /// Any of them cannot be rated, see [`Ratings::add`].
    pub fn of<'a>(
        sessions: impl IntoIterator<Item = &'a Session>,
    ) -> Result<Self, StatisticsError> {
        let mut ratings = Self::default();
        for session in sessions {
            ratings.add(session)?;
        }
        Ok(ratings)
    }

    /// Takes in a session: every seat against every other, by payoff, listed in seat
    /// order, without players that answered too little. A player is known by its name; where
    /// one sits in several seats, its further seats are rated as `name (2)`, `name (3)` and so
    /// on, because nobody can be compared with itself.
    ///
    /// # Errors
    /// It has fewer than two seats or unusable payoffs; the ratings stay as they were.
    pub fn add(&mut self, session: &Session) -> Result<(), StatisticsError> {
        let seats = &session.spec.seats;
        let paid = seats.iter().zip(&session.outcome.payoffs);
        let paid = paid.filter(|(player, _)| {
            let answers = session.answers().of_player(seats, &player.name);
            answers.suffice()
        });
        let (players, payoffs): (Vec<&str>, Vec<f64>) = paid
            .map(|(player, payoff)| (player.name.as_str(), *payoff))
            .unzip();
        self.rate(&players, &payoffs)
    }

    /// Takes in a session by what each of its players made of it, for tables that rate
    /// another figure than the payoff. Names that come again are told apart as in
    /// [`Ratings::add`].
    ///
    /// # Errors
    /// Fewer than two players; lengths differ; a profit is not finite. The ratings stay
    /// as they were.
    pub fn rate(&mut self, players: &[&str], profits: &[f64]) -> Result<(), StatisticsError> {
        let names = told_apart(players);
        let before: Vec<Rating> = names
            .iter()
            .map(|name| self.rating(name).unwrap_or_default())
            .collect();
        let after = rate(&before, profits)?;
        for (name, rating) in names.into_iter().zip(after) {
            match self.players.iter_mut().find(|(known, _)| *known == name) {
                Some((_, known)) => *known = rating,
                None => self.players.push((name, rating)),
            }
        }
        self.sessions += 1;
        Ok(())
    }

    /// The rating of a player; `None` of one who has not played.
    pub fn rating(&self, player: &str) -> Option<Rating> {
        let mut players = self.players.iter();
        players
            .find(|(name, _)| name == player)
            .map(|(_, rating)| *rating)
    }

    /// All players and their ratings, in the order in which they first played.
    pub fn players(&self) -> impl Iterator<Item = (&str, Rating)> {
        self.players
            .iter()
            .map(|(name, rating)| (name.as_str(), *rating))
    }

    /// How many sessions were rated.
    pub fn sessions(&self) -> u64 {
        self.sessions
    }
}

/// Names in which the second of a kind is `name (2)`.
fn told_apart(players: &[&str]) -> Vec<String> {
    let name = |(seat, player): (usize, &&str)| {
        let before = players[..seat].iter().filter(|name| *name == player);
        match before.count() {
            0 => (*player).to_owned(),
            earlier => format!("{player} ({})", earlier + 1),
        }
    };
    players.iter().enumerate().map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::trueskill::MU;

    #[test]
    fn every_session_starts_from_the_ratings_before_it() {
        let mut ratings = Ratings::default();
        ratings.rate(&["a", "b"], &[2.0, 1.0]).unwrap();
        let first = ratings.clone();
        ratings.rate(&["b", "c"], &[2.0, 1.0]).unwrap();
        assert_eq!(ratings.rating("a"), first.rating("a"));
        let before = [first.rating("b").unwrap(), Rating::default()];
        let after = rate(&before, &[2.0, 1.0]).unwrap();
        assert_eq!(ratings.rating("b"), Some(after[0]));
        assert_eq!(ratings.rating("c"), Some(after[1]));
        let names: Vec<&str> = ratings.players().map(|(name, _)| name).collect();
        assert_eq!(names, ["a", "b", "c"]);
        assert_eq!(ratings.sessions(), 2);
    }

    #[test]
    fn a_player_in_two_seats_is_rated_by_seat() {
        let mut ratings = Ratings::default();
        ratings.rate(&["a", "b", "a"], &[0.0, 1.0, 2.0]).unwrap();
        let first = ratings.rating("a").unwrap();
        let second = ratings.rating("a (2)").unwrap();
        assert!(first.mu < MU && second.mu > MU);
    }

    #[test]
    fn what_cannot_be_rated_leaves_the_ratings_as_they_were() {
        let mut ratings = Ratings::default();
        ratings.rate(&["a", "b"], &[2.0, 1.0]).unwrap();
        let before = ratings.clone();
        for (players, profits) in [
            (&["a"][..], &[1.0][..]),
            (&[], &[]),
            (&["a", "c"], &[1.0]),
            (&["a", "c"], &[1.0, f64::NAN]),
        ] {
            assert!(ratings.rate(players, profits).is_err(), "{players:?}");
            assert_eq!(ratings, before);
        }
    }

    #[test]
    fn no_session_has_no_ratings() {
        let ratings = Ratings::of([]).unwrap();
        assert_eq!((ratings.players().count(), ratings.sessions()), (0, 0));
        assert_eq!(ratings.rating("a"), None);
    }
}
