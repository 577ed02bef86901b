//! The one table from classes of error to gRPC codes and to whether a caller should try again.
//! Services sort their own error enums into [`ErrorClass`]; clients ask [`is_retryable`]. Nothing
//! else in the project maps errors to codes.

use std::error::Error as _;

use tonic::{Code, Status};

/// Longest message of a status. It travels in a header, where three bytes may stand for one, and a
/// client ends its whole connection, with every other call on it, over headers of more than 16 KiB.
const LONGEST_MESSAGE_BYTES: usize = 4_000;

/// What kind of failure an error is, from the caller's point of view.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorClass {
    /// The request itself is wrong and will stay wrong.
    Invalid,
    /// No token, or one that nobody issued.
    Unauthenticated,
    /// A known caller asks for what it may not have.
    Forbidden,
    /// What the request names does not exist.
    NotFound,
    /// Something else is stored under that name already.
    Exists,
    /// The state has moved on: a fenced lease, a finished session.
    Conflict,
    /// A budget is spent: waiting does not help, raising it does.
    Exhausted,
    /// A part we need does not answer for now.
    Unavailable,
    /// Not done in the time given; it may still be going on.
    TimedOut,
    /// Stopped half-way by a shutdown or by the caller.
    Cancelled,
    /// Tried until patience was over; only a person's decision makes another try useful.
    GaveUp,
    /// A fault of ours.
    Internal,
}

/// The table: class, code on the wire, worth another try with the same request.
const TABLE: [(ErrorClass, Code, bool); 12] = [
    (ErrorClass::Invalid, Code::InvalidArgument, false),
    (ErrorClass::Unauthenticated, Code::Unauthenticated, false),
    (ErrorClass::Forbidden, Code::PermissionDenied, false),
    (ErrorClass::NotFound, Code::NotFound, false),
    (ErrorClass::Exists, Code::AlreadyExists, false),
    (ErrorClass::Conflict, Code::FailedPrecondition, false),
    (ErrorClass::Exhausted, Code::ResourceExhausted, false),
    (ErrorClass::Unavailable, Code::Unavailable, true),
    (ErrorClass::TimedOut, Code::DeadlineExceeded, true),
    // Our servers cancel only while they shut down; another replica will answer.
    (ErrorClass::Cancelled, Code::Cancelled, true),
    (ErrorClass::GaveUp, Code::Aborted, false),
    (ErrorClass::Internal, Code::Internal, false),
];

impl ErrorClass {
    /// The gRPC code that carries this class.
    pub fn code(self) -> Code {
        self.row().1
    }

    /// Whether the same request may succeed later.
    pub fn is_retryable(self) -> bool {
        self.row().2
    }

    /// The class that a code stands for. Codes we never send count as [`ErrorClass::Internal`].
    pub fn of(status: &Status) -> Self {
        TABLE
            .iter()
            .find(|(_, code, _)| *code == status.code())
            .map_or(Self::Internal, |(class, ..)| *class)
    }

    fn row(self) -> &'static (ErrorClass, Code, bool) {
        // Every class has a row (a test walks them all), so the last row is never a fallback.
        TABLE
            .iter()
            .find(|(class, ..)| *class == self)
            .unwrap_or(&TABLE[TABLE.len() - 1])
    }
}

/// The status a service answers with. A message that quotes a long value is cut.
pub fn to_status(class: ErrorClass, message: impl Into<String>) -> Status {
    Status::new(class.code(), shortened(message.into()))
}

fn shortened(mut message: String) -> String {
    let bytes = message.len();
    if bytes > LONGEST_MESSAGE_BYTES {
        message.truncate(message.floor_char_boundary(LONGEST_MESSAGE_BYTES));
        message.push_str(&format!(" ... ({bytes} bytes in all)"));
    }
    message
}

/// Whether a client should send the same request again. Broken connections count as retryable
/// under whatever code the transport gave them: a status that came over the wire has no source,
/// one made on this side of a torn connection does.
pub fn is_retryable(status: &Status) -> bool {
    let code = status.code();
    let torn_connection = matches!(
        code,
        Code::Unknown | Code::Internal | Code::ResourceExhausted
    ) && status.source().is_some();
    torn_connection || ErrorClass::of(status).is_retryable()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_that_quotes_a_long_value_is_cut_between_letters() {
        let status = to_status(
            ErrorClass::NotFound,
            format!("x{}", "\u{e9}".repeat(50_000)),
        );
        let start = format!("x{}", "\u{e9}".repeat(1_999));
        assert_eq!(
            status.message(),
            format!("{start} ... (100001 bytes in all)")
        );
        let short = to_status(ErrorClass::NotFound, "no experiment `x`");
        assert_eq!(short.message(), "no experiment `x`");
    }

    #[test]
    fn every_class_has_its_own_code_and_comes_back_from_it() {
        for (class, code, retryable) in TABLE {
            let status = to_status(class, "why");
            assert_eq!(status.code(), code);
            assert_eq!(ErrorClass::of(&status), class);
            assert_eq!(is_retryable(&status), retryable);
            assert_eq!(class.is_retryable(), retryable);
        }
    }

    #[test]
    fn faults_of_the_request_are_final_and_weather_is_not() {
        assert!(!is_retryable(&Status::invalid_argument("x")));
        assert!(!is_retryable(&Status::failed_precondition("fenced off")));
        assert!(is_retryable(&Status::unavailable("x")));
        assert!(!is_retryable(&Status::resource_exhausted("budget spent")));
        assert!(!is_retryable(&Status::data_loss("a code we never send")));
    }

    #[test]
    fn torn_connection_is_retried_but_a_remote_fault_is_not() {
        let remote = Status::unknown("panicked over there");
        assert!(!is_retryable(&remote));
        let torn = std::io::Error::from(std::io::ErrorKind::ConnectionReset);
        assert!(is_retryable(&Status::from_error(Box::new(torn))));
        let mut overrun = Status::resource_exhausted("the transport's own limit");
        overrun.set_source(std::sync::Arc::new(std::io::Error::other("calm down")));
        assert!(is_retryable(&overrun));
    }
}
