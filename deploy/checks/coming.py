"""What manifests, dashboards and alerts use already and the binary does not offer yet. An entry goes
when it has landed; validate.py names those that have.
"""

COMMANDS = {"team", "token"}

FLAGS = {"--identity", "--token-file", "--ca", "--client-cert", "--client-key"}

VARIABLES = {
    # Servers.
    "AGON_IDENTITY", "AGON_TLS_CERT", "AGON_TLS_KEY", "AGON_TLS_CLIENT_CA",
    # Whoever calls one.
    "AGON_TOKEN_FILE", "AGON_CA", "AGON_CLIENT_CERT", "AGON_CLIENT_KEY",
}

# Name to the labels that are used of it.
METRICS = {
    "agon_sessions_waiting": {"team"},
    "agon_sessions_running": {"team"},
    "agon_sessions_set_aside": {"team"},
    "agon_experiments_paused": {"team"},
    "agon_workers": set(),
    "agon_worker_places": set(),
    "agon_coordinator_in_charge": set(),
    "agon_coordinator_oldest_unwritten_seconds": set(),
    "agon_gateway_budget_used_ratio": {"team"},
    "agon_callers_refused_total": {"door", "reason"},
    "agon_certificate_seconds_left": set(),
}
