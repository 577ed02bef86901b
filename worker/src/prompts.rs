//! The templates that sessions are played with: the built-in library, and those
//! that experiments bring along, fetched once each from the coordinator.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use agon_agents::PromptLibrary;
use agon_proto::v1::GetPromptBundleRequest;
use agon_service_kit::backoff::Delays;
use agon_service_kit::compute;
use agon_service_kit::status;
use tokio::sync::OnceCell;

use crate::mind::is_of_worker;
use crate::setup::Library;
use crate::transport::CoordinatorClient;

/// How many bundles are kept; a worker rarely serves more experiments at once.
const KEPT: usize = 32;

/// Template libraries by digest.
#[derive(Clone)]
pub struct Libraries {
    builtin: Library,
    bundles: Arc<Mutex<BTreeMap<String, Bundle>>>,
}

/// A bundle, or why it is unusable; empty until the first session that asked for it has got it.
type Bundle = Arc<OnceCell<Result<Library, String>>>;

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
    /// The library for a session; asks the coordinators, one after the other, for a bundle it has not
    /// seen, for as long as none is there or lets this worker in. However many sessions wait for a bundle, it is fetched and checked
    /// once: that takes longer than a session.
    ///
    /// # Errors
    /// The coordinator does not know the bundle, or it is unusable.
    pub async fn get(
        &self,
        digest: Option<&str>,
        coordinators: &[CoordinatorClient],
    ) -> Result<Library, LibraryError> {
        let Some(digest) = digest else {
            return Ok(Arc::clone(&self.builtin));
        };
        let bundle = self.bundle(digest);
        let checked = bundle.get_or_try_init(|| async {
            let templates = fetch(digest, coordinators).await?;
            let wanted = digest.to_owned();
            let checked = compute::SHORT.run(move || checked(templates, &wanted));
            Ok(checked.await.unwrap_or_else(|panicked| Err(panicked.0)))
        });
        checked
            .await?
            .clone()
            .map_err(|reason| LibraryError::Unusable {
                digest: digest.to_owned(),
                reason,
            })
    }

    fn bundle(&self, digest: &str) -> Bundle {
        let mut bundles = self.bundles.lock().unwrap_or_else(PoisonError::into_inner);
        if !bundles.contains_key(digest) && bundles.len() >= KEPT {
            bundles.pop_first();
        }
        Arc::clone(bundles.entry(digest.to_owned()).or_default())
    }
}

fn checked(templates: BTreeMap<String, String>, digest: &str) -> Result<Library, String> {
    let library = agon_agents::replaced(templates).map_err(|error| error.to_string())?;
    match library.digest() == Some(digest) {
        true => Ok(Arc::new(library)),
        false => Err("its content has another digest".to_owned()),
    }
}

