"""Ends before it listens, as a program does whose settings are wrong."""

import sys

print("broken: reads its settings", flush=True)
sys.exit("broken: there is no setting DATABASE_ADDRESS")
