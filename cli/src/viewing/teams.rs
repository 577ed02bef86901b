//! Pages that a coordinator serves: whoever signs in with a token sees what that token shows, and nothing
//! else. Each holder has a follower of their own, whose calls pass the gate of the coordinator's door in
//! their name, so that pages show what gRPC would and no more. Called by `agon coordinator`.

use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};
use std::time::Duration;

use agon_identity::gate::{Gate, Refusal as GateRefusal};
use agon_identity::holder::Holder;
use agon_identity::scope::Scope;
use agon_identity::sign_in::SignIn;
use agon_identity::view::{Identities, KnownHolder};
use agon_service_kit::server::Listener;
use agon_service_kit::tasks::{TaskKind, Tasks};
use agon_web::signing_in::{Back, Begun, Provider, SignInRefusal};
use agon_web::{Access, AccessHolder, Doorkeeper, Entrance, Refusal};
use agon_worker::{Transport, transport};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use parking_lot::Mutex;
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use tonic::body::Body;
use tonic::service::Routes;
use tower::Service;

use super::following::{Following, Source};
use super::oidc::Oidc;
use super::{Files, library_of, serve};
use crate::failure::Failure;
use crate::output;

/// Holders whose experiments are followed at once: each has the list of their sessions in memory and
/// their records in a temporary file.
const MOST_HOLDERS: usize = 64;

/// Between two looks at whether somebody who signed in may still be here.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Scopes that may look.
const MAY_LOOK: [Scope; 2] = [Scope::Read, Scope::Admin];

/// What pages of a coordinator are made of.
pub struct TeamPages {
    /// The gate of their own door.
    pub gate: Gate,
    /// The coordinator's services behind the gate of its door.
    pub services: Routes,
    /// For costs, which are asked for as the coordinator.
    pub gateway: Option<Transport>,
    /// Where people reach these pages; absent: where they listen.
    pub address: Option<String>,
}

impl TeamPages {
    /// Serves them until shutdown. On a door that is open to everybody of this machine the address with a
    /// token is printed, as `agon view` does.
    ///
    /// # Errors
    /// The system gives no randomness.
    pub fn serve(
        self,
        tasks: &Tasks,
        listener: Listener,
        is_encrypted: bool,
    ) -> Result<(), Failure> {
        let scheme = if is_encrypted { "https" } else { "http" };
        let address = format!("{scheme}://{}", listener.local_addr());
        let printed = agon_web::token().map_err(Failure::surroundings)?;
        output::print(&match self.gate.is_open() {
            true => format!("agon coordinator pages: {address}/#token={printed}"),
            false => format!("agon coordinator pages: {address}"),
        });
        let reached_at = self.address.as_deref().unwrap_or(&address);
        let doorkeeper = Teams {
            oidc: Oidc::new(reached_at)?,
            pages: self,
            tasks: tasks.clone(),
            printed,
            known: Mutex::default(),
        };
        let entrance = Entrance::kept_by(Arc::new(doorkeeper), is_encrypted);
        let entrance = entrance.map_err(Failure::surroundings)?;
        serve(tasks, listener, entrance, None);
        Ok(())
    }
}

struct Teams {
    pages: TeamPages,
    tasks: Tasks,
    oidc: Oidc,
    /// What opens a door without tokens.
    printed: String,
    /// By id of the token; those that nobody uses any more are gone.
    known: Mutex<HashMap<Arc<str>, Weak<Access>>>,
}

impl Doorkeeper for Teams {
    fn enter(&self, token: String) -> BoxFuture<'_, Result<Arc<Access>, Refusal>> {
        async move {
            let known = self.sign_in(&token).await?;
            self.access(known)
        }
        .boxed()
    }

    fn hint(&self) -> &'static str {
        match (self.pages.gate.is_open(), self.name()) {
            (true, _) => "The coordinator prints an access token when it starts.",
            (false, None) => "Use a token of your team; whoever runs this installation makes them.",
            (false, Some(_)) => "Or use a token of your team.",
        }
    }

    fn provider(&self) -> Option<&dyn Provider> {
        Some(self)
    }

    fn serves_others(&self) -> bool {
        !self.pages.gate.is_open()
    }
}

impl Provider for Teams {
    fn name(&self) -> Option<String> {
        self.identities().sign_in().map(|sign_in| sign_in.name)
    }

    fn begin(&self) -> BoxFuture<'_, Result<Begun, SignInRefusal>> {
        async move {
            let sign_in = self.identities().sign_in().ok_or(SignInRefusal::Failed)?;
            self.oidc.begin(&sign_in).await
        }
        .boxed()
    }

    fn end(&self, back: Back) -> BoxFuture<'_, Result<Arc<Access>, SignInRefusal>> {
        async move {
            let sign_in = self.identities().sign_in().ok_or(SignInRefusal::Failed)?;
            let claims = self.oidc.claims(&sign_in, &back).await?;
            let known = self.signed_in(&sign_in, claims)?;
            self.access(known).map_err(|refusal| match refusal {
                Refusal::Closed(_) => SignInRefusal::Busy,
                _ => SignInRefusal::Failed,
            })
        }
        .boxed()
    }
}

