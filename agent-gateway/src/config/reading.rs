//! Reads what the configuration only names: the keys of a model's provider and the headers that are
//! added to its requests. Called by `config.rs` and `routes.rs`.

use super::ConfigError;
use crate::catalogue::ResolvedModel;
use crate::keys::{KeyError, KeyPool};

/// The keys of a model's provider that can be read, and what is wrong with the
/// others; an error when none can.
pub(crate) fn read_keys(model: &ResolvedModel) -> Result<(KeyPool, Vec<KeyError>), ConfigError> {
    let provider = &model.provider;
    read_headers(model)?;
    let (pool, errors) = KeyPool::read(&provider.name, &provider.keys);
    if pool.keys().is_empty() {
        let reasons: Vec<String> = errors.iter().map(ToString::to_string).collect();
        return Err(ConfigError::MissingKey {
            model: model.name.clone(),
            provider: provider.name.clone(),
            reasons: reasons.join("; "),
        });
    }
    Ok((pool, errors))
}

/// Reads the headers that are added to a model's requests. Nothing reads them anew for this model.
pub(crate) fn read_headers(model: &ResolvedModel) -> Result<(), ConfigError> {
    let read = model.additions.headers();
    read.map(|_| ()).map_err(|error| ConfigError::Model {
        model: model.name.clone(),
        reason: format!("extra_headers: {error}"),
    })
}
