#!/bin/sh
# Checks the style of every Swift file, and the package graph. Run it as `make lint`.
set -eu
cd "$(dirname "$0")/.."

git ls-files -z --cached --others --exclude-standard -- '*.swift' |
  xargs -0 -r swift format lint --strict --parallel || {
  echo "lint: the style check failed (see above); 'make format' fixes most of it" >&2
  exit 1
}

# The same flags as in other builds; with different ones, SwiftPM would rebuild most of it.
swift build --quiet --product package-graph --explicit-target-dependency-import-check error
"$(swift build --show-bin-path)/package-graph"
