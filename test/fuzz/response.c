/*
 * response.c
 *		libFuzzer driver of the parser of models' answers: whatever the text is, it gives all three sections or a reason, and nothing that
 *		did not stand in the text. `make sanitize` builds and runs it.
 */
#include "server.h"

#include "../../src/codeblock.c"
#include "../../src/response.c"

void
InitMaterializedSRF(FunctionCallInfo fcinfo, bits32 flags)
{
}

void
tuplestore_putvalues(Tuplestorestate *state, TupleDesc description, Datum *values, bool *nulls)
{
}

struct varlena *
pg_detoast_datum_packed(struct varlena *datum)
{
	return datum;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Datum		values[3] = {0};
	bool		nulls[3] = {true, true, true};
	char	   *copy = malloc(size + 1);
	bool		whole;

	/* what a database's text cannot hold never comes here */
	for (size_t i = 0; i < size; i++)
		copy[i] = data[i] == '\0' ? '\n' : (char) data[i];
	whole = parse_response(cstring_to_text_with_len(copy, (int) size), false, NULL, values, nulls)[0] == '\0';
	HOLDS(!whole || (!nulls[0] && !nulls[1] && !nulls[2]));
	for (int i = 0; i < 3; i++)
		HOLDS(nulls[i] || VARSIZE_ANY_EXHDR(DatumGetPointer(values[i])) <= size);
	whole = parse_response(cstring_to_text_with_len(copy, (int) size), true, "run", values, nulls)[0] == '\0';
	HOLDS(!whole || !nulls[2]);
	HOLDS(nulls[2] || VARSIZE_ANY_EXHDR(DatumGetPointer(values[2])) <= size);
	free(copy);
	free_pieces();
	return 0;
}
