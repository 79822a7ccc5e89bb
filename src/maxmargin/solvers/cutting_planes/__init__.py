"""Solvers that collect cutting planes, and the small programs they solve."""
