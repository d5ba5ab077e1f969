# The package cudal1: the reward functions that a trainer plugs in.
use Testing;
use File::Temp qw(tempdir);
use IPC::Run ();
use JSON::PP ();
use Workers;

my $python = '/usr/bin/python3';
plan skip_all => 'python3-psycopg is not installed' if system("$python -c 'import psycopg' 2>/dev/null") != 0;

# the programs of the stages, without a library
for my $name (qw(sft.py self_supervised.py grpo.py evaluate.py model.py demo verl/prompts.py))
{
	my ($out, $err) = ('', '');
	IPC::Run::run([ $python, qw(-B -S), "$ENV{TESTDIR}/examples/train/$name", '--help' ], '>', \$out, '2>', \$err);
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
import logging
import psycopg, cudal1, cudal1.client, cudal1.openrlhf, cudal1.trl, cudal1.verl

client = cudal1.client

said = []
client.log.addFilter(lambda record: said.append(record.getMessage()))
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
dsn, pause = os.environ["CUDAL1_DSN"], client.time.sleep
wrong = []
os.environ["CUDAL1_DSN"], client.time.sleep = dsn + " dbname=nope", nap
try:
    client.query("SELECT 1", ())
except (psycopg.OperationalError, Slept) as e:
    wrong.append(type(e).__name__)
os.environ["CUDAL1_DSN"] = dsn
wrong.append(len(client.query("SELECT 1", ())))
client.connection().close()
os.environ["CUDAL1_DSN"], client.time.sleep = dsn + " dbname=nope", come_back
wrong += [len(client.query("SELECT 1", ())), [m.count('"nope" does not exist') for m in said]]

# what the database says about a statement is raised, what concerns the connection or other sessions is tried again, on another connection
repeated = []
for state in sys.argv[2].split():
    pid = client.query("SELECT pg_backend_pid()", ())[0][0]
    try:
        client.query("SELECT fail_in(%s, %s)", (pid, state))
        repeated.append(state)
    except psycopg.Error:
        assert client.query("SELECT pg_backend_pid()", ())[0][0] == pid, state
client.time.sleep = pause

rows = cudal1.prompts(["task", "task"])
ids = [r["prompt_id"] for r in rows]
texts = [answer("result 1.518"), [{"role": "assistant", "content": [{"type": "image"}, {"type": "text", "text": answer("result 2.5")}]}], answer("outcome crash died"), "no code\0", "half \ud800, two \ud83d\ude00",
         [{"role": "assistant", "content": None}], answer("result 1.25") + 4194304 * " "]
found = cudal1.trl.speedup_reward([r["prompt"] for r in rows] * 4, texts, (ids * 4)[:7], completion_ids=None)
verl = [cudal1.verl.compute_score("cudal1", answer(code), None, {"prompt_id": ids[1]}) for code in ("result 1.25", "outcome crash no")]
info = [{"prompt_id": i} for i in ids]


async def gathered():
    return await asyncio.gather(*(cudal1.verl.compute_score_gathered("cudal1", answer(c), None, {"prompt_id": ids[0]})
                                  for c in ("result 1.5", "outcome crash at once", "result 1.518")))


statements = []
inner = client.query
client.query = lambda statement, parameters: statements.append(statement.split("(")[0]) or inner(statement, parameters)
several = asyncio.run(gathered())
client.query = inner
solutions = [answer("result 1.25"), answer("result 1.75")]
batch = cudal1.verl.compute_score_batch(["cudal1"] * 2, solutions, [None] * 2, info, reward_router_address=None)
# the trainer evaluates the same batch again, as after a crash, and on the way to the server the connection is lost
client.connection().close()
again = cudal1.verl.compute_score_batch(["cudal1"] * 2, solutions, [None] * 2, info)
broken = client.connection()
try:
    broken.execute("SELECT pg_terminate_backend(pg_backend_pid())")
except Exception:
    pass
third = cudal1.verl.compute_score_batch(["cudal1"] * 2, solutions, [None] * 2, info)
rlhf = cudal1.openrlhf.reward_func(["Question" + answer("result 1.125")], ["Question"], [str(ids[0])])
# a query is decoded: other blanks, a special token before it, the beginning cut off, the end repeated by the answer; another text is none
long = "It 's said .\n" * 20 + "Now answer .\n<|assistant|>\n"
told = [cudal1.openrlhf.answer_of(q, long) for q in (long + " a", "<s> " + long.replace(" .", ".") + "a", long[90:] + "a" + long[-150:] + "b")]
try:
    told.append(cudal1.openrlhf.answer_of("else", long))
except ValueError:
    told.append("refused")
# prompts that are drawn as a trainer reads them, by what datasets.Dataset does with a transform
class Rows:
    def from_dict(columns):
        found = Rows()
        found.columns = columns
        return found

    def with_transform(self, transform):
        return lambda numbers: transform({key: [column[n] for n in numbers] for key, column in self.columns.items()})


sys.modules["datasets"] = type(sys)("datasets")
sys.modules["datasets"].Dataset = Rows
read = cudal1.trl.prompt_dataset(iter(["task", "task"]), n=1)
drawn = [read([0, 0, 1, 1])["prompt_id"] for _ in range(2)]
drawn = [[len({a for a in x[:2]}), len(set(x)), sorted(read([1]))] for x in drawn] + [len({*drawn[0], *drawn[1]})]
# an answer of which there is no task any more, among others and alone
gone = [v.reward for v in cudal1.rate([ids[0], 1 << 40, ids[1]], [answer(f"result {x}") for x in (1.375, 1.5, 1.625)])]
try:
    gone.append(cudal1.rate([1 << 40], [answer("result 1.5")]))
except psycopg.errors.UndefinedObject:
    gone.append("refused")
# reasons, and what is said of a step; ids of any type; rows that are refused, one by one
class State:
    global_step = 7


said.clear()
client.log.setLevel(logging.INFO)
extra, metrics = {}, {}
offered = cudal1.trl.speedup_reward(None, [answer("result 1.875"), "no code", answer("outcome crash again")], ids[:1] * 3, trainer_state=State(),
                                    log_extra=lambda name, values: extra.update({name: values}), log_metric=lambda name, x: metrics.update({name: round(x, 2)}))
lines = [m.rsplit(", ", 1)[0] for m in said]
client.log.setLevel(logging.WARNING)
reasons = cudal1.verl.compute_score("cudal1", answer("outcome crash reasons"), None, {"prompt_id": ids[1]}, reasons=True)
try:
    import numpy
    kinds = [numpy.int64(ids[0]), numpy.int32(ids[0]), numpy.array([ids[0]])[0]]
except ImportError:
    kinds = [ids[0]] * 3
kinds = [v.reward for v in cudal1.rate(kinds + [str(ids[0])], [answer("result 1.25")] * 4)]
refused = [v.reward for v in cudal1.rate([ids[0], "x", 1 << 70, None, 1.5, ids[0]], [answer("result 1.25")] * 5 + [None])]
wrong_lengths = []
for call in (lambda: cudal1.trl.speedup_reward(None, ["no code", "none either"], prompt_id=ids[:1]),
             lambda: cudal1.verl.compute_score_batch(["x"], ["no code"], ["g"], info), lambda: cudal1.openrlhf.reward_func(["q"], ["p"], ids),
             lambda: cudal1.rate(["x"], ["no code"]), lambda: cudal1.rate(ids[0], "no code"), lambda: cudal1.trl.speedup_reward(None, ["no code"]), lambda: len(cudal1.prompts("task")),
             lambda: cudal1.prompts("tasc"), lambda: client.query("SELECT cudal1_evaluate('{1}')")):
    try:
        wrong_lengths.append(call())
    except (TypeError, ValueError) as e:
        wrong_lengths.append(str(e).split(",")[0])
    except psycopg.Error as e:
        wrong_lengths.append(str(e))
for _ in range(8):
    cudal1.verl.compute_score_batch(["x"], ["no code"], ["g"], info[:1])
prepared = client.query("SELECT count(*) FROM pg_prepared_statements")[0][0]
group = cudal1.column("SELECT coalesce(failure, state) || coalesce(': ' || left(detail, 24), '') FROM cudal1_group_result("
                      "(SELECT group_key FROM cudal1.proposal WHERE candidate_id = %s AND group_key IS NOT NULL LIMIT 1)) ORDER BY ordinal",
                      (client.verdicts(cudal1.submit([ids[0]], [answer("outcome crash again")], "grpo", [None], ["again"]))[0].candidate_id,))
# the last, since it keeps the one device
lost = cudal1.wait(cudal1.submit([ids[0]], [answer("wait never")], "grpo", [None], ["last"]), 0.2)
print(json.dumps([wrong, repeated]))
print(json.dumps([len(rows), rows[0]["prompt"][:6], found, lost, verl]))
print(json.dumps([several, statements.count("SELECT cudal1_submit_response")]))
print(json.dumps([batch, again == batch, third == batch, rlhf, [t.strip()[0] + t.strip()[-1] for t in told]], default=lambda tensor: [round(x, 6) for x in tensor.tolist()]))
print(json.dumps(drawn))
print(json.dumps(gone))
print(json.dumps([offered, extra["failure"], metrics, lines, reasons["failure"], kinds, refused, wrong_lengths, prepared, group]))
END

my ($out, $err) = ('', '');
{
	local $ENV{CUDAL1_DSN} = $node->connstr('postgres') . ' user=trainer';
	IPC::Run::run([ $python, '-B', '-c', $program, "$ENV{TESTDIR}/python",
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
	  . ' {"rewards": [1.12], "scores": [1.0], "extra_logs": {"measured": [1.0]}}, ["aa", "aa", "ab", "rd"]]' . "\n"
	  . '[[1, 2, ["prompt", "prompt_id"]], [1, 2, ["prompt", "prompt_id"]], 4]' . "\n"
	  . '[1.37, null, 1.62, "refused"]' . "\n"
	  . '[[1.87, 0.0, 0.0], ["successful", "malformed", "crash"], {"outcome/right": 0.33, "outcome/crash": 0.33, "outcome/malformed": 0.33},'
	  . ' ["step 7, 3 answers: 1 right, 1 crash, 1 malformed, best 1.87"], "crash", [1.25, 1.25, 1.25, 1.25], [1.25, null, null, null, null, null],'
	  . ' ["a batch needs as many of each: 1 prompt_ids", "a batch needs as many of each: 2 prompt_ids", "a batch needs as many of each: 1 queries",'
	  . ' "prompt_id is an integer", "prompt_ids is a list with an element for each answer", "an answer needs its prompt_id", 1,'
	  . ' "task \\"tasc\\" does not exist\\nHINT:  Did you mean \\"task\\"? Add it with cudal1_add_task(); cudal1.task lists those that exist.",'
	  . ' "permission denied for function cudal1_evaluate\\nHINT:  A superuser grants it in this database: SELECT cudal1_grant(\'trainer\', \'trainer\')"], 0,'
	  . ' ["successful", "malformed: section \\"## Performance ", "crash: again"]]' . "\n",
	'rewards in the order of the answers; failed and malformed 0; undecided none, as what is refused among others');
is(scalar_of($node, "SELECT count(DISTINCT group_key) FROM cudal1.proposal WHERE group_key IS NOT NULL"), '10',
	'answers to one prompt in one batch are a group');
is(scalar_of($node, "SELECT count(*) FROM cudal1.proposal WHERE group_key IS NOT NULL"), '20', 'a batch that is evaluated again adds nothing');
is(scalar_of($node, "SELECT count(*) FROM cudal1.proposal WHERE response = U&'half \\FFFD, two \\+01F600'"), '1', 'a character that is none is replaced');
is(scalar_of($node, "SELECT count(*) FROM cudal1.proposal WHERE created_by <> 'trainer'"), '0', 'all by a role that is a mere trainer');

$node->safe_psql('postgres', 'SELECT cudal1_cancel(array_agg(candidate_id)) FROM cudal1.candidate WHERE decided_at IS NULL');
$node->stop('fast');

# in a clone that was built, cudal1.so lies beside the package
{
	my $tree = $ENV{TESTDIR};
	my $folder = tempdir(CLEANUP => 1);
	my ($said, $bad) = ('', "$folder/bad.c");
	append_to_file($bad, 'this is no C');
	my $measure = 'import cudal1, sys; print(cudal1.measure("examples/row_sums.c", sys.argv[1], quick=True)[0]["outcome"]); cudal1.measure("nothing.c", "no.c")';
	IPC::Run::run([ $python, '-B', '-c', $measure, $bad ], '>', \$out, '2>', \$err, init => sub { chdir $tree });
	is($out, "compile_error\n", 'a file is measured by hand');
	like($err, qr/ValueError: .*nothing\.c/, 'and wrong usage is an error with its words');
  SKIP:
	{
		skip 'python3-pip is not installed', 2 if system("$python -c 'import pip, setuptools, wheel' 2>/dev/null") != 0;
		system('cp', '-R', "$tree/python", "$folder/source");
		IPC::Run::run([ $python, qw(-m pip install --quiet --no-index --no-build-isolation --no-deps --target), "$folder/site", "$folder/source" ], '>&', \$said);
		is($?, 0, 'the package is installed without a network') or diag($said);
		local $ENV{PYTHONPATH} = "$folder/site";
		IPC::Run::run([ $python, '-B', '-c', 'import cudal1.trl, cudal1.verl, cudal1.openrlhf; print(cudal1.__file__)' ], '>', \$out, '2>', \$err, init => sub { chdir $folder });
		is($out, "$folder/site/cudal1/__init__.py\n", 'and imported from there') or diag($err);
	}
}
done_testing();
