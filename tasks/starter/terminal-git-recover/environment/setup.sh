#!/bin/bash
# Makes the repository: the same commits, to the byte, on every machine.
set -euo pipefail
export GIT_AUTHOR_NAME="Rosa Lindqvist" GIT_AUTHOR_EMAIL="rosa@service.example"
export GIT_COMMITTER_NAME="$GIT_AUTHOR_NAME" GIT_COMMITTER_EMAIL="$GIT_AUTHOR_EMAIL"
clock=1717400000
commit() {
    clock=$((clock + 3600))
    git add -A
    GIT_AUTHOR_DATE="$clock +0000" GIT_COMMITTER_DATE="$clock +0000" git commit -q -m "$1"
}
mkdir -p service/config service/src
cd service
git init -q -b main
git config gc.auto 0
printf '[limits]\nrequests = 100\nburst = 20\n' > config/limits.ini
printf 'import configparser\n\n\ndef limits(path="config/limits.ini"):\n    parser = configparser.ConfigParser()\n    parser.read(path)\n    return dict(parser["limits"])\n' > src/limits.py
printf '# service\n\nA small gateway.\n' > README.md
commit "Start the gateway"
printf '[limits]\nrequests = 250\nburst = 40\n; agreed with operations, ticket 481\nqueue = 16\n' > config/limits.ini
commit "Raise the limits"
printf 'def call(send, request):\n    return send(request)\n' > src/client.py
commit "Add a client"
git checkout -q -b fix/retry
printf 'def call(send, request):\n    for attempt in range(3):\n        try:\n            return send(request)\n        except ConnectionError:\n            if attempt == 2:\n                raise\n' > src/client.py
commit "Retry three times before giving up"
git checkout -q main
printf '# service\n\nA small gateway.\n\nRun it with `make run`.\n' > README.md
printf 'run:\n\tpython3 -m src.limits\n' > Makefile
git rm -q config/limits.ini
commit "Tidy the tree and add a Makefile"
printf 'def health():\n    return "ok"\n' > src/health.py
commit "Add a health check"
git branch -q -D fix/retry
# a decoy: an older draft of the fix, lost as well
git checkout -q -b draft HEAD~1
printf 'def call(send, request):\n    while True:\n        return send(request)\n' > src/client.py
commit "Retry for ever (draft)"
git checkout -q main
git branch -q -D draft
