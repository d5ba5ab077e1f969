# shellcheck shell=bash
# For benchmarks on a server of their own, which source this and then run in bench/:
#
#   own_server [setting=value ...]    starts it; psql and the programs find it
#   own_device                        waits until its worker has registered a device for C
#   no_jobs                           waits until nothing is queued or measured
#
# dir is a scratch folder, and pids are processes beside the server. All of it is gone at the end.
cd "$(dirname "$0")"
dir=$(mktemp -d "${TMPDIR:-/tmp}/cudal1-$(basename "$0").XXXXXX")
chmod 755 "$dir"
pids=()
finish() {
	[ ${#pids[@]} = 0 ] || kill "${pids[@]}" 2>/dev/null || true
	wait
	../tools/server stop "$dir/server" >/dev/null 2>&1 || true
	rm -rf "$dir"
}
trap finish EXIT
trap 'exit 130' INT TERM

own_server() {
	../tools/server start "$dir/server" "$@"
	eval "$(../tools/server env "$dir/server")"
	export PGOPTIONS='-c client_min_messages=warning'
}
sql() { psql -XAtq -v ON_ERROR_STOP=1 "$@"; }
own_device() {
	until [ "$(sql -c "SELECT count(*) FROM cudal1.device WHERE 'c' = ANY (languages)")" != 0 ]; do sleep 0.2; done
}
no_jobs() {
	while [ "$(sql -c 'SELECT count(*) FROM cudal1.job')" != 0 ]; do sleep 1; done
}
processor() { lscpu | sed -n 's/^Model name: *//p; s/^CPU(s): */cores: /p'; }
