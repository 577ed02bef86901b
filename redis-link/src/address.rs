//! Where Redis is: one server (`redis://`, `rediss://` with TLS, `redis+unix://`), or sentinels that
//! know the master of a name: `redis+sentinel://USER:PASSWORD@SENTINEL:26379,SENTINEL/NAME/DATABASE`.
//! Behind the `?`: `sentinel_user` and `sentinel_password` for the sentinels themselves; with TLS
//! `ca`, a file with the CA to trust instead of the system's, `cert` and `key`, files with the client's
//! certificate and key.

use std::path::Path;
use std::time::Duration;

use agon_service_kit::files::read_whole;
use agon_service_kit::secrets::keep;
use percent_encoding::percent_decode_str;
use redis::io::tcp::TcpSettings;
use redis::sentinel::{SentinelClient, SentinelClientBuilder, SentinelServerType};
use redis::{
    Client, ClientTlsConfig, ConnectionAddr, ErrorKind, IntoConnectionInfo as _, RedisError,
    RedisResult, TlsCertificates, TlsMode,
};

/// Where sentinels listen unless the address says otherwise.
const SENTINEL_PORT: u16 = 26_379;

/// What is sent and not acknowledged for so long never will be: a connection that was lost
/// without a word is replaced, instead of waiting minutes for the kernel.
const UNACKNOWLEDGED: Duration = Duration::from_secs(3);

/// No chain of certificates is longer.
const MOST_CERTIFICATE_BYTES: u64 = 1 << 20;

/// Who is asked for a connection.
pub enum Address {
    /// A server.
    Server(Box<Client>),
    /// Sentinels, for a connection to the master of the moment.
    Sentinels(Box<SentinelClient>),
}

impl Address {
    /// Reads an address and the files that it names. Nobody is connected to yet.
    ///
    /// # Errors
    /// It makes no sense, or a file cannot be read.
    pub fn read(url: &str) -> RedisResult<Self> {
        agon_service_kit::server::install_crypto();
        let (url, options) = Options::split(url)?;
        let sentinels = match url.split_once("://") {
            Some(("redis+sentinel", rest)) => Some((rest, false)),
            Some(("rediss+sentinel", rest)) => Some((rest, true)),
            _ => None,
        };
        if options.names_files() && !url.starts_with("rediss") {
            return Err(wrong(
                "ca, cert and key belong to rediss:// and rediss+sentinel://",
            ));
        }
        match sentinels {
            None => server_client(&url, &options).map(|client| Self::Server(Box::new(client))),
            Some((rest, tls)) => {
                sentinel_client(rest, tls, &options).map(|client| Self::Sentinels(Box::new(client)))
            }
        }
    }
}

/// What may follow the `?` of an address, beside what the client itself knows.
#[derive(Debug, Default, PartialEq)]
struct Options {
    sentinel_user: Option<String>,
    sentinel_password: Option<String>,
    ca: Option<String>,
    cert: Option<String>,
    key: Option<String>,
}

impl Options {
    /// The address without ours, and these.
    fn split(url: &str) -> RedisResult<(String, Self)> {
        let mut options = Self::default();
        // A password may hold what ends an authority elsewhere; so the last @ decides.
        let authority = url.rfind('@').map_or(0, |at| at + 1);
        let Some(mark) = url[authority..].find('?').map(|mark| authority + mark) else {
            return Ok((url.to_owned(), options));
        };
        let (query, fragment) = match url[mark + 1..].split_once('#') {
            Some((query, fragment)) => (query, format!("#{fragment}")),
            None => (&url[mark + 1..], String::new()),
        };
        let mut others = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            match name {
                "sentinel_user" => options.sentinel_user = decoded(value),
                "sentinel_password" => {
                    keep(value);
                    options.sentinel_password = decoded(value).inspect(|word| keep(word));
                }
                "ca" => options.ca = decoded(value),
                "cert" => options.cert = decoded(value),
                "key" => options.key = decoded(value),
                "protocol" => others.push(pair),
                _ => {
                    return Err(wrong(
                        "only ca, cert, key, protocol, sentinel_user and sentinel_password may \
                         follow the ?",
                    ));
                }
            }
        }
        let mut rest = url[..mark].to_owned();
        if !others.is_empty() {
            rest = format!("{rest}?{}", others.join("&"));
        }
        Ok((rest + &fragment, options))
    }

    fn names_files(&self) -> bool {
        [&self.ca, &self.cert, &self.key]
            .into_iter()
            .any(Option::is_some)
    }

    /// What the files hold; nothing when the system's authorities are believed and nobody has to
    /// be known.
    fn certificates(&self) -> RedisResult<Option<TlsCertificates>> {
        let read = |path: &String| {
            read_whole(Path::new(path), MOST_CERTIFICATE_BYTES).map_err(|error| {
                let detail = format!("{path}: {error}");
                let what = "a certificate or its key cannot be read";
                RedisError::from((ErrorKind::InvalidClientConfig, what, detail))
            })
        };
        let client_tls = match (&self.cert, &self.key) {
            (None, None) => None,
            (Some(cert), Some(key)) => Some(ClientTlsConfig {
                client_cert: read(cert)?,
                client_key: read(key)?,
            }),
            _ => return Err(wrong("cert and key belong together")),
        };
        let root_cert = self.ca.as_ref().map(read).transpose()?;
        let any = client_tls.is_some() || root_cert.is_some();
        Ok(any.then_some(TlsCertificates {
            client_tls,
            root_cert,
        }))
    }
}

