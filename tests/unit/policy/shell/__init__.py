"""Tests of the shell analysis."""
