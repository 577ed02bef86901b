//! From a model's name to everything needed to call it: the resolved model and
//! its lane with keys and waiting line. Built at first use and kept, so that a
//! decision costs one look-up; each lane's asker is started here. Called by
//! `deciding.rs`.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use agon_service_kit::tasks::{OnFailure, OnShutdown, TaskKind, Tasks, with_causes};
use parking_lot::{Mutex, RwLock};

use crate::admission::Limiter;
use crate::config::{ConfigError, GatewayConfig, ProviderKind, ResolvedModel};
use crate::health::KeyHealth;
use crate::health::breaker::BreakerSettings;
use crate::keys::KeyPool;
use crate::lanes::{Lane, LaneKey, LaneTerms};
use crate::providers::Providers;

/// Without its asker a lane serves nobody; when it stops there is nothing to
/// save, because who waits has not been paid for.
const ASKER: TaskKind = TaskKind {
    on_failure: OnFailure::StopProcess,
    on_shutdown: OnShutdown::Abort,
};

/// All routes of a gateway.
pub struct Routes {
    config: GatewayConfig,
    providers: Providers,
    limiter: Arc<dyn Limiter>,
    owner: String,
    tasks: Tasks,
    by_model: RwLock<HashMap<String, Arc<Route>>>,
    pools: Mutex<BTreeMap<String, Arc<KeyPool>>>,
    lanes: Mutex<BTreeMap<(String, String), Arc<Lane>>>,
}

/// How to call one model.
pub struct Route {
    /// The model.
    pub model: ResolvedModel,
    /// What its calls share.
    pub lane: Arc<Lane>,
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
    /// Routes as configured; `owner` names this replica among all. Those of
    /// configured models are made at once, so that what is missing is in the log
    /// before anybody asks.
    pub fn new(
        config: GatewayConfig,
        providers: Providers,
        limiter: Arc<dyn Limiter>,
        owner: &str,
        tasks: Tasks,
    ) -> Self {
        let routes = Self {
            config,
            providers,
            limiter,
            owner: owner.to_owned(),
            tasks,
            by_model: RwLock::default(),
            pools: Mutex::default(),
            lanes: Mutex::default(),
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
        let lane = self.lane_of(&resolved)?;
        let route = Arc::new(Route {
            model: resolved,
            lane,
        });
        Ok(Arc::clone(
            self.by_model
                .write()
                .entry(model.to_owned())
                .or_insert(route),
        ))
    }

    /// The lanes opened so far, in order of provider and model.
    pub fn lanes(&self) -> Vec<Arc<Lane>> {
        self.lanes.lock().values().cloned().collect()
    }

    fn lane_of(&self, model: &ResolvedModel) -> Result<Arc<Lane>, RouteError> {
        let name = (model.provider.name.clone(), model.model.clone());
        let mut lanes = self.lanes.lock();
        if let Some(lane) = lanes.get(&name) {
            return Ok(Arc::clone(lane));
        }
        let terms = self.terms_of(model)?;
        let lane = Arc::new(Lane::new(&name.0, &name.1, terms));
        lanes.insert(name, Arc::clone(&lane));
        let (served, limiter) = (Arc::clone(&lane), Arc::clone(&self.limiter));
        let asker = format!("{}:{}", self.owner, lane.name);
        self.tasks.spawn(ASKER, "asker of a lane", async move {
            served.line.serve(&served, limiter.as_ref(), &asker).await;
        });
        Ok(lane)
    }

    fn terms_of(&self, model: &ResolvedModel) -> Result<LaneTerms, RouteError> {
        let kind = model.provider.kind;
        let provider = self.providers.get(kind);
        let provider = provider.ok_or(RouteError::NoProvider { kind })?;
        let pool = self.pool_of(model)?;
        let keys = pool.keys().iter().map(|key| LaneKey {
            key: Arc::clone(key),
            limits: model.provider.limits,
            lane_limits: model.limits,
            health: Arc::new(KeyHealth::new(
                BreakerSettings::default(),
                model.limits.adaptive || model.provider.limits.adaptive,
            )),
        });
        Ok(LaneTerms {
            keys: keys.collect(),
            burst: model.provider.burst,
            charge: model.provider.charge,
            provider: Arc::clone(provider),
        })
    }

    /// The keys of the model's provider, read once.
    fn pool_of(&self, model: &ResolvedModel) -> Result<Arc<KeyPool>, RouteError> {
        let mut pools = self.pools.lock();
        if let Some(pool) = pools.get(&model.provider.name) {
            return Ok(Arc::clone(pool));
        }
        let (keys, errors) = model.read_keys()?;
        for error in errors {
            let provider = &model.provider.name;
            tracing::warn!(provider, error = %with_causes(&error), "key cannot be used");
        }
        let pool = Arc::new(keys);
        pools.insert(model.provider.name.clone(), Arc::clone(&pool));
        Ok(pool)
    }
}
