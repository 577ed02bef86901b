//! Who comes in: whoever shows a token that a [`Doorkeeper`] accepts gets a cookie, and whoever has such a
//! cookie is let in to what the token's holder may see. Holds digests only, compared in constant time.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use blake3::Hash;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use http::HeaderMap;
use http::header::{COOKIE, HOST, ORIGIN};
use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

use crate::access::{Access, SignedIn};
use crate::refusal::Refusal;
use crate::signing_in::{Provider, SIGN_IN};

/// How names of cookies begin; browsers do not tell servers of one machine apart, so each has its own.
const NAME: &str = "agon-view";

/// Digits that tell cookies of servers on one machine apart.
const NAME_DIGITS: usize = 8;

/// Cookies that are known at once; the oldest goes first.
const MOST_COOKIES: usize = 4_000;

/// Browsers in which one holder is signed in at once; a holder who signs in more often signs out of the
/// first, and of nobody else's.
const MOST_BROWSERS: usize = 50;

/// A cookie that nobody has shown for so long is forgotten, and with it what was kept for its holder.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(12 * 60 * 60);

/// Bytes of randomness in tokens and cookies.
const RANDOM_BYTES: usize = 24;

/// Decides who may see what.
pub trait Doorkeeper: Send + Sync + 'static {
    /// What the holder of a token may see.
    ///
    /// # Errors
    /// The token is not accepted; says why.
    fn enter(&self, token: String) -> BoxFuture<'_, Result<SignedIn, Refusal>>;

    /// What people are told of tokens where they sign in.
    fn hint(&self) -> &'static str;

    /// Where people may sign in instead.
    fn provider(&self) -> Option<&dyn Provider> {
        None
    }

    /// Why nothing is shown here, while another process has what there is; whoever asked this one may
    /// ask that.
    fn elsewhere(&self) -> Option<String> {
        None
    }

    /// Why tokens of the store are not believed for now: nobody could say that one was revoked.
    fn in_doubt(&self) -> Option<String> {
        None
    }

    /// Whether pages may be called by any name. Without a team's token to keep others out they are for
    /// their own machine.
    fn serves_others(&self) -> bool;
}

impl Cookie {
    fn is_valid(&self) -> bool {
        !self.signed_in.ended.is_cancelled() && self.shown.elapsed() < FORGOTTEN_AFTER
    }
}

/// See the module.
pub struct Entrance {
    doorkeeper: Arc<dyn Doorkeeper>,
    cookie_name: String,
    /// Whether cookies are for encrypted connections alone.
    is_secure: bool,
    cookies: Mutex<VecDeque<Cookie>>,
}

/// One that was given to a browser.
struct Cookie {
    digest: Hash,
    signed_in: SignedIn,
    shown: Instant,
}

impl Drop for Cookie {
    /// What it opened ends with it.
    fn drop(&mut self) {
        self.signed_in.ended.cancel();
    }
}

impl Entrance {
    /// One with one [`token`] for everything that may be seen, which is kept as a digest.
    ///
    /// # Errors
    /// The system gives no randomness.
    pub fn open(token: &str, access: Access) -> Result<Self, getrandom::Error> {
        let keeper = PrintedToken {
            token: blake3::hash(token.as_bytes()),
            access: Arc::new(access),
        };
        Self::kept_by(Arc::new(keeper), false)
    }

    /// One where somebody else decides.
    ///
    /// # Errors
    /// The system gives no randomness.
    pub fn kept_by(
        doorkeeper: Arc<dyn Doorkeeper>,
        is_secure: bool,
    ) -> Result<Self, getrandom::Error> {
        Ok(Self {
            doorkeeper,
            // No other host can set a cookie with this beginning.
            cookie_name: format!(
                "{}{NAME}-{}",
                if is_secure { "__Host-" } else { "" },
                &random()?[..NAME_DIGITS]
            ),
            is_secure,
            cookies: Mutex::new(VecDeque::new()),
        })
    }

    /// The cookie for whoever shows a token, as a header's value.
    ///
    /// # Errors
    /// The token is not accepted, or there is no randomness.
    pub async fn enter(&self, token: &str) -> Result<String, Refusal> {
        let signed_in = self.doorkeeper.enter(token.trim().to_owned()).await?;
        self.let_in(signed_in)
    }

