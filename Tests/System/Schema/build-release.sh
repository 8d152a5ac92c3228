#!/bin/sh
# Builds the four executables of a released version, unless they are there, and prints their folder:
#   Tests/System/Schema/build-release.sh 0.1.0
# They are kept outside the repository, in ${XDG_CACHE_HOME:-$HOME/.cache}/quartet/releases/VERSION, for all checkouts. The first
# time takes some minutes; the log goes to stderr. In a checkout in which nothing was built yet, the packages that it depends on
# are built where this version's own build looks for them, and so once for both.
set -eu
cd "$(dirname "$0")/../../.."

fail() {
  echo "build-release.sh: $*" >&2
  exit 1
}

[ $# -eq 1 ] || fail "say which version, as in: $0 0.1.0"
version=$1
named=Tests/System/Schema/Releases/$version.commit
[ -f "$named" ] || fail "$version isn't a released version: there is no $named"
commit=$(cat "$named")
git cat-file -e "$commit^{commit}" 2>/dev/null ||
  fail "the commit of $version, $commit, isn't in this clone; fetch it: git fetch --unshallow, or git fetch origin $commit"

releases=${XDG_CACHE_HOME:-$HOME/.cache}/quartet/releases
folder=$releases/$version
mkdir -p "$releases"
# One build at a time, whichever checkout asks for it.
exec 9>"$releases/$version.lock"
flock --nonblock 9 || {
  echo "Another build of $version is running; waiting for it." >&2
  flock 9
}

# Executables need the libraries of the Swift that built them. The stamp is written last: without it, a build was interrupted.
stamp="$commit $(swift --version 2>/dev/null | head -n 1)"
if [ "$(cat "$folder/stamp" 2>/dev/null)" != "$stamp" ]; then
  echo "Building $version ($commit) once, for tests of updates; it is kept in $folder." >&2
  building=$releases/$version.building
  rm -rf "$folder" "$building"
  mkdir -p "$folder" "$building"
  # A pipe would hide that git failed.
  git archive --output "$building/source.tar" "$commit"
  tar -x -f "$building/source.tar" -C "$building"
  scratch=$building/.build
  [ -e .build ] || scratch=$PWD/.build
  build() { deploy/build.sh --package-path "$building" --scratch-path "$scratch" "$@" 9>&-; }
  build --target services >&2
  built=$(build --show-bin-path)
  for executable in session contacts notifications session-client; do cp "$built/$executable" "$folder/"; done
  # Migrations and pages are looked for beside the executable.
  cp -R "$built"/quartet_*.resources "$folder/"
  # Nothing here may be able to import its modules.
  for map in $(grep -l "$building/" "$built"/*.build/output-file-map.json); do
    module=$(basename "$(dirname "$map")" .build)
    rm -f "$built/Modules/$module".swift*
  done
  rm -rf "$building"
  for executable in session contacts notifications session-client; do
    [ "$("$folder/$executable" --version)" = "$executable $version" ] || fail "$commit isn't $version; correct $named"
  done
  echo "$stamp" >"$folder/stamp"
fi
echo "$folder"
