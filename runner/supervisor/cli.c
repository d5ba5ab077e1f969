/*
 * cli.c
 *		`cudal1-measure TASK CANDIDATE...`: jobs made of files, and verdicts for a reader.
 *
 * A candidate's detail may hold what its code printed. A terminal obeys escape sequences, so all
 * text of others has gone through text_clean().
 */
#include <stdarg.h>
#include <sys/stat.h>

#include "src/score.h"
#include "supervisor/cli.h"
#include "supervisor/profile_numbers.h"
#include "supervisor/measure.h"

#define FILE_LIMIT	((size_t) 64 << 20)

static void __attribute__((format(printf, 1, 2), noreturn))
refuse(const char *format,...)
{
	va_list		arguments;

	fputs("cudal1-measure: ", stderr);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	exit(CLI_USAGE);
}

char *
cli_read_file(const char *path, size_t *length)
{
	FILE	   *file = fopen(path, "re");
	char	   *text = file ? text_read(file, FILE_LIMIT, length) : NULL;

	if (!text)
		refuse("can't read %s: %s", path, strerror(errno));
	fclose(file);
	return text;
}

static json_t *
read_source(const char *path)
{
	size_t		length;
	char	   *text = cli_read_file(path, &length);
	json_t	   *source = length == strlen(text) ? json_string(text) : NULL;

	free(text);
	if (!source)
		refuse("%s is not UTF-8 text", path);
	if (json_string_length(source) == 0)
		refuse("%s is empty", path);
	return source;
}

static json_t *
read_object(const char *path)
{
	json_error_t at;
	size_t		length;
	char	   *text = cli_read_file(path, &length);
	json_t	   *object = json_loadb(text, length, JSON_REJECT_DUPLICATES, &at);

	free(text);
	if (!object)
		refuse("%s, line %d: %s", path, at.line, at.text);
	if (!json_is_object(object))
		refuse("%s holds no JSON object", path);
	return object;
}

json_t *
cli_signature(const char *source, char *error, size_t size)
{
	char	   *text = strdup(source);
	json_t	   *found = NULL;

	if (!text)
		refuse("no memory for a source");
	snprintf(error, size, "no comment holds a signature, such as {\"args\": [{\"name\": \"x\", "
			 "\"dtype\": \"float32\", \"shape\": [64], \"role\": \"in\"}, {\"name\": \"y\", "
			 "\"dtype\": \"float32\", \"shape\": [64], \"role\": \"out\"}]}");
	/* spaces for the marks that lines of comments begin with */
	for (char *line = text; line && *line; line = strchr(line, '\n'))
	{
		line += strspn(line, " \t\r\n");
		memset(line, ' ', strspn(line, "/*"));
	}
	for (char *p = strchr(text, '{'); p; p = strchr(p + 1, '{'))
	{
		json_error_t where;
		int			first = 1;

		found = json_loads(p, JSON_REJECT_DUPLICATES | JSON_DISABLE_EOF_CHECK, &where);
		if (json_object_get(found, "args"))
			break;
		/* braces of code, or of prose */
		if (!found && p[1 + strspn(p + 1, " \t\r\n")] == '"' && strstr(p, "\"args\""))
		{
			for (char *q = text; q < p; q++)
				first += *q == '\n';
			snprintf(error, size, "line %d, in the signature: %s", first + where.line - 1,
					 where.text);
		}
		json_decref(found);
		found = NULL;
	}
	free(text);
	return found;
}

static json_t *
read_reference(const char *path)
{
	int			language = language_of(strrchr(path, '.'), true);

	if (language == LANGUAGES)
		refuse("%s is no task: a folder with a task.json, or a file with one of these endings:"
			   ROWS_OF_LANGUAGES(ENDING_OF), path);
	return json_pack("{s:s, s:o}", "language", language_facts[language].name, "reference",
					 read_source(path));
}

static json_t *
read_folder(const char *path)
{
	char		name[4096];
	json_t	   *task;
	const char *reference;

	snprintf(name, sizeof(name), "%s/task.json", path);
	task = read_object(name);
	reference = json_string_value(json_object_get(task, "reference"));
	if (!json_is_string(json_object_get(task, "language")) || !reference)
		refuse("%s needs a \"language\" and a \"reference\", which names a file", name);
	snprintf(name, sizeof(name), "%s/%s", path, reference);
	json_object_update_missing(task, json_object_get(task, "options"));
	json_object_set_new(task, "reference", read_source(name));
	return task;
}

/* the columns of cudal1.profile; those of the last line are read by a server */
static const char columns[] =
#define NUMBER(name, low, high, nullable, standard) " " #name " "
#include "supervisor/profile_numbers.h"
" looks estimator "
" name shipped purpose attempts group_most verify_above ";

