//! Pages in a browser, wired: records from files or from a coordinator, what is being played, and the web
//! server. Called by `agon view`, `agon run --web` and `agon coordinator`.

pub mod calls;
mod files;
mod followed;
mod following;
pub mod listing;
mod oidc;
mod spool;
pub mod teams;

use std::net::SocketAddr;
use std::sync::Arc;

use agon_service_kit::http;
use agon_service_kit::server::Listener;
use agon_service_kit::tasks::{TaskKind, Tasks};
use agon_web::seats::Seats;
use agon_web::sweeps::Sweeps;
use agon_web::{Access, Entrance, Library, Shelf};
use tokio_util::sync::CancellationToken;

use crate::failure::Failure;
use crate::judged::Drafts;
use crate::role::on_this_machine;
pub use files::Files;
pub use following::{Following, Source};

/// Where pages are served unless another address is named.
pub const LISTEN: &str = "127.0.0.1:7790";

/// A web server that is about to serve.
pub struct Pages {
    listener: Listener,
    token: String,
    library: Arc<Library>,
}

impl Pages {
    /// Opens the port, on this machine alone.
    ///
    /// # Errors
    /// It cannot be opened, or others would reach it.
    pub async fn open(listen: &str, source: &Arc<Files>) -> Result<Self, Failure> {
        Ok(Self {
            listener: on_this_machine(listen).await?,
            token: agon_web::token().map_err(Failure::surroundings)?,
            library: library_of(source),
        })
    }

    /// What a browser opens: the address with the access token.
    pub fn address(&self) -> String {
        format!("{}/#token={}", self.origin(), self.token)
    }

    /// Where pages are, for whoever has another way in.
    pub fn origin(&self) -> String {
        let address: SocketAddr = self.listener.local_addr();
        format!("http://{address}")
    }

    /// What is listed, to add to it.
    pub fn library(&self) -> Arc<Library> {
        Arc::clone(&self.library)
    }

    /// Serves until shutdown.
    ///
    /// # Errors
    /// The system gives no randomness.
    pub fn serve(
        self,
        tasks: &Tasks,
        sweeps: Option<Arc<dyn Sweeps>>,
        seats: Option<Arc<Seats>>,
    ) -> Result<(), Failure> {
        let shelf =
            Shelf::new(self.library, CancellationToken::new()).with_judging(Arc::new(Drafts::HERE));
        let access = Access::new(Arc::new(shelf), sweeps);
        let entrance = Entrance::open(&self.token, access).map_err(Failure::surroundings)?;
        serve(tasks, self.listener, entrance, seats);
        Ok(())
    }
}

/// A library of what lies in these files, and in those that come.
fn library_of(files: &Arc<Files>) -> Arc<Library> {
    let source = Arc::clone(files);
    Arc::new(Library::new(source as Arc<dyn agon_web::Source>))
}

fn serve(tasks: &Tasks, listener: Listener, entrance: Entrance, seats: Option<Arc<Seats>>) {
    let router = agon_web::router(Arc::new(entrance), seats);
    let serving = http::serve(
        tasks.clone(),
        "pages",
        TaskKind::SERVICE,
        listener,
        router,
        tasks.shutdown_token(),
    );
    tasks.spawn(TaskKind::SERVICE, "pages", serving);
}
