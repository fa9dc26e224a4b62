#!/usr/bin/env python3
"""Says which variants no test has reached: usage check_variants.py --seen FOLDER LIST…

A LIST is what conceptc wrote, one `Concept.action.variant` a line; FOLDER has an empty file of that name for each
variant that the harness (src/lang/run/harness.h) saw. Exits with 1 if one is missing."""

import argparse
import sys
from pathlib import Path


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seen", type=Path, required=True)
    parser.add_argument("lists", type=Path, nargs="+")
    arguments = parser.parse_args()
    missing = [line for path in arguments.lists for line in path.read_text().splitlines()
               if not (arguments.seen / line).exists()]
    for line in missing:
        concept, action, variant = line.split(".")
        print(f"no test reaches {concept}/{action} => {variant}", file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
