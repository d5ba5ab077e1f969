# examples/rewards.py: the reward functions that a trainer plugs in.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../perl";
use IPC::Run ();
use JSON::PP ();
use Test::More;
use Workers;

my $python = '/usr/bin/python3';
plan skip_all => 'python3-psycopg is not installed' if system("$python -c 'import psycopg' 2>/dev/null") != 0;

# the programs of the stages, without a library
for my $name (qw(sft.py self_supervised.py grpo.py evaluate.py model.py demo verl/prompts.py))
{
	my ($out, $err) = ('', '');
	IPC::Run::run([ $python, qw(-B -S), "$FindBin::RealBin/../../examples/train/$name", '--help' ], '>', \$out, '2>', \$err);
	is($? >> 8, 3, "$name without its libraries ends with status 3");
	like($err, qr/\A\S+: \S+ lacks [^\n]*psycopg[^\n]*pip install [^\n]*\n\z/, "$name says what is missing");
}

my $node = new_server('trainers');
$node->safe_psql('postgres', "CREATE ROLE trainer LOGIN; SELECT cudal1_grant('trainer', 'trainer')");
$node->safe_psql('postgres', <<'SQL');
CREATE FUNCTION fail_in(pid int, state text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	IF pid = pg_backend_pid() THEN
		RAISE USING ERRCODE = state, MESSAGE = 'as asked';
	END IF;
END
$$
SQL
my @again = qw(08000 08006 40001 40P01 53300 57P01 57P02 57P03 57P05);

my $program = <<'END';
import asyncio, json, os, sys
sys.path.insert(0, sys.argv[1])
import psycopg, rewards

said = []
rewards.log.addFilter(lambda record: said.append(record.getMessage()))
HEADINGS = "## Performance Analysis\nfine\n\n## Algorithm Design\n1. fine\n\n## Code Implementation\n"


def answer(code):
    return HEADINGS + "```c\n" + code + "\n```\n"


class Slept(Exception):
    pass


def nap(_seconds):
    raise Slept


def come_back(_seconds):
    os.environ["CUDAL1_DSN"] = dsn


# a wrong connection is no lost one; what there was may come back
dsn, pause = os.environ["CUDAL1_DSN"], rewards.time.sleep
wrong = []
os.environ["CUDAL1_DSN"], rewards.time.sleep = dsn + " dbname=nope", nap
try:
    rewards.query("SELECT 1", ())
except (psycopg.OperationalError, Slept) as e:
    wrong.append(type(e).__name__)
os.environ["CUDAL1_DSN"] = dsn
wrong.append(len(rewards.query("SELECT 1", ())))
rewards.connection().close()
os.environ["CUDAL1_DSN"], rewards.time.sleep = dsn + " dbname=nope", come_back
wrong += [len(rewards.query("SELECT 1", ())), [m.count('"nope" does not exist') for m in said]]

# what the database says about a statement is raised, what concerns the connection or other sessions is tried again, on another connection
repeated = []
for state in sys.argv[2].split():
    pid = rewards.query("SELECT pg_backend_pid()", ())[0][0]
    try:
        rewards.query("SELECT fail_in(%s, %s)", (pid, state))
        repeated.append(state)
    except psycopg.Error:
        assert rewards.query("SELECT pg_backend_pid()", ())[0][0] == pid, state
rewards.time.sleep = pause

rows = list(rewards.make_prompts(["task", "task"]))
ids = [r["prompt_id"] for r in rows]
texts = [answer("result 1.518"), [{"role": "assistant", "content": answer("result 2.5")}], answer("outcome crash died"), "no code\0", "half \ud800, two \ud83d\ude00",
         [{"role": "assistant", "content": None}], answer("result 1.25") + 4194304 * " "]
found = rewards.speedup_reward([r["prompt"] for r in rows] * 4, texts, (ids * 4)[:7], completion_ids=None)
verl = [rewards.compute_score("cudal1", answer(code), None, {"prompt_id": ids[1]}) for code in ("result 1.25", "outcome crash no")]
info = [{"prompt_id": i} for i in ids]


async def gathered():
    return await asyncio.gather(*(rewards.compute_score_gathered("cudal1", answer(c), None, {"prompt_id": ids[0]})
                                  for c in ("result 1.5", "outcome crash at once", "result 1.518")))


statements = []
inner = rewards.query
rewards.query = lambda statement, parameters: statements.append(statement.split("(")[0]) or inner(statement, parameters)
several = asyncio.run(gathered())
rewards.query = inner
solutions = [answer("result 1.25"), answer("result 1.75")]
batch = rewards.compute_score_batch(["cudal1"] * 2, solutions, [None] * 2, info, reward_router_address=None)
# the trainer evaluates the same batch again, as after a crash, and on the way to the server the connection is lost
rewards.connection().close()
again = rewards.compute_score_batch(["cudal1"] * 2, solutions, [None] * 2, info)
broken = rewards.connection()
try:
    broken.execute("SELECT pg_terminate_backend(pg_backend_pid())")
except Exception:
    pass
third = rewards.compute_score_batch(["cudal1"] * 2, solutions, [None] * 2, info)
rlhf = rewards.reward_func(["Question" + answer("result 1.125")], ["Question"], [str(ids[0])])
# an answer of which there is no task any more, among others and alone
gone = rewards.rewards_of([ids[0], 1 << 40, ids[1]], [answer(f"result {x}") for x in (1.375, 1.5, 1.625)])
try:
    gone.append(rewards.rewards_of([1 << 40], [answer("result 1.5")]))
except psycopg.errors.UndefinedObject:
    gone.append("refused")
# the last, since it keeps the one device
lost = rewards.wait(rewards.submit([ids[0]], [answer("wait never")], "grpo", [None], ["last"]), 0.2)
print(json.dumps([wrong, repeated]))
print(json.dumps([len(rows), rows[0]["prompt"][:6], found, lost, verl]))
print(json.dumps([several, statements.count("SELECT cudal1_submit_response")]))
print(json.dumps([batch, again == batch, third == batch, rlhf]))
print(json.dumps(gone))
END

my ($out, $err) = ('', '');
{
	local $ENV{CUDAL1_DSN} = $node->connstr('postgres') . ' user=trainer';
	IPC::Run::run([ $python, '-B', '-c', $program, "$FindBin::RealBin/../../examples",
		"@again 22023 53100 53200 54000 55P03 57014 57P04 58030 XX000" ], '>', \$out, '2>', \$err);
}
is($err, '', 'no complaints');
my $tried = $out =~ s/^(.*)\n// ? JSON::PP::decode_json($1) : [];
is_deeply($tried->[0], [ 'OperationalError', 1, 1, [1] ],
	'a first connection that fails is an error at once, a lost server is waited for, and said to be');
is_deeply($tried->[1], \@again, 'statements are tried again where that may help, and nowhere else');
is($out,
	'[2, "**Task", [1.51, 2.5, 0.0, 0.0, 0.0, 0.0, 0.0], [null], [{"score": 1.25, "measured": true}, {"score": 0.0, "measured": true}]]' . "\n"
	  . '[[{"score": 1.5, "measured": true}, {"score": 0.0, "measured": true}, {"score": 1.51, "measured": true}], 1]' . "\n"
	  . '[[{"score": 1.25, "measured": true}, {"score": 1.75, "measured": true}], true, true,'
	  . ' {"rewards": [1.12], "scores": [1.0], "extra_logs": {"measured": [1.0]}}]' . "\n"
	  . '[1.37, null, 1.62, "refused"]' . "\n",
	'rewards in the order of the answers; failed and malformed 0; undecided none, as what is refused among others');
is(scalar_of($node, "SELECT count(DISTINCT group_key) FROM cudal1.proposal WHERE group_key IS NOT NULL"), '6',
	'answers to one prompt in one batch are a group');
is(scalar_of($node, "SELECT count(*) FROM cudal1.proposal WHERE group_key IS NOT NULL"), '11', 'a batch that is evaluated again adds nothing');
is(scalar_of($node, "SELECT count(*) FROM cudal1.proposal WHERE response = U&'half \\FFFD, two \\+01F600'"), '1', 'a character that is none is replaced');
is(scalar_of($node, "SELECT count(*) FROM cudal1.proposal WHERE created_by <> 'trainer'"), '0', 'all by a role that is a mere trainer');

$node->safe_psql('postgres', 'SELECT cudal1_cancel(array_agg(candidate_id)) FROM cudal1.candidate WHERE decided_at IS NULL');
$node->stop('fast');
done_testing();
