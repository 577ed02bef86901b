//! Claims about the lists of answers: what stands in them, and which are too long to be
//! made.

use super::*;

#[test]
fn all_divisions_are_listed_and_too_many_are_not() {
    let form = |parts, total| Form::Division { parts, total };
    let all = form(3, 2).answers(6).unwrap();
    assert_eq!(all.len(), 6);
    assert!(all.iter().all(|answer| form(3, 2).check(answer).is_ok()));
    assert_eq!(form(3, 2).answers(5), None);
    assert_eq!(form(10, 100).answers(1000), None);
}

#[test]
fn numbers_and_amounts_are_listed_with_the_word_for_passing() {
    let bid = |min, max| Form::Integer {
        min: Some(min),
        max: Some(max),
        pass: Some("withdraw".into()),
    };
    let one_or_none = [Action::Integer(7), Action::Pass];
    assert_eq!(bid(7, 7).answers(2).as_deref(), Some(&one_or_none[..]));
    assert_eq!(bid(8, 7).answers(2), Some(vec![Action::Pass]));
    assert_eq!(Form::any_integer().answers(1000), None);
    let amount = Form::Amount {
        min: 1,
        max: Some(2),
    };
    let amounts = amount.answers(101).unwrap();
    assert_eq!(amounts.len(), 101);
    assert_eq!(amounts[1], Action::Number(1.01));
}
