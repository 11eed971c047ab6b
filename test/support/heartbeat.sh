# A command for `holdfast run`: says who it is, and lives, with a child of its own, until it is stopped. Each of them beats
# into FILE, by the clock since boot.   sh heartbeat.sh FILE [deaf]      deaf: SIGTERM is ignored
file=$1
if [ "$2" = deaf ]; then trap '' TERM; fi
beat() {
  while :; do
    read -r up _ </proc/uptime
    echo "$up" >>"$file"
    sleep 0.1
  done
}
beat &
echo "alive $$ $! $HOLDFAST_LEASE_ID"
beat