fn tcp_settings() -> TcpSettings {
    TcpSettings::default()
        .set_nodelay(true)
        .set_user_timeout(UNACKNOWLEDGED)
}

fn wrong(what: &'static str) -> RedisError {
    (ErrorKind::InvalidClientConfig, what).into()
}

fn decoded(text: &str) -> Option<String> {
    let text = percent_decode_str(text).decode_utf8_lossy().into_owned();
    (!text.is_empty()).then_some(text)
}

fn server_client(url: &str, options: &Options) -> RedisResult<Client> {
    if options.sentinel_user.is_some() || options.sentinel_password.is_some() {
        return Err(wrong(
            "sentinel_user and sentinel_password belong to redis+sentinel://",
        ));
    }
    let server = url.into_connection_info()?.set_tcp_settings(tcp_settings());
    match options.certificates()? {
        None => Client::open(server),
        Some(certificates) => Client::build_with_tls(server, certificates),
    }
}

/// The parts of an address of sentinels behind its scheme.
#[derive(Debug, Default, PartialEq)]
struct Parts {
    user: Option<String>,
    password: Option<String>,
    sentinels: Vec<(String, u16)>,
    master: String,
    database: Option<i64>,
}

fn parts(rest: &str) -> RedisResult<Parts> {
    let mut parts = Parts::default();
    let rest = match rest.rsplit_once('@') {
        None => rest,
        Some((userinfo, rest)) => {
            let (user, password) = userinfo.split_once(':').unwrap_or((userinfo, ""));
            (parts.user, parts.password) = (decoded(user), decoded(password));
            rest
        }
    };
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

fn sentinel_client(rest: &str, tls: bool, options: &Options) -> RedisResult<SentinelClient> {
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
        SentinelClientBuilder::new(addresses, &parts.master, SentinelServerType::Master)?
            .set_client_to_redis_tcp_settings(tcp_settings())
            .set_client_to_sentinel_tcp_settings(tcp_settings());
    if tls {
        builder = builder.set_client_to_redis_tls_mode(TlsMode::Secure);
    }
    if let Some(certificates) = options.certificates()? {
        builder = builder
            .set_client_to_redis_certificates(certificates.clone())
            .set_client_to_sentinel_certificates(certificates);
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
    if let Some(user) = &options.sentinel_user {
        builder = builder.set_client_to_sentinel_username(user);
    }
    if let Some(password) = &options.sentinel_password {
        builder = builder.set_client_to_sentinel_password(password);
    }
    builder.build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_of_sentinels_is_read() {
        let (rest, options) =
            Options::split("al:p%40ss@one:1,two,[::1]:3/main/2?sentinel_password=w").unwrap();
        let expected = Parts {
            user: Some("al".to_owned()),
            password: Some("p@ss".to_owned()),
            sentinels: vec![
                ("one".to_owned(), 1),
                ("two".to_owned(), SENTINEL_PORT),
                ("::1".to_owned(), 3),
            ],
            master: "main".to_owned(),
            database: Some(2),
        };
        assert_eq!(parts(&rest).unwrap(), expected);
        assert_eq!(options.sentinel_password.as_deref(), Some("w"));
        assert_eq!(parts("one/main").unwrap().database, None);
    }

    #[test]
    fn options_are_taken_out_of_an_address_and_a_password_is_left_alone() {
        let (rest, options) =
            Options::split("rediss://a:b?c@host:1/2?ca=/x%20y&protocol=resp3#insecure").unwrap();
        assert_eq!(rest, "rediss://a:b?c@host:1/2?protocol=resp3#insecure");
        assert_eq!(options.ca.as_deref(), Some("/x y"));
    }

    #[test]
    fn address_that_makes_no_sense_is_refused() {
        for wrong in [
            "redis+sentinel://one",
            "redis+sentinel://one/",
            "redis+sentinel:///main",
            "redis+sentinel://one:x/main",
            "redis+sentinel://one/main/x",
            "redis+sentinel://one/main?db=1",
            "redis://one?ca=/ca.pem",
            "rediss://one?ca=/nowhere/ca.pem",
            "rediss://one?cert=/ca.pem",
            "redis://one?sentinel_password=w",
            "redis://one?pasword=w",
        ] {
            assert!(Address::read(wrong).is_err(), "{wrong}");
        }
    }
}
