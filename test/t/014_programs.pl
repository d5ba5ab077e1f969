# Whatever a measuring program does, its worker stays, its candidate gets a verdict, and other measurements are not touched.
use Testing;
use Workers;

my $node = new_server('programs', conf => "cudal1.prefetch = 1");
my $worker = worker_pid($node);
$node->safe_psql('postgres', <<'END');
CREATE FUNCTION verdict(id bigint) RETURNS text LANGUAGE sql AS
$$SELECT concat_ws(' ', state, reward, failure) FROM cudal1.candidate WHERE candidate_id = id AND decided_at IS NOT NULL$$;
END

my @cases = (
	['text that is no JSON, then a result', "garbage 50\nresult 1.5", 'successful 1.5'],
	['text without end', "garbage 5000\nwait never", 'discarded lost', qr/lines that are not of its protocol/],
	['a line of 2 MB', "long 2000000\nwait never", 'discarded lost', qr/line that is too long/],
	['a progress line of 20 kB', 'raw {"type": "progress", "phase": "' . 'x' x 20000 . "\"}\nresult 1.5", 'successful 1.5'],
	['JSON without a type', "raw {\"a\": [1]}\nraw [1]\nraw 7\nraw {\"type\": {\"type\": \"result\"}}\nresult 1.4", 'successful 1.4'],
	['JSON nested without end', 'raw ' . '[' x 200000 . "\nresult 1.3", 'successful 1.3'],
	['NUL in a string', "raw {\"type\": \"result\", \"outcome\": \"successful\", \"score\": 2, \"detail\": \"\\u0000\"}", 'discarded lost', qr/the result could not be stored/],
	['bytes that are no UTF-8', "latin", 'discarded lost', qr/the result could not be stored/],
	['a result that makes no sense', "raw {\"type\": \"result\", \"outcome\": \"great\"}", 'discarded lost', qr/outcome is unknown/],
	['a score that is no number', "raw {\"type\": \"result\", \"outcome\": \"successful\", \"score\": \"high\"}", 'discarded lost', qr/malformed result: .*"high"/],
	['two results', "result 1.1\nresult 2.9", 'successful 1.1'],
	['an end without a result', "exit 0", 'discarded lost', qr/exit status 0 before it wrote a result/],
	['a failure to start', "exit 127", 'discarded lost', qr/exit status 127/],
	['a crash', "die SEGV", 'discarded lost', qr/signal 11/],
	['a result and then a crash', "result 1.2\ndie SEGV", 'successful 1.2'],
	['a result and then no end', "stubborn\nresult 1.3\nwait never", 'successful 1.3'],
	['descendants that stay', "offspring\nresult 1.4", 'successful 1.4'],
	['a closed standard output', "close\nsleep 0.2", 'discarded lost', qr/exit status 0/],
	['an input it does not read', "result 1.6\n# " . 'x' x 300000, 'successful 1.6'],
	['a failed candidate', "outcome wrong_output first mismatch", 'failed 0 wrong_output', qr/^first mismatch$/],
);
for my $case (@cases)
{
	my ($name, $script, $wanted, $detail) = @$case;
	my $id = submit($node, $script);
	wait_for($node, "SELECT verdict($id)", $wanted, $name);
	like(scalar_of($node, "SELECT detail FROM cudal1.candidate WHERE candidate_id = $id"), $detail, "$name: said so") if $detail;
}
is(worker_pid($node), $worker, 'the worker is the same');
no_children($node);

# what was sent reaches the program whole, whatever its size
my $long = submit($node, "# " . 'y' x 900_000 . "\nresult 1.7");
wait_for($node, "SELECT verdict($long)", 'successful 1.7', 'a job of 0.9 MB arrives');

# complaints are logged, not without limit
my $offset = -s $node->logfile;
my $id = submit($node, "complain 1000\nresult 1.8");
wait_for($node, "SELECT verdict($id)", 'successful 1.8', 'a program that complains is measured');
my $log = slurp_file($node->logfile, $offset);
my $complaints = () = $log =~ /LOG:  cudal1-measure, job \d+: complaint/g;
cmp_ok($complaints, '>', 0, 'its complaints are in the log');
cmp_ok($complaints, '<', 100, 'some of them');
like($log, qr/LOG:  cudal1-measure, job \d+: further lines are left out/, 'and that the others are not');

# nothing of the server reaches the program
$id = submit_until($node, "surroundings", 'successful', 'a program looks around');
my %found = map { split /=/, $_, 2 } split /\n/,
  scalar_of($node, "SELECT key || '=' || value FROM cudal1.measurement, jsonb_each_text(environment) WHERE candidate_id = $id");
