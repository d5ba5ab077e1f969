/*
 * cli.c
 *		What a source's comment says of its signature, and what of a candidate's words reaches a
 *		terminal.
 */
#define _GNU_SOURCE
#include "../../runner/common/text.c"
#include "../../runner/supervisor/cli.c"
#include "../../runner/supervisor/job.c"
#include "../../runner/common/tensor.c"

#include "tap.h"

static char said[512];

/* the name of the first argument, "" where there is no signature */
static const char *
first_name(const char *source)
{
	static char name[64];
	json_t	   *signature = cli_signature(source, said, sizeof(said));
	const json_t *args = json_object_get(signature, "args");
	const char *first = json_string_value(json_object_get(json_array_get(args, 0), "name"));

	snprintf(name, sizeof(name), "%s", first ? first : "");
	json_decref(signature);
	return name;
}

/* the errno of reading `n` bytes with this limit, 0 where they were all read */
static int
read_with(size_t n, size_t limit)
{
	FILE	   *file = tmpfile();
	char	   *bytes = calloc(n + 1, 1);
	size_t		length;
	char	   *text;
	int			problem;

	memset(bytes, 'a', n);
	fwrite(bytes, 1, n, file);
	rewind(file);
	text = text_read(file, limit, &length);
	problem = text ? (length == n && text[n] == '\0' ? 0 : -1) : errno;
	fclose(file);
	free(text);
	free(bytes);
	return problem;
}

static const char *
clean(const char *text)
{
	static char out[256];

	text_clean(out, sizeof(out), text, strlen(text));
	return out;
}

int
main(void)
{
	check(strcmp(first_name("/* {\"args\": [{\"name\": \"x\"}]} */ void solve();"), "x") == 0,
		  "a signature in a comment");
	check(strcmp(first_name("/* Sums. {x} is no signature.\n *\n * {\"entry\": \"solve\",\n"
							" *  \"args\": [{\"name\": \"y\"}]}\n * More words.\n */\n"), "y") == 0,
		  "one with stars before its lines and words around it");
	check(strcmp(first_name("// of it:\n//   {\"args\":\n//   [{\"name\": \"z\"}]}\nint i;"),
				 "z") == 0, "one in line comments");
	check(strcmp(first_name("char *s = \"/* {\\\"args\\\": [{\\\"name\\\": \\\"q\\\"}]} */\";"
							" char c = '\"'; /* {\"args\": [{\"name\": \"r\"}]} */"), "r") == 0,
		  "what stands in a string is no comment");
	check(first_name("int i = 4 / 2; /")[0] == '\0' && strstr(said, "no comment holds"),
		  "none: the message has an example");
	check(first_name("int i;\n/*\n * {\"args\": [\n *   {\"name\": }]}\n */")[0] == '\0'
		  && strstr(said, "line 4, in the signature") != NULL, "a broken one: its line is named");
	check(first_name("/* {\"args\": [")[0] == '\0', "a comment without an end");

	check(strcmp(clean("\033[31mred\033]0;title\007\x7f"), "?[31mred?]0;title??") == 0,
		  "no escape sequence of others reaches a terminal");
	check(strcmp(clean("\xc2\x9b" "31m"), "?31m") == 0,
		  "none that begins with a character of C1");
	check(strcmp(clean("a\xe2\x80\xae" "b\xe2\x81\xa6" "c"), "a?b?c") == 0,
		  "nothing that turns the direction of writing");
	check(strcmp(clean("a\n\t\x9b\xff" "gr\xc3\xbc\xc2\xa0\xc3\x9f"),
				 "a\n\t??gr\xc3\xbc\xc2\xa0\xc3\x9f") == 0,
		  "bytes that are no UTF-8, and letters that are");

	check(read_with(0, 0) == 0 && read_with(65535, 65535) == 0 && read_with(200000, 200000) == 0,
		  "files are read whole");
	check(read_with(1, 0) == EFBIG && read_with(200000, 199999) == EFBIG, "none above the limit");

	check(status_of(OUTCOME_SUCCESSFUL) == 0 && status_of(OUTCOME_CHEAT) == 1
		  && status_of(OUTCOME_UNVERIFIED) == 3, "statuses by outcome");
	return done();
}
