# Without shared_preload_libraries everything but measuring works, and says what is missing.
use Testing;
use Workers;

my $node = new_server('bare', preload => 0);
my ($ret, $out, $err) = $node->psql('postgres', "CREATE EXTENSION cudal1");
is($ret, 0, 'the extension can be created');
like($err, qr/WARNING:  cudal1 is not preloaded.*shared_preload_libraries/s, 'it says that nothing measures');
$node->safe_psql('postgres', "DROP EXTENSION cudal1");
create_extension($node, 'postgres');
my $id = submit($node, "result 1.5");
is(state_of($node, $id), 'queued', 'submitting works');
is(scalar_of($node, "SELECT cudal1.preloaded()"), 'f', 'it knows');
is(scalar_of($node, "SELECT count(*) FROM cudal1.worker_state()"), '0', 'there are no workers');
is(scalar_of($node, "SELECT count(*) FROM pg_stat_activity WHERE backend_type LIKE 'cudal1%'"), '0', 'none at all');
is(scalar_of($node, "LOAD 'cudal1'; SHOW cudal1.enabled"), 'on', 'the settings are there');
is(scalar_of($node, "SELECT cudal1.wake()"), '', 'waking none is no error');

# an agent's loop by hand
my $device = scalar_of($node, <<'END');
SELECT cudal1.register_device('elsewhere', '{"key": "cpu:1", "class": "cpu", "model": "Scripted", "cores": 1, "languages": ["c"]}')
END
my $attempt = scalar_of($node, "SELECT attempt FROM cudal1.claim($device, 'agent')");
is($attempt, '1', 'an agent can claim');
is(scalar_of($node, "SELECT cudal1.finish(job_id, 1, '{\"type\": \"result\", \"outcome\": \"successful\", \"score\": 1.5}') FROM cudal1.job"),
	'stored', 'and finish');
is(state_of($node, $id), 'successful 1.5', 'the candidate has its reward');
$node->stop;
done_testing();
