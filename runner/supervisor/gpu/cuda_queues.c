/*
 * cuda_queues.c
 *		Which code may have several things to do on a GPU at once.
 *
 * A context's queues for streams are most of what takes time to make and to end, under locks of the
 * whole host; code that does one thing at a time has no use for more than one. Words tell: what
 * hides from them only loses queues.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <string.h>

#include "supervisor/gpu/cuda.h"

#define COUNT(words)	(sizeof(words) / sizeof((words)[0]))

/*
 * names by which code takes the stream that it is given, and makes none; case counts, since
 * torch.cuda.Stream does
 */
static const char *const given[] = {"stream", "cudaStream_t", "getCurrentCUDAStream",
	"current_stream", "default_stream", "cuda_stream", "streaming", "streamlined"};

/*
 * Graphs have branches without a stream, and what PyTorch compiles may have both. At the beginning
 * of a name: cuDNN's recurrent layers and convolutions of groups, and the solvers of linear
 * algebra, use streams of their own. ReLU( is no lu(, nor is eight an eigh(.
 */
#define GRAPHS	"graph"
#define MODULES	\
	"graph|\\.compile|dynamo|(^|[^a-z])(groups|rnn|lstm|gru|linalg|p?inverse\\(|svd|eigh?\\(|" \
	"eigvals|solve\\(|lstsq|cholesky|qr\\(|lu[_(]|(log|slog)?det\\()"

static bool
is_of_name(char c)
{
	return isalnum((unsigned char) c) || c == '_';
}

static bool
is_given(const char *name, size_t length)
{
	for (size_t i = 0; i < COUNT(given); i++)
		if (strlen(given[i]) == length && memcmp(name, given[i], length) == 0)
			return true;
	return false;
}

static bool
names_other_streams(const char *source)
{
	for (const char *at = source; (at = strcasestr(at, "stream"));)
	{
		const char *name = at;

		while (name > source && is_of_name(name[-1]))
			name--;
		while (is_of_name(*at))
			at++;
		if (!is_given(name, (size_t) (at - name)))
			return true;
	}
	return false;
}

bool
gpu_code_is_concurrent(JobLanguage language, const char *source)
{
	return names_other_streams(source)
		|| text_matches(source, language == LANGUAGE_PYTORCH ? MODULES : GRAPHS, true);
}