async fn fetch(
    digest: &str,
    coordinators: &[CoordinatorClient],
) -> Result<BTreeMap<String, String>, LibraryError> {
    let mut delays = Delays::default();
    // Any of them has it, whichever is in charge.
    for coordinator in coordinators.iter().cycle() {
        let mut coordinator = coordinator.clone();
        let request = GetPromptBundleRequest {
            digest: digest.to_owned(),
        };
        let refusal = match coordinator.get_prompt_bundle(request).await {
            Ok(response) => return Ok(response.into_inner().templates.into_iter().collect()),
            Err(refusal) => refusal,
        };
        match delays.next_delay() {
            Some(delay) if is_of_worker(&refusal) || status::is_retryable(&refusal) => {
                tokio::time::sleep(delay).await;
            }
            _ => {
                return Err(LibraryError::Fetch {
                    digest: digest.to_owned(),
                    reason: refusal.message().to_owned(),
                });
            }
        }
    }
    Err(LibraryError::Fetch {
        digest: digest.to_owned(),
        reason: "there is no coordinator to ask".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use agon_proto::v1::session_lease_service_server::{
        SessionLeaseService, SessionLeaseServiceServer,
    };
    use agon_proto::v1::{GetPromptBundleResponse, WorkSessionsRequest, WorkSessionsResponse};
    use futures_util::future::join_all;
    use tokio_stream::Empty;
    use tonic::{Request, Response, Status, Streaming};

    use super::*;
    use crate::transport::into_service;

    /// A coordinator that has one bundle and counts how often it is fetched.
    struct OneBundle {
        templates: BTreeMap<String, String>,
        fetched: Arc<AtomicUsize>,
        /// What it says instead.
        refusal: Option<Status>,
    }

    #[tonic::async_trait]
    impl SessionLeaseService for OneBundle {
        type WorkSessionsStream = Empty<Result<WorkSessionsResponse, Status>>;

        async fn work_sessions(
            &self,
            _: Request<Streaming<WorkSessionsRequest>>,
        ) -> Result<Response<Self::WorkSessionsStream>, Status> {
            Err(Status::unimplemented("nothing to play"))
        }

        async fn get_prompt_bundle(
            &self,
            _: Request<GetPromptBundleRequest>,
        ) -> Result<Response<GetPromptBundleResponse>, Status> {
            self.fetched.fetch_add(1, Ordering::SeqCst);
            if let Some(refusal) = self.refusal.clone() {
                return Err(refusal);
            }
            Ok(Response::new(GetPromptBundleResponse {
                templates: self.templates.clone().into_iter().collect(),
            }))
        }
    }

    fn coordinator(template: &str) -> (CoordinatorClient, Arc<AtomicUsize>) {
        coordinator_that(template, None)
    }

    fn coordinator_that(
        template: &str,
        refusal: Option<Status>,
    ) -> (CoordinatorClient, Arc<AtomicUsize>) {
        let (path, fetched) = ("shared/answer.j2".to_owned(), Arc::default());
        let service = OneBundle {
            templates: BTreeMap::from([(path, template.to_owned())]),
            fetched: Arc::clone(&fetched),
            refusal,
        };
        let service = into_service(SessionLeaseServiceServer::new(service));
        (CoordinatorClient::new(service), fetched)
    }

    #[tokio::test]
    async fn bundle_that_many_wait_for_is_fetched_and_checked_once() {
        let text = "Answer now.";
        let (coordinator, fetched) = coordinator(text);
        let templates = BTreeMap::from([("shared/answer.j2".to_owned(), text.to_owned())]);
        let library = agon_agents::replaced(templates).unwrap();
        let digest = library.digest().unwrap();
        let libraries = Libraries::default();
        let waiting =
            (0..100).map(|_| libraries.get(Some(digest), std::slice::from_ref(&coordinator)));
        let found: Vec<Library> = join_all(waiting)
            .await
            .into_iter()
            .map(Result::unwrap)
            .collect();
        assert!(found.iter().all(|one| Arc::ptr_eq(one, &found[0])));
        assert_eq!(fetched.load(Ordering::SeqCst), 1);
    }

    #[tokio::test]
    async fn bundle_comes_from_whichever_coordinator_is_there_and_lets_the_worker_in() {
        let text = "Answer now.";
        let templates = BTreeMap::from([("shared/answer.j2".to_owned(), text.to_owned())]);
        let library = agon_agents::replaced(templates).unwrap();
        let (there, _) = coordinator(text);
        let away = coordinator_that(text, Some(Status::unavailable("away")));
        let closed = coordinator_that(text, Some(Status::unauthenticated("no such token")));
        let (libraries, all) = (Libraries::default(), [away.0, closed.0, there]);
        let found = libraries.get(library.digest(), &all).await.unwrap();
        assert_eq!(found.digest(), library.digest());
        assert_eq!(closed.1.load(Ordering::SeqCst), 1);
    }

    #[tokio::test]
    async fn unusable_bundle_is_remembered_as_that() {
        let (coordinator, fetched) = coordinator("{{ unfinished");
        let libraries = Libraries::default();
        for _ in 0..3 {
            let found = libraries
                .get(Some("x"), std::slice::from_ref(&coordinator))
                .await;
            assert!(
                matches!(found, Err(LibraryError::Unusable { .. })),
                "{:?}",
                found.err()
            );
        }
        assert_eq!(fetched.load(Ordering::SeqCst), 1);
    }
}
