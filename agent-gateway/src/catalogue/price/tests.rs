//! Golden cases: use in, cost out, computed by hand. A million tokens at one dollar
//! are 10^9 nano-dollars, so a token at D dollars per million is D x 1000.

use super::*;
use crate::catalogue::{ModelPrices, PriceTable};
use crate::money::Day;

/// Input, of it cached, of it written to the cache, output, of it reasoning.
fn usage([input, cached, written, output, reasoning]: [u64; 5]) -> Usage {
    Usage {
        input_tokens: input,
        output_tokens: output,
        cached_input_tokens: cached,
        reasoning_tokens: reasoning,
        estimated: false,
        cache_write_input_tokens: written,
    }
}

fn listed(provider: &str, model: &str, on: &str) -> Price {
    let day: Day = on.parse().unwrap();
    let prices = ModelPrices::look_up(&PriceTable::default(), true, provider, model);
    prices.on(day).unwrap()
}

type Golden = (&'static str, &'static str, &'static str, [u64; 5], u64);

#[rustfmt::skip] // A table reads better in columns.
const GOLDEN: [Golden; 22] = [
    // 1000 x 2500 + 500 x 10000
    ("openai", "gpt-4o", "2025-06-01", [1_000, 0, 0, 500, 0], 7_500_000),
    // 200 x 2500 + 800 cached x 1250 + 100 x 10000
    ("openai", "gpt-4o-2024-08-06", "2025-06-01", [1_000, 800, 0, 100, 0], 2_500_000),
    // 1 x 150 + 1 x 600
    ("openai", "gpt-4o-mini", "2025-06-01", [1, 0, 0, 1, 0], 750),
    // 1024 cached x 75, the rest nothing
    ("openai", "gpt-4o-mini", "2025-06-01", [1_024, 1_024, 0, 0, 0], 76_800),
    // Before there was a cache, cached input would cost as input: 1024 x 150
    ("openai", "gpt-4o-mini", "2024-08-01", [1_024, 1_024, 0, 0, 0], 153_600),
    // 10 x 100 + 5 cached x 25 + 2 x 400
    ("openai", "gpt-4.1-nano", "2025-06-01", [15, 5, 0, 2, 0], 1_925),
    // Reasoning is part of output and costs as output: 2000 x 1100 + 9000 x 4400
    ("openai", "o4-mini", "2025-06-01", [2_000, 0, 0, 9_000, 8_500], 41_800_000),
    // The day before o3 became cheaper: 100 x 10000 + 100 x 40000
    ("openai", "o3", "2025-06-09", [100, 0, 0, 100, 90], 5_000_000),
    // The day it did: 100 x 2000 + 100 x 8000
    ("openai", "o3", "2025-06-10", [100, 0, 0, 100, 90], 1_000_000),
    // 500 x 1250 + 500 cached x 125 + 1000 x 10000
    ("openai", "gpt-5", "2025-12-01", [1_000, 500, 0, 1_000, 1_000], 10_687_500),
    // 3 x 50 + 7 cached x 5 + 11 x 400
    ("openai", "gpt-5-nano", "2025-12-01", [10, 7, 0, 11, 0], 4_585),
    // 100 x 3000 + 2000 cached x 300 + 400 written x 3750 + 50 x 15000
    ("anthropic", "claude-sonnet-4-5", "2025-12-01", [2_500, 2_000, 400, 50, 0], 3_150_000),
    // 1000 written x 1250 + 10 x 5000
    ("anthropic", "claude-haiku-4-5-20251001", "2025-12-01", [1_000, 0, 1_000, 10, 0], 1_300_000),
    // 10 x 5000 + 20 cached x 500 + 30 written x 6250 + 40 x 25000
    ("anthropic", "claude-opus-4-5", "2025-12-01", [60, 20, 30, 40, 0], 1_247_500),
    // 333 x 250 + 111 x 1250
    ("anthropic", "claude-3-haiku-20240307", "2025-01-01", [333, 0, 0, 111, 0], 222_000),
    // Exactly at the border a prompt is not long: 100000 x 100 + 1000 x 500
    ("anthropic", "claude-haiku-5-5", "2026-11-21", [100_000, 0, 0, 1_000, 0], 10_500_000),
    // One more and all of it is, cached input counts to the length:
    // 60000 cached x 50 + 40001 x 500 + 1000 x 2500
    ("anthropic", "claude-haiku-5-5", "2026-11-21", [100_001, 60_000, 0, 1_000, 0], 25_500_500),
    // Thoughts cost as output: 1000 x 300 + 5000 x 2500
    ("gemini", "gemini-2.5-flash", "2026-01-01", [1_000, 0, 0, 5_000, 4_000], 12_800_000),
    // 100000 x 1250 + 50000 x 10000
    ("gemini", "gemini-2.5-pro", "2026-01-01", [100_000, 0, 0, 50_000, 0], 625_000_000),
    // A long prompt: 200000 x 2500 + 100000 cached x 250 + 10 x 15000
    ("gemini", "gemini-2.5-pro", "2026-01-01", [300_000, 100_000, 0, 10, 0], 525_150_000),
    // 1000 x 230 + 200 x 400
    ("deepinfra", "meta-llama/Meta-Llama-3.1-70B-Instruct", "2026-01-01", [1_000, 0, 0, 200, 0], 310_000),
    // 7 x 480 + 9 x 480
    ("deepinfra", "microsoft/WizardLM-2-8x22B", "2026-01-01", [7, 0, 0, 9, 0], 7_680),
];

#[test]
fn every_golden_use_costs_what_the_price_list_says() {
    for (provider, model, on, used, expected) in GOLDEN {
        let cost = listed(provider, model, on).of(&usage(used));
        assert_eq!(cost, NanoDollars(expected), "{model} on {on} for {used:?}");
    }
}

fn price(input: u64, cached: u64, written: u64, output: u64, reasoning: u64) -> Price {
    Price {
        rates: Rates {
            input: NanoDollars(input),
            cached_input: NanoDollars(cached),
            cache_write: NanoDollars(written),
            output: NanoDollars(output),
            reasoning: NanoDollars(reasoning),
        },
        long_prompt: None,
    }
}

#[test]
fn cost_is_rounded_up_once_per_call() {
    // 1000 x 0.23 + 1 x 0.0375 dollars per million: 230000 + 37.5 nano-dollars.
    let uneven = price(230_000_000, 0, 0, 37_500_000, 37_500_000);
    assert_eq!(uneven.of(&usage([1_000, 0, 0, 1, 0])), NanoDollars(230_038));
    // Two halves in one call make a whole: 0.5 + 0.5, not 1 + 1.
    let halves = price(500_000, 0, 0, 500_000, 0);
    assert_eq!(halves.of(&usage([1, 0, 0, 1, 0])), NanoDollars(1));
    assert_eq!(halves.of(&usage([1, 0, 0, 0, 0])), NanoDollars(1));
    assert_eq!(halves.of(&usage([0, 0, 0, 0, 0])), NanoDollars(0));
}

#[test]
fn reasoning_may_be_priced_apart() {
    let price = price(0, 0, 0, 600_000_000, 3_500_000_000);
    // 1000 x 600 + 4000 x 3500
    assert_eq!(
        price.of(&usage([0, 0, 0, 5_000, 4_000])),
        NanoDollars(14_600_000)
    );
}

#[test]
fn parts_larger_than_their_whole_count_as_the_whole() {
    let price = price(1_000_000, 2_000_000, 4_000_000, 8_000_000, 16_000_000);
    assert_eq!(
        price.of(&usage([10, 99, 99, 5, 99])),
        NanoDollars(10 * 2 + 5 * 16)
    );
    assert_eq!(
        price.of(&usage([10, 4, 99, 0, 0])),
        NanoDollars(4 * 2 + 6 * 4)
    );
}

#[test]
fn absurd_numbers_saturate() {
    let dear = price(u64::MAX, u64::MAX, u64::MAX, u64::MAX, u64::MAX);
    let most = u64::MAX;
    assert_eq!(
        dear.of(&usage([most, 0, 0, most, 0])),
        NanoDollars(u64::MAX)
    );
    assert_eq!(dear.most(most, most), NanoDollars(u64::MAX));
}

#[test]
fn nothing_costs_more_than_the_most_it_may() {
    let prices = [
        price(3, 5, 7, 11, 13),
        price(13, 11, 7, 5, 3),
        listed("gemini", "gemini-2.5-pro", "2026-01-01"),
        listed("anthropic", "claude-haiku-5-5", "2026-11-21"),
    ];
    let inputs = [0, 1, 99_999, 100_000, 100_001, 200_000, 200_001, 1_000_000];
    for price in prices {
        for input in inputs {
            let most = price.most(input, 1_000);
            for (cached, written, reasoning) in [
                (0, 0, 0),
                (input, 0, 0),
                (0, input, 1_000),
                (input / 2, input / 3, 500),
            ] {
                let used = usage([input, cached, written, 1_000, reasoning]);
                assert!(price.of(&used) <= most, "{price:?} {used:?}");
            }
            assert!(price.most(input / 2, 999) <= most);
        }
    }
}
