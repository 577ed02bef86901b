//! What price is in force when, whose word stands first, and how a table is
//! refused.

use super::*;
use crate::config::GatewayConfig;
use crate::money::NanoDollars;

fn day(text: &str) -> Day {
    text.parse().unwrap()
}

fn row(model: &str, from: &str, dollars: &str) -> String {
    format!(
        "[[prices]]\nprovider = 'openai'\nmodels = ['{model}']\nfrom = '{from}'\nprice = {{ \
         input_per_million_dollars = '{dollars}', output_per_million_dollars = '0' }}\n"
    )
}

fn input_price(prices: &ModelPrices, on: &str) -> Option<u64> {
    Some(prices.on(day(on))?.rates.input.0 / 1_000_000_000)
}

#[test]
fn price_in_force_is_the_latest_that_has_begun() {
    let text =
        row("m", "2026-03-01", "3") + &row("m", "2026-01-01", "1") + &row("m", "2026-02-01", "2");
    let table = PriceTable::parse("own.toml", &text).unwrap();
    let prices = ModelPrices::look_up(&table, true, "openai", "m");
    let cases = [
        ("2025-12-31", None),
        ("2026-01-01", Some(1)),
        ("2026-01-31", Some(1)),
        ("2026-02-01", Some(2)),
        ("2026-02-28", Some(2)),
        ("2026-03-01", Some(3)),
        ("2099-01-01", Some(3)),
    ];
    for (on, expected) in cases {
        assert_eq!(input_price(&prices, on), expected, "{on}");
    }
}

#[test]
fn own_table_stands_before_the_listed_one_once_its_price_has_begun() {
    let table = PriceTable::parse("own.toml", &row("gpt-4.1", "2026-06-01", "7")).unwrap();
    let prices = ModelPrices::look_up(&table, true, "openai", "gpt-4.1");
    assert_eq!(input_price(&prices, "2026-05-31"), Some(2));
    assert_eq!(input_price(&prices, "2026-06-01"), Some(7));
}

#[test]
fn listed_prices_are_those_of_the_address_we_know() {
    let own_server = "[providers.openai]\nbase_url = 'http://gpu-1/v1'\nkeys = [{ env = 'K' }]";
    let known = |text: &str, model: &str| {
        let config = GatewayConfig::parse("gateway.toml", text).unwrap();
        let model = config.resolve_without_keys(model).unwrap();
        model.prices.on(day("2026-11-21"))
    };
    assert!(known("", "openai/gpt-4.1").is_some());
    assert!(known("", "openai/gpt-unheard-of").is_none());
    assert!(known(own_server, "openai/gpt-4.1").is_none());
    assert!(known("", "openrouter/gpt-4.1").is_none());
    assert_eq!(known("", "ollama/qwen3:8b"), Some(Price::FREE));
    assert_eq!(known("", "human/alice"), Some(Price::FREE));
}

#[test]
fn listed_table_is_whole_and_says_where_every_price_is_published() {
    let document: PriceDocument = files::parse("prices.toml", LISTED).unwrap();
    for row in &document.prices {
        let source = row._source.as_deref().unwrap_or_default();
        assert!(source.starts_with("https://"), "{:?}", row.models.get_ref());
        let price = row.price.price();
        assert!(
            price.rates.input <= price.rates.output,
            "{:?}",
            row.models.get_ref()
        );
        assert!(price.rates.cached_input <= price.rates.input);
        assert!(price.rates.input > NanoDollars(0));
    }
    let table = PriceTable::parse("prices.toml", LISTED).unwrap();
    for provider in ["openai", "anthropic", "gemini", "deepinfra"] {
        let models = table.by_model.keys().filter(|(of, _)| of == provider);
        assert!(models.count() >= 7, "{provider}");
    }
    assert_eq!(PriceTable::listed().by_model.len(), table.by_model.len());
}

#[test]
fn faults_of_a_table_point_at_their_line() {
    let twice = row("m", "2026-01-01", "1") + &row("m", "2026-01-01", "2");
    let cases = [
        (
            row("m", "2026-02-30", "1"),
            "own.toml:4:8: prices[0].from: \"2026-02-30\" is not a day",
        ),
        (row("m", "2026-01-01", "free"), "own.toml:5:"),
        (
            row("m", "2026-01-01", "free"),
            "\"free\" is not an amount in dollars",
        ),
        (
            twice,
            "own.toml:9:8: prices[1].from: \"m\" has another price from 2026-01-01 on",
        ),
        (
            row("m", "2026-01-01", "1").replace("'m'", ""),
            "own.toml:3:10: prices[0].models: names no",
        ),
        ("[[price]]".to_owned(), "unknown field `price`"),
    ];
    for (text, expected) in cases {
        let fault = PriceTable::parse("own.toml", &text)
            .unwrap_err()
            .to_string();
        assert!(fault.contains(expected), "{text} gave: {fault}");
    }
}

#[test]
fn table_of_a_configuration_lies_beside_it_and_is_checked_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("agon.toml");
    let own = folder.path().join("own.toml");
    std::fs::write(&config, "[gateway]\nprices = 'own.toml'\n").unwrap();

    let missing = GatewayConfig::load(&config).unwrap_err().to_string();
    assert!(missing.contains("own.toml: cannot be read"), "{missing}");

    std::fs::write(&own, row("gpt-4.1", "2026-01-01", "x")).unwrap();
    let fault = GatewayConfig::load(&config).unwrap_err().to_string();
    assert!(fault.contains("own.toml:5:"), "{fault}");

    std::fs::write(&own, row("gpt-4.1", "2026-01-01", "9")).unwrap();
    let read = GatewayConfig::load(&config).unwrap();
    let model = read.resolve_without_keys("openai/gpt-4.1").unwrap();
    assert_eq!(input_price(&model.prices, "2026-11-21"), Some(9));
    assert_eq!(read.prices(), Some(&*own));
}
