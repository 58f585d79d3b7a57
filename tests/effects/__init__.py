"""Small notebooks with a planted defect, and the same work done right: what warnings find."""
