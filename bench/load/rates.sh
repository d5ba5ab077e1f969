# shellcheck shell=bash
# What bench/database and bench/agents time with: load/server.sh, and
#
#   begin DATABASE                                 a database with load/database.sql, which clients then use
#   settings                                       what the server and the machine are
#   row LABEL VALUE                                a row of the table
#   throughput LABEL CLIENTS SCRIPT [OPTIONS] [N]  transactions a second of pgbench, N times; median | lowest | highest of three runs
#   claims WORKER N                                from N commits to their claims by an idle worker: median | 10th | 90th percentile
#   forget_jobs                                    empties the queue
#
# dir/measure is a measuring program that answers at once, so that nothing but the queue is timed.
. "$(dirname "$0")/load/server.sh"
cat >"$dir/measure" <<'SH'
#!/bin/sh
case "$*" in
	*--devices*) echo '{"key": "cpu:1", "class": "cpu", "model": "M", "cores": 1, "languages": ["c"], "details": {"problems": []}}' ;;
	*) read -r job; sleep 0.1; echo '{"type": "result", "outcome": "successful", "score": 1.2}' ;;
esac
SH
chmod 755 "$dir/measure"
mkdir "$dir/scratch"
chmod 1777 "$dir/scratch"

begin() {
	export PGDATABASE=$1
	createdb "$1"
	sql -f load/database.sql >/dev/null
}
row() { printf '| %-68s | %s |\n' "$1" "$2"; }
throughput() {
	local label=$1 clients=$2 script=$3 options=${4:-$PGOPTIONS} factor=${5:-1} out rates=()
	for _ in 1 2 3; do
		out=$(PGOPTIONS=$options pgbench -n -M prepared -c "$clients" -j 2 -T "$seconds" -f "$script" 2>>"$dir/errors") ||
			{ tail -n 3 "$dir/errors" >&2; return 1; }
		rates+=("$(awk -v f="$factor" '/^tps/ { printf "%.0f\n", $3 * f }' <<<"$out")")
	done
	row "$label" "$(printf '%s\n' "${rates[@]}" | sort -n | awk '{ r[NR] = $1 } END { print r[2] " | " r[1] " | " r[3] }')"
}
claims() {
	for _ in $(seq "$2"); do
		sql -c "CALL bench.time_claim('t', '$1')"
	done
	row "from commit to claim by $1, ms" "$(sql -c "SELECT bench.percentiles(array_agg(ms)) FROM bench.latency WHERE worker = '$1'")"
}
forget_jobs() {
	sql -c "TRUNCATE cudal1.job" -c "UPDATE cudal1.candidate SET state = 'discarded', failure = 'cancelled', decided_at = now()
		WHERE state IN ('queued', 'measuring', 'verifying')"
}
settings() {
	sql -c "SELECT version()" -c "SELECT 'shared_buffers ' || current_setting('shared_buffers') || ', fsync ' || current_setting('fsync')"
	processor
}
