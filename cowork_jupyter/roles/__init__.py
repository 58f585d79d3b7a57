"""Roles: our own declarations, and those of users, workspaces and plug-ins."""

from .catalog import RoleCatalog

__all__ = ["RoleCatalog"]
