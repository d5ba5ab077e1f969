/*
 * state.c
 *		cudal1.worker_state(): the slots of the shared memory as rows.
 */
#include "postgres.h"

#include "fmgr.h"
#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"

#include "bgworker.h"
#include "shared.h"

PG_FUNCTION_INFO_V1(cudal1_worker_state);
PG_FUNCTION_INFO_V1(cudal1_preloaded);

Datum
cudal1_worker_state(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result;
	Cudal1SlotView *views = palloc(sizeof(Cudal1SlotView) * CUDAL1_MAX_DATABASES);
	int			n;

	InitMaterializedSRF(fcinfo, 0);
	result = (ReturnSetInfo *) fcinfo->resultinfo;
	n = cudal1_shared_slots(views, CUDAL1_MAX_DATABASES);
	for (int i = 0; i < n; i++)
	{
		Datum		values[4];
		bool		nulls[4] = {false};

		values[0] = CStringGetTextDatum(views[i].name);
		values[1] = Int32GetDatum(views[i].pid);
		nulls[1] = views[i].pid == 0;
		values[2] = TimestampTzGetDatum(views[i].since);
		nulls[2] = views[i].since == 0;
		values[3] = CStringGetTextDatum(views[i].note);
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}
	return (Datum) 0;
}

Datum
cudal1_preloaded(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(cudal1_is_preloaded());
}
