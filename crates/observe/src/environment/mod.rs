//! The surroundings of a run: what they are, and whether two runs had the same.
