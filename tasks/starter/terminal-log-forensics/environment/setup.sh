#!/bin/bash
set -euo pipefail
python3 /setup/make_logs.py logs
