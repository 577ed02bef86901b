//! The coordinator that commands speak to: of several addresses the one in charge. It is looked for
//! before the first call, and again when it could not be reached or says that it is not in charge
//! any more, so that whoever asks again is answered. Called by every command of a coordinator.

use std::sync::Arc;
use std::time::Duration;

use agon_service_kit::secrets::shown_address;
use agon_service_kit::server::is_serving;
use agon_worker::{Transport, transport};
use parking_lot::Mutex;
use tonic::body::Body;
use tonic::transport::Channel;
use tonic::{Code, Status};
use tower::{BoxError, ServiceExt as _};

use crate::connecting::{channel_to, signed};
use crate::failure::Failure;

/// What separates addresses.
pub const SEPARATOR: char = ',';

/// A standby answers at once that it is one; one that hangs must not hold up the search.
const ANSWERS_WITHIN: Duration = Duration::from_secs(2);

/// Where the coordinator is.
#[derive(Debug, clap::Args)]
pub struct CoordinatorAddress {
    /// Where the coordinator listens; of several, separated by commas, the one in charge is found
    #[arg(
        long,
        env = "AGON_COORDINATOR",
        hide_env_values = true,
        default_value = "http://127.0.0.1:7700",
        value_name = "URL"
    )]
    pub coordinator: String,
}

/// A transport to the one in charge of these coordinators: addresses, separated by commas.
///
/// # Errors
/// One of them is no address.
pub fn in_charge(addresses: &str) -> Result<Transport, Failure> {
    let addresses: Vec<String> = addresses.split(SEPARATOR).map(str::to_owned).collect();
    for address in &addresses {
        channel_to(address)?;
    }
    let coordinators = Arc::new(Coordinators {
        addresses,
        found: Mutex::new(None),
    });
    let call = move |request| Arc::clone(&coordinators).call(request);
    Ok(transport::into_service(tower::service_fn(call)))
}

/// The addresses without the secrets that they may hold.
pub fn shown(addresses: &str) -> String {
    let shown: Vec<String> = addresses.split(SEPARATOR).map(shown_address).collect();
    shown.join(&SEPARATOR.to_string())
}

struct Coordinators {
    addresses: Vec<String>,
    /// The connection to the one that was in charge last.
    found: Mutex<Option<Channel>>,
}

type Answer = Result<http::Response<Body>, BoxError>;

impl Coordinators {
    async fn call(self: Arc<Self>, request: http::Request<Body>) -> Answer {
        let known = self.found.lock().clone();
        let channel = match known {
            Some(channel) => channel,
            None => self.search().await.map_err(|failure| failure.to_string())?,
        };
        let answer = channel.clone().oneshot(signed(request)).await;
        let is_away = match &answer {
            Ok(response) => Status::from_header_map(response.headers())
                .is_some_and(|status| status.code() == Code::Unavailable),
            Err(_) => true,
        };
        *self.found.lock() = (!is_away).then_some(channel);
        Ok(answer?)
    }

    /// A new connection to the one in charge; to the first, when none of them says that it is.
    async fn search(&self) -> Result<Channel, Failure> {
        let channels = self.addresses.iter().map(|address| channel_to(address));
        let mut channels = channels.collect::<Result<Vec<Channel>, _>>()?;
        if channels.len() > 1 {
            for one in &channels {
                let serving = tokio::time::timeout(ANSWERS_WITHIN, is_serving(one.clone()));
                if serving.await == Ok(true) {
                    return Ok(one.clone());
                }
            }
        }
        // Splitting a text gives at least one part.
        Ok(channels.swap_remove(0))
    }
}