void
cli_read_task(Cli *cli, const char *path)
{
	struct stat st;
	char		error[512];
	const char *source;
	const char *name;
	char		word[256];
	json_t	   *number;
	json_t	   *signature;
	int			language;

	if (stat(path, &st) != 0)
		refuse("can't read %s: %s", path, strerror(errno));
	cli->task = S_ISDIR(st.st_mode) ? read_folder(path) : read_reference(path);
	if (cli->profile && access(cli->profile, R_OK) != 0)
		refuse("--profile takes a file with JSON: can't read %s: %s (--quick is profile 'quick')",
			   cli->profile, strerror(errno));
	cli->numbers = cli->profile ? read_object(cli->profile)
		: cli->quick ? json_loads(PROFILE_QUICK, 0, NULL) : json_object();
	json_object_foreach(cli->numbers, name, number)
	{
		snprintf(word, sizeof(word), " %s ", name);
		/* a file may be of another version, whose other numbers still count */
		if (!strstr(columns, word))
			fprintf(stderr, "cudal1-measure: %s: member \"%s\" is ignored, because it is no column "
					"of cudal1.profile\n", cli->profile, name);
	}
	if (cli->cores > 0)
		json_object_set_new(cli->task, "cores", json_integer(cli->cores));
	if (cli->signature)
		json_object_set_new(cli->task, "signature", read_object(cli->signature));
	source = json_string_value(json_object_get(cli->task, "reference"));
	language = language_of(json_string_value(json_object_get(cli->task, "language")), false);
	if (language != LANGUAGES && language_facts[language].module)
	{
		if (!strstr(source, "Model") || !strstr(source, "get_inputs"))
			refuse("%s is no KernelBench file: it defines no Model or no get_inputs", path);
	}
	else if (!json_object_get(cli->task, "signature"))
	{
		signature = cli_signature(source, error, sizeof(error));
		if (!signature)
			refuse("%s: %s", path, error);
		json_object_set_new(cli->task, "signature", signature);
	}
}

json_t *
cli_job(const Cli *cli, char **files, int n)
{
	json_t	   *candidates = json_array();
	const json_t *signature = json_object_get(cli->task, "signature");

	for (int i = 0; i < n; i++)
	{
		int			own = language_of(strrchr(files[i], '.'), true);

		/* names of compiled code may have each other's endings */
		if (own != LANGUAGES && language_facts[own].module != !signature)
			refuse("%s is no candidate of a task in %s", files[i],
				   json_string_value(json_object_get(cli->task, "language")));
		json_array_append_new(candidates, json_pack("{s:o}", "code", read_source(files[i])));
	}
	return json_pack("{s:O, s:o, s:O, s:{s:s*}}", "task", cli->task, "candidates", candidates,
					 "profile", cli->numbers, "device", "key", cli->device);
}

static PeopleStatus
status_of(Outcome outcome)
{
	return outcome == OUTCOME_SUCCESSFUL ? CLI_RIGHT
		: outcome == OUTCOME_LOST || outcome == OUTCOME_UNSTABLE || outcome == OUTCOME_UNVERIFIED
		|| outcome == OUTCOME_CANCELLED ? CLI_UNMEASURED : CLI_WRONG;
}

/* "9.05x (9.00 to 9.11), right, 7 pairs, 8 s", or the reason */
static void
show_line(const Cli *cli, const char *file, const Result *r, const char *outcome,
		  PeopleStatus status)
{
	static const char *const colours[] = {"\033[32m", "\033[31m", "", "\033[33m"};
	const char *colour = cli->colour ? colours[status] : "";
	const char *plain = cli->colour ? "\033[0m" : "";
	const char *weak = json_string_value(json_object_get(r->evidence, "weak"));
	char		name[256];
	size_t		length;

	text_clean(name, sizeof(name), file, strlen(file));
	if (cli->width > 0)
		printf("%-*s  ", cli->width, name);
	if (status == CLI_RIGHT)
		printf("%s%.2fx%s (%.2f to %.2f), right, %zu pairs, %.0f s", colour,
			   cudal1_score_conservative_round(r->score), plain,
			   cudal1_score_conservative_round(r->stop.lower),
			   cudal1_score_conservative_round(r->stop.upper), r->stop.ratios.n,
			   r->wall_seconds);
	else
	{
		printf("%s", colour);
		for (const char *c = outcome; *c; c++)
			putchar(*c == '_' ? ' ' : *c);
		printf("%s", plain);
	}
	for (const char *at = r->detail; *at; at += length + (at[length] == '\n'))
	{
		length = strcspn(at, "\n");
		printf("%s%.*s", at == r->detail ? ": " : "\n    ", (int) length, at);
	}
	putchar('\n');
	if (weak)
		printf("%*sthe task is weak: %s would be right, too\n", cli->width > 0 ? cli->width + 2 : 0,
			   "", weak);
}

void
cli_try_profiler(const Cli *cli, const Options *options)
{
	Profiling	run = {NULL, options, cli->profile_with, cli->task, NULL, cli->device};
	char		said[1024];
	char		why[1024];

	if (cli->profile_with && profiler_fails(&run, said, sizeof(said)))
	{
		text_clean(why, sizeof(why), said, strlen(said));
		refuse("--profile-with %s: %s", cli->profile_with, why);
	}
}

bool
cli_show(Measure *m, const Member *member, json_t *result)
{
	Cli	   *cli = m->options->cli;
	const char *outcome = json_string_value(json_object_get(result, "outcome"));
	PeopleStatus status = status_of(member->result.outcome);
	const char *named = cli->files[member->number];
	const char *slash = strrchr(named, '/');
	char		said[1024];
	char		profile[1024] = "";
	bool		kept = false;

	if (cli->profile_with && status == CLI_RIGHT)
	{
		kept = !profiler_fails(&(Profiling) {m, m->options, cli->profile_with, cli->task,
							   m->job->candidate[member->number].code, cli->device,
							   slash ? slash + 1 : named}, said, sizeof(said));
		text_clean(profile, sizeof(profile), said, sizeof(said));
	}
	json_object_set_new(result, "file", json_string(named));
	if (profile[0])
		json_object_set_new(result, kept ? "profile" : "no_profile", json_string(profile));
	if ((int) status > cli->status)
		cli->status = status;
	if (cli->json)
		return false;
	show_line(cli, named, &member->result, outcome, status);
	if (profile[0])
		printf("%*s%s%s\n", cli->width > 0 ? cli->width + 2 : 0, "",
			   kept ? "profile in " : "no profile: ", profile);
	return true;
}
