#!/bin/sh
# Runs `swift build` with the flags that all builds here share; arguments are passed to it: deploy/build.sh --product session
#
# With SwiftPM's random hashing, the flags of our traits come in another order each time, and all of our modules are compiled
# again whenever it differs. The first flag is there because SwiftPM lets a target import what it doesn't declare otherwise.
# In debug builds, C is optimized, too: unoptimized, deriving a key from a password takes so long that on a busy machine people
# who sign up give up waiting. So are the modules that every message passes through: see QUARTET_OPTIMIZED in Package.swift.
# In continuous integration nobody opens a debugger or an editor, so what only these need is left out.
set -eu
case " $* " in
  *' release '*) ;; # SwiftPM optimizes it more, and what comes later in a compiler's arguments would win
  *)
    set -- -Xcc -O1 "$@"
    [ -z "${CI:-}" ] ||
      set -- -debug-info-format none -Xswiftc -index-ignore-system-modules -Xcc -index-ignore-system-symbols "$@"
    ;;
esac
QUARTET_OPTIMIZED=1 SWIFT_DETERMINISTIC_HASHING=1 exec swift build --explicit-target-dependency-import-check error "$@"
