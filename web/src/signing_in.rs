//! Signing in at a provider instead of showing a token: a browser is sent there and comes back with a code,
//! and only the browser that was sent may come back. What a provider is and says, is the business of
//! whoever implements [`Provider`].

use futures_util::future::BoxFuture;

use crate::access::SignedIn;

/// Where browsers are sent to a provider.
pub(crate) const SIGN_IN: &str = "/api/v1/sign-in";

/// Where a provider sends them back to.
pub const BACK: &str = "/api/v1/sign-in/back";

/// A provider at which people sign in.
pub trait Provider: Send + Sync + 'static {
    /// What it is called; `None` where people do not sign in at any.
    fn name(&self) -> Option<String>;

    /// Sends a browser there.
    ///
    /// # Errors
    /// The provider does not answer, or there is none.
    fn begin(&self) -> BoxFuture<'_, Result<Begun, SignInRefusal>>;

    /// What somebody may see who comes back.
    ///
    /// # Errors
    /// It is another browser, the provider does not vouch for it, or nobody has let them in.
    fn end(&self, back: Back) -> BoxFuture<'_, Result<SignedIn, SignInRefusal>>;
}

/// A browser that is sent to a provider.
#[derive(Debug)]
pub struct Begun {
    /// Where to.
    pub address: String,
    /// What the browser shows when it comes back.
    pub browser: String,
}

/// What a browser comes back with.
#[derive(Debug, Default)]
pub struct Back {
    /// The provider's code, unless it has refused.
    pub code: String,
    /// What it was sent with.
    pub state: String,
    /// The cookie that it was given; empty when it shows none.
    pub browser: String,
}

/// Why somebody is not signed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignInRefusal {
    /// The provider vouches for them, and nobody has let them in here.
    Unknown,
    /// It did not come to that. The log says more.
    Failed,
    /// Too many at once.
    Busy,
}

impl SignInRefusal {
    /// The word by which the sign-in page knows it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Failed => "failed",
            Self::Busy => "busy",
        }
    }
}