is($found{foreign_descriptors}, '', 'no descriptor of the server is open');
is($found{blocked} =~ /^0+$/ ? 'none' : $found{blocked}, 'none', 'no signal is blocked');
# Perl itself ignores SIGFPE; 32 and 33 belong to the C library, which lets nobody set them back
is(hex($found{ignored}) & ~0x180000080, 0, 'no signal is ignored');
is($found{variables}, 'HOME LANG LC_ALL PATH TMPDIR', 'the environment is clean');
is($found{group}, 'own', 'it leads its own group');
like($found{directory}, qr/scratch$/, 'it runs in the scratch directory');
is($found{oom_score_adj}, '900', 'the kernel takes it before the server');

# A program that hangs, here because it is stopped, is ended when its time is over, and its job is measured again. Waiting for the device does
# not count as its time, as long as the program says every few seconds that it waits.
$node->safe_psql('postgres', <<'END');
INSERT INTO cudal1.profile SELECT (jsonb_populate_record(p, '{"name": "short", "shipped": false, "build_seconds": 1, "budget_seconds": 0.1,
	"check_seconds": 0, "run_limit_max": 0.01, "attempts": 2}')).* FROM cudal1.profile p WHERE name = 'quick';
SELECT cudal1_add_task('hasty', reference, language, signature, 1, '{"profile": "short", "device": "cpu"}') FROM cudal1.task WHERE name = 'task';
END
configure($node, "cudal1.child_grace = 1s");
sub hasty { return scalar_of($node, "SELECT cudal1_submit('hasty', E'$_[0]')") }
sub stop_first
{
	my ($phase, $reward) = @_;
	my $candidate = hasty("first progress $phase 0\\nfirst wait never\\nresult $reward");
	wait_for($node, "SELECT phase FROM cudal1.activity WHERE candidate_id = $candidate", $phase, "a program is $phase");
	my ($job) = scalar_of($node, "SELECT job_id FROM cudal1.job WHERE candidate_id = $candidate");
	kill 'STOP', map { (split)[3] } trace($node, qr/^start $job 1 /);
	return $candidate;
}
my $stopped = stop_first('measuring', 1.4);
my $patient = hasty('progress waiting 0\nwait patience\nresult 1.5');
wait_for($node, "SELECT verdict($stopped)", 'successful 1.4', 'a program that is stopped is ended, and its job measured again');
like(scalar_of($node, "SELECT detail FROM cudal1.measurement WHERE candidate_id = $stopped AND NOT accepted"), qr/did not end in time/, 'for the time it took');
touch_file($node, 'patience');
wait_for($node, "SELECT verdict($patient)", 'successful 1.5', 'one that waits for its device is not');
wait_for($node, "SELECT verdict(@{[ stop_first('waiting', 1.6) ]})", 'successful 1.6', 'one that is stopped while it waits is');

# no program at all
my $program = scalar_of($node, 'SHOW cudal1.measure_path');
configure($node, "cudal1.measure_path = '/nonexistent/cudal1-measure'");
wait_for($node, "SELECT note LIKE 'no device: cannot run \"/nonexistent/cudal1-measure\": No such file%' FROM cudal1.worker_state()", 't',
	'a missing program is named as the reason');
$id = submit($node, "result 1.9");
configure($node, "cudal1.measure_path = '$program'");
wait_for($node, "SELECT verdict($id)", 'successful 1.9', 'and measuring goes on once it is there');

# the queue itself fails for a while: nothing is lost
$id = measuring($node, "progress measuring 1\nwait go-locked\nresult 1.55", 'a program measures');
my $session = $node->background_psql('postgres');
$session->query_safe("BEGIN; LOCK TABLE cudal1.measurement IN ACCESS EXCLUSIVE MODE");
$offset = -s $node->logfile;
touch_file($node, 'go-locked');
ok($node->wait_for_log(qr/canceling statement due to lock timeout/, $offset), 'the result cannot be stored');
$session->query_safe("COMMIT");
$session->quit;
wait_for($node, "SELECT verdict($id)", 'successful 1.55', 'it is stored when it can be');
is(scalar_of($node, "SELECT count(*) FROM cudal1.measurement WHERE candidate_id = $id"), '1', 'without another measurement');

# a result that the database refuses for ever: the attempts of the profile, then an end
$node->safe_psql('postgres', "ALTER TABLE cudal1.measurement ADD CONSTRAINT refuse CHECK (score IS DISTINCT FROM 1.66)");
$id = submit($node, "result 1.66");
wait_for($node, "SELECT verdict($id)", 'discarded lost', 'a result that is refused ends as lost');
like(scalar_of($node, "SELECT detail FROM cudal1.candidate WHERE candidate_id = $id"), qr/could not be stored.*refuse/, 'with the reason');

is(worker_pid($node), $worker, 'the worker is still the same');
consistent($node);
no_children($node);
$node->stop;
done_testing();
