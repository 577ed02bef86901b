//! Puts a new configuration in the place of the one in use. Everything is read
//! and checked first; only then is anything exchanged, and nothing can fail from
//! there on. Refuses a configuration that would lose a key or a model that could
//! be used before. Called by `reload.rs`.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::changes;
use super::{Route, RouteError, Routes, Table, lane_name};
use crate::admission::line::lane::{Lane, LaneTerms};
use crate::catalogue::ProviderConfig;
use crate::config::{GatewayConfig, read_headers};
use crate::keys::{KeyError, KeyPool};
use crate::metrics::labels;

/// Why a configuration is not put to use.
#[derive(Debug, thiserror::Error)]
pub enum AdoptError {
    #[error("provider {provider}")]
    Key {
        provider: String,
        /// What is wrong with it.
        #[source]
        source: KeyError,
    },
    #[error("model {model} could not be used")]
    Model {
        model: String,
        /// Why.
        #[source]
        source: Box<RouteError>,
    },
}

impl Routes {
    /// Adopts a configuration and says what changed, or keeps the old one. Who
    /// waits is served under the new terms; who waits for a model that is gone,
    /// or whose provider moved, is sent to look again.
    ///
    /// # Errors
    /// A key cannot be read that could be before or is new, or a model cannot be
    /// used. What was wrong before the change does not hinder it.
    pub fn adopt(&self, config: GatewayConfig) -> Result<Vec<String>, AdoptError> {
        let before = self.table();
        let after = Table::new(config);
        let mut changed = changes::of_config(&before.config, &after.config);
        changed.extend(take_keys(&before, &after)?);
        changed.extend(changed_headers(&before, &after));
        self.check_models(&before, &after)?;
        let kept = self.keep_lanes(&before, &after);
        for model in after.config.model_names() {
            // Checked above; what was out of use before stays out of use.
            let _ = after.find(model, &self.means);
        }
        labels::know(after.config.team_names(), after.config.model_names());
        let lanes: Vec<_> = after.lanes.lock().values().cloned().collect();
        *self.table.write() = Arc::new(after);
        for (lane, terms) in kept {
            lane.set_terms(terms);
        }
        let left = before.lanes.lock();
        before.left.store(true, Ordering::Relaxed);
        for lane in left.values() {
            if !lanes.iter().any(|kept| Arc::ptr_eq(kept, lane)) {
                lane.line.close();
            }
        }
        Ok(changed)
    }

    /// Looks whether every configured model has a provider and a key.
    fn check_models(&self, before: &Table, after: &Table) -> Result<(), AdoptError> {
        for model in after.config.model_names() {
            let worked = before.by_model.read().contains_key(model);
            let known = before.config.model_names().any(|known| known == model);
            if let Ok(Some(_)) = after.door(model) {
                continue;
            }
            let resolved = after.config.resolve_without_keys(model);
            let terms = resolved.map_err(RouteError::from).and_then(|resolved| {
                read_headers(&resolved)?;
                after.terms_of(&resolved, &self.means)
            });
            if let Err(source) = terms
                && (worked || !known)
            {
                return Err(AdoptError::Model {
                    model: model.to_owned(),
                    source: Box::new(source),
                });
            }
        }
        Ok(())
    }

    /// Takes the lanes along that lead where they led, with their new terms.
    fn keep_lanes(&self, before: &Table, after: &Table) -> Vec<(Arc<Lane>, LaneTerms)> {
        let mut kept = Vec::new();
        for (name, old) in before.by_model.read().iter() {
            let Ok(model) = after.config.resolve_without_keys(name) else {
                continue;
            };
            let led_there = before.config.provider(&model.provider.name);
            if lane_name(&model) != lane_name(&old.model)
                || !led_there.is_some_and(|led_there| is_same_place(led_there, &model.provider))
            {
                continue;
            }
            // Checked above.
            let _ = read_headers(&model);
            let lane = &old.lane;
            let Ok(terms) = after.terms_of(&model, &self.means) else {
                continue;
            };
            let mut lanes = after.lanes.lock();
            if lanes.insert(lane_name(&model), Arc::clone(lane)).is_none() {
                kept.push((Arc::clone(lane), terms));
            }
            let lane = Arc::clone(lane);
            let route = Arc::new(Route { model, lane });
            after.by_model.write().insert(name.clone(), route);
        }
        kept
    }
}

/// Keys belong to an address: where a provider moves, nothing is taken along.
fn is_same_place(before: &ProviderConfig, after: &ProviderConfig) -> bool {
    (before.kind, &before.base_url) == (after.kind, &after.base_url)
}

/// Which models in use are called with other headers from now on, though the configuration says
/// the same of them.
fn changed_headers(before: &Table, after: &Table) -> Vec<String> {
    let mut changed = Vec::new();
    for (name, old) in before.by_model.read().iter() {
        let Ok(new) = after.config.resolve_without_keys(name) else {
            continue;
        };
        let (old, new) = (&old.model.additions, &new.additions);
        if old == new
            && let (Ok(sent), Ok(found)) = (old.headers(), new.headers())
            && sent != found
        {
            changed.push(format!("headers of {name}"));
        }
    }
    changed.sort();
    changed
}

/// Reads the keys of the providers in use, and says which came and left.
fn take_keys(before: &Table, after: &Table) -> Result<Vec<String>, AdoptError> {
    let mut changed = Vec::new();
    for (name, pool) in before.pools.lock().iter() {
        let Some(provider) = after.config.provider(name) else {
            continue;
        };
        let mut keys = read_keys(provider, before, pool)?;
        changed.extend(changes::of_keys(pool, &keys));
        let stays = before.config.provider(name);
        if stays.is_some_and(|stays| is_same_place(stays, provider)) {
            keys = keys.with_past_of(pool);
        }
        if !keys.keys().is_empty() {
            after.pools.lock().insert(name.clone(), Arc::new(keys));
        }
    }
    Ok(changed)
}

/// The keys as they are now. One that could not be read before either, and was
/// named then, hinders nothing.
fn read_keys(
    provider: &ProviderConfig,
    before: &Table,
    pool: &KeyPool,
) -> Result<KeyPool, AdoptError> {
    let named = before.config.provider(&provider.name);
    let (keys, _) = KeyPool::read(&provider.name, &provider.keys);
    for entry in &provider.keys {
        let shown = entry.source.to_string();
        let missing_before = named.is_some_and(|named| named.keys.contains(entry))
            && pool.keys().iter().all(|key| key.source != shown);
        if let Err(fault) = entry.read()
            && !missing_before
        {
            return Err(AdoptError::Key {
                provider: provider.name.clone(),
                source: fault,
            });
        }
    }
    Ok(keys)
}
