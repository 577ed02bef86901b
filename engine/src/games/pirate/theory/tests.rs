//! Claims about backward induction, worked out by hand or known from the literature.
//! Games between players of it are in the tests of the game.

use super::*;

#[test]
fn theory_agrees_with_the_reference_while_the_gold_reaches() {
    // Two gold for every bought vote: up to 2 * gold + 2 pirates.
    for gold in [1, 4, 100] {
        let most = (2 * gold + 2) as usize;
        let theory = Theory::new(most, gold);
        for alive in 1..=most {
            assert_eq!(theory.plan(alive, gold), reference_plan(alive, gold));
        }
    }
}

#[test]
fn beyond_that_only_powers_of_two_more_survive() {
    // Stewart 1999: with g gold the proposer of 2g + 2^k pirates survives.
    let gold = 5;
    let theory = Theory::new(100, gold);
    let safe: Vec<usize> = (13..=100)
        .filter(|alive| theory.fates(*alive)[0].is_some())
        .collect();
    assert_eq!(safe, [14, 18, 26, 42, 74]);
}

#[test]
fn votes_weigh_what_comes_otherwise() {
    let theory = Theory::new(5, 100);
    // Otherwise the four left would get 99, 0, 1, 0.
    let accepts = |offset, share| theory.accepts(5, offset, share);
    assert!(!accepts(1, 99) && accepts(1, 100));
    assert!(!accepts(2, 0) && accepts(2, 1));
    assert!(!accepts(3, 1) && accepts(3, 2));
}

#[test]
fn who_would_go_overboard_accepts_anything() {
    // Three of 1 gold: 0, 0, 1. Five cannot be bought, so its proposer
    // supports a sixth that saves it.
    let theory = Theory::new(6, 1);
    assert_eq!(theory.fates(5)[0], None);
    assert!(theory.accepts(6, 1, 0));
}

#[test]
fn the_reference_goes_below_zero_where_the_code_of_the_source_does() {
    assert_eq!(reference_plan(10, 3), [-1, 0, 1, 0, 1, 0, 1, 0, 1, 0]);
    assert_eq!(reference_plan(2, 100), [100, 0]);
    assert_eq!(reference_plan(1, 100), [100]);
}
