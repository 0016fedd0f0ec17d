#!/bin/sh
# Starts ten viewers of the page whose address is in `progress.txt`, or ends them.
set -eu
case "$1" in
start)
    url=$(sed -n 's|^the run is shown at \(http://.*\)$|\1|p' progress.txt)
    : > viewers.txt
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        setsid curl --silent --no-buffer --max-time 60 "${url}events" \
            < /dev/null > /dev/null 2>&1 &
        echo $! >> viewers.txt
    done
    ;;
end)
    while read -r process; do kill "$process" 2> /dev/null || true; done < viewers.txt
    rm viewers.txt
    ;;
esac
