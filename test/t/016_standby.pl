# On a standby nothing is measured; once promoted, it takes up what the former primary was measuring.
use Testing;
use PostgreSQL::Test::Cluster;
use Workers;

my $primary = new_server('primary', conf => "wal_level = replica\nmax_wal_senders = 4\nhot_standby = on", streaming => 1);
$primary->backup('copy');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'copy', has_streaming => 1);
$standby->start;

scalar_of($primary, "SELECT cudal1_import_result(name, 'slow', NULL, 'manual', 'elsewhere') FROM cudal1.task");
measuring($primary, "progress measuring 1\nfirst wait never\nresult 1.5", 'the primary measures');
submit($primary, "result 1.6");
$primary->wait_for_catchup($standby, 'replay', $primary->lsn('write'));
is(scalar_of($standby, "SELECT count(*) FROM cudal1.job"), '2', 'the standby sees the queue');
is(scalar_of($standby, "SELECT count(*) FROM pg_stat_activity WHERE backend_type LIKE 'cudal1%'"), '0', 'and has no workers');
is(scalar_of($standby, "SELECT string_agg(item || ': ' || value, ', ') FROM cudal1_status() WHERE item IN ('server', 'database', 'worker')"),
	'server: standby', 'and its status says no more of them than that');
is(scalar_of($standby, "SELECT texts FROM cudal1_prune('0 days', dry_run => true) WHERE part = 'code'"), '1', 'it can count what could be pruned');
like(($standby->psql('postgres', "SELECT cudal1_prune('0 days')", extra_params => ['-v', 'VERBOSITY=sqlstate']))[2], qr/25006/, 'and prunes nothing');

$primary->stop('immediate');
$standby->promote;
wait_for($standby, "SELECT count(*) FROM cudal1.candidate WHERE state = 'successful'", '2', 'promoted, it measures what was left');
is(scalar_of($standby, "SELECT count(*) FROM cudal1.measurement"), '2', 'each once');
consistent($standby);
no_children($primary);
$standby->stop;
done_testing();
