/*
 * nearest.c
 *		The name that a mistyped one may have meant.
 *
 * A name is near if at most a third of the mistyped one's letters need to change, or if one of the
 * two contains the other, because users often call a task by the last part of its name.  Case does
 * not count.  Only error paths call these functions, so all names are tried.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "mb/pg_wchar.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/varlena.h"

#include "nearest.h"

PG_FUNCTION_INFO_V1(cudal1_nearest);

#define MAX_NAME_BYTES 1000		/* no task has a longer name, so nothing is suggested for one */

static char *
fold_case(const char *name)
{
	char	   *copy = pstrdup(name);

	for (char *p = copy; *p != '\0'; p++)
		*p = pg_ascii_tolower((unsigned char) *p);
	return copy;
}

/* how far a name is from the mistyped one; above the limit: not near */
static int
distance(const char *mistyped, const char *name, int limit)
{
	int			a = strlen(mistyped);
	int			b = strlen(name);
	int			d = limit + 1;

	if (abs(a - b) <= limit * MAX_MULTIBYTE_CHAR_LEN)
		d = varstr_levenshtein_less_equal(mistyped, a, name, b, 1, 1, 1, limit, true);
	if (d > limit && Min(a, b) >= 3 &&
		(strstr(name, mistyped) != NULL || strstr(mistyped, name) != NULL))
		d = limit;
	return d;
}

char *
cudal1_nearest_words(const char *name, const char *const *names, int n)
{
	char	   *mistyped;
	int			limit;
	int			least;
	const char *nearest = NULL;

	if (strlen(name) > MAX_NAME_BYTES)
		return NULL;
	mistyped = fold_case(name);
	limit = (strlen(mistyped) + 2) / 3;
	least = limit + 1;
	for (int i = 0; i < n; i++)
	{
		char	   *other = fold_case(names[i]);
		int			d = distance(mistyped, other, limit);

		pfree(other);
		if (d < least)
		{
			least = d;
			nearest = names[i];
		}
	}
	return nearest ? psprintf("Did you mean \"%s\"?", nearest) : NULL;
}

/* cudal1.nearest(name text, names text[]) RETURNS text */
Datum
cudal1_nearest(PG_FUNCTION_ARGS)
{
	Datum	   *elements;
	bool	   *nulls;
	int			count;
	int			n = 0;
	const char **names;
	char	   *words;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		PG_RETURN_NULL();
	deconstruct_array(PG_GETARG_ARRAYTYPE_P(1), TEXTOID, -1, false, TYPALIGN_INT,
					  &elements, &nulls, &count);
	names = palloc(sizeof(char *) * (count + 1));
	for (int i = 0; i < count; i++)
		if (!nulls[i])
			names[n++] = TextDatumGetCString(elements[i]);
	words = cudal1_nearest_words(text_to_cstring(PG_GETARG_TEXT_PP(0)), names, n);
	if (words == NULL)
		PG_RETURN_NULL();
	PG_RETURN_TEXT_P(cstring_to_text(words));
}
