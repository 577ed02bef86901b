//! What a gateway keeps, in one back end: the ledger, limits, money, the content cache and doors.
//! Chosen when the gateway is opened, by `gateway.rs`.

use std::path::Path;
use std::sync::Arc;

use agon_outlets::InLine as _;

use super::GatewayError;
use crate::admission::Limiter;
use crate::budgets::store::{BudgetStore, EmbeddedBudgetStore, RedisBudgetStore};
use crate::content_cache::{ContentCache, EmbeddedContentCache, RedisContentCache};
use crate::door_store::{DoorStore, EmbeddedDoors, RedisDoors};
use crate::ledger::{EmbeddedLedger, Ledger, RedisLedger};
use crate::peers::{Peers, folder_of};
use crate::redis_store::Links;

pub(super) struct Stores {
    pub ledger: Arc<dyn Ledger>,
    pub limiter: Arc<Limiter>,
    pub budget_store: Arc<dyn BudgetStore>,
    pub cache: Arc<dyn ContentCache>,
    pub doors: Arc<dyn DoorStore>,
}

impl Stores {
    /// Files of one process; its limits in memory.
    pub async fn embedded(path: &Path) -> Result<Self, GatewayError> {
        let ledger = EmbeddedLedger::open(path)?;
        let budget_store = EmbeddedBudgetStore::open(&ledger).await?;
        let limiter = Limiter::default();
        Ok(Self::in_files(path, ledger, budget_store, limiter))
    }

    /// The same files beside other processes.
    pub async fn shared(path: &Path, owner: &str) -> Result<Self, GatewayError> {
        let folder = |source| GatewayError::Folder {
            path: path.in_line().to_string(),
            source,
        };
        let (files, _) = folder_of(path).map_err(folder)?;
        let peers = Arc::new(Peers::enter(&files, owner).map_err(folder)?);
        let ledger = EmbeddedLedger::open_shared(path)?;
        let budget_store = EmbeddedBudgetStore::open_shared(&ledger, Arc::clone(&peers)).await?;
        let limiter = Limiter::in_file(&path.with_extension("limits.sqlite"), peers)?;
        Ok(Self::in_files(path, ledger, budget_store, limiter))
    }

    fn in_files(
        path: &Path,
        ledger: EmbeddedLedger,
        budget_store: EmbeddedBudgetStore,
        limiter: Limiter,
    ) -> Self {
        let cache = path.with_extension("content-cache.sqlite");
        Self {
            ledger: Arc::new(ledger),
            limiter: Arc::new(limiter),
            budget_store: Arc::new(budget_store),
            cache: Arc::new(EmbeddedContentCache::at(&cache)),
            // A door's asks are those of sessions of this process.
            doors: Arc::new(EmbeddedDoors::default()),
        }
    }

    /// A Redis, for any number of processes; `process` names this one.
    pub fn redis(links: &Links, process: &str) -> Self {
        let ordinary = || links.ordinary.clone();
        let lasting = || links.lasting.clone();
        Self {
            ledger: Arc::new(RedisLedger::new(lasting())),
            limiter: Arc::new(Limiter::in_redis(ordinary(), process)),
            budget_store: Arc::new(RedisBudgetStore::new(lasting())),
            cache: Arc::new(RedisContentCache::new(ordinary())),
            doors: Arc::new(RedisDoors::new(ordinary())),
        }
    }
}
