//! Where Redis is: one server (`redis://`, `rediss://` with TLS, `redis+unix://`), or sentinels that
//! know the master of that name (`redis+sentinel://`, `rediss+sentinel://` with TLS to all):
//! `redis+sentinel://user:password@sentinel-0:26379,sentinel-1/name/0?sentinel_password=word`. User and
//! password are those of Redis, `sentinel_user` and `sentinel_password` those of the sentinels; the
//! number behind the name is that of the database.

use agon_service_kit::secrets::keep;
use percent_encoding::percent_decode_str;
use redis::sentinel::{SentinelClient, SentinelClientBuilder, SentinelServerType};
use redis::{Client, ConnectionAddr, ErrorKind, RedisError, RedisResult, TlsMode};

/// Where sentinels listen unless the address says otherwise.
const SENTINEL_PORT: u16 = 26_379;

/// Who is asked for a connection.
pub enum Address {
    /// A server.
    Server(Box<Client>),
    /// Sentinels, for a connection to the master of the moment.
    Sentinels(Box<SentinelClient>),
}

impl Address {
    /// Reads an address.
    pub fn read(url: &str) -> RedisResult<Self> {
        let sentinels = match url.split_once("://") {
            Some(("redis+sentinel", rest)) => Some((rest, false)),
            Some(("rediss+sentinel", rest)) => Some((rest, true)),
            _ => None,
        };
        match sentinels {
            None => Ok(Self::Server(Box::new(Client::open(url)?))),
            Some((rest, tls)) => {
                sentinel_client(rest, tls).map(|client| Self::Sentinels(Box::new(client)))
            }
        }
    }
}

fn wrong(what: &'static str) -> RedisError {
    (ErrorKind::InvalidClientConfig, what).into()
}

/// The parts of an address behind its scheme.
#[derive(Debug, Default, PartialEq)]
struct Parts {
    user: Option<String>,
    password: Option<String>,
    sentinel_user: Option<String>,
    sentinel_password: Option<String>,
    sentinels: Vec<(String, u16)>,
    master: String,
    database: Option<i64>,
}

fn decoded(text: &str) -> Option<String> {
    let text = percent_decode_str(text).decode_utf8_lossy().into_owned();
    (!text.is_empty()).then_some(text)
}

fn parts(rest: &str) -> RedisResult<Parts> {
    let mut parts = Parts::default();
    // A password may hold what ends an authority elsewhere; so the last @ decides.
    let rest = match rest.rsplit_once('@') {
        None => rest,
        Some((userinfo, rest)) => {
            let (user, password) = userinfo.split_once(':').unwrap_or((userinfo, ""));
            (parts.user, parts.password) = (decoded(user), decoded(password));
            rest
        }
    };
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        match pair.split_once('=') {
            Some(("sentinel_user", user)) => parts.sentinel_user = decoded(user),
            Some(("sentinel_password", password)) => {
                keep(password);
                parts.sentinel_password = decoded(password);
            }
            _ => {
                return Err(wrong(
                    "only sentinel_user and sentinel_password may follow the ?",
                ));
            }
        }
    }
    let (hosts, path) = rest
        .split_once('/')
        .ok_or_else(|| wrong("the name of the master is missing behind the sentinels"))?;
    let (master, database) = path.split_once('/').unwrap_or((path, ""));
    parts.master = decoded(master)
        .ok_or_else(|| wrong("the name of the master is missing behind the sentinels"))?;
    if !database.is_empty() {
        let number = database.parse();
        parts.database = Some(number.map_err(|_| wrong("the database must be a number"))?);
    }
    parts.sentinels = hosts.split(',').map(sentinel).collect::<RedisResult<_>>()?;
    Ok(parts)
}

/// `host`, `host:port` or `[address]:port`.
fn sentinel(text: &str) -> RedisResult<(String, u16)> {
    let (host, port) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((host, rest)) => (host, rest.strip_prefix(':').unwrap_or(rest)),
        None => text.split_once(':').unwrap_or((text, "")),
    };
    if host.is_empty() {
        return Err(wrong("a sentinel's host is missing"));
    }
    let port = match port {
        "" => SENTINEL_PORT,
        port => port
            .parse()
            .map_err(|_| wrong("a sentinel's port must be a number"))?,
    };
    Ok((host.to_owned(), port))
}

fn sentinel_client(rest: &str, tls: bool) -> RedisResult<SentinelClient> {
    let parts = parts(rest)?;
    let addresses = parts.sentinels.into_iter().map(|(host, port)| {
        if tls {
            ConnectionAddr::TcpTls {
                host,
                port,
                insecure: false,
                tls_params: None,
            }
        } else {
            ConnectionAddr::Tcp(host, port)
        }
    });
    let mut builder =
        SentinelClientBuilder::new(addresses, &parts.master, SentinelServerType::Master)?;
    if tls {
        builder = builder.set_client_to_redis_tls_mode(TlsMode::Secure);
    }
    if let Some(database) = parts.database {
        builder = builder.set_client_to_redis_db(database);
    }
    if let Some(user) = parts.user {
        builder = builder.set_client_to_redis_username(user);
    }
    if let Some(password) = parts.password {
        builder = builder.set_client_to_redis_password(password);
    }
    if let Some(user) = parts.sentinel_user {
        builder = builder.set_client_to_sentinel_username(user);
    }
    if let Some(password) = parts.sentinel_password {
        keep(&password);
        builder = builder.set_client_to_sentinel_password(password);
    }
    builder.build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_of_sentinels_is_read() {
        let read = parts("al:p%40ss@one:1,two,[::1]:3/main/2?sentinel_password=w").unwrap();
        let expected = Parts {
            user: Some("al".to_owned()),
            password: Some("p@ss".to_owned()),
            sentinel_user: None,
            sentinel_password: Some("w".to_owned()),
            sentinels: vec![
                ("one".to_owned(), 1),
                ("two".to_owned(), SENTINEL_PORT),
                ("::1".to_owned(), 3),
            ],
            master: "main".to_owned(),
            database: Some(2),
        };
        assert_eq!(read, expected);
        assert_eq!(parts("one/main").unwrap().database, None);
    }

    #[test]
    fn address_without_a_master_or_with_something_else_is_refused() {
        for wrong in [
            "one",
            "one/",
            "/main",
            "one:x/main",
            "one/main/x",
            "one/main?db=1",
        ] {
            assert!(parts(wrong).is_err(), "{wrong}");
        }
    }
}
