"""The parts of `corpus/record.py`: plan, run, scrub, case."""
