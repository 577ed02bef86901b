//! Dated price tables: the one that is compiled in, and a user's own file in the
//! same form. Refuses unknown keys, amounts that are none, and two prices for one
//! model from one day, with file and line. Called by the configuration.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use agon_outlets::InLine as _;
use agon_service_kit::config::{self as files, ConfigError};
use serde::Deserialize;
use toml::Spanned;

use super::price::Price;
use super::price_section::PriceSection;
use crate::money::Day;

/// Public list prices, as far as we looked them up.
const LISTED: &str = include_str!("../../prices.toml");

static LISTED_PRICES: LazyLock<PriceTable> = LazyLock::new(|| {
    // A test reads it; a table that cannot be read knows no prices.
    PriceTable::parse("prices.toml", LISTED).unwrap_or_default()
});

/// Prices by provider and by the provider's name for the model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PriceTable {
    by_model: BTreeMap<(String, String), Arc<[DatedPrice]>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct DatedPrice {
    from: Day,
    price: Price,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PriceDocument {
    #[serde(default)]
    prices: Vec<PriceRow>,
}

/// `[[prices]]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PriceRow {
    /// Name of the provider in the configuration.
    provider: String,
    /// The provider's names for the model.
    models: Spanned<Vec<String>>,
    /// In force from this day on (UTC), until a later row takes over.
    from: Spanned<Day>,
    /// Where the price is published.
    #[serde(rename = "source")]
    _source: Option<String>,
    price: PriceSection,
}

impl PriceTable {
    /// The table that is compiled in.
    pub fn listed() -> &'static Self {
        &LISTED_PRICES
    }

    /// Reads a user's own table.
    pub fn load(path: &Path) -> Result<Self, ConfigError> {
        let (text, document) = files::load_with_text(path)?;
        Self::from_document(&path.in_line().to_string(), &text, document)
    }

    /// Reads a text; `name` stands for the file in errors.
    pub fn parse(name: &str, text: &str) -> Result<Self, ConfigError> {
        Self::from_document(name, text, files::parse(name, text)?)
    }

    fn from_document(name: &str, text: &str, document: PriceDocument) -> Result<Self, ConfigError> {
        let mut by_model: BTreeMap<_, Vec<DatedPrice>> = BTreeMap::new();
        for (index, row) in document.prices.into_iter().enumerate() {
            let wrong = |span, field: &str, message: String| {
                ConfigError::new(
                    name,
                    text,
                    Some(span),
                    &format!("prices[{index}].{field}"),
                    message,
                )
            };
            if row.models.get_ref().is_empty() {
                let message = "names no model, write [\"name\"]".to_owned();
                return Err(wrong(row.models.span(), "models", message));
            }
            let dated = DatedPrice {
                from: *row.from.get_ref(),
                price: row.price.price(),
            };
            for model in row.models.get_ref() {
                let key = (row.provider.clone(), model.clone());
                let prices = by_model.entry(key).or_default();
                if prices.iter().any(|other| other.from == dated.from) {
                    let message =
                        format!("{model:?} has another price from {} on already", dated.from);
                    return Err(wrong(row.from.span(), "from", message));
                }
                prices.push(dated);
            }
        }
        let sorted = by_model.into_iter().map(|(key, mut prices)| {
            prices.sort_by_key(|dated| dated.from);
            (key, prices.into())
        });
        Ok(Self {
            by_model: sorted.collect(),
        })
    }

    fn find(&self, provider: &str, model: &str) -> Option<Arc<[DatedPrice]>> {
        let key = (provider.to_owned(), model.to_owned());
        self.by_model.get(&key).cloned()
    }
}

/// All that is known about the price of one model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelPrices {
    configured: Option<Price>,
    /// From the user's own table, then from the listed one; each in order of day.
    tables: [Option<Arc<[DatedPrice]>>; 2],
}

impl ModelPrices {
    /// One price, whatever the tables say and whatever day it is.
    pub fn always(price: Price) -> Self {
        Self {
            configured: Some(price),
            ..Self::default()
        }
    }

    /// What the tables say about a provider's model. `listed` is whether the
    /// provider is the one that the listed prices are of.
    pub fn look_up(own: &PriceTable, listed: bool, provider: &str, model: &str) -> Self {
        let listed = listed.then(|| PriceTable::listed().find(provider, model));
        Self {
            configured: None,
            tables: [own.find(provider, model), listed.flatten()],
        }
    }

    /// The price in force on a day; absent when nobody knows.
    pub fn on(&self, day: Day) -> Option<Price> {
        let in_tables = || {
            let in_force = |dated: &&DatedPrice| dated.from <= day;
            let mut tables = self.tables.iter().flatten();
            tables.find_map(|prices| prices.iter().rev().find(in_force))
        };
        self.configured.or_else(|| Some(in_tables()?.price))
    }
}

#[cfg(test)]
mod tests;
