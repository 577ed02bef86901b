//! Which players are judged: as many with a persona as without, by lots that have nothing to do with
//! what they did. A pure function of the sessions' ids and of who sat there.

use agon_engine::{PlayerKind, Seat, SessionSpec};
use agon_report::story;

use crate::inviting;

/// A player of a session who may be judged.
pub struct Candidate {
    /// Sorts players in an order that has nothing to do with what they did.
    lot: String,
    /// The number of the session among those that were found.
    pub session: usize,
    /// Where it sat.
    pub seat: Seat,
    /// Whether it was told who it is.
    pub has_persona: bool,
    /// The name under which its person was invited, if it was one.
    pub person: Option<String>,
}

/// Every model player of a session; where none plays, every player.
pub fn candidates(session: usize, id: &str, spec: &SessionSpec) -> Vec<Candidate> {
    let seats = &spec.seats;
    let thinks = |seat: &Seat| seats[*seat].kind == PlayerKind::Model;
    let thinking: Vec<Seat> = (0..seats.len()).filter(thinks).collect();
    let all = if thinking.is_empty() {
        (0..seats.len()).collect()
    } else {
        thinking
    };
    let candidates = all.into_iter().map(|seat| {
        // An id is a hash; turned by the seat it is another one.
        let turn = (seat * 5 + 1) % id.len();
        Candidate {
            lot: format!("{}{}", &id[turn..], &id[..turn]),
            session,
            seat,
            has_persona: story::persona(spec, seat).is_some(),
            person: inviting::person_at(spec, seat).map(str::to_owned),
        }
    });
    candidates.collect()
}

/// At most `most` of the players, in the order of their sessions: half of them with a persona, as the
/// paper draws 15 and 15 (Mao et al., arXiv 2311.03220, section 7), as far as there are as many of
/// each kind.
pub fn drawn(mut candidates: Vec<Candidate>, most: usize) -> Vec<Candidate> {
    candidates.sort_by(|one, other| one.lot.cmp(&other.lot));
    let (mut with, mut without): (Vec<Candidate>, Vec<Candidate>) =
        candidates.into_iter().partition(|one| one.has_persona);
    let half = most / 2;
    let of_those_with = half.max(most.saturating_sub(without.len()));
    with.truncate(of_those_with);
    without.truncate(most - with.len());
    with.extend(without);
    with.sort_by_key(|one| (one.session, one.seat));
    with
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn candidates(with: usize, without: usize) -> Vec<Candidate> {
        let kinds = std::iter::repeat_n(true, with).chain(std::iter::repeat_n(false, without));
        let one = |(session, has_persona): (usize, bool)| Candidate {
            lot: format!("{:02}", session * 37 % 100),
            session,
            seat: 0,
            has_persona,
            person: None,
        };
        kinds.enumerate().map(one).collect()
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
            let drawn = drawn(candidates(with, without), most);
            let found = drawn.iter().filter(|one| one.has_persona).count();
            assert_eq!(
                (found, drawn.len() - found),
                expected,
                "{with} and {without}"
            );
            assert!(drawn.is_sorted_by_key(|one| one.session));
            // Of each kind those of the lowest lots.
            for kind in [true, false] {
                let taken: BTreeSet<&str> = lots(&drawn, kind);
                let all = candidates(with, without);
                let lowest: BTreeSet<&str> =
                    lots(&all, kind).into_iter().take(taken.len()).collect();
                assert_eq!(taken, lowest);
            }
        }
    }

    fn lots(all: &[Candidate], kind: bool) -> BTreeSet<&str> {
        let those = all.iter().filter(|one| one.has_persona == kind);
        those.map(|one| one.lot.as_str()).collect()
    }
}
