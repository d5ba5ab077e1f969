/*
 * outputs.h
 *		What a run has left, read while its process is stopped, and compared.
 */
#ifndef CUDAL1_OUTPUTS_H
#define CUDAL1_OUTPUTS_H

#include "supervisor/types.h"

/* the outputs of a run of an executor's last block, gathered; false after conclude() */
extern bool measure_read(Measure *m, Executor *executor, Side side, const Arena *arena,
						 uint32_t run, uint32_t slot, void *out);

/* whether the last run of a staged slot has left its inputs as they were; false after conclude() */
extern bool measure_inputs_same(Measure *m, const Arena *arena, Side side, uint32_t slot,
								bool *same);

/* whether all outputs of a run are right, without a verdict; false after conclude() */
extern bool measure_agree(Measure *m, const void *expected, const void *found, bool *agree);

/* false after conclude(), which blames that side */
extern bool measure_compare_by(Measure *m, const void *expected, const void *found,
							   const Tolerance *tolerances, const char *probe);
extern bool measure_compare(Measure *m, const void *expected, const void *found, Side blamed);

/*
 * whether an element of an output that was read at a run's answer is what the reference gave;
 * false after conclude()
 */
extern bool measure_agree_at(Measure *m, int output, uint64_t element, const uint64_t *expected,
							 const uint64_t *found);

/* whether a tensor is of the type and shape of an output; false after conclude() */
extern bool measure_check_layout(Measure *m, Side side, int output, const WireTensor *found);

/*
 * pytorch: a run's part of the table, copied once: it lies in memory that the executor can write.
 * False after conclude()
 */
extern bool measure_table(Measure *m, Executor *executor, Side side, uint32_t run,
						  WireTensor *table);

/*
 * memory for outputs drawn for comparison, where they are compared: on a GPU, an address of its
 * own; NULL: none is left
 */
extern void *measure_alloc(Measure *m, size_t bytes);
extern void measure_free(Measure *m, void *memory);

#endif							/* CUDAL1_OUTPUTS_H */
