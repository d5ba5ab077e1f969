/*
 * nearest.c
 *		The name that a mistyped one may have meant.
 *
 * A name is near if at most a third of the mistyped one's letters need to change, or if one of the
 * two contains the other, because users often call a task by the last part of its name.  Case does
 * not count.  Only error paths call this function, so all names are tried.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "mb/pg_wchar.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/varlena.h"

PG_FUNCTION_INFO_V1(cudal1_nearest);

#define MAX_NAME_BYTES 1000		/* no task has a longer name, so nothing is suggested for one */

static char *
fold_case(Datum name)
{
	char	   *copy = TextDatumGetCString(name);

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

/*
 * cudal1.nearest(name text, names text[]) RETURNS text
 *
 * A question like: Did you mean "a"?  NULL where none is near.
 */
Datum
cudal1_nearest(PG_FUNCTION_ARGS)
{
	Datum	   *elements;
	bool	   *nulls;
	int			n;
	char	   *mistyped;
	char	   *nearest = NULL;
	int			limit;
	int			least;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1) ||
		VARSIZE_ANY_EXHDR(PG_GETARG_TEXT_PP(0)) > MAX_NAME_BYTES)
		PG_RETURN_NULL();
	mistyped = fold_case(PG_GETARG_DATUM(0));
	limit = (strlen(mistyped) + 2) / 3;
	least = limit + 1;
	deconstruct_array(PG_GETARG_ARRAYTYPE_P(1), TEXTOID, -1, false, TYPALIGN_INT,
					  &elements, &nulls, &n);
	for (int i = 0; i < n; i++)
	{
		int			d = nulls[i] ? least : distance(mistyped, fold_case(elements[i]), limit);

		if (d < least)
		{
			least = d;
			nearest = TextDatumGetCString(elements[i]);
		}
	}
	if (nearest == NULL)
		PG_RETURN_NULL();
	PG_RETURN_TEXT_P(cstring_to_text(psprintf("Did you mean \"%s\"?", nearest)));
}
