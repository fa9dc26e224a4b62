"""docs/reference/manifest.md is what its schema says."""

import json
import subprocess
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent)]

from manifest_reference import page  # noqa: E402


def test_the_reference_is_made_from_the_schema(sluice, root):
    schema = subprocess.run([str(sluice), "init", "--manifest", "--schema"], capture_output=True, text=True, check=True).stdout
    assert (root / "docs/reference/manifest.md").read_text() == page(json.loads(schema)), "see tests/docs/manifest_reference.py"
