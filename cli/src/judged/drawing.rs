//! Which players are judged: as many with a persona as without, by draw keys that have nothing to do
//! with what they did. A pure function of the sessions' ids and of who sat there.

use agon_engine::{PlayerKind, PlayerSpec, Seat};
use agon_report::story;

use crate::inviting;

/// A player of a session who may be judged.
pub struct Candidate {
    /// The lowest are drawn, and judges take turns in this order.
    key: String,
    /// The number of the session among those that were found.
    pub session: usize,
    /// Where it sat.
    pub seat: Seat,
    has_persona: bool,
    /// Whether a person sat there.
    is_person: bool,
}

/// Every player of a session that was a model or a person; where all followed rules, every player.
pub fn candidates(session: usize, id: &str, seats: &[PlayerSpec]) -> Vec<Candidate> {
    let is_model = |seat: &Seat| seats[*seat].kind == PlayerKind::Model;
    let models: Vec<Seat> = (0..seats.len()).filter(is_model).collect();
    let all = if models.is_empty() {
        (0..seats.len()).collect()
    } else {
        models
    };
    let candidates = all.into_iter().map(|seat| {
        // An id is a hash; turned by the seat it is another one.
        let turn = (seat * 5 + 1) % id.len();
        Candidate {
            key: format!("{}{}", &id[turn..], &id[..turn]),
            session,
            seat,
            has_persona: story::persona(&seats[seat]).is_some(),
            is_person: inviting::person(&seats[seat]).is_some(),
        }
    });
    candidates.collect()
}

/// Whom to draw.
#[derive(Debug, Clone, Copy)]
pub struct Draw {
    /// How many, at most.
    pub most: usize,
    /// People alone, who judge themselves.
    pub own: bool,
    /// Players with a persona alone, since nothing else is rated.
    pub personas: bool,
}

impl Draw {
    /// The players that are drawn, in the order of their keys: half of them with a persona, as the paper
    /// draws 15 and 15 (Mao et al., arXiv 2311.03220, section 7), as far as there are as many of each
    /// kind.
    ///
    /// # Errors
    /// There is nobody to draw; says why.
    pub fn from(self, mut candidates: Vec<Candidate>) -> Result<Vec<Candidate>, String> {
        if self.own {
            candidates.retain(|one| one.is_person);
            if candidates.is_empty() {
                return Err(
                    "no person played in these sessions, so nobody can judge their own".to_owned(),
                );
            }
        }
        if self.personas {
            candidates.retain(|one| one.has_persona);
            if candidates.is_empty() {
                let text = "all criteria are about players with a persona, and nobody has one";
                return Err(text.to_owned());
            }
        }
        candidates.sort_by(|one, other| one.key.cmp(&other.key));
        let (mut with, mut without): (Vec<Candidate>, Vec<Candidate>) =
            candidates.into_iter().partition(|one| one.has_persona);
        let of_those_with = (self.most / 2).max(self.most.saturating_sub(without.len()));
        with.truncate(of_those_with);
        without.truncate(self.most - with.len());
        with.extend(without);
        with.sort_by(|one, other| one.key.cmp(&other.key));
        Ok(with)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn candidates(with: usize, without: usize) -> Vec<Candidate> {
        let kinds = std::iter::repeat_n(true, with).chain(std::iter::repeat_n(false, without));
        let one = |(session, has_persona): (usize, bool)| Candidate {
            key: format!("{:02}", session * 37 % 100),
            session,
            seat: 0,
            has_persona,
            is_person: false,
        };
        kinds.enumerate().map(one).collect()
    }

    fn draw(most: usize) -> Draw {
        Draw {
            most,
            own: false,
            personas: false,
        }
    }

    #[test]
    fn half_of_those_who_are_judged_have_a_persona() {
        let cases = [
            ((40, 40), 30, (15, 15)),
            ((4, 40), 30, (4, 26)),
            ((40, 4), 30, (26, 4)),
            ((5, 5), 30, (5, 5)),
            ((40, 40), 1, (0, 1)),
            ((40, 0), 1, (1, 0)),
        ];
        for ((with, without), most, expected) in cases {
            let drawn = draw(most).from(candidates(with, without)).unwrap();
            let found = drawn.iter().filter(|one| one.has_persona).count();
            assert_eq!(
                (found, drawn.len() - found),
                expected,
                "{with} and {without}"
            );
            assert!(drawn.is_sorted_by_key(|one| &one.key));
            // Of each kind those of the lowest keys.
            for kind in [true, false] {
                let all = candidates(with, without);
                let taken = keys(&drawn, kind);
                let lowest: BTreeSet<&str> =
                    keys(&all, kind).into_iter().take(taken.len()).collect();
                assert_eq!(taken, lowest);
            }
        }
    }

    fn keys(all: &[Candidate], kind: bool) -> BTreeSet<&str> {
        let those = all.iter().filter(|one| one.has_persona == kind);
        those.map(|one| one.key.as_str()).collect()
    }

    #[test]
    fn nobody_is_drawn_of_whom_nothing_is_rated() {
        let personas = Draw {
            personas: true,
            ..draw(30)
        };
        let drawn = personas.from(candidates(3, 40)).unwrap();
        assert_eq!(drawn.len(), 3);
        assert!(personas.from(candidates(0, 4)).is_err());
    }
}
