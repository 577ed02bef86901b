//! Pages that a coordinator serves: whoever signs in sees what calls of their team show, and nothing else.
//! Each team's experiments are followed once, by calls that pass the gate of the coordinator's door in the
//! team's name; what somebody does passes it in their own. Called by `agon coordinator`.

use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use agon_identity::gate::{Gate, Refusal as GateRefusal};
use agon_identity::holder::Holder;
use agon_identity::scope::Scope;
use agon_identity::sign_in::SignIn;
use agon_identity::view::{Identities, KnownHolder};
use agon_service_kit::server::Listener;
use agon_service_kit::tasks::{TaskKind, Tasks};
use agon_web::signing_in::{Back, Begun, Provider, SignInRefusal};
use agon_web::sweeps::States;
use agon_web::{Access, AccessHolder, Doorkeeper, Entrance, Refusal, Shelf, SignedIn};
use agon_worker::{Transport, transport};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tonic::body::Body;
use tonic::service::Routes;
use tower::Service;
use tracing::info;

use super::following::{Following, Source, follow};
use super::oidc::Oidc;
use super::{Files, library_of, serve};
use crate::failure::Failure;
use crate::judged::Drafts;
use crate::output;

/// Teams whose experiments are followed at once: each has the list of its sessions in memory and its
/// records in a temporary file.
const MOST_TEAMS: usize = 64;

/// Between two looks at whether somebody who signed in may still be here.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// What calls that follow experiments are made as.
const PAGES: &str = "pages";

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
    /// Why another coordinator's pages have to be asked, if they have.
    pub elsewhere: Box<dyn Fn() -> Option<String> + Send + Sync>,
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
        let is_encrypted_there = reached_at.starts_with("https://");
        let doorkeeper = Teams {
            oidc: Oidc::new(reached_at)?,
            pages: self,
            tasks: tasks.clone(),
            printed,
            known: Mutex::default(),
            followed: Mutex::default(),
            anybody: Mutex::default(),
        };
        // Behind a proxy that encrypts, too.
        let is_secure = is_encrypted || is_encrypted_there;
        let entrance = Entrance::kept_by(Arc::new(doorkeeper), is_secure);
        let entrance = entrance.map_err(Failure::surroundings)?;
        serve(tasks, listener, entrance, None);
        Ok(())
    }
}

/// What the holders of a team share; `None` for whoever sees all. On a door without tokens that is
/// everybody.
type Sight = (Option<Arc<str>>, IsOpen);
type IsOpen = bool;

/// Who has an access, as long as anybody uses it.
type Known = (Holder, Weak<Access>);

/// What is followed, as long as anybody looks.
type Followed = (Weak<Shelf>, watch::Receiver<States>);

struct Teams {
    pages: TeamPages,
    tasks: Tasks,
    oidc: Oidc,
    /// What opens a door without tokens.
    printed: String,
    /// By id of the token; those that nobody uses any more are gone.
    known: Mutex<HashMap<Arc<str>, Known>>,
    followed: Mutex<HashMap<Sight, Followed>>,
    /// Whoever has the printed token, as long as the door is open.
    anybody: Mutex<Option<KnownHolder>>,
}

impl Doorkeeper for Teams {
    fn enter(&self, token: String) -> BoxFuture<'_, Result<SignedIn, Refusal>> {
        async move {
            let known = self.sign_in(&token).await?;
            let access = self.access(&known)?;
            let ended = known.ended.child_token();
            Ok(SignedIn {
                access,
                ended,
                is_stored: known.is_stored(),
            })
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

    fn elsewhere(&self) -> Option<String> {
        (self.pages.elsewhere)()
    }

    fn in_doubt(&self) -> Option<String> {
        let waits = self.identities().is_waiting_for_store();
        waits.then(|| GateRefusal::StoreAway.to_string())
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

    fn end(&self, back: Back) -> BoxFuture<'_, Result<SignedIn, SignInRefusal>> {
        async move {
            let sign_in = self.identities().sign_in().ok_or(SignInRefusal::Failed)?;
            let claims = self.oidc.claims(&sign_in, &back).await?;
            let holder = self.identities().signed_in(&claims);
            let known = self.pages.gate.let_in(holder, &MAY_LOOK).ok_or_else(|| {
                let subject = claims["sub"].as_str().unwrap_or_default();
                info!(
                    subject,
                    "sign-in refused: no entry of sign_in.people matches"
                );
                SignInRefusal::Unknown
            })?;
            let access = self.access(&known).map_err(|refusal| match refusal {
                Refusal::Closed(_) => SignInRefusal::Busy,
                _ => SignInRefusal::Failed,
            })?;
            let ended = CancellationToken::new();
            self.end_in_time(&sign_in, claims, known.holder, ended.clone());
            Ok(SignedIn {
                access,
                ended,
                is_stored: false,
            })
        }
        .boxed()
    }
}

impl Teams {
    async fn sign_in(&self, token: &str) -> Result<KnownHolder, Refusal> {
        if self.pages.gate.is_open() {
            return match agon_web::is_same(token, &self.printed) {
                true => Ok(self.anybody()),
                false => Err(Refusal::WrongToken),
            };
        }
        let signed_in = self.pages.gate.sign_in(token, &MAY_LOOK).await;
        signed_in.map_err(|refusal| match refusal {
            GateRefusal::StoreAway => Refusal::Unreadable(refusal.to_string()),
            GateRefusal::Scope { needed, .. } => Refusal::Closed(format!(
                "this token gives no access to these pages; they need the scope {needed}"
            )),
            _ => Refusal::Closed(refusal.to_string()),
        })
    }

