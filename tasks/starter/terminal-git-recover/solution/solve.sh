#!/bin/bash
set -euo pipefail
cd /workspace/service
gone=$(git log --diff-filter=D --format=%H -1 -- config/limits.ini)
git checkout -q "$gone~1" -- config/limits.ini
git commit -q -m "Bring back the limits, deleted by accident"
lost=$(git fsck --no-reflogs --lost-found 2>/dev/null | awk '$2 == "commit" {print $3}' |
    while read -r commit; do
        if [ "$(git log -1 --format=%s "$commit")" = "Retry three times before giving up" ]; then echo "$commit"; fi
    done)
git branch fix/retry "$lost"
rm -rf .git/lost-found
