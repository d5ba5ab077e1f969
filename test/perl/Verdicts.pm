# Codes whose verdict is known beforehand, and what must hold of all that were submitted, whatever was killed meanwhile.
package Verdicts;

use strict;
use warnings;
use Exporter 'import';
use Test::More;
use Time::HiRes qw(sleep time);

our @EXPORT = qw(begin_work sql submit $submitted $undecided drained nothing_lost);
our $submitted = 0;
our $undecided = q{SELECT count(*) FROM cudal1.candidate WHERE state IN ('queued', 'measuring', 'verifying')};
my $node;

# on a server: three tasks, whose profile differs from quick by these changes, too
sub begin_work
{
	my ($server, $changes) = @_;
	$node = $server;
	sql(<<"END");
CREATE EXTENSION cudal1;
SELECT cudal1_add_profile('tiny', 'quick', '{"pairs": 2, "looks": [2], "half_width_limit": null, "checks": 2, "check_seconds": 0.01, "attempts": 100, "verify_above": null}'::jsonb
	|| '$changes', 'known verdicts');
SELECT cudal1_add_task('double ' || n, 'void solve(const float *x, float *y) { for (int i = 0; i < 4096; i++) y[i] = 2 * x[i]; }', 'c',
	'{"entry": "solve", "args": [{"name": "x", "dtype": "float32", "shape": [4096], "role": "in"},
								 {"name": "y", "dtype": "float32", "shape": [4096], "role": "out"}]}', 1, '{"profile": "tiny"}')
	FROM generate_series(0, 2) AS n;
END
	return;
}

# a statement that is repeated until a server answers it
sub sql
{
	my ($query) = @_;
	my $until = time() + 120;
	for (;;)
	{
		# a client that finds no server may be gone before the statement has been written to it
		my ($ret, $out, $err) = eval { $node->psql('postgres', $query) };
		($ret, $err) = (1, $@) if !defined $ret;
		return $out if $ret == 0;
		die "$query: $err" if $err =~ /ERROR/ || time() > $until;
		sleep 0.1;
	}
}

# So many further codes: honest, wrong, or no C. A number makes each compile to machine code of its own, because the score of
# the same machine code is taken over; a key makes it safe to repeat the statement.
sub submit
{
	my ($n) = @_;
	for (1 .. $n)
	{
		$submitted++;
		my ($word, $body) = @{ [
			[ 'honest', 'for (int i = 0; i < 4096; i++) y[i] = x[i] + x[i];' ],
			[ 'honest', 'for (int i = 4095; i >= 0; i--) y[i] = x[i] * 2;' ],
			[ 'wrong',  'for (int i = 0; i < 4095; i++) y[i] = 2 * x[i]; y[4095] = 3 * x[4095];' ],
			[ 'broken', 'for (int i = 0; i < 4096; i++) y[i] = 2 * x[i]' ] ]->[ $submitted % 4 ] };
		sql("SELECT cudal1_submit('double @{[ $submitted % 3 ]}', '/* $word $submitted */ void solve(const float *x, float *y) { volatile int number = $submitted; (void) number; $body }',"
			  . " proposal_key => 'key $submitted')");
	}
	return;
}

sub drained
{
	my ($name) = @_;
	local $PostgreSQL::Test::Utils::timeout_default = 300;
	ok($node->poll_query_until('postgres', "SELECT ($undecided) + (SELECT count(*) FROM cudal1.job) = 0"), $name)
	  or diag(sql('SELECT * FROM cudal1.job'), sql('SELECT * FROM cudal1_status()'));
	return;
}

sub nothing_lost
{
	my ($when) = @_;
	is(sql('SELECT count(*), count(DISTINCT candidate_id) FROM cudal1.proposal'), "$submitted|$submitted", "$when: every submission is there, once");
	is(sql(q{SELECT count(*) FROM cudal1.candidate WHERE NOT coalesce(CASE substr(code, 4, 3) WHEN 'hon' THEN state = 'successful' AND reward > 0
			WHEN 'wro' THEN failure = 'wrong_output' ELSE failure = 'compile_error' END, false)}), '0', "$when: every candidate has the verdict it deserves")
	  or diag(sql('SELECT candidate_id, substr(code, 4, 10), state, failure, left(detail, 100) FROM cudal1.candidate ORDER BY state, failure, candidate_id'));
	is(sql('SELECT count(*) FROM (SELECT c.candidate_id FROM cudal1.candidate c LEFT JOIN cudal1.measurement m ON m.candidate_id = c.candidate_id'
			  . ' AND m.accepted GROUP BY 1 HAVING count(m.measurement_id) <> 1) AS x'), '0', "$when: each was scored exactly once");
	is(sql(q{SELECT count(*) FROM cudal1.measurement WHERE NOT accepted AND outcome NOT IN ('lost', 'unverified', 'unstable')}), '0',
		"$when: no verdict was reached and thrown away");
	is(sql('SELECT * FROM cudal1.check_of_buckets()'), '', "$when: buckets agree with their codes");
	is(sql('SELECT * FROM cudal1_check()'), '', "$when: every derived number agrees");
	is(sql('SELECT count(*) FROM cudal1.job'), '0', "$when: no claim and no lease is left");
	return;
}

1;