    /// The same for whoever has signed in elsewhere.
    ///
    /// # Errors
    /// There is no randomness.
    pub(crate) fn let_in(&self, signed_in: SignedIn) -> Result<String, Refusal> {
        let cookie = random().map_err(|error| Refusal::Unreadable(error.to_string()))?;
        let mut cookies = self.cookies.lock();
        cookies.retain(Cookie::is_valid);
        let is_own = |cookie: &Cookie| Arc::ptr_eq(&cookie.signed_in.access, &signed_in.access);
        let too_many = match cookies.iter().filter(|cookie| is_own(cookie)).count() {
            MOST_BROWSERS.. => cookies.iter().position(is_own),
            _ => (cookies.len() == MOST_COOKIES).then_some(0),
        };
        if let Some(oldest) = too_many {
            cookies.remove(oldest);
        }
        cookies.push_back(Cookie {
            digest: blake3::hash(cookie.as_bytes()),
            signed_in,
            shown: Instant::now(),
        });
        Ok(self.cookie(&cookie, ""))
    }

    /// Forgets the cookie of whoever signs out; gives the header's value that has the browser forget it.
    pub fn leave(&self, headers: &HeaderMap) -> String {
        let shown = self.shown(headers);
        self.cookies
            .lock()
            .retain(|cookie| !shown.contains(&cookie.digest));
        self.cookie("", "; Max-Age=0")
    }

    fn cookie(&self, value: &str, more: &str) -> String {
        let secure = if self.is_secure { "; Secure" } else { "" };
        let name = &self.cookie_name;
        format!("{name}={value}; Path=/; HttpOnly; SameSite=Strict{secure}{more}")
    }

    /// Lets a request in that has one cookie of ours, to what its holder may see.
    ///
    /// # Errors
    /// It has none of ours, or the token behind it is not accepted any more.
    pub fn admit(&self, headers: &HeaderMap) -> Result<SignedIn, Refusal> {
        let shown = self.shown(headers);
        let mut cookies = self.cookies.lock();
        cookies.retain(Cookie::is_valid);
        // Digests of blake3 are compared in constant time.
        let mut known = cookies.iter_mut();
        let mut known = known
            .by_ref()
            .filter(|cookie| shown.contains(&cookie.digest));
        let cookie = known.next().ok_or(Refusal::NotEntered)?;
        // Of two, one may have been put there by another site.
        if known.next().is_some() {
            return Err(Refusal::NotEntered);
        }
        cookie.shown = Instant::now();
        let signed_in = cookie.signed_in.clone();
        drop(cookies);
        match self.doorkeeper.in_doubt().filter(|_| signed_in.is_stored) {
            Some(why) => Err(Refusal::Unreadable(why)),
            None => Ok(signed_in),
        }
    }

    /// Where people sign in.
    ///
    /// # Errors
    /// Nowhere.
    pub(crate) fn provider(&self) -> Result<&dyn Provider, Refusal> {
        let provider = self.doorkeeper.provider();
        let missing = || Refusal::Missing("provider at which people sign in".to_owned());
        provider
            .filter(|provider| provider.name().is_some())
            .ok_or_else(missing)
    }

    /// What a browser shows when it comes back from a provider, as a header's value. It comes back from
    /// another site.
    pub(crate) fn browser_cookie(&self, value: &str) -> String {
        let secure = if self.is_secure { "; Secure" } else { "" };
        let name = self.browser_cookie_name();
        format!("{name}={value}; Path={SIGN_IN}; Max-Age=600; HttpOnly; SameSite=Lax{secure}")
    }

    /// What a browser shows of that; empty when it shows nothing.
    pub(crate) fn browser(&self, headers: &HeaderMap) -> String {
        let name = self.browser_cookie_name();
        shown(headers, &name).next().unwrap_or_default().to_owned()
    }

    fn browser_cookie_name(&self) -> String {
        // Its path is not the whole host.
        let name = self.cookie_name.trim_start_matches("__Host-");
        let secure = if self.is_secure { "__Secure-" } else { "" };
        format!("{secure}{name}-sign-in")
    }

