import { killTreeScript } from '../process/kill-tree-script.ts';

/**
 * The reaper: a shell (under 2 MB) that waits for the supervisor's end and then ends its children. It reads a pipe
 * that only the supervisor holds open; a line `done` means that everything has been stopped in order. At end of file
 * without it, each child of the list gets its stop signal and, 2 s later, is killed with its process group. On Linux what is
 * below it is killed as well: each backend of PostgreSQL has a separate group. One that waits for a lock does not see that its
 * postmaster has gone. The list has
 * a line `pid start-time signal boot` for each child; a pid that was reused has another start time. On Linux, daemons
 * that a child forked (epmd) are found by SHOPCTL_MARK in their environment. Containers are not child processes: a
 * command ends them at the same time when the project has a record of any.
 *
 * Arguments: file with the list, mark, record of containers, the command that ends them and its arguments.
 */
export const reaperScript = `
trap '' HUP INT
list=$1
mark=$2
record=$3
shift 3
while read -r line; do [ "$line" = done ] && exit 0; done

start_of() {
  if [ -d /proc/self ]; then
    stat=$(sed 's/^.*) //' "/proc/$1/stat" 2>/dev/null) || return 1
    set -- $stat
    case $1 in Z | X | '') return 1 ;; esac
    echo "\${20}"
  else
    set -- $(LC_ALL=C ps -o state=,lstart= -p "$1") || return 1
    case \${1:-Z} in Z*) return 1 ;; esac
    shift
    IFS=_
    echo "$*"
  fi
}
${killTreeScript}
each_child() {
  alive=0
  [ -r "$list" ] || return 0
  while read -r pid start signal boot; do
    [ "$(start_of "$pid")" = "$start" ] || continue
    alive=1
    case $1 in
      ask) kill -s CONT "$pid"; kill -s "$signal" "$pid" ;;
      kill) kill_tree "$pid" ;;
    esac
  done <"$list" 2>/dev/null
}

echo "reaper: the supervisor is gone, ending its children"
if [ "$#" -gt 0 ] && [ -e "$record" ]; then "$@" & fi
each_child ask
tries=0
while each_child look; [ "$alive" = 1 ] && [ "$tries" -lt 20 ]; do
  tries=$((tries + 1))
  sleep 0.1
done
each_child kill
if [ -d /proc/self ]; then
  for file in $(grep -lzx "SHOPCTL_MARK=$mark" /proc/[0-9]*/environ 2>/dev/null); do
    pid=\${file#/proc/}
    kill -s KILL "\${pid%/environ}" 2>/dev/null
  done
fi
wait
rm -f "$list"
echo "reaper: done"
`;
