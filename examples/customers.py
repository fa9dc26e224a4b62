"""Customers of hello: asks the first router of the home again and again, until it is stopped."""

import json
import subprocess
import urllib.request

status = json.loads(subprocess.run(["sluice", "status", "-o", "json"], capture_output=True, check=True).stdout)
url = "http://" + status["environments"][0]["routers"][0]["listen"][0] + "/"
while True:
    try:
        urllib.request.urlopen(url, timeout=5).read()
    except OSError:
        pass
