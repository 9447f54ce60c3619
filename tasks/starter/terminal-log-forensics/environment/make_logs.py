"""Makes three days of authentication logs, the same on every machine."""

import datetime
import gzip
import pathlib
import random
import sys

rng = random.Random(20250308)
start = datetime.datetime(2025, 3, 7)
lines = []


def say(seconds, text, pid=None):
    moment = start + datetime.timedelta(seconds=seconds)
    stamp = f"{moment:%b} {moment.day:>2} {moment:%H:%M:%S}"
    lines.append((seconds, f"{stamp} jump sshd[{pid or rng.randrange(2000, 60000)}]: {text}"))


def failed(seconds, user, address, invalid=False):
    who = f"invalid user {user}" if invalid else user
    say(seconds, f"Failed password for {who} from {address} port {rng.randrange(30000, 60000)} ssh2")


def accepted(seconds, user, address, how="password"):
    say(seconds, f"Accepted {how} for {user} from {address} port {rng.randrange(30000, 60000)} ssh2")


day = 86_400
staff = [("amara", "10.20.0.14"), ("bela", "10.20.0.31"), ("chen", "192.0.2.77"), ("deploy", "10.20.0.5")]
for _ in range(1400):
    user, address = rng.choice(staff)
    at = rng.randrange(3 * day)
    if rng.random() < 0.12:
        failed(at, user, address)
    accepted(at + 4, user, address, "publickey" if rng.random() < 0.7 else "password")
# 1: plain guessing, 40 attempts in 8 minutes, no success
for n in range(40):
    failed(day // 2 + n * 12, rng.choice(["root", "admin", "test"]), "203.0.113.9", invalid=n % 3 == 0)
# 2: guesses over midnight (two files), then gets in as bela
for n in range(24):
    failed(day - 260 + n * 22, "bela", "198.51.100.23")
accepted(day + 300, "bela", "198.51.100.23")
# 3: most attempts folded into "message repeated"
failed(2 * day + 5000, "chen", "2001:db8::bad:1")
text = "Failed password for chen from 2001:db8::bad:1 port 40111 ssh2"
say(2 * day + 5030, f"message repeated 18 times: [ {text}]")
failed(2 * day + 5600, "chen", "2001:db8::bad:1")
accepted(2 * day + 7000, "chen", "2001:db8::bad:1")
# below the line: 19 in ten minutes, 60 in a day but slow
for n in range(19):
    failed(day + 40_000 + n * 30, "amara", "203.0.113.200")
accepted(day + 41_000, "amara", "203.0.113.200")
for n in range(60):
    failed(2 * day + n * 1300, "root", "198.51.100.99")
# an attacker's earlier login, before it ever failed, and one by key afterwards
accepted(day // 2 - 5000, "deploy", "203.0.113.9")
accepted(day // 2 + 9000, "amara", "203.0.113.9", "publickey")
# text that quotes a log line, written by a user
say(day + 7777, "error: maximum authentication attempts exceeded for invalid user Failed password for x from 10.9.9.9 port 1 ssh2 [preauth]")

out = pathlib.Path(sys.argv[1])
out.mkdir()
lines.sort(key=lambda line: line[0])
for number, name in enumerate(("auth.log.2.gz", "auth.log.1.gz", "auth.log")):
    part = [text for seconds, text in lines if seconds // day == number or (number == 2 and seconds // day > 2)]
    data = ("\n".join(part) + "\n").encode()
    if name.endswith(".gz"):
        data = gzip.compress(data, mtime=0)
    (out / name).write_bytes(data)
