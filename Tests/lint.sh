#!/bin/sh
# Checks the style of every Swift file, and the package graph. Run it as `make lint`. With --style, it builds nothing and leaves
# the graph out.
set -eu
cd "$(dirname "$0")/.."

git ls-files -z --cached --others --exclude-standard -- '*.swift' |
  xargs -0 -r swift format lint --strict --parallel || {
  echo "lint: the style check failed (see above); 'make format' fixes most of it" >&2
  exit 1
}

# Files that the documents name must exist.
files=$(git ls-files --cached --others --exclude-standard)
missing=$(git ls-files '*.md' | while read -r page; do
  { grep -oE '`[A-Za-z0-9_./+-]+\.(swift|sql)`' "$page" || true; } | tr -d '`' | sort -u | while read -r name; do
    pattern=$(printf '%s' "$name" | sed 's/[.+]/\\&/g')
    printf '%s\n' "$files" | grep -qE "(^|/)$pattern\$" || echo "  $page: $name"
  done
done)
[ -z "$missing" ] || {
  printf 'lint: these documents name files that do not exist:\n%s\n' "$missing" >&2
  exit 1
}

[ "${1:-}" != --style ] || exit 0
deploy/build.sh --quiet --product package-graph
"$(deploy/build.sh --show-bin-path)/package-graph"
