"""The service that hosts share: `service.CoworkService`, made by `wiring.build_service`.

This file imports nothing: the command line uses `connections` and `health` without the rest.
"""
