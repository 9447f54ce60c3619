#!/bin/bash
set -euo pipefail
cd /workspace
cat > /tmp/report.py <<'PY'
import collections
import datetime
import glob
import gzip
import json
import re

failed, accepted = collections.defaultdict(list), collections.defaultdict(list)
for name in glob.glob("logs/*"):
    opener = gzip.open if name.endswith(".gz") else open
    with opener(name, "rt") as file:
        for line in file:
            stamp, message = line[:15], line.split("]: ", 1)[1].strip()
            moment = datetime.datetime.strptime("2025 " + stamp, "%Y %b %d %H:%M:%S")
            count = 1
            repeated = re.fullmatch(r"message repeated (\d+) times: \[ (.*)\]", message)
            if repeated:
                count, message = int(repeated[1]), repeated[2]
            bad = re.fullmatch(r"Failed password for (?:invalid user )?\S+ from (\S+) port \d+ ssh2", message)
            good = re.fullmatch(r"Accepted password for (\S+) from (\S+) port \d+ ssh2", message)
            if bad:
                failed[bad[1]] += [moment] * count
            if good:
                accepted[good[2]].append((moment, good[1]))
attackers, entries = [], []
for address, times in failed.items():
    times.sort()
    if any((b - a).total_seconds() <= 600 for a, b in zip(times, times[19:])):
        attackers.append(address)
        entries += [entry for entry in accepted[address] if entry[0] > times[0]]
report = {
    "attackers": sorted(attackers),
    "compromised": sorted({user for _, user in entries}),
    "first_entry": min(entries)[0].strftime("%Y-%m-%dT%H:%M:%SZ") if entries else None,
}
with open("report.json", "w") as file:
    json.dump(report, file)
PY
python3 /tmp/report.py
cat report.json
