"""Roles: the declarations of our own, and those of users, workspaces and plug-ins."""

from .catalog import RoleCatalog

__all__ = ["RoleCatalog"]
