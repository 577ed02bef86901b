//! What checks found: one line each, or JSON, and what was left out. It checks nothing itself. Filled
//! by every group of checks, printed by `commands/doctor.rs`.

use std::time::Duration;

use agon_outlets::line;
use serde_json::{Value, json};

/// What ends within this time is told of: long enough to make another and bring it to where it is used.
pub const SOON: Duration = Duration::from_secs(14 * 24 * 3_600);

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Severity {
    Ok,
    Warn,
    Fail,
}

impl Severity {
    fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warn => "warn",
            Self::Fail => "fail",
        }
    }
}

/// What one check found.
#[derive(Debug)]
struct Finding {
    severity: Severity,
    check: String,
    found: String,
    /// What to do; absent where nothing has to be done.
    advice: Option<String>,
}

/// All that was found so far, in order.
#[derive(Debug, Default)]
pub struct Findings {
    found: Vec<Finding>,
    left_out: Vec<String>,
}

impl Findings {
    /// All is well.
    pub fn ok(&mut self, check: impl Into<String>, found: impl Into<String>) {
        self.add(Severity::Ok, check.into(), found.into(), None);
    }

    /// It works, but may not for long or not well; says what to do.
    pub fn warn(
        &mut self,
        check: impl Into<String>,
        found: impl Into<String>,
        advice: impl Into<String>,
    ) {
        let advice = Some(advice.into());
        self.add(Severity::Warn, check.into(), found.into(), advice);
    }

    /// It does not work, or loses something; says what to do.
    pub fn fail(
        &mut self,
        check: impl Into<String>,
        found: impl Into<String>,
        advice: impl Into<String>,
    ) {
        let advice = Some(advice.into());
        self.add(Severity::Fail, check.into(), found.into(), advice);
    }

    /// Something is not checked; says what would have to be given.
    pub fn leave_out(&mut self, what: impl Into<String>) {
        self.left_out.push(what.into());
    }

    fn add(&mut self, severity: Severity, check: String, found: String, advice: Option<String>) {
        self.found.push(Finding {
            severity,
            check,
            found,
            advice,
        });
    }

    fn count(&self, severity: Severity) -> usize {
        let such = self.found.iter().filter(|one| one.severity == severity);
        such.count()
    }

    /// How many checks failed.
    pub fn failed(&self) -> usize {
        self.count(Severity::Fail)
    }

    /// One line for each check, and one for what is left out.
    pub fn text(&self) -> String {
        let mut lines = Vec::new();
        for finding in &self.found {
            let advice = finding.advice.iter().map(|advice| format!("; {advice}"));
            let text = format!(
                "{:<4}  {}: {}{}",
                finding.severity.word(),
                finding.check,
                finding.found,
                advice.collect::<String>()
            );
            lines.push(line(&text).to_string());
        }
        if !self.left_out.is_empty() {
            let text = format!("left out: {}", self.left_out.join(", "));
            lines.push(line(&text).to_string());
        }
        lines.join("\n")
    }

    /// The same for programs.
    pub fn json(&self) -> Value {
        let checks = self.found.iter().map(|finding| {
            json!({
                "result": finding.severity.word(), "check": finding.check,
                "found": finding.found, "advice": finding.advice,
            })
        });
        json!({
            "checks": checks.collect::<Vec<_>>(),
            "left_out": self.left_out,
            "warned": self.count(Severity::Warn),
            "failed": self.failed(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_check_is_one_line_whatever_was_found() {
        let mut findings = Findings::default();
        findings.ok("clock", "12 ms apart");
        findings.fail("key", "a\nfail  forged: line", "replace it");
        findings.leave_out("the gateway (--gateway)");
        let text = findings.text();
        assert_eq!(text.lines().count(), 3, "{text}");
        assert!(text.starts_with("ok    clock: 12 ms apart\nfail  key: "));
        assert!(text.ends_with("; replace it\nleft out: the gateway (--gateway)"));
        assert_eq!(findings.failed(), 1);
    }
}
