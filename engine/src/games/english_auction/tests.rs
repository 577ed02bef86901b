//! Claims about the English auction.
