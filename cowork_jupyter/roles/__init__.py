"""Roles: our own declarations beside this file, and `catalog`, which finds those of others."""
