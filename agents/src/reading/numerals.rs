//! English number words, one at a time: the ones and the tens. How words are put
//! together is the business of `reading/prose/mentions.rs` and `auction/amounts.rs`, which call this.

/// From zero to nineteen.
pub fn ones(word: &str) -> Option<u8> {
    place(ONES, word)
}

/// Twenty, thirty, up to ninety.
pub fn tens(word: &str) -> Option<u8> {
    place(TENS, word).map(|place| (place + 2) * 10)
}

fn place(words: &[&str], word: &str) -> Option<u8> {
    let place = words.iter().position(|known| *known == word)?;
    u8::try_from(place).ok()
}

const ONES: &[&str] = &[
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
];

const TENS: &[&str] = &[
    "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety",
];
