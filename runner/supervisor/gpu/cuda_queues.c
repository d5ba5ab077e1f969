/*
 * cuda_queues.c
 *		Which code may have several things to do on a GPU at once.
 *
 * A context's queues for streams are most of what takes time to make and to end, under locks of the
 * whole host; code that does one thing at a time has no use for more than one. Words tell: what
 * hides from them only loses queues.
 */
#include "common/text.h"
#include "supervisor/gpu/cuda.h"

#define COUNT(words)	(sizeof(words) / sizeof((words)[0]))

/* anywhere: graphs have branches without a stream, and what is compiled may have both */
static const char *const anywhere[] = {"stream", "graph", ".compile", "dynamo"};

/*
 * At the beginning of a name: cuDNN's recurrent layers and convolutions of groups, and the solvers
 * of linear algebra, use streams of their own. ReLU( is no lu(, nor is eight an eigh(.
 */
static const char *const names[] = {"groups", "rnn", "lstm", "gru", "linalg", "inverse(",
	"pinverse(", "svd", "eig(", "eigh(", "eigvals", "solve(", "lstsq", "cholesky", "qr(", "lu(",
	"lu_", "det(", "logdet(", "slogdet("};

bool
gpu_code_is_concurrent(JobLanguage language, const char *source)
{
	return text_mentions(source, anywhere, language == LANGUAGE_PYTORCH ? COUNT(anywhere) : 2)
		|| (language == LANGUAGE_PYTORCH && text_names(source, names, COUNT(names)));
}
