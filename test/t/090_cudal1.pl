# The program cudal1: codes of a database, with what they rest on; and its verbs are the other programs.
use Testing;
use JSON::PP ();
use Workers;

my $node = new_server('cudal1');
@ENV{qw(PGHOST PGPORT PGDATABASE)} = ($node->host, $node->port, 'postgres');
my $dir = PostgreSQL::Test::Utils::tempdir();

sub cudal1
{
	my ($out, $err);
	IPC::Run::run([ 'cudal1', @_ ], '>', \$out, '2>', \$err);
	return ($? >> 8, $out, $err);
}

# ---- verbs that are programs ----

for my $program (qw(measure agent import report top))
{
	my ($status, $out) = cudal1($program, '--version');
	like($status . $out, qr/^0cudal1-$program \d+\.\d+\.\d+$/, "cudal1 $program is cudal1-$program");
}
my ($status, $out, $err) = cudal1('measure', '--none');
is($status, 2, 'with its exit status') or diag $err;
($status, $out) = cudal1('--help');
is(join("\n", grep { length > 80 } split /\n/, $out), '', 'help fits a terminal');
like($out, qr/ measure .*show .*lineage .*best /s, 'and has all verbs');
($status, $out, $err) = cudal1('sho');
like($status . $err, qr/^2.*invalid choice: 'sho' \(choose from 'measure', .*best/s, 'a verb that is none');
like((cudal1())[2], qr/required: VERB/, 'and none');

# ---- codes ----

sub quote { return q(') . $_[0] =~ s{'}{''}gr . q(') }

# a task's name is a text of others, which must name no file elsewhere and end no comment
my $task = quote('../a "task"\\');
$node->safe_psql('postgres', "SELECT cudal1_add_task($task, 'another reference', 'c', signature, options => options) FROM cudal1.task WHERE name = 'task'");
sub propose
{
	my ($code, $prompt) = @_;
	my $id = $node->safe_psql('postgres', "SELECT cudal1_submit($task, @{[ quote($code) ]}, prompt_id => @{[ $prompt // 'NULL' ]})");
	$node->poll_query_until('postgres', "SELECT decided_at IS NOT NULL FROM cudal1.candidate WHERE candidate_id = $id");
	return $id;
}
my $first = propose('result 1.25');
my $prompt = $node->safe_psql('postgres', "SELECT cudal1_record_prompt($task, 'faster', '{$first}')");
my $second = propose('result 2.5', $prompt);
my $wrong = propose('outcome wrong_output three elements', $prompt);

($status, $out, $err) = cudal1('show', $second);
is($status . $err, '0', 'a code is shown');
like($out, qr/\Acandidate $second of .*, by manual: 2\.50x .*\n\nresult 2\.5\n\z/s, 'with its verdict');
unlike($out, qr/counts/, 'without counters where none were read');
$node->safe_psql('postgres', qq{INSERT INTO cudal1.profiler_run (candidate_id, device_id, tool, counters)
	SELECT $second, min(device_id), 'perf', '[{"name": "core time", "value": 2.8765e-7, "unit": "s"}, {"name": "cycles", "value": 1200, "unit": ""}, {"name": "L1 hits", "value": 98.5, "unit": "%"}]' FROM cudal1.device});
like((cudal1('show', $second))[1], qr/^a call, as perf counts: core time 0\.2877 us, cycles 1200, L1 hits 98\.5 %\n\n/m, 'else with them');
($status, $out) = cudal1('show', '--code', $second);
is($out, 'result 2.5', 'alone and as it is, where that is asked for');
($status, $out) = cudal1('show', $wrong);
like($out, qr/: failed: wrong_output\nthree elements\n/, 'a failure is shown with its reason');
$node->safe_psql('postgres', "UPDATE cudal1.candidate SET detail = E'three\\u001b[31m elements' WHERE candidate_id = $wrong");
unlike((cudal1('show', $wrong))[1], qr/\e/, 'without what a terminal obeys');
is(JSON::PP::decode_json((cudal1('show', '--json', $wrong))[1])->{detail}, "three\e[31m elements", 'also as JSON');
my $same = propose('result 1.75');
$node->safe_psql('postgres', "UPDATE cudal1.candidate AS c SET measurement_id = o.measurement_id FROM cudal1.candidate AS o WHERE o.candidate_id = $first AND c.candidate_id = $same");
like((cudal1('show', $same))[1], qr/^It compiles to the same as candidate $first, whose measurement counts\.$/m, 'where the measurement of another code decided it, that is said');
($status, $out, $err) = cudal1('show', 987654);
is("$status $err", "3 cudal1: candidate 987654 does not exist\n", 'an unknown one');

($status, $out, $err) = cudal1('lineage', $second);
is($status . $err, '0', 'a lineage');
like($out, qr/\A$second by manual: 2\.50x, 2\.00 times the best exemplar of prompt $prompt\n  $first by manual: 1\.25x\n\z/, 'is a tree');
is(scalar @{ JSON::PP::decode_json((cudal1('lineage', '--json', $second))[1]) }, 2, 'or rows');

($status, $out, $err) = cudal1('best', '--save', "$dir/best");
is($status . $err, '0', 'the best codes');
my @files = glob "$dir/best/*";
is_deeply([ map { s/.*\///r } @files ], [ "_a_task_-$second.c" ], 'are saved, each in the folder');
my $saved = slurp_file($files[0]);
like($saved, qr{\A(?:// [^\n]*\n){3}result 2\.5\z}, 'below comments');
like($saved, qr/2\.50x .*candidate $second.*measurement \d+ at .* by profile quick: \d+ pairs/s, 'that hold what the speedup rests on');
unlike($saved, qr/\\/, 'in which nothing continues a line');
($status, $out) = cudal1('best', 'task');
is($status . $out, '0', 'a task that none has solved has no best code');
($status, $out, $err) = cudal1('best', 'tasc');
like($status . $err, qr/^3cudal1: task "tasc" does not exist\. Did you mean "task"\?/, 'an unknown task');
$node->safe_psql('postgres', "SELECT cudal1_import_result('task', NULL, 3, 'imported', 'A100')");
($status, $out, $err) = cudal1('best', '--save', "$dir/none", 'task');
is("$status $err", "1 cudal1: the code of task was not published\n", 'a code that is not there is named');

$node->safe_psql('postgres', "CREATE ROLE ann LOGIN; SELECT cudal1_grant('ann', 'analyst')");
is(join('', (cudal1($_, '-d', 'user=ann', $_ eq 'best' ? () : $second))[0, 2]), '0', "an analyst may call $_") for qw(show lineage best);
is((cudal1('best', '-d', 'host=/nowhere'))[0], 3, 'no connection');

{
	$node->safe_psql('postgres', 'CREATE ROLE stranger LOGIN');
	local $ENV{PGUSER} = 'stranger';
	($status, $out, $err) = cudal1('best');
	is($status . $err, "3cudal1: permission denied for function cudal1_best. Role stranger needs what cudal1_grant() gives, in this database; --help names the kind\n",
		'a role without a grant is told what it needs');
}
$node->stop;
done_testing();
