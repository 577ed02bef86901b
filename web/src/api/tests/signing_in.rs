//! Claims about signing in at a provider: the way there and back, the cookies on it, and what a browser is
//! told that is refused.

use http::header::LOCATION;

use super::*;
use crate::signing_in::{Back, Begun, Provider, SignInRefusal};
use crate::{AccessHolder, Doorkeeper, Refusal, Shelf, SignedIn};

/// A provider that knows one browser and two codes.
struct Lab {
    access: Arc<Access>,
    is_away: bool,
}

impl Lab {
    fn signed_in(&self) -> SignedIn {
        SignedIn {
            access: Arc::clone(&self.access),
            ended: CancellationToken::new(),
            is_stored: false,
        }
    }
}

impl Doorkeeper for Lab {
    fn enter(&self, _: String) -> BoxFuture<'_, Result<SignedIn, Refusal>> {
        async { Err(Refusal::WrongToken) }.boxed()
    }

    fn hint(&self) -> &'static str {
        ""
    }

    fn provider(&self) -> Option<&dyn Provider> {
        Some(self)
    }

    fn serves_others(&self) -> bool {
        true
    }
}

impl Provider for Lab {
    fn name(&self) -> Option<String> {
        (!self.is_away).then(|| "Lab".to_owned())
    }

    fn begin(&self) -> BoxFuture<'_, Result<Begun, SignInRefusal>> {
        let begun = Begun {
            address: "https://login.example.org/?state=s".to_owned(),
            browser: "b1".to_owned(),
        };
        async { Ok(begun) }.boxed()
    }

    fn end(&self, back: Back) -> BoxFuture<'_, Result<SignedIn, SignInRefusal>> {
        let ended = match (&*back.browser, &*back.state, &*back.code) {
            ("b1", "s", "ann") => Ok(self.signed_in()),
            ("b1", "s", "eve") => Err(SignInRefusal::Unknown),
            _ => Err(SignInRefusal::Failed),
        };
        async { ended }.boxed()
    }
}

fn lab(is_away: bool) -> Router {
    let library = Arc::new(Library::new(Arc::new(Records(Vec::new()))));
    let access = Access::new(
        Arc::new(Shelf::new(library, CancellationToken::new())),
        None,
    );
    let holder = AccessHolder {
        name: "ann".to_owned(),
        team: Some("red".to_owned()),
    };
    let access = Arc::new(access.of(holder));
    let entrance = Entrance::kept_by(Arc::new(Lab { access, is_away }), true).unwrap();
    router(Arc::new(entrance), None)
}

async fn get(router: &Router, path: &str, cookie: &str) -> Response<Body> {
    let request = Request::get(path).header(HOST, "agon.example.org");
    let request = request.header(COOKIE, cookie).body(Body::empty()).unwrap();
    router.clone().oneshot(request).await.unwrap()
}

fn said<'a>(response: &'a Response<Body>, name: &http::HeaderName) -> &'a str {
    let value = response.headers().get(name);
    value.map_or("", |value| value.to_str().unwrap())
}

#[tokio::test]
async fn a_browser_goes_to_the_provider_and_comes_back_with_its_own_cookie_alone() {
    let router = lab(false);
    let begun = get(&router, "/api/v1/sign-in", "").await;
    assert_eq!(begun.status(), StatusCode::SEE_OTHER);
    assert_eq!(
        said(&begun, &LOCATION),
        "https://login.example.org/?state=s"
    );
    let given = said(&begun, &SET_COOKIE);
    for part in [
        "=b1; Path=/api/v1/sign-in;",
        "HttpOnly",
        "SameSite=Lax",
        "Secure",
    ] {
        assert!(given.contains(part), "{given}");
    }
    let browser = given.split(';').next().unwrap().to_owned();

    let back = "/api/v1/sign-in/back?state=s&code=ann";
    let let_in = get(&router, back, &browser).await;
    assert_eq!(let_in.status(), StatusCode::SEE_OTHER);
    assert_eq!(said(&let_in, &LOCATION), "/");
    let cookie = said(&let_in, &SET_COOKIE)
        .split(';')
        .next()
        .unwrap()
        .to_owned();
    assert!(said(&let_in, &SET_COOKIE).contains("SameSite=Strict"));
    let holder = get(&router, "/api/v1/holder", &cookie).await;
    assert_eq!(json_of(holder).await["holder"]["team"], "red");

    for (path, cookie, word) in [
        (back, "", "failed"),
        (back, &*cookie, "failed"),
        ("/api/v1/sign-in/back?state=s&code=eve", &browser, "unknown"),
        ("/api/v1/sign-in/back?state=x&code=ann", &browser, "failed"),
        (
            "/api/v1/sign-in/back?error=access_denied",
            &browser,
            "failed",
        ),
    ] {
        let refused = get(&router, path, cookie).await;
        assert_eq!(refused.status(), StatusCode::SEE_OTHER, "{path}");
        assert_eq!(
            said(&refused, &LOCATION),
            format!("/#refused={word}"),
            "{path}"
        );
        assert_eq!(said(&refused, &SET_COOKIE), "", "{path}");
    }
}

#[tokio::test]
async fn nobody_is_sent_anywhere_where_there_is_no_provider() {
    let router = lab(true);
    for path in ["/api/v1/sign-in", "/api/v1/sign-in/back?state=s&code=ann"] {
        let refused = get(&router, path, "").await;
        assert_eq!(refused.status(), StatusCode::NOT_FOUND, "{path}");
    }
    let told = json_of(get(&router, "/api/v1/entrance", "").await).await;
    assert_eq!(told["provider"], Value::Null);
}

/// Browsers speak HTTP/2 over TLS, where the address has what the header `Host` has elsewhere.
#[tokio::test]
async fn requests_without_the_header_host_are_called_by_their_address() {
    let stand = Stand::new();
    for (uri, status) in [
        (
            "https://127.0.0.1:7790/api/v1/enter",
            StatusCode::NO_CONTENT,
        ),
        ("https://evil.example/api/v1/enter", StatusCode::FORBIDDEN),
    ] {
        let entering = json!({ "token": stand.token }).to_string();
        let origin = uri.trim_end_matches("/api/v1/enter");
        let request = Request::post(uri)
            .header(CONTENT_TYPE, "application/json")
            .header(http::header::ORIGIN, origin)
            .header("sec-fetch-site", "same-origin")
            .body(Body::from(entering))
            .unwrap();
        assert_eq!(stand.ask(request).await.status(), status, "{uri}");
    }
}
