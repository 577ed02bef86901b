//! When a slow call is made once more. Refuses times at which every call, or none, would be made
//! twice. Called by `config.rs`.

use crate::catalogue::ResolvedModel;

/// Calls with this effort are given the longest time.
const LONGEST_EFFORT: &str = "max";

/// Whether the model's `hedge_after` makes sense.
pub(super) fn check(model: &ResolvedModel) -> Result<(), String> {
    let Some(after) = model.hedge_after else {
        return Ok(());
    };
    if after.is_zero() {
        return Err("hedge_after must be longer than 0s".to_owned());
    }
    let timeout = model.timeout(Some(LONGEST_EFFORT));
    if after >= timeout {
        let timeout = humantime_serde::re::humantime::format_duration(timeout);
        return Err(format!(
            "hedge_after must be shorter than the time that a call may take, {timeout}"
        ));
    }
    Ok(())
}
