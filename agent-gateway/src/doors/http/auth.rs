//! Who is let in: the holder of a team's bearer token, or, on a gateway without tokens that only its
//! own machine reaches, everybody. Checked before a body is read. Called by every handler that is
//! not public.

use std::sync::Arc;

use agon_identity::gate::{Admitted, Shown};
use agon_identity::holder::Holder;
use axum::extract::{FromRequestParts, MatchedPath};
use axum::http::request::Parts;
use tokio_util::sync::CancellationToken;

use super::Door;
use super::api_error::ApiError;

/// The team of those who need no token.
const DEFAULT_TEAM: &str = "default";

/// Somebody who was let in.
pub(super) struct Client {
    pub holder: Holder,
    /// Cancelled once the token is not accepted any more.
    pub ended: CancellationToken,
}

impl Client {
    /// Who pays.
    pub(super) fn team(&self) -> &str {
        self.holder.team().unwrap_or(DEFAULT_TEAM)
    }

    /// Whose asks at doors this client may see and answer; absent: everybody's.
    pub(super) fn only_team(&self) -> Option<&str> {
        self.holder.team()
    }
}

impl FromRequestParts<Arc<Door>> for Client {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, door: &Arc<Door>) -> Result<Self, ApiError> {
        let route = parts.extensions.get::<MatchedPath>();
        let route = route.map_or("", MatchedPath::as_str);
        let shown = Shown::of(&parts.headers, &parts.uri);
        let admitted = door.gate.admit_soon(route, shown).await;
        let Admitted { holder, ended, .. } =
            admitted.map_err(|refusal| ApiError::refused(&refusal))?;
        Ok(Self { holder, ended })
    }
}
