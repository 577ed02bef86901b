//! From a model's name to everything needed to call it: the resolved model and
//! its lane with keys and waiting line. Built at first use and kept, so that a
//! decision costs one look-up; each lane's asker is started here. A new
//! configuration takes the place of the old one in one step, and lanes that lead
//! to the same place stay. Called by `deciding.rs` and `reload.rs`.

mod adopting;
mod changes;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use agon_service_kit::tasks::{TaskKind, Tasks, with_causes};
use parking_lot::{Mutex, RwLock};

use crate::admission::Limiter;
use crate::admission::line::lane::{Lane, LaneKey, LaneTerms};
use crate::catalogue::{Origin, ProviderKind, ResolvedModel};
use crate::config::{ConfigError, GatewayConfig, read_headers, read_keys};
use crate::health::KeyHealth;
use crate::keys::KeyPool;
use crate::metrics::labels;
use crate::outbox::Outbox;
use crate::providers::{LearntRefusal, Providers};

pub use adopting::AdoptError;

/// Without its asker a lane serves nobody; when the gateway stops it gives back
/// what was granted to those who are sent away.
const ASKER: TaskKind = TaskKind::SERVICE;

/// Lanes of models that no section names (`provider/model`): more than anybody
/// compares at once, and few enough that names made up by callers fill nothing.
const MOST_UNNAMED: usize = 256;

pub struct Routes {
    means: Means,
    table: RwLock<Arc<Table>>,
}

/// What routes are made with.
struct Means {
    providers: Providers,
    limiter: Arc<Limiter>,
    outbox: Outbox,
    owner: String,
    tasks: Tasks,
}

/// The routes under one configuration.
struct Table {
    config: Arc<GatewayConfig>,
    by_model: RwLock<HashMap<String, Arc<Route>>>,
    pools: Mutex<BTreeMap<String, Arc<KeyPool>>>,
    lanes: Mutex<Lanes>,
    /// The lanes of configured models, which are never closed to make room.
    named: HashSet<LaneName>,
    /// Another table is in its place: no lane is opened here. Set and read under
    /// the lock of `lanes`.
    left: AtomicBool,
}

type Lanes = BTreeMap<LaneName, Arc<Lane>>;

/// The provider's name in the configuration, and its own name for the model.
type LaneName = (String, String);

/// How to call one model.
#[derive(Clone)]
pub struct Route {
    pub model: ResolvedModel,
    pub lane: Arc<Lane>,
}

/// Why there is no route.
#[derive(Debug, thiserror::Error)]
pub enum RouteError {
    /// The configuration has none, or a key is missing.
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error("this gateway has no provider of kind {kind:?}")]
    NoProvider { kind: ProviderKind },
    #[error(
        "model {model}: calls wait for {MOST_UNNAMED} models without a section of their own \
         already; come again later, or name the model under [models]"
    )]
    TooMany { model: String },
}

impl Routes {
    /// Routes as configured; `owner` names this replica among all. Those of
    /// configured models are made at once, so that what is missing is in the log
    /// before anybody asks.
    pub fn new(
        config: GatewayConfig,
        providers: Providers,
        limiter: Arc<Limiter>,
        owner: &str,
        tasks: Tasks,
        outbox: Outbox,
    ) -> Self {
        let means = Means {
            providers,
            limiter,
            outbox,
            owner: owner.to_owned(),
            tasks,
        };
        let table = Table::new(config);
        labels::know(table.config.team_names(), table.config.model_names());
        for model in table.config.model_names() {
            if let Ok(Some(_)) = table.door(model) {
                continue;
            }
            if let Err(error) = table.find(model, &means) {
                tracing::warn!(model, error = %with_causes(&error), "model cannot be used");
            }
        }
        Self {
            means,
            table: RwLock::new(Arc::new(table)),
        }
    }

    /// The configuration behind the routes now.
    pub fn config(&self) -> Arc<GatewayConfig> {
        Arc::clone(&self.table().config)
    }

    pub fn find(&self, model: &str) -> Result<Arc<Route>, RouteError> {
        loop {
            // One that has been left sends us to its successor.
            if let Some(route) = self.table().find(model, &self.means)? {
                return Ok(route);
            }
        }
    }

    /// The door behind which this model sits, if it is no provider's.
    pub fn door(&self, model: &str) -> Result<Option<String>, RouteError> {
        self.table().door(model)
    }

