# A Slurm cluster of two nodes on this host, for tests that have a network of their own (PrivateNetwork): munged, slurmctld and a slurmd
# for each node, all as the caller. A node has one core of the host, and node n1 two GPUs whose device
# files are others.
package Slurm;

use strict;
use warnings;
use Exporter 'import';
use PostgreSQL::Test::Utils;
use Processes;
use Testing ();
use Time::HiRes qw(sleep time);

our @EXPORT = qw(have_slurm start_slurm slurm pilots node_state);

my $dir;

sub have_slurm
{
	$ENV{PATH} .= ':/usr/sbin:/sbin';
	for my $program (qw(munged slurmctld slurmd sbatch scontrol taskset))
	{
		return 0 if !grep { -x "$_/$program" } split /:/, $ENV{PATH};
	}
	return 1;
}

# what a command says
sub slurm
{
	my (@command) = @_;
	open my $pipe, '-|', @command or die "@command: $!";
	my $text = do { local $/; <$pipe> } // '';
	close $pipe;
	chomp $text;
	return $text;
}

sub start_slurm
{
	my $user = getpwuid $<;
	my ($mask) = PostgreSQL::Test::Utils::slurp_file('/proc/self/status') =~ /^Cpus_allowed_list:\s*(\S+)/m;
	my @cores = map { /(\d+)-(\d+)/ ? $1 .. $2 : $_ } split /,/, $mask;

	$dir = PostgreSQL::Test::Utils::tempdir();
	chmod 0755, $dir;
	mkdir "$dir/$_" for qw(controller n1 n2);
	Testing::write_file("$dir/key", (join '', map { chr int rand 256 } 1 .. 1024), 0600);
	Testing::write_file("$dir/gres.conf", "NodeName=n1 Name=gpu File=/dev/null\nNodeName=n1 Name=gpu File=/dev/zero\n");
	Testing::write_file("$dir/slurm.conf", <<"END");
ClusterName=test
SlurmctldHost=localhost(127.0.0.1)
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/munge
AuthInfo=socket=$dir/munge,cred_expire=5
CredType=cred/munge
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
SlurmctldPort=16817
StateSaveLocation=$dir/controller
SlurmdSpoolDir=$dir/%n
SlurmctldPidFile=$dir/controller.pid
SlurmdPidFile=$dir/%n.pid
SlurmctldLogFile=$dir/controller.log
SlurmdLogFile=$dir/%n.log
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/builtin
SchedulerParameters=sched_interval=1,batch_sched_delay=0
GresTypes=gpu
KillWait=15
ReturnToService=2
NodeName=n1 NodeHostname=localhost NodeAddr=127.0.0.1 Port=16818 CPUs=2 Gres=gpu:2 State=UNKNOWN
NodeName=n2 NodeHostname=localhost NodeAddr=127.0.0.1 Port=16819 CPUs=2 State=UNKNOWN
PartitionName=main Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP
END
	$ENV{SLURM_CONF} = "$dir/slurm.conf";
	system("munged --socket=$dir/munge --key-file=$dir/key --pid-file=$dir/munge.pid --log-file=$dir/munge.log --seed-file=$dir/munge.seed"
		  . " --force 2>>$dir/start.log") == 0 or die 'munged';
	system("slurmctld -c 2>>$dir/start.log") == 0 or die 'slurmctld';
	system("taskset -c $cores[0] slurmd -N n1 2>>$dir/start.log") == 0 or die 'slurmd of n1';
	system("taskset -c $cores[-1] slurmd -N n2 2>>$dir/start.log") == 0 or die 'slurmd of n2';
	my $until = time() + 60;
	sleep 0.2 until (node_state('n1') eq 'idle' && node_state('n2') eq 'idle') || time() > $until;
	return $dir;
}

sub node_state { return slurm('sinfo', '--noheader', '--nodes', $_[0], '--format', '%t') =~ s/\*//r }

# the agents that run as jobs: [pid, job, node]
sub pilots
{
	my @found;
	for my $proc (glob '/proc/[0-9]*')
	{
		my ($line, $environment) = map { read_all("$proc/$_") } qw(cmdline environ);
		next if $line !~ m{^\S*cudal1-agent\0};
		my ($job) = $environment =~ /(?:^|\0)SLURM_JOB_ID=(\d+)/ or next;
		my ($node) = $environment =~ /(?:^|\0)SLURMD_NODENAME=(\w+)/ or next;
		push @found, [ $proc =~ /(\d+)/, $job, $node ];
	}
	return @found;
}

1;
