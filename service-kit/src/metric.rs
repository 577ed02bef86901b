//! What a metric is, as crates and modules declare theirs: a name, a kind, a sentence for people. It holds
//! no values. Collected and shown by [`crate::metrics`].

/// What kind of number a metric is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricKind {
    /// Only grows.
    Counter,
    /// Goes up and down.
    Gauge,
    /// A distribution, in seconds unless its name says otherwise.
    Histogram,
}

/// One metric as its crate declares it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Metric {
    /// Full name, `agon_<crate>_<what>_<unit>`.
    pub name: &'static str,
    /// Kind of number.
    pub kind: MetricKind,
    /// One sentence for people.
    pub help: &'static str,
}

impl Metric {
    /// Declares a counter.
    pub const fn counter(name: &'static str, help: &'static str) -> Self {
        Self {
            name,
            kind: MetricKind::Counter,
            help,
        }
    }

    /// Declares a gauge.
    pub const fn gauge(name: &'static str, help: &'static str) -> Self {
        Self {
            name,
            kind: MetricKind::Gauge,
            help,
        }
    }

    /// Declares a histogram.
    pub const fn histogram(name: &'static str, help: &'static str) -> Self {
        Self {
            name,
            kind: MetricKind::Histogram,
            help,
        }
    }
}
