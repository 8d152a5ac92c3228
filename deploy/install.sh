#!/bin/sh
# Installs the packages that Quartet needs. See `install.sh --help`.
set -eu

usage() {
  cat <<'TEXT'
Usage: install.sh [--tests]

Checks for everything that is needed to build and run Quartet, and installs
what is missing with apt-get: a PostgreSQL server, version 15 or newer; libpq's
headers and pkg-config (Quartet uses libpq); SQLite's headers (apps keep their
state in it) and zlib's (the console's files are compressed); the time zones
(people check in at times of the day); openssl and curl (for `make run` and
`make demo`); with --tests, also Chromium and its driver (the
console is tested in a browser), and Python with the packages of
Tests/requirements.txt, in .local/python. It prints what it installs and why, asks nothing, and creates
no database cluster. If nothing is missing, it prints nothing and needs neither
root nor sudo.

Swift 6.3 or newer is not in apt; if it is missing, install.sh says where to
get it.
TEXT
}

tests=
case "${1:-}" in
  '') ;;
  --tests) tests=yes ;;
  -h | --help | help) usage; exit 0 ;;
  *) echo "install.sh: unknown argument '$1'; see install.sh --help" >&2; exit 2 ;;
esac

fail() {
  echo "install.sh: $*" >&2
  exit 1
}

has() { command -v "$1" >/dev/null 2>&1; }

has_server() {
  for postgres in "${PG_BIN:-/nowhere}/postgres" "$(pg_config --bindir 2>/dev/null || true)/postgres" \
    /usr/lib/postgresql/*/bin/postgres /usr/pgsql-*/bin/postgres /usr/local/pgsql/bin/postgres; do
    [ -x "$postgres" ] || continue
    [ "$("$postgres" --version | sed 's/^[^0-9]*\([0-9]*\).*$/\1/')" -lt 15 ] || return 0
  done
  return 1
}

cd "$(dirname "$0")/.."
python=.local/python

# Python packages for tests, of the versions that the file names, apart from those of the system.
install_python_packages() {
  [ -n "$tests" ] || return 0
  ! cmp -s Tests/requirements.txt "$python/requirements.txt" || return 0
  echo "Installing the Python packages of Tests/requirements.txt in $python."
  rm -rf "$python"
  mkdir -p .local
  python3 -m venv "$python" &&
    "$python/bin/python" -m pip install --quiet --disable-pip-version-check -r Tests/requirements.txt ||
    fail "pip could not install the packages of Tests/requirements.txt; see its errors above."
  cp Tests/requirements.txt "$python/requirements.txt"
}

packages= reasons=
need() { # package, reason
  packages="$packages $1"
  reasons="$reasons
  $1: $2"
}

has swift || fail "Swift is missing, and apt doesn't have it. Install Swift 6.3 or newer from https://www.swift.org/install \
and run this again."
has clang || need clang "compiles the C code in the libraries that Quartet uses"
has pkg-config || need pkg-config "tells the Swift compiler where libpq is"
{ has pkg-config && pkg-config --exists libpq; } || [ -e /usr/include/postgresql/libpq-fe.h ] ||
  need libpq-dev "headers of libpq, the library that Quartet uses to talk to PostgreSQL"
[ -e /usr/include/sqlite3.h ] ||
  need libsqlite3-dev "headers of SQLite, in which apps keep their state on a device"
{ has pkg-config && pkg-config --exists zlib; } || [ -e /usr/include/zlib.h ] ||
  need zlib1g-dev "headers of zlib, which compresses the console's files"
has psql || need postgresql-client "for make psql and the scripts that prepare a database"
has_server || need postgresql "the database, Quartet's only moving part (version 15 or newer)"
{ has flock && has setpriv; } || need util-linux "flock and setpriv, for the scripts that start PostgreSQL"
has openssl || need openssl "makes the key that signs access tokens"
[ -e /usr/share/zoneinfo/Etc/UTC ] || [ -n "${ZONES_DIR:-}" ] ||
  need tzdata "the time zones in which people choose times of the day to check in"
has curl || need curl "for make demo, and to wait until the services are ready"
if [ -n "$tests" ]; then
  has chromium || need chromium "the browser in which the console is tested"
  has chromedriver || need chromium-driver "drives that browser"
  has python3 && python3 -c 'import ensurepip, venv' 2>/dev/null || need python3-venv "clients of gRPC that aren't ours, for tests"
fi
[ -n "$packages" ] || { install_python_packages; exit 0; }

echo "These packages are missing:$reasons"
has apt-get || fail "apt-get is missing, so this isn't Debian or Ubuntu. Install the packages above, which may have other names \
here, and run this again."
sudo=
if [ "$(id -u)" -ne 0 ]; then
  has sudo || fail "installing needs root. Run as root: apt-get install$packages"
  sudo -n true 2>/dev/null || [ -t 0 ] || fail "installing needs root, and sudo asks for a password. \
Run: sudo apt-get install$packages"
  sudo=sudo
fi

apt() {
  $sudo env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=120 "$@" </dev/null
}

echo "Installing them with apt-get."
apt update || echo "install.sh: apt-get update failed; using the package lists that are already here" >&2

# By default, Debian's package creates and starts a cluster. We don't need one.
cluster_settings=/etc/postgresql-common/createcluster.conf
case "$packages" in
  *' postgresql '* | *' postgresql')
    if [ ! -e "$cluster_settings" ]; then
      apt install --no-install-recommends postgresql-common ||
        fail "apt-get could not install postgresql-common; see its errors above."
    fi
    $sudo cp -p "$cluster_settings" "$cluster_settings.quartet"
    trap '$sudo mv -f "$cluster_settings.quartet" "$cluster_settings"' EXIT
    trap 'exit 1' HUP INT TERM
    echo 'create_main_cluster = false' | $sudo tee -a "$cluster_settings" >/dev/null ;;
esac

# shellcheck disable=SC2086 # a list of words
apt install --no-install-recommends $packages ||
  fail "apt-get could not install:$packages; see its errors above."

has_server || fail "the newest PostgreSQL in apt is older than 15. Add the PostgreSQL project's packages \
(https://www.postgresql.org/download/linux/), install postgresql-15 or newer, and run this again."
echo "Installed:$packages"
install_python_packages