impl Teams {
    async fn sign_in(&self, token: &str) -> Result<KnownHolder, Refusal> {
        if self.pages.gate.is_open() {
            return match agon_web::is_same(token, &self.printed) {
                true => Ok(KnownHolder {
                    holder: Holder::anybody(),
                    ended: CancellationToken::new(),
                }),
                false => Err(Refusal::WrongToken),
            };
        }
        let signed_in = self.pages.gate.sign_in(token, &MAY_LOOK).await;
        signed_in.map_err(|refusal| match refusal {
            GateRefusal::StoreAway => Refusal::Unreadable(refusal.to_string()),
            _ => Refusal::Closed(refusal.to_string()),
        })
    }

    fn identities(&self) -> &Identities {
        self.pages.gate.identities()
    }

    /// Somebody for whom a provider vouches, until their time is over or what they may do has changed.
    fn signed_in(&self, sign_in: &SignIn, claims: Value) -> Result<KnownHolder, SignInRefusal> {
        let holder = self.identities().signed_in(&claims);
        let known = self.pages.gate.let_in(holder, &MAY_LOOK);
        let known = known.ok_or(SignInRefusal::Unknown)?;
        let (ended, holder) = (known.ended.clone(), known.holder.clone());
        let (identities, lasts) = (self.identities().clone(), sign_in.lasts);
        let stopping = self.tasks.shutdown_token();
        let watching = async move {
            let until = tokio::time::Instant::now() + lasts;
            while identities.signed_in(&claims).as_ref() == Some(&holder) {
                let next = tokio::time::Instant::now() + LOOK_EVERY;
                tokio::time::sleep_until(next.min(until)).await;
                if tokio::time::Instant::now() >= until {
                    break;
                }
            }
            ended.cancel();
        };
        self.tasks
            .spawn(TaskKind::UPKEEP, "somebody signed in", async move {
                let _ = stopping.run_until_cancelled(watching).await;
            });
        Ok(known)
    }

    /// What a holder may see; the same for all browsers of one token.
    fn access(&self, known: KnownHolder) -> Result<Arc<Access>, Refusal> {
        let mut holders = self.known.lock();
        holders.retain(|_, access| access.strong_count() > 0);
        let id = Arc::clone(&known.holder.token_id);
        let same = holders.get(&id).and_then(Weak::upgrade);
        if let Some(access) = same.filter(|access| !access.has_ended()) {
            return Ok(access);
        }
        if holders.len() >= MOST_HOLDERS {
            return Err(Refusal::Closed(format!(
                "{MOST_HOLDERS} holders of tokens look at these pages; try again when some have signed out"
            )));
        }
        let begun = self.tasks.shutdown_token().child_token();
        let files = Arc::new(Files::default());
        let library = library_of(&files);
        let source = Source {
            experiments: self.in_the_name_of(&known),
            gateway: self.pages.gateway.clone(),
            holder: known.holder.clone(),
        };
        let following = Following::begin(
            &self.tasks,
            begun.clone(),
            source,
            Arc::clone(&library),
            files,
        );
        let following = following.map_err(|failure| Refusal::Unreadable(failure.to_string()))?;
        let access = Access::new(library, Some(following), begun);
        let access = match known.holder.is_anybody() {
            true => access,
            false => {
                let holder = AccessHolder {
                    name: known.holder.name.to_string(),
                    team: known.holder.team().map(str::to_owned),
                };
                access.of(holder, known.ended)
            }
        };
        let access = Arc::new(access);
        holders.insert(id, Arc::downgrade(&access));
        Ok(access)
    }

    /// The coordinator's services, as a holder's requests reach them.
    fn in_the_name_of(&self, known: &KnownHolder) -> Transport {
        let services = self.pages.services.clone().prepare();
        transport::into_service(InTheNameOf {
            services,
            known: known.clone(),
        })
    }
}

/// Services that are told who asks.
#[derive(Clone)]
struct InTheNameOf {
    services: Routes,
    known: KnownHolder,
}

impl Service<http::Request<Body>> for InTheNameOf {
    type Response = http::Response<Body>;
    type Error = <Routes as Service<http::Request<Body>>>::Error;
    type Future = <Routes as Service<http::Request<Body>>>::Future;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Service::<http::Request<Body>>::poll_ready(&mut self.services, context)
    }

    fn call(&mut self, mut request: http::Request<Body>) -> Self::Future {
        request.extensions_mut().insert(self.known.clone());
        self.services.call(request)
    }
}
