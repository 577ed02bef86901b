//! From a model's name to everything needed to call it: the resolved model,
//! its provider, the provider's keys and waiting line. Built at first use and
//! kept, so that a decision costs one look-up. Called by `deciding.rs`.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use agon_service_kit::tasks::with_causes;
use parking_lot::{Mutex, RwLock};

use crate::admission::line::Line;
use crate::complaint::Complaint;
use crate::config::{ConfigError, GatewayConfig, ProviderKind, ResolvedModel};
use crate::keys::KeyPool;
use crate::providers::{Provider, Providers};

/// All routes of a gateway.
pub struct Routes {
    config: GatewayConfig,
    providers: Providers,
    by_model: RwLock<HashMap<String, Arc<Route>>>,
    by_provider: Mutex<BTreeMap<String, Arc<Pool>>>,
}

/// How to call one model.
pub struct Route {
    /// The model.
    pub model: ResolvedModel,
    /// What it shares with the other models of its provider.
    pub pool: Arc<Pool>,
}

/// What all models of a provider share.
pub struct Pool {
    /// The keys and their state.
    pub keys: KeyPool,
    /// Who waits for them.
    pub line: Line,
    /// Who makes the calls.
    pub provider: Arc<dyn Provider>,
    complaint: Complaint,
}

impl Pool {
    /// Logs that the provider fails, but not a line for each of a thousand callers.
    pub fn complain(&self, reason: &str) {
        if let Some(failures) = self.complaint.note() {
            let provider = &self.keys.provider;
            tracing::warn!(
                provider,
                failures,
                reason,
                "provider calls fail and are tried again"
            );
        }
    }
}

/// Why there is no route.
#[derive(Debug, thiserror::Error)]
pub enum RouteError {
    /// The configuration has none, or a key is missing.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// Nobody here speaks the provider's protocol.
    #[error("this gateway has no provider of kind {kind:?}")]
    NoProvider {
        /// The protocol.
        kind: ProviderKind,
    },
}

impl Routes {
    /// Routes as configured. Those of configured models are made at once, so
    /// that what is missing is in the log before anybody asks.
    pub fn new(config: GatewayConfig, providers: Providers) -> Self {
        let routes = Self {
            config,
            providers,
            by_model: RwLock::default(),
            by_provider: Mutex::default(),
        };
        for model in routes.config.model_names() {
            if let Err(error) = routes.find(model) {
                tracing::warn!(model, error = %with_causes(&error), "model cannot be used");
            }
        }
        routes
    }

    /// The configuration behind the routes.
    pub fn config(&self) -> &GatewayConfig {
        &self.config
    }

    /// The route to a model.
    pub fn find(&self, model: &str) -> Result<Arc<Route>, RouteError> {
        if let Some(route) = self.by_model.read().get(model) {
            return Ok(Arc::clone(route));
        }
        let resolved = self.config.resolve_without_keys(model)?;
        let pool = self.pool_of(&resolved)?;
        let route = Arc::new(Route {
            model: resolved,
            pool,
        });
        Ok(Arc::clone(
            self.by_model
                .write()
                .entry(model.to_owned())
                .or_insert(route),
        ))
    }

    /// The pools opened so far, in order of provider.
    pub fn pools(&self) -> Vec<Arc<Pool>> {
        self.by_provider.lock().values().cloned().collect()
    }

    fn pool_of(&self, model: &ResolvedModel) -> Result<Arc<Pool>, RouteError> {
        let mut pools = self.by_provider.lock();
        if let Some(pool) = pools.get(&model.provider.name) {
            return Ok(Arc::clone(pool));
        }
        let kind = model.provider.kind;
        let provider = self
            .providers
            .get(kind)
            .ok_or(RouteError::NoProvider { kind })?;
        let (keys, errors) = model.read_keys()?;
        for error in errors {
            let provider = &model.provider.name;
            tracing::warn!(provider, error = %with_causes(&error), "key cannot be used");
        }
        let pool = Pool {
            keys,
            line: Line::default(),
            provider: Arc::clone(provider),
            complaint: Complaint::default(),
        };
        let pool = Arc::new(pool);
        pools.insert(model.provider.name.clone(), Arc::clone(&pool));
        Ok(pool)
    }
}
