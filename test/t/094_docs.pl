# tools/docs writes the documents as a site: every page is there, found by the search, and needs nothing from a network.
use Testing;
use File::Find ();
use File::Spec;

my $mkdocs = $ENV{MKDOCS} || 'mkdocs';
plan skip_all => 'the site is built where MkDocs is' if system("$mkdocs --version >/dev/null 2>&1") != 0;

my $site = PostgreSQL::Test::Utils::tempdir() . '/site';
my $said = `'$ENV{TESTDIR}/tools/docs' '$site' 2>&1`;
is("$? $said", '0 ', 'a site is built, and no link between pages leads nowhere');
my %page;
File::Find::find(sub { $page{ File::Spec->abs2rel($File::Find::name, $site) } = slurp_file($_) if /\.html$/ }, $site);
my @docs = map { s{.*/(.*)\.md$}{docs/$1.html}r } glob "$ENV{TESTDIR}/docs/*.md";
is(join(' ', grep { !$page{$_} } 'index.html', @docs), '', 'with a page for each document');
my $index = slurp_file("$site/search/search_index.json");
is(join(' ', grep { $index !~ /"location":"\Q$_\E"/ } @docs), '', 'which the search knows');
my @broken;
for my $name (sort keys %page)
{
	my $folder = $name =~ s{[^/]*$}{}r;
	while ($page{$name} =~ /\s(src|href)="([^"#?]+)/g)
	{
		my ($kind, $target) = ($1, $2);
		push @broken, "$name: $target" if $target =~ m{^//} || ($target =~ /^\w+:/ ? $kind eq 'src' : !-e "$site/" . ($target =~ m{^/} ? $target : $folder . $target));
	}
}
is(join("\n", @broken), '', 'and all that it links to is there');
done_testing();
