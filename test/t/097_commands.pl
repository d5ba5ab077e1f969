# Each shell command of README, docs/ and examples/ is run as it stands and ends with status 0 (1 where a demo's candidates are wrong), or stands in the list of those that
# can't run here, with the reason. Names of hosts, ids and an endpoint are those of this test. The server's programs are stand-ins,
# cudal1-measure by hand is real; test/t/092_examples.pl runs README's first four commands.
use Testing;
use Models;
use Workers;

my %reason = (
	'make (?:ready|train-demo)' => 'installs packages, as root; test/packages and Containerfile install',
	'tools/server|eval .*tools/server|psql -c .CREATE EXTENSION cudal1. && sleep' => 'run by 092_examples.pl',
	'(?:python3 -m venv|pip install)' => 'a network; 071_trainers.pl installs the package without one',
	'examples/train/grpo\.py|python3 -m verl|\w+\.py |compare ' => 'hours of a GPU; 072_trainer_code.pl and 073_training.pl take two steps',
	'(?:python3 )?examples/train/verl/prompts\.py' => 'pyarrow; 072_trainer_code.pl where verl is',
	'podman|debootstrap' => 'root and podman; test/packages runs the steps of Containerfile',
	'sbatch' => 'a cluster; 065_slurm.pl runs the script under a Slurm of its own',
	'install -d /etc' => 'root',
	'cudal1-measure --device cuda' => 'a GPU');
my %command = map { $_ => 1 } qw(make tools/server eval psql pg_dump pg_restore python3 pip podman debootstrap sbatch install compare);
my ($tree, $dir, $endpoint) = ($ENV{TESTDIR}, PostgreSQL::Test::Utils::tempdir(), start_endpoint('commands'));
my $node = new_server('commands');
@ENV{qw(PGHOST PGPORT PGDATABASE PYTHONDONTWRITEBYTECODE)} = ($node->host, $node->port, 'postgres', 1);

# what the pages presume: tasks, codes, a campaign, a database, and files of others
my $add = sub { sprintf q(SELECT cudal1_add_task('%s', 'task', 'c', signature, options => '{"profile": "quick"}') FROM cudal1.task WHERE name = 'task';), @_ };
my $reference = slurp_file("$tree/examples/row_sums.c");
my ($signature) = $reference =~ s/^ \* ?//gmr =~ /(\{"entry".*?\]\})/s;
$node->safe_psql('postgres', join "\n", $add->('matrix product'), "SELECT cudal1_add_task('softmax', \$r\$$reference\$r\$, 'c', \$s\$$signature\$s\$);",
	"SELECT cudal1_submit('softmax', \$r\$" . slurp_file("$tree/examples/row_sums_lanes.c") . '$r$);',
	"SELECT cudal1_submit_batch(array_fill('matrix product'::text, ARRAY[4]), array_agg(format('result 1.%s', g))) FROM generate_series(1, 4) AS g;",
	"SELECT cudal1_add_model('m', 'http://127.0.0.1:1/v1', 'm');",
	"SELECT cudal1_add_campaign('stage 1', 'evolve', '{m}', options => '{\"max_candidates\": 1}');", 'CREATE DATABASE "full";');
$node->safe_psql('full', 'CREATE EXTENSION cudal1');
system(qw(ln -s), (glob "$tree/*"), $dir);
my $rows = '{\"level_id\": 1, \"task_id\": 12, \"custom_code\": \"class ModelNew: pass\", \"ref_code\": \"class Model: pass\ndef get_inputs(): pass\ndef get_init_inputs(): pass\n\", \"score\": 2.5}';
is(system(<<"END"), 0, 'files of others') or BAIL_OUT('no files');
cd $dir && mkdir -p KernelBench/level1 KernelBench/level2 generations
for file in level1/12_x.py level2/1_y.py; do printf 'class Model: pass\ndef get_inputs(): pass\ndef get_init_inputs(): pass\n' >KernelBench/\$file; done
echo 'class ModelNew: pass' >generations/level_1_problem_12_sample_0_kernel.py
for device in 3090 a100 h100 h20 l40; do printf '%s\n' "$rows" >\$device.json; done
pg_dump -Fc -f lab.dump full && pg_dump -f lab.sql full
END
my $lab = "psql -Xqc 'DROP DATABASE IF EXISTS lab' -c 'CREATE DATABASE lab'";
my @other = ([ 'http://127\.0\.0\.1:8000/v1 \S+', "$endpoint ok" ], [ 'host=db\.example', 'host=' . $node->host ], [ "--tasks 'kernelbench/1/%'", '--name second' ],
	[ '(?:show|lineage) \K68', '2' ], [ 'show \K17', '1' ], [ '--candidates \d+', '--candidates 2 --every 0.2' ], [ 'dbname kernels', 'dbname postgres' ],
	[ '^cudal1-import KernelBench/level1$', 'cudal1-import KernelBench/level1 --prefix other' ]);
# in front of commands: a program that would go on for ever does not, and one that measures does so in less time
my $before = <<'END';
cudal1-agent() { command cudal1-agent --until-idle=1 --host another --patience 20 "$@"; }
cudal1-measure() { case "$*" in *--profile*) command cudal1-measure "$@" ;; *) command cudal1-measure --quick "$@" ;; esac; }
END

my (%used, $total);
for my $page ('README.md', 'examples/README.md', 'examples/train/README.md', map { s{^\Q$tree\E/}{}r } sort glob "$tree/docs/*.md")
{
	my @run;
	my $text = slurp_file("$tree/$page") =~ s/^(```+).*?^\1$//gmsr =~ s/\\\n\s+//gr;
	my @lines = ($text =~ /^ {4,}(\S.*)$/gm, $text =~ /`((?:cudal1-?\w*|export|python3) (?:[^`]*[.\/'"\$]|--help)[^`]*)`/g);
	for my $line (@lines)
	{
		my ($word) = $line =~ /^(?:[A-Z]\w*=\S+ )*(?:. )?([\w.\/-]+) /;
		# what ends in dots is the beginning of one
		next unless defined $word && $line !~ /\.\.\.$/ && ($command{$word} || $word =~ /^cudal1(?:-\w+)?$|\.py$/ && $line !~ /launcher|worker|─|^[^']* [A-Z]{2,}\b/);
		my ($no) = grep { $line =~ /^(?:[A-Z]\w*=\S+ )*(?:$_)/ } sort keys %reason;
		if (defined $no) { $used{$no} = 1 }
		else { push @run, $line }
	}
	next unless @run;
	my $script = $before;
	for my $line (@run)
	{
		my $asked = $line;
		$asked =~ s/$$_[0]/$$_[1]/g for @other;
		$asked = "$lab; $asked" if $line =~ /-d lab/;
		$script .= "$asked\necho \"\nstatus \$?\"\n";
	}
	IPC::Run::run([ 'bash', '-c', $script ], '<', \undef, '>&', \my $out, init => sub { chdir $dir });
	my @said = split /^(status \d+)\n/m, $out;
	is(join("\n", map { "$run[$_]: " . ($said[ 2 * $_ + 1 ] // 'none') . "\n" . substr $said[ 2 * $_ ] // '', -500 }
		grep { ($said[ 2 * $_ + 1 ] // '') ne ($run[$_] =~ /column_sums.*\*\.c/ ? 'status 1' : 'status 0') } 0 .. $#run), '', "$page: " . @run . ' commands');
	$total += @run;
}
is(join("\n", grep { !$used{$_} } sort keys %reason), '', 'each exception is of a command that is there');
cmp_ok($total, '>=', 40, "$total commands were run");
$node->stop;
done_testing();
