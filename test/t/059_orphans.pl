# What of bubblewrap a supervisor left that was killed in an unlucky moment is swept by the next, whoever it fell to; what belongs to one that
# lives is left alone.
use Testing;
use Measuring;
use POSIX ':sys_wait_h';

my $dir = PostgreSQL::Test::Utils::tempdir();
my @options = qw(bwrap --unshare-all --unshare-user --disable-userns --die-with-parent --new-session --clearenv --cap-drop ALL --hostname sandbox);

# a process of a name with a child that looks like bubblewrap's; it ends when the child does
write_file("$dir/parent.c", <<'END');
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int n, char **argv)
{
	int status = 0;
	pid_t child;
	if (strcmp(argv[0], "bwrap") == 0)
	{
		puts("ready");
		fflush(stdout);
		for (;;)
			pause();
	}
	prctl(PR_SET_NAME, argv[1]);
	child = fork();
	if (child == 0)
	{
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execv(argv[2], argv + 3);
		_exit(1);
	}
	waitpid(child, &status, 0);
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}
END
plan skip_all => 'no compiler here' if system("gcc -o '$dir/parent' '$dir/parent.c' && cp '$dir/parent' '$dir/bwrap'") != 0;

# whether such a child is killed when devices are listed
sub is_swept
{
	my ($parent) = @_;
	my $pid = open my $out, '-|', "$dir/parent", $parent, "$dir/bwrap", @options or die $!;
	<$out>;
	system("'$measure' --python /bin/false --scratch '$dir' --devices >/dev/null 2>&1");
	my $swept = waitpid($pid, WNOHANG) == $pid;
	# killed, and its parent about to say so
	for (1 .. 100)
	{
		last if $swept;
		open my $children, '<', "/proc/$pid/task/$pid/children" or last;
		last if (<$children> // '') =~ /\d/;
		select undef, undef, undef, 0.02;
		$swept = waitpid($pid, WNOHANG) == $pid;
	}
	kill 'KILL', $pid if !$swept;
	waitpid $pid, 0;
	return $swept ? 'swept' : 'left alone';
}

is(is_swept('postgres'), 'swept', 'one that fell to a worker');
is(is_swept('systemd'), 'swept', 'or to the first process of all');
is(is_swept('cudal1-agent'), 'swept', 'or to an agent');
is(is_swept('cudal1-measure'), 'left alone', 'one of a measurement that lives');
is(is_swept('bwrap'), 'left alone', 'and the second process of a sandbox');

# a program under another name, as cudal1.measure_path may have it, calls itself the same
system("cp '$measure' '$dir/other'") == 0 or die 'cp';
my $pid = open my $job, '|-', "exec '$dir/other' --scratch '$dir' >/dev/null 2>&1" or die $!;
my $name = '';
for (1 .. 500)
{
	open my $comm, '<', "/proc/$pid/comm" or last;
	chomp($name = <$comm> // '');
	last if $name eq 'cudal1-measure';
	select undef, undef, undef, 0.02;
}
is($name, 'cudal1-measure', 'whatever its file is called');
close $job;
done_testing();
