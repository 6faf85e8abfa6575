#!/usr/bin/env bash
# Resolve the pip line of the GPU image without building it: our wheel and extras beside the RAPIDS that its base has.
# Nothing is installed. RAPIDS of the base comes from conda; its wheels on PyPI make the same demands.
#   PYTHON   an interpreter with pip 23 or later and build (default python3)
#   CUDA     13 (default) or 12, as in the tag of the base image
#   EXTRAS   as in Dockerfile
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
python="${PYTHON:-python3}"
extras="${EXTRAS:-$(sed -n 's/^ARG EXTRAS=//p' docker/Dockerfile)}"
version="$(sed -n 's/^ARG BASE=.*-py\(3\.[0-9]*\)$/\1/p' docker/Dockerfile)"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

"$python" -m pip wheel --quiet --no-deps --wheel-dir "$work" .
wheel="$(echo "$work"/*.whl)"
"$python" -m pip install --dry-run --quiet --report "$work/report.json" --ignore-installed --only-binary :all: \
    --python-version "$version" --target "$work/none" "${wheel}[$extras,multi-cu${CUDA:-13}]"
"$python" - "$work/report.json" "$version" <<'PY'
import json
import pathlib
import sys

found = json.loads(pathlib.Path(sys.argv[1]).read_text("utf-8"))["install"]
names = sorted(f"{one['metadata']['name']}=={one['metadata']['version']}" for one in found)
print(f"Python {sys.argv[2]}: {len(names)} packages go together")
print("\n".join(names))
PY