    /// Whoever has the printed token, until somebody makes tokens.
    fn anybody(&self) -> KnownHolder {
        let mut anybody = self.anybody.lock();
        if let Some(known) = anybody.as_ref().filter(|known| !known.ended.is_cancelled()) {
            return known.clone();
        }
        let ended = CancellationToken::new();
        let (gate, over) = (self.pages.gate.clone(), ended.clone());
        self.look_again(ended.clone(), move || {
            if !gate.is_open() {
                over.cancel();
            }
        });
        let known = KnownHolder::in_this_process(Holder::anybody(), ended);
        *anybody = Some(known.clone());
        known
    }

    fn identities(&self) -> &Identities {
        self.pages.gate.identities()
    }

    /// Ends what somebody for whom a provider vouches has opened, once their time is over, or the file
    /// names another provider or lets them do something else.
    fn end_in_time(
        &self,
        sign_in: &SignIn,
        claims: Value,
        holder: Holder,
        ended: CancellationToken,
    ) {
        let (identities, over) = (self.identities().clone(), ended.clone());
        let (issuer, began) = (sign_in.issuer.clone(), Instant::now());
        self.look_again(ended, move || {
            let now = identities.sign_in();
            let is_in_time = now
                .is_some_and(|sign_in| sign_in.issuer == issuer && began.elapsed() < sign_in.lasts);
            if !is_in_time || identities.signed_in(&claims).as_ref() != Some(&holder) {
                over.cancel();
            }
        });
    }

    /// Looks at something twice a second until `ended`.
    fn look_again(&self, ended: CancellationToken, look: impl Fn() + Send + 'static) {
        let stopping = self.tasks.shutdown_token();
        self.tasks.spawn(TaskKind::UPKEEP, "signed in", async move {
            while !ended.is_cancelled() && !stopping.is_cancelled() {
                tokio::select! {
                    () = tokio::time::sleep(LOOK_EVERY) => look(),
                    () = ended.cancelled() => {}
                    () = stopping.cancelled() => {}
                }
            }
        });
    }

    /// What a holder may see; the same for all browsers of one token or person, as long as they may do
    /// the same.
    fn access(&self, known: &KnownHolder) -> Result<Arc<Access>, Refusal> {
        let holder = &known.holder;
        let mut holders = self.known.lock();
        holders.retain(|_, (_, access)| access.strong_count() > 0);
        let same = holders.get(&holder.token_id);
        let same = same.filter(|(before, _)| before == holder);
        if let Some(access) = same.and_then(|(_, access)| access.upgrade()) {
            return Ok(access);
        }
        let (shelf, states) = self.followed(holder)?;
        let acting = Following::acting(self.in_the_name_of(known.clone()), states);
        let access = Access::new(shelf, Some(acting));
        let access = match holder.is_anybody() {
            true => access,
            false => access.of(AccessHolder {
                name: holder.name.to_string(),
                team: holder.team().map(str::to_owned),
            }),
        };
        let access = Arc::new(access);
        let known = (holder.clone(), Arc::downgrade(&access));
        holders.insert(Arc::clone(&holder.token_id), known);
        Ok(access)
    }

    /// The experiments that a holder may see, followed for all who see the same.
    fn followed(&self, holder: &Holder) -> Result<(Arc<Shelf>, watch::Receiver<States>), Refusal> {
        let mut followed = self.followed.lock();
        followed.retain(|_, (shelf, _)| shelf.strong_count() > 0);
        let sight = (holder.team().map(Arc::from), holder.is_anybody());
        if let Some((shelf, states)) = followed.get(&sight)
            && let Some(shelf) = shelf.upgrade()
        {
            return Ok((shelf, states.clone()));
        }
        if followed.len() >= MOST_TEAMS {
            return Err(Refusal::Closed(format!(
                "{MOST_TEAMS} teams are using these pages already; try again later"
            )));
        }
        // It looks for as long as anybody of the team may, whoever came first.
        let reader = match (holder.is_anybody(), holder.team()) {
            (true, _) => Holder::anybody(),
            (false, Some(team)) => Holder::of_token(PAGES, "", Some(team), &[Scope::Read]),
            (false, None) => Holder::of_token(PAGES, "", None, &[Scope::Admin]),
        };
        let begun = self.tasks.shutdown_token().child_token();
        let files = Arc::new(Files::default());
        let library = library_of(&files);
        let known = KnownHolder::in_this_process(reader.clone(), begun.clone());
        let source = Source {
            experiments: self.in_the_name_of(known),
            gateway: self.pages.gateway.clone(),
            only: None,
            holder: reader,
        };
        let stopping = begun.clone();
        let states = follow(&self.tasks, stopping, source, Arc::clone(&library), files);
        let states = states.map_err(|failure| Refusal::Unreadable(failure.to_string()))?;
        let shelf =
            Arc::new(Shelf::new(library, begun).with_judging(Arc::new(Drafts::OF_A_CLUSTER)));
        followed.insert(sight, (Arc::downgrade(&shelf), states.clone()));
        Ok((shelf, states))
    }

    /// The coordinator's services, as a holder's requests reach them.
    fn in_the_name_of(&self, known: KnownHolder) -> Transport {
        let services = self.pages.services.clone().prepare();
        transport::into_service(InTheNameOf { services, known })
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
