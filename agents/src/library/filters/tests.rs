//! Numbers, players and lists as templates show them.
//! Renders one expression at a time; no game is needed.

use super::*;

fn render(template: &str, value: impl Into<Value>) -> String {
    let mut environment = Environment::new();
    add_to(&mut environment);
    let values = minijinja::context! { x => value.into() };
    environment.render_str(template, values).unwrap()
}

#[test]
fn numbers_read_as_people_write_them() {
    assert_eq!(render("{{ x }}", 20.0), "20");
    assert_eq!(render("{{ x }}", 0.1 + 0.2), "0.3");
    assert_eq!(render("{{ x }}", -0.0), "0");
    assert_eq!(render("{{ x }}", 7), "7");
    assert_eq!(render("{{ x|two }}", 43.1), "43.10");
    assert_eq!(render("{{ x|two }}", -0.001), "0.00");
    assert_eq!(render("{{ x|fraction }}", 2.0 / 3.0), "2/3");
    assert_eq!(render("{{ x|fraction }}", 11.0 / 6.0), "11/6");
    assert_eq!(render("{{ x|fraction }}", 1.0), "1");
    assert_eq!(render("{{ x|fraction }}", 0.0), "0");
    assert_eq!(render("{{ x|fraction }}", 0.707), "0.707");
    assert_eq!(render("{{ x|percent }}", 0.6), "60%");
    assert_eq!(render("{{ x|percent }}", 2.0 / 3.0), "66.67%");
}

#[test]
fn a_factor_is_a_fraction_only_where_its_decimals_are_long() {
    for (number, expected) in [(0.8, "0.8"), (2.0, "2"), (0.125, "0.125")] {
        assert_eq!(render("{{ x|factor }}", number), expected);
    }
    assert_eq!(render("{{ x|factor }}", 2.0 / 3.0), "2/3");
    assert_eq!(render("{{ x|factor }}", 0.123_456), "0.123456");
}

#[test]
fn a_share_is_never_rounded_to_another() {
    for (number, expected) in [
        (0.6, "60%"),
        (0.29, "29%"),
        (0.3333, "33.33%"),
        (1.0 / 3.0, "1/3"),
        (5.0 / 14.0, "5/14"),
        (0.333_333, "33.3333%"),
        (0.333_333_333_3, "33.333333%"),
    ] {
        assert_eq!(render("{{ x|share }}", number), expected);
    }
}

#[test]
fn one_of_anything_is_singular() {
    assert_eq!(render("{{ x|counted('round') }}", 1), "1 round");
    assert_eq!(render("{{ x|counted('round') }}", 0), "0 rounds");
    assert_eq!(render("{{ x|counted('gold coin') }}", 12), "12 gold coins");
    assert_eq!(render("{{ x|counted('unit') }}", 1.0), "1 unit");
    assert_eq!(render("{{ x|counted('unit') }}", 7.5), "7.5 units");
    let people = "{{ x|counted('person', 'people') }}";
    assert_eq!(render(people, 1), "1 person");
    assert_eq!(render(people, 2), "2 people");
}

#[test]
fn lists_read_as_people_write_them() {
    assert_eq!(
        render("{{ x|players|and_list }}", vec![0, 2, 5]),
        "player_0, player_2 and player_5"
    );
    assert_eq!(
        render("{{ [2, 0]|named(x)|and_list }}", vec!["Alex", "Bob", "Eve"]),
        "Eve and Alex"
    );
    assert_eq!(
        render("{{ x|quoted|or_list }}", vec!["go", "stay"]),
        "\"go\" or \"stay\""
    );
    assert_eq!(render("{{ x|and_list }}", vec![1.5]), "1.5");
    assert_eq!(render("{{ x|and_list }}", Vec::<i64>::new()), "");
}

#[test]
fn a_quotation_has_a_mark_before_every_line() {
    let text = "one\n\n| two\nEND OF RECORD";
    assert_eq!(
        render("{{ x|fenced }}", text),
        "| one\n| \n| | two\n| END OF RECORD"
    );
}

#[test]
fn a_word_is_not_a_number() {
    let mut environment = Environment::new();
    add_to(&mut environment);
    let failed = environment.render_str("{{ 'x'|two }}", ()).unwrap_err();
    assert!(failed.to_string().contains("x is not a number"), "{failed}");
    let failed = environment
        .render_str("{{ [1]|named(['Alex']) }}", ())
        .unwrap_err();
    assert!(
        failed.to_string().contains("1 is not a seat with a name"),
        "{failed}"
    );
}
