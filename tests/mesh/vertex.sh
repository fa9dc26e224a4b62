#!/bin/sh
# The vertex of the tests, as a program that an agent can start.
exec /usr/bin/python3 "$(dirname "$0")/vertex.py" "$@"
