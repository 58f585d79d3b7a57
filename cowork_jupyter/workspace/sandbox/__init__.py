"""Confines commands: where they may write, what they may read, whom they may talk to.

Keep this file free of imports: the launcher process loads only what it needs. The rest of the
package uses `Sandbox` and `Launch` from `.sandbox`.
"""
