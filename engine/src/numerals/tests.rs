//! Numbers as people write them, and what is none. Tables of texts; what is said around a
//! number is the business of the readers of replies.

use super::*;

/// What a text comes to as a whole, if it is a number.
fn value(text: &str) -> Option<f64> {
    only(text).map(|numeral| numeral.value)
}

#[test]
fn digits_come_with_marks_currencies_and_multiples() {
    for (text, expected) in [
        ("1200", 1200.0),
        ("$1,200", 1200.0),
        ("$1,250", 1250.0),
        ("€ 1,200.00", 1200.0),
        ("1200 USD", 1200.0),
        ("USD 1200", 1200.0),
        ("1200usd", 1200.0),
        ("1200 US dollars", 1200.0),
        ("1200$", 1200.0),
        ("67.25", 67.25),
        ("$961.73", 961.73),
        (".5", 0.5),
        ("1,250.50", 1250.5),
        ("1'200", 1200.0),
        ("1_200_000", 1_200_000.0),
        ("1 200", 1200.0),
        ("$ 1 200", 1200.0),
        ("-1\u{202f}200", -1200.0),
        ("1 200 000", 1_200_000.0),
        ("1 200.50", 1200.5),
        ("2.5k", 2500.0),
        ("8.2k", 8200.0),
        ("3K", 3000.0),
        ("3 thousand", 3000.0),
        ("1.5 million", 1_500_000.0),
        ("-500", -500.0),
        ("\u{2212}500", -500.0),
        ("-$5", -5.0),
        ("$-5", -5.0),
        ("(500)", -500.0),
        ("+7", 7.0),
        ("0012", 12.0),
        ("１２００", 1200.0),
        ("1200.", 1200.0),
        ("12!", 12.0),
        ("60%", 60.0),
        ("60 percent", 60.0),
        ("1/2", 0.5),
        ("50 cents", 0.5),
        ("$55 and 73 cents", 55.73),
    ] {
        assert_eq!(value(text), Some(expected), "{text}");
    }
    assert_eq!(only("60%").map(|numeral| numeral.sort), Some(Sort::Percent));
    assert_eq!(only("1/2").map(|numeral| numeral.sort), Some(Sort::Ratio));
    assert_eq!(
        only("40 dollars").map(|numeral| numeral.sort),
        Some(Sort::Money)
    );
}

#[test]
fn words_are_numbers() {
    for (text, expected) in [
        ("zero", 0.0),
        ("one", 1.0),
        ("a hundred", 100.0),
        ("Forty-Two", 42.0),
        ("thirty three", 33.0),
        ("one hundred and five dollars", 105.0),
        ("twelve hundred and fifty dollars", 1250.0),
        ("twenty-five hundred", 2500.0),
        ("one thousand two hundred", 1200.0),
        ("two thousand, five hundred", 2500.0),
        ("two and a half thousand", 2500.0),
        ("three million four thousand", 3_004_000.0),
        ("two dozen", 24.0),
        ("sixty-seven point two five", 67.25),
        ("fifty-five dollars and fifty cents", 55.5),
        ("minus five hundred", -500.0),
        ("fifty percent", 50.0),
        ("two-thirds", 2.0 / 3.0),
        ("one half", 0.5),
    ] {
        assert_eq!(value(text), Some(expected), "{text}");
        assert!(
            only(text).is_some_and(|numeral| numeral.is_spelled || text.contains("and a half"))
        );
    }
}

#[test]
fn what_could_be_two_numbers_is_none() {
    for text in [
        "",
        "12,5",
        "1,2,3",
        "1,25",
        "1,0000",
        "0,250",
        "1,250,50",
        "1.250,50",
        "1.2.3",
        "1_2",
        "1'2",
        "1 20",
        "1 2000",
        "1200 300",
        "1,200 300",
        "1 200k0",
        "1200 or 1300",
        "2000 - 1100",
        "1200-1300",
        "five six",
        "twenty thirty",
        "fifty fifty",
        "a",
        "a lot",
        "1e3",
        "1e999",
        "inf",
        "NaN",
        "0x1f",
        "10^3",
        "2**3",
        "3*4",
        "12½",
        "√144",
        "3rd",
        "twenty-third",
        "50kg",
        "$",
        "-",
        "one two",
        "12:30",
    ] {
        assert_eq!(value(text), None, "{text}");
    }
    assert_eq!(value(&"9".repeat(1_000)), None, "no f64 is that large");
}

#[test]
fn whole_numbers_are_exact_or_none() {
    let whole = |text: &str| only(text).and_then(|numeral| numeral.whole());
    assert_eq!(whole("$1,250.00"), Some(1250));
    assert_eq!(whole("9007199254740992"), Some(9_007_199_254_740_992));
    assert_eq!(whole("99999999999999999999"), None);
    assert_eq!(whole("67.25"), None);
    assert_eq!(whole("50%"), None, "a share of something");
}

#[test]
fn blanks_inside_amounts_need_a_sign_that_there_is_an_amount() {
    // What stands at the place of the first digit or currency sign.
    let first = |text: &str| {
        let at = text.find(|letter: char| letter.is_ascii_digit() || letter == '$');
        let scanned = scan(text, at.unwrap(), Commas::Group)?;
        scanned.numeral.map(|numeral| numeral.value)
    };
    for (text, expected) in [
        ("i bid $1 200!", Some(1200.0)),
        ("i bid 1 200!", Some(1200.0)),
        ("i bid 12 345 678.", Some(12_345_678.0)),
        ("my bid is **1 200**", Some(1200.0)),
        ("1 200 eur it is", Some(1200.0)),
        ("i go for 1 200€", Some(1200.0)),
        ("i go for 1 200usd", Some(1200.0)),
        ("i go for 1\u{202f}200, no more", Some(1200.0)),
        ("i go for 1\u{a0}200", Some(1200.0)),
        ("i go for 1 200", Some(1.0)),
        ("i bid $1 20", Some(1.0)),
        ("i bid $1 2000", Some(1.0)),
        ("i bid $1200 300", Some(1200.0)),
        ("i bid $1\n200", Some(1.0)),
        ("i bid $1 200 30", Some(1.0)),
        ("i bid $1,200 300", Some(1200.0)),
        ("in round 1 200 was bid", Some(1.0)),
        ("player_1 200", None),
    ] {
        assert_eq!(first(text), expected, "{text}");
    }
}

#[test]
fn commas_of_a_list_stand_between_numbers() {
    let text = "0,100,0";
    let end = |start| scan(text, start, Commas::Separate).unwrap().end;
    assert_eq!((end(0), end(2), end(6)), (1, 5, 7));
}