    /// Who decides.
    pub fn doorkeeper(&self) -> &dyn Doorkeeper {
        &*self.doorkeeper
    }

    /// Digests of the cookies that a request shows under our name.
    fn shown(&self, headers: &HeaderMap) -> Vec<Hash> {
        shown(headers, &self.cookie_name)
            .map(|value| blake3::hash(value.as_bytes()))
            .collect()
    }
}

/// The cookies of this name that a request shows.
fn shown<'a>(headers: &'a HeaderMap, name: &'a str) -> impl Iterator<Item = &'a str> {
    let all = headers.get_all(COOKIE).iter();
    let all = all.filter_map(|value| value.to_str().ok());
    all.flat_map(|value| value.split(';'))
        .filter_map(move |one| {
            let (shown, value) = one.trim().split_once('=')?;
            (shown == name).then_some(value)
        })
}

/// One token for everything, printed when the server starts.
struct PrintedToken {
    token: Hash,
    access: Arc<Access>,
}

impl Doorkeeper for PrintedToken {
    fn enter(&self, token: String) -> BoxFuture<'_, Result<SignedIn, Refusal>> {
        let is_ours = blake3::hash(token.as_bytes()) == self.token;
        let signed_in = is_ours.then(|| SignedIn {
            access: Arc::clone(&self.access),
            ended: CancellationToken::new(),
            is_stored: false,
        });
        async move { signed_in.ok_or(Refusal::WrongToken) }.boxed()
    }

    fn hint(&self) -> &'static str {
        "The program prints an access token when it starts."
    }

    fn serves_others(&self) -> bool {
        false
    }
}

/// Refuses a request that reached this machine under a name that others may use, so that no page of
/// another site reads this one through it.
///
/// # Errors
/// The name is not one of this machine alone.
pub fn check_host(headers: &HeaderMap) -> Result<(), Refusal> {
    let host = headers.get(HOST).and_then(|host| host.to_str().ok());
    host.is_some_and(is_this_machine)
        .then_some(())
        .ok_or(Refusal::OtherHost)
}

/// Refuses a change that another site asks for.
///
/// # Errors
/// A browser says that it does.
pub fn check_origin(headers: &HeaderMap) -> Result<(), Refusal> {
    let site = headers.get("sec-fetch-site");
    if site.is_some_and(|site| site != "same-origin" && site != "none") {
        return Err(Refusal::OtherSite);
    }
    let host = headers.get(HOST).and_then(|host| host.to_str().ok());
    let origin = headers.get(ORIGIN).map(|origin| origin.to_str().ok());
    let is_same = origin.is_none_or(|origin| {
        let origin = origin.and_then(|origin| origin.split_once("://"));
        origin.is_some_and(|(_, origin)| Some(origin) == host)
    });
    is_same.then_some(()).ok_or(Refusal::OtherSite)
}

/// Whether a request was sent to this host.
pub fn is_called(headers: &HeaderMap, host: &str) -> bool {
    let called = headers.get(HOST).and_then(|host| host.to_str().ok());
    called.is_some_and(|called| called.eq_ignore_ascii_case(host))
}

fn is_this_machine(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|digit| digit.is_ascii_digit()) => name,
        _ => host,
    };
    let name = name.trim_start_matches('[').trim_end_matches(']');
    let is_loopback = name
        .parse()
        .is_ok_and(|ip: std::net::IpAddr| ip.is_loopback());
    is_loopback || name.eq_ignore_ascii_case("localhost")
}

/// A new token that is printed when a server starts.
///
/// # Errors
/// The system gives no randomness.
pub fn token() -> Result<String, getrandom::Error> {
    random()
}

/// Whether somebody shows this token, in a time that says nothing of it.
pub fn is_same(shown: &str, token: &str) -> bool {
    blake3::hash(shown.as_bytes()) == blake3::hash(token.as_bytes())
}

fn random() -> Result<String, getrandom::Error> {
    let mut bytes = [0; RANDOM_BYTES];
    getrandom::fill(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests;
