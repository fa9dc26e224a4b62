"""Customers of hello: ask for a URL, or the first router of the home, again and again, until they are stopped."""

import json
import subprocess
import sys
import urllib.request

if len(sys.argv) > 1:
    url = sys.argv[1]
else:
    status = json.loads(subprocess.run(["sluice", "status", "-o", "json"], capture_output=True, check=True).stdout)
    url = "http://" + status["environments"][0]["routers"][0]["listen"][0] + "/"
while True:
    try:
        urllib.request.urlopen(url, timeout=5).read()
    except OSError:
        pass
