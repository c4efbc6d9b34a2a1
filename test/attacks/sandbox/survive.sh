# Leaves processes that try to outlive the session's timeout. Each writes a separate heartbeat.
folder=$(pwd)
beat() { echo "while :; do date +%s%N >'$folder/beat-$1'; sleep 0.1; done"; }
ignoring() { echo "trap '' TERM HUP INT; $(beat "$1")"; }

setsid sh -c "$(beat setsid)" &
nohup sh -c "$(beat nohup)" >/dev/null 2>&1 &
env -i PATH=/usr/bin:/bin sh -c "$(beat cleared)" &
(setsid sh -c "(setsid env -i PATH=/usr/bin:/bin sh -c \"\$1\" &) & exit" sh "$(ignoring forked)" >/dev/null 2>&1 &)
sh -c "$(ignoring ignores)" &
(exec 0<&- 1>&- 2>&-; setsid sh -c "$(ignoring silent)") &

# The supervisor is at most two processes above this one.
parent=$(sed 's/.*) . \([0-9]*\) .*/\1/' /proc/$PPID/stat)
for pid in $PPID $parent; do [ "$pid" -gt 1 ] && [ "$(cat /proc/$pid/comm)" != sh ] && kill -STOP "$pid"; done
trap '' TERM
while :; do sleep 1; done
