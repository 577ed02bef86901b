//! Fairness: in which order waiting calls are served. Inside a replica a queue
//! orders them by team, priority, experiment and session; over all replicas and
//! lines the shares keep teams level. Both count tokens served, divided by the
//! team's weight (virtual token counters, Sheng et al. 2024, "Fairness in Serving
//! Large Language Models"). Called by `admission`.

pub mod queue;
pub mod shares;
