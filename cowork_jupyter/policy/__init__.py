"""Decides what may happen: role ceilings, protected places, rules, plan grants, risk.

Decisions are pure functions of the facts they are given, and carry their reasons. Asking the user
is up to the agents.
"""