    /// Where a model's answers come from; asks nobody.
    pub fn origin(&self, model: &str) -> Result<Origin, RouteError> {
        let table = self.table();
        if let Some(route) = table.by_model.read().get(model) {
            return Ok(route.model.origin());
        }
        Ok(table.config.resolve_without_keys(model)?.origin())
    }

    /// What servers turned out not to take.
    pub fn learnt(&self) -> Vec<LearntRefusal> {
        self.means.providers.learnt()
    }

    /// Asks with everything again that was left out of a model's calls, or of all models' where
    /// the name is empty; what was left out.
    pub fn forget_learnt(&self, model: &str) -> Vec<LearntRefusal> {
        self.means.providers.forget(model)
    }

    /// Puts keys to use again that were taken out of use: those of a provider and from a source,
    /// or all where one is empty. Says which these were.
    pub fn revive_keys(&self, provider: &str, source: &str) -> Vec<(String, String)> {
        let is_meant = |meant: &str, name: &str| meant.is_empty() || meant == name;
        let mut revived = Vec::new();
        for lane in self.lanes() {
            if !is_meant(provider, &lane.pool) {
                continue;
            }
            for key in &lane.terms().keys {
                if is_meant(source, &key.key.source) && key.key.revive() {
                    revived.push((lane.pool.clone(), key.key.source.clone()));
                }
            }
            lane.line.wake();
        }
        revived
    }

    /// The lanes opened so far, in order of provider and model.
    pub fn lanes(&self) -> Vec<Arc<Lane>> {
        self.table().lanes.lock().values().cloned().collect()
    }

    fn table(&self) -> Arc<Table> {
        Arc::clone(&self.table.read())
    }
}

impl Table {
    fn new(config: GatewayConfig) -> Self {
        let named = config.model_names();
        let named = named.filter_map(|model| config.resolve_without_keys(model).ok());
        Self {
            named: named.map(|model| lane_name(&model)).collect(),
            config: Arc::new(config),
            by_model: RwLock::default(),
            pools: Mutex::default(),
            lanes: Mutex::default(),
            left: AtomicBool::new(false),
        }
    }

    /// Absent once another table is in the place of this one.
    fn find(&self, model: &str, means: &Means) -> Result<Option<Arc<Route>>, RouteError> {
        if let Some(route) = self.by_model.read().get(model) {
            return Ok(Some(Arc::clone(route)));
        }
        let resolved = self.config.resolve_without_keys(model)?;
        read_headers(&resolved)?;
        // Held until the route is in: no lane is closed in between.
        let mut lanes = self.lanes.lock();
        if self.left.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let lane = self.lane_of(&mut lanes, &resolved, means)?;
        let route = Arc::new(Route {
            model: resolved,
            lane,
        });
        let mut by_model = self.by_model.write();
        let route = by_model.entry(model.to_owned()).or_insert(route);
        Ok(Some(Arc::clone(route)))
    }

    /// Closes a lane without a section in which nobody waits, if there are too
    /// many. Who holds it still is sent to look again.
    fn make_room(&self, lanes: &mut Lanes, model: &ResolvedModel) -> Result<(), RouteError> {
        let unnamed = lanes.keys().filter(|name| !self.named.contains(*name));
        let unnamed: Vec<LaneName> = unnamed.cloned().collect();
        if self.named.contains(&lane_name(model)) || unnamed.len() < MOST_UNNAMED {
            return Ok(());
        }
        let idle = unnamed
            .into_iter()
            .find(|name| lanes.get(name).is_some_and(|lane| lane.line.is_idle()));
        let closed = idle.and_then(|name| lanes.remove(&name));
        let closed = closed.ok_or_else(|| RouteError::TooMany {
            model: model.name.clone(),
        })?;
        let mut by_model = self.by_model.write();
        by_model.retain(|_, route| !Arc::ptr_eq(&route.lane, &closed));
        closed.line.close();
        Ok(())
    }

    fn door(&self, model: &str) -> Result<Option<String>, RouteError> {
        if self.by_model.read().contains_key(model) {
            return Ok(None);
        }
        let resolved = self.config.resolve_without_keys(model)?;
        let is_door = resolved.provider.kind == ProviderKind::Door;
        Ok(is_door.then(|| resolved.model.to_string()))
    }

