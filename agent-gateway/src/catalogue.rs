//! Models, providers and prices as plain types, and what is known of models by their names. Below
//! everything that calls models, limits them or charges for them; filled in by `config.rs`.

mod additions;
mod cloud;
mod known;
mod model;
mod model_name;
mod price;
mod price_section;
mod price_table;
mod provider;
mod settings;

pub use additions::{Additions, HeaderText};
pub use cloud::Cloud;
pub(crate) use cloud::GLOBAL;
pub use known::{Knobs, KnownModel, Thinking, Thinks, effort, find, is_off};
pub use model::{Origin, OutputLimit, ResolvedModel, Setting, Takes};
pub use model_name::ModelName;
pub use price::{LongPrompt, Price, Rates};
pub use price_section::{LongPromptSection, PriceSection};
pub use price_table::{ModelPrices, PriceTable};
pub use provider::ProviderConfig;
pub use settings::{
    ChargeRule, EffortField, OutputLimitField, ProviderKind, StructuredOutput, ThinkingForm,
};
