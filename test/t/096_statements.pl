# Each SQL statement of README and docs/ is one that the server takes: its functions, arguments, columns and options are there.
# Names of tasks, methods and pools are examples, so what is not there by that name is no fault. tools/tutorial runs the others,
# 097_commands.pl what a shell is given. What psql prints fits 80 columns.
use Testing;
use Workers;

my $top = $ENV{TESTDIR};
my $node = new_server('statements');
my %value = (prompt_id => 1, prompt_ids => '{1,1}', answer => 'no code', answers => '{a,b}', candidates => '{1}', group_key => 'g', responses => '{a}',
	rewards => '{1,2}', reference => 'result 1', method => 'm', task => 'task', candidate_id => 1, id => 1, group => 'g');
# no object of that name, or one already; what needs a state or stands outside of transactions
my %fair = map { $_ => 1 } qw(42704 55000 25001 42710);
my $total = 0;
$node->safe_psql('postgres', 'CREATE ROLE lab');
# contributing.md begins with a test that fails
for my $page ('README.md', grep { $_ ne 'docs/contributing.md' } map { s{^\Q$top\E/}{}r } sort glob "$top/docs/*.md")
{
	my @wrong;
	# lines of code, which are indented by four, and what psql -c is given
	my $code = join '', map { s/ -- .*//sr . "\n" } slurp_file("$top/$page") =~ /^ {4,}(.*)$/gm;
	my @inline = slurp_file("$top/$page") =~ /`(SELECT [^`]{9,})`/g;
	for my $statement (@inline, ($code =~ /psql\b.*? "([^"]+)"/g), map { s/^(?:.*\n)*? *(?=(?:SELECT|CREATE|ALTER|DROP|UPDATE|SET)\b)//r } split /;/, $code)
	{
		next if $statement !~ /^(?:SELECT|CREATE|ALTER|DROP|UPDATE|SET)\s/ || $statement =~ /\.\.\./;
		$total++;
		my $asked = $statement =~ s/%\((\w+)\)s/:'$1'/gr;
		my ($ret, $out, $err) = $node->psql('postgres', "\\set VERBOSITY verbose\nBEGIN;\n$asked;\n",
			extra_params => [ map { ('-v', "$_=$value{$_}") } keys %value ]);
		my ($state) = $err =~ /ERROR:  (\w{5}):/;
		push @wrong, "$asked\n$err" if defined $state && !$fair{$state};
	}
	push @wrong, grep { length > 80 && !/^(?:DETAIL|HINT): / } map { split /\n/ } slurp_file("$top/$page") =~ s/^````.*?^````$|^```\w.*?^```$//gmsr =~ /^```\n(.*?)^```$/gms;
	is(join("\n", @wrong), '', $page);
}
cmp_ok($total, '>', 80, "$total statements were read");
$node->stop;
done_testing();
