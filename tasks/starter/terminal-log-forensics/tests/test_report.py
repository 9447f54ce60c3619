import json

import probe


def report():
    return json.loads(probe.read("report.json"))


def test_attackers():
    assert report()["attackers"] == ["198.51.100.23", "2001:db8::bad:1", "203.0.113.9"]


def test_compromised():
    assert report()["compromised"] == ["bela", "chen"]


def test_first_entry():
    assert report()["first_entry"] == "2025-03-08T00:05:00Z"


def test_shape():
    assert set(report()) == {"attackers", "compromised", "first_entry"}
