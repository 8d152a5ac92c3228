// Loaded into a process before all else (LD_PRELOAD), it sets that process's clock ahead or, with a negative number, behind
// by CLOCK_OFFSET_SECONDS. It has nothing to call.
