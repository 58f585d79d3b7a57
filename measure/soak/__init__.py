"""Weeks in half an hour: random users against one real server that is killed, starved and slowed.

`python -m measure.soak --minutes 30 --seed 7`. Every decision comes from the seed; how they fall in
time does not, so a second run with the same seed walks the same ways at its own pace.
"""
