//! Every metric of TLS: names, help texts, and the function that records. Described and served by every
//! role with a metrics page.

use crate::metric::Metric;

const CERTIFICATE_ENDS: &str = "agon_tls_certificate_ends_timestamp_seconds";

/// All of them, for the process to describe at start.
pub const METRICS: [Metric; 1] = [Metric::gauge(
    CERTIFICATE_ENDS,
    "When the certificate in use ends, in seconds since 1970, by file",
)];

/// The certificate of a file is in use and ends then.
pub(super) fn observe_certificate(file: String, ends: u64) {
    metrics::gauge!(CERTIFICATE_ENDS, "file" => file).set(ends as f64);
}