    fn lane_of(
        &self,
        lanes: &mut Lanes,
        model: &ResolvedModel,
        means: &Means,
    ) -> Result<Arc<Lane>, RouteError> {
        let name = lane_name(model);
        if let Some(lane) = lanes.get(&name) {
            return Ok(Arc::clone(lane));
        }
        let terms = self.terms_of(model, means)?;
        self.make_room(lanes, model)?;
        let (limiter, outbox) = (Arc::clone(&means.limiter), means.outbox.clone());
        let lane = Lane::new(&name.0, &name.1, &means.owner, limiter, outbox, terms);
        let lane = Arc::new(lane);
        lanes.insert(name, Arc::clone(&lane));
        let served = Arc::clone(&lane);
        let stopping = means.tasks.shutdown_token();
        means.tasks.spawn(ASKER, "asker of a lane", async move {
            let serving = served.line.serve(&served);
            tokio::pin!(serving);
            tokio::select! {
                () = &mut serving => return,
                () = stopping.cancelled() => served.line.close(),
            }
            serving.await;
        });
        Ok(lane)
    }

    fn terms_of(&self, model: &ResolvedModel, means: &Means) -> Result<LaneTerms, RouteError> {
        let kind = model.provider.kind;
        let provider = means.providers.get(kind);
        let provider = provider.ok_or(RouteError::NoProvider { kind })?;
        let pool = self.pool_of(model)?;
        let adaptive = model.limits.adaptive || model.provider.limits.adaptive;
        let mut keys: Vec<LaneKey> = Vec::with_capacity(pool.keys().len());
        for key in pool.keys() {
            let mut same = keys.iter();
            let same = same.find(|other| other.key.counted_as == key.counted_as);
            let health = same.map(|same| Arc::clone(&same.health));
            keys.push(LaneKey {
                key: Arc::clone(key),
                limits: model.provider.limits,
                lane_limits: model.limits,
                health: health.unwrap_or_else(|| Arc::new(KeyHealth::new(adaptive))),
            });
        }
        Ok(LaneTerms {
            keys,
            burst: model.provider.burst,
            dead_key_probes: Arc::clone(self.config.dead_key_probes()),
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
        let (keys, errors) = read_keys(model)?;
        for error in errors {
            let provider = &model.provider.name;
            tracing::warn!(provider, error = %with_causes(&error), "key cannot be used");
        }
        let pool = Arc::new(keys);
        pools.insert(model.provider.name.clone(), Arc::clone(&pool));
        Ok(pool)
    }
}

fn lane_name(model: &ResolvedModel) -> LaneName {
    (model.provider.name.clone(), model.model.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::providers::Scripted;

    fn config(model: &str) -> GatewayConfig {
        let text = format!(
            "[providers.p]\nbase_url = 'http://127.0.0.1:9/v1'\n[models.{model}]\nprovider = 'p'\n"
        );
        GatewayConfig::parse("test.toml", &text).unwrap()
    }

    fn routes(tasks: &Tasks) -> Routes {
        let providers = Providers::single(ProviderKind::OpenAi, Arc::new(Scripted::echo()));
        let limiter = Arc::new(Limiter::default());
        let outbox = Outbox::new(tasks.clone(), |_| {});
        Routes::new(
            config("m"),
            providers,
            limiter,
            "owner",
            tasks.clone(),
            outbox,
        )
    }

    #[tokio::test]
    async fn names_made_up_by_callers_open_a_bounded_number_of_lanes() {
        let tasks = Tasks::new();
        let routes = routes(&tasks);
        let named = routes.find("m").unwrap();
        for number in 0..MOST_UNNAMED * 3 {
            routes.find(&format!("p/{number}")).unwrap();
        }
        assert_eq!(routes.lanes().len(), MOST_UNNAMED + 1);
        assert_eq!(routes.table().by_model.read().len(), MOST_UNNAMED + 1);
        assert!(Arc::ptr_eq(&named, &routes.find("m").unwrap()));
        while tasks.status().len() > MOST_UNNAMED + 1 {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn table_that_was_left_opens_no_lane() {
        let tasks = Tasks::new();
        let routes = routes(&tasks);
        let before = routes.table();
        routes.adopt(config("n")).unwrap();
        assert!(before.find("p/late", &routes.means).unwrap().is_none());
        assert!(before.lanes.lock().values().all(|lane| lane.name == "m"));
        routes.find("p/late").unwrap();
    }
}
