//! Measures of the games in which players can be eliminated: how long each lasted, and
//! how it adapted (arXiv 2402.01521, appendix C). What an action deviates from, each
//! game says. Used by the Water Allocation Challenge and by guessing to survive.

use crate::event::EventLog;
use crate::measures::{Measures, mean};

/// How far a seat's actions were off, each with its round, in order.
pub type Deviations = Vec<(u32, f64)>;

/// Series `survival_rounds`: per seat the last round in which it was alive when the
/// round began, so that it played (formula 10, before the mean over players); 0 for
/// none. Reads the `health` of every `round_result`, which has a number for exactly
/// those seats.
pub fn rounds_lasted(players: usize, log: &EventLog, into: &mut Measures) {
    let mut last = vec![0.0; players];
    for event in log.of_kind("round_result") {
        for (seat, last) in last.iter_mut().enumerate() {
            if event.number_at("health", seat).is_some() {
                *last = f64::from(event.round);
            }
        }
    }
    into.series("survival_rounds", last);
}

/// Series `adaptation` with `adaptation_seats`: the mean deviation of a seat in the
/// second half of the session's `rounds` over that in the first half. The middle round
/// of an odd number belongs to neither half. It is not defined for a seat without a
/// deviation in one of the halves, or with a mean of 0 in the first; such seats are not
/// in `adaptation_seats`, and have no entry. `deviations` has one list per seat.
pub fn adaptation(rounds: u32, deviations: &[Deviations], into: &mut Measures) {
    let half = rounds / 2;
    let mut indices = Vec::new();
    for (seat, all) in deviations.iter().enumerate() {
        let first = part(all, |round| round <= half);
        let second = part(all, |round| round > rounds - half);
        if let (Some(first), Some(second)) = (first, second)
            && first > 0.0
        {
            indices.push([seat as f64, second / first]);
        }
    }
    into.columns(["adaptation_seats", "adaptation"], &indices);
}

/// The mean over some rounds; `None` without any.
fn part(all: &Deviations, belongs: impl Fn(u32) -> bool) -> Option<f64> {
    let some = all.iter().filter(|(round, _)| belongs(*round));
    let some: Vec<f64> = some.map(|(_, deviation)| *deviation).collect();
    (!some.is_empty()).then(|| mean(some))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adaptation_is_the_second_half_over_the_first_where_both_are_known() {
        let steady = |off: [f64; 5]| (1..).zip(off).collect::<Deviations>();
        let seats = [
            // The middle round of five counts for neither half.
            steady([4.0, 2.0, 900.0, 1.0, 2.0]),
            steady([0.0, 0.0, 1.0, 1.0, 1.0]),
            vec![(1, 5.0), (2, 3.0)],
            vec![(4, 5.0)],
            vec![(2, 8.0), (5, 2.0)],
            Vec::new(),
        ];
        let mut measures = Measures::default();
        adaptation(5, &seats, &mut measures);
        assert_eq!(measures.series["adaptation_seats"], [0.0, 4.0]);
        assert_eq!(measures.series["adaptation"], [0.5, 0.25]);
    }

    #[test]
    fn one_round_has_no_halves() {
        let mut measures = Measures::default();
        adaptation(1, &[vec![(1, 5.0)]], &mut measures);
        assert!(measures.series["adaptation"].is_empty());
    }
}
