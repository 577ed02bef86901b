//! The templates that sessions are played with: the built-in library, and those
//! that experiments bring along, fetched once each from the coordinator.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use agon_agents::PromptLibrary;
use agon_proto::v1::GetPromptBundleRequest;
use agon_service_kit::backoff::Delays;
use agon_service_kit::status;

use crate::setup::Library;
use crate::transport::CoordinatorClient;

/// How many bundles are kept; a worker rarely serves more experiments at once.
const KEPT: usize = 32;

/// Template libraries by digest.
#[derive(Clone)]
pub struct Libraries {
    builtin: Library,
    bundles: Arc<Mutex<BTreeMap<String, Library>>>,
}

/// Why the templates of a session cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum LibraryError {
    /// The coordinator does not have them.
    #[error("cannot fetch prompt bundle {digest}: {reason}")]
    Fetch {
        /// Digest in the spec.
        digest: String,
        /// What the coordinator said.
        reason: String,
    },
    /// They do not compile, or are not what the digest says.
    #[error("prompt bundle {digest} is unusable: {reason}")]
    Unusable {
        /// Digest in the spec.
        digest: String,
        /// What is wrong.
        reason: String,
    },
}

impl Default for Libraries {
    fn default() -> Self {
        Self {
            builtin: Arc::new(PromptLibrary::builtin()),
            bundles: Arc::default(),
        }
    }
}

impl Libraries {
    /// The library for a session; asks the coordinator for a bundle it has not
    /// seen, for as long as the coordinator is away.
    ///
    /// # Errors
    /// The coordinator does not know the bundle, or it is unusable.
    pub async fn get(
        &self,
        digest: Option<&str>,
        coordinator: &CoordinatorClient,
    ) -> Result<Library, LibraryError> {
        let Some(digest) = digest else {
            return Ok(Arc::clone(&self.builtin));
        };
        if let Some(known) = self.lock().get(digest) {
            return Ok(Arc::clone(known));
        }
        let templates = fetch(digest, coordinator.clone()).await?;
        let unusable = |reason: String| LibraryError::Unusable {
            digest: digest.to_owned(),
            reason,
        };
        let library =
            agon_agents::replaced(templates).map_err(|error| unusable(error.to_string()))?;
        if library.digest() != Some(digest) {
            return Err(unusable("its content has another digest".to_owned()));
        }
        let library = Arc::new(library);
        let mut bundles = self.lock();
        if bundles.len() >= KEPT {
            bundles.pop_first();
        }
        bundles.insert(digest.to_owned(), Arc::clone(&library));
        Ok(library)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Library>> {
        self.bundles.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn fetch(
    digest: &str,
    mut coordinator: CoordinatorClient,
) -> Result<BTreeMap<String, String>, LibraryError> {
    let mut delays = Delays::default();
    loop {
        let request = GetPromptBundleRequest {
            digest: digest.to_owned(),
        };
        let refusal = match coordinator.get_prompt_bundle(request).await {
            Ok(response) => return Ok(response.into_inner().templates.into_iter().collect()),
            Err(refusal) => refusal,
        };
        match delays.next_delay() {
            Some(delay) if status::is_retryable(&refusal) => tokio::time::sleep(delay).await,
            _ => {
                return Err(LibraryError::Fetch {
                    digest: digest.to_owned(),
                    reason: refusal.message().to_owned(),
                });
            }
        }
    }
}
