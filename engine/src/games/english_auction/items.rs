//! What is sold, and in which order. Data of single experiments does not belong
//! here: items come in as parameters; only the ten of the paper are the default.

use crate::games::prelude::*;

/// Something to sell.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Item {
    /// Name; different for each item of an auction.
    pub name: String,
    /// What the first bid must reach.
    pub starting_price: i64,
    /// What it can be sold on for; hidden until the hammer falls.
    pub true_value: i64,
    /// A sentence to bidders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Size as bidders read it ("120 square metres").
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<String>,
    /// Place as bidders read it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    /// Personas that it matches; bidders are not told.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suits: Vec<String>,
}

/// Order of sale.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// As the items are listed.
    AsListed,
    /// Drawn.
    Random,
    /// The lowest starting price first; equal ones as they are listed.
    Ascending,
    /// The highest starting price first; equal ones as they are listed.
    Descending,
}

impl Order {
    /// The items in order of sale.
    pub(super) fn arrange(self, items: &[Item], chance: &mut Chance) -> Vec<Item> {
        let mut arranged = items.to_vec();
        match self {
            Self::AsListed => {}
            Self::Random => {
                let order = chance.order(ORDERS, 0, items.len());
                arranged = order
                    .into_iter()
                    .map(|place| items[place].clone())
                    .collect();
            }
            Self::Ascending => arranged.sort_by_key(|item| item.starting_price),
            Self::Descending => {
                arranged.sort_by_key(|item| std::cmp::Reverse(item.starting_price));
            }
        }
        arranged
    }
}

/// Items of the paper's experiments with their starting prices (arXiv 2310.05746,
/// table 1); true values are twice as much (section 3.3). Descriptions are ours. The
/// world `artificial-items` holds the same as data.
const DEFAULT_ITEMS: [(&str, i64, &str); 10] = [
    ("Widget A", 1000, "a small widget for many uses"),
    ("Gadget B", 3000, "a gadget of the newest kind"),
    ("Thingamajig C", 4000, "a curious piece for collectors"),
    ("Doodad D", 2000, "a doodad that is built to last"),
    ("Equipment E", 5000, "equipment for heavy work"),
    ("Gizmo F", 3000, "a gizmo with a few surprises"),
    ("Implement G", 2000, "an implement for every day"),
    ("Apparatus H", 4000, "an apparatus for special tasks"),
    ("Contraption I", 1000, "a contraption for tinkerers"),
    (
        "Mechanism J",
        5000,
        "a mechanism that repeats without error",
    ),
];

/// The ten items of the paper.
pub(super) fn default_items() -> Vec<Item> {
    let of_one = |(name, starting_price, description): (&str, i64, &str)| Item {
        name: name.to_owned(),
        starting_price,
        true_value: 2 * starting_price,
        description: Some(description.to_owned()),
        ..Item::default()
    };
    DEFAULT_ITEMS.into_iter().map(of_one).collect()
}
