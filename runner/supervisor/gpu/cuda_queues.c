/*
 * cuda_queues.c
 *		Which code may have several things to do on a GPU at once.
 *
 * A context's queues for streams are most of what takes time to make and to end, under locks of the
 * whole host; code that does one thing at a time has no use for more than one. Words tell: what
 * hides from them only loses queues.
 */
#include "supervisor/gpu/cuda.h"

/*
 * Names of what makes a stream, or takes another than the one that code is given. Case counts,
 * since Stream does and stream does not.
 */
#define STREAMS	\
	"cu(da)?Stream[A-Z]|StreamFromPool|StreamSerialization|" \
	"(^|[^A-Za-z0-9_])(External)?Stream([^A-Za-z0-9_]|$)"

/*
 * Graphs have branches without a stream, and what PyTorch compiles may have both. At the beginning
 * of a name: cuDNN's recurrent layers and convolutions of groups, and the solvers of linear
 * algebra, use streams of their own. ReLU( is no lu(, nor is eight an eigh(.
 */
#define GRAPHS	"graph"
#define MODULES	\
	"graph|\\.compile|dynamo|(^|[^a-z])(groups|rnn|lstm|gru|linalg|p?inverse\\(|svd|eigh?\\(|" \
	"eigvals|solve\\(|lstsq|cholesky|qr\\(|lu[_(]|(log|slog)?det\\()"

bool
gpu_code_is_concurrent(JobLanguage language, const char *source)
{
	return text_matches(source, STREAMS, false)
		|| text_matches(source, language == LANGUAGE_PYTORCH ? MODULES : GRAPHS, true);
}
