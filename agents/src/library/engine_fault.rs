//! Faults of the template engine itself: a few expressions make it panic (`loop.cycle()`, slices with the
//! smallest of all steps). Whatever it is, it is a fault of the template that made it do so, with a
//! message like any other.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    static IS_AT_WORK: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread has the template engine at work: a panic will be told as a fault of its template,
/// and need not be told by whoever listens for panics.
pub fn is_expected() -> bool {
    IS_AT_WORK.get()
}

/// What the engine makes of something; what is left behind by a panic is thrown away with its error.
///
/// # Errors
/// It panicked; says why in a few words.
pub(super) fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    let was = IS_AT_WORK.replace(true);
    let made = catch_unwind(AssertUnwindSafe(work));
    IS_AT_WORK.set(was);
    made.map_err(|panic| {
        let words = panic.downcast_ref::<&str>().copied();
        let words = words.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        let words = words.unwrap_or("nobody knows why");
        format!("the template engine cannot do this: {words}")
    })
}
