/**
 * Defines `kill_tree PID` for a shell that outlives the process which would kill. It kills the group that PID leads, and on
 * Linux all that is below it, also in other groups. `killTree` is the same without a shell.
 */
export const killTreeScript = `
below() {
  for child in $(cat "/proc/$1"/task/*/children 2>/dev/null); do
    echo "$child"
    below "$child"
  done
}

# Stopped first, so that it forks nothing that would be missed.
kill_tree() {
  kill -s STOP "$1"
  tree=$(below "$1")
  kill -s KILL -- "-$1" || kill -s KILL "$1"
  for one in $tree; do kill -s KILL "$one"; done
}
`;
