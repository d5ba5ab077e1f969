/*
 * memory.c
 *		Results in the memory of a stopped executor: read whatever their strides are, overwritten.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "process/executor.h"

#define FETCHED	16384			/* bytes that are read at once into the caches */
#define PIECES			512		/* of a view, read in one go */
#define NOISY			64		/* of a view, overwritten: each takes half a microsecond */
#define WRITTEN_MOST	8		/* addresses that are asked for at once */

static bool
read_memory(pid_t pid, uint64_t address, void *out, size_t bytes)
{
	size_t		done = 0;

	while (done < bytes)
	{
		struct iovec local = {(char *) out + done, bytes - done};
		struct iovec remote = {(void *) (uintptr_t) (address + done), bytes - done};
		ssize_t		n = process_vm_readv(pid, &local, 1, &remote, 1, 0);

		if (n <= 0)
			return false;
		done += (size_t) n;
	}
	return true;
}

/* a view with wide gaps, piece by piece: a small output of a large array costs little */
static bool
read_pieces(pid_t pid, const WireTensor *tensor, const Tensor *layout, size_t piece, char *out)
{
	struct iovec remote[PIECES];
	size_t		size = tensor_dtype(layout->dtype)->size;
	size_t		pieces = layout->elements / piece;

	for (size_t done = 0; done < pieces;)
	{
		size_t		n = pieces - done < PIECES ? pieces - done : PIECES;
		struct iovec local = {out + done * piece * size, n * piece * size};

		for (size_t i = 0; i < n; i++)
		{
			uint64_t	place = tensor_place(layout, tensor->stride, (done + i) * piece);

			remote[i] = (struct iovec) {(void *) (uintptr_t) (tensor->address + place * size),
				piece * size};
		}
		if (process_vm_readv(pid, &local, 1, remote, n, 0) != (ssize_t) local.iov_len)
			return false;
		done += n;
	}
	return true;
}

bool
executor_is_view(const WireTensor *tensor, const Tensor *layout, size_t *piece,
				 uint64_t *span)
{
	bool		whole = true;

	*piece = 1;
	for (int d = (int) layout->ndim - 1; d >= 0; d--)
	{
		whole = whole && (layout->shape[d] == 1 || (uint64_t) tensor->stride[d] == *piece);
		if (whole)
			*piece *= (size_t) layout->shape[d];
	}
	return tensor_span(layout, tensor->stride, span);
}

void
executor_read_places(const Executor *executor, const uint64_t *address, int n, size_t size,
					 uint64_t *value)
{
	for (int i = 0; i < n; i++)
		(void) read_memory(executor->pid, address[i], &value[i], size);
}

/* The bytes of `noise`, again and again, to a stretch of the executor's memory. */
static bool
write_stretch(pid_t pid, uint64_t address, uint64_t length, void *noise, size_t bytes)
{
	for (uint64_t done = 0; done < length; done += bytes)
	{
		size_t		n = length - done < bytes ? length - done : bytes;
		struct iovec local = {noise, n};
		struct iovec remote = {(void *) (uintptr_t) (address + done), n};

		if (process_vm_writev(pid, &local, 1, &remote, 1, 0) != (ssize_t) n)
			return false;
	}
	return true;
}

void
executor_fetch(const Executor *executor, const WireStretch *stretch)
{
	char		line[FETCHED];
	struct iovec local = {line, sizeof(line)};

	for (uint64_t at = stretch->from; at + FETCHED <= stretch->to; at += FETCHED)
	{
		struct iovec remote = {(void *) (uintptr_t) at, FETCHED};

		/* Memory may have been unmapped since. */
		if (process_vm_readv(executor->pid, &local, 1, &remote, 1, 0) <= 0)
			return;
	}
}

/*
 * Noise over the pieces of a view with gaps, or a turned one. Of many some that are drawn will do.
 * One call writes them, since a core cools while it waits, unless the noise is shorter than each.
 */
static bool
write_pieces(pid_t pid, const WireTensor *tensor, const Tensor *layout, size_t piece,
			 RandomStream *random, void *noise, size_t bytes)
{
	size_t		size = tensor_dtype(layout->dtype)->size;
	size_t		pieces = layout->elements / piece;
	size_t		n = pieces > NOISY ? NOISY : pieces;
	size_t		each = piece * size;
	size_t		apart = each <= bytes / NOISY ? each : 0;
	struct iovec local[NOISY];
	struct iovec remote[NOISY];

	for (size_t i = 0; i < n; i++)
	{
		size_t		first = piece * (pieces > NOISY ? random_below(random, pieces) : i);
		uint64_t	address = tensor->address + size * tensor_place(layout, tensor->stride, first);

		if (each > bytes && !write_stretch(pid, address, each, noise, bytes))
			return false;
		local[i] = (struct iovec) {(char *) noise + i * apart, each};
		remote[i] = (struct iovec) {(void *) (uintptr_t) address, each};
	}
	return each > bytes
		|| process_vm_writev(pid, local, n, remote, n, 0) == (ssize_t) (n * each);
}

ExecutorResult
executor_write_tensor(Executor *executor, const WireTensor *tensor, const Tensor *layout,
					  RandomStream *random, void *noise, size_t bytes, WireStretch *stretch)
{
	size_t		size = tensor_dtype(layout->dtype)->size;
	pid_t		pid = executor->pid;
	size_t		piece;
	uint64_t	span;

	*stretch = (WireStretch) {tensor->address, tensor->address};
	if (layout->elements == 0)
		return EXECUTOR_OK;
	if (!executor_is_view(tensor, layout, &piece, &span))
		return EXECUTOR_FORGED;
	stretch->to += span * size;
	return (span == layout->elements
			? write_stretch(pid, tensor->address, span * size, noise, bytes)
			: write_pieces(pid, tensor, layout, piece, random, noise, bytes))
		? EXECUTOR_OK : EXECUTOR_FORGED;
}

ExecutorResult
executor_read_tensor(Executor *executor, const WireTensor *tensor, const Tensor *layout, void *out)
{
	size_t		size = tensor_dtype(layout->dtype)->size;
	size_t		piece;
	uint64_t	span;
	char	   *memory;
	bool		good;

	if (layout->elements == 0)
		return EXECUTOR_OK;
	if (!executor_is_view(tensor, layout, &piece, &span))
		return EXECUTOR_FORGED;
	if (piece == layout->elements)
		good = read_memory(executor->pid, tensor->address, out, layout->bytes);
	else if (span > 4 * layout->elements + (1 << 16))
		good = read_pieces(executor->pid, tensor, layout, piece, out);
	else
	{
		/* a view with narrow gaps, or a turned one: all between its ends once, gathered here */
		memory = malloc(span * size);
		if (!memory)
			return EXECUTOR_BROKEN;
		good = read_memory(executor->pid, tensor->address, memory, span * size);
		for (size_t i = 0; good && i < layout->elements; i++)
			memcpy((char *) out + i * size,
				   memory + tensor_place(layout, tensor->stride, i) * size, size);
		free(memory);
	}
	return good ? EXECUTOR_OK : EXECUTOR_FORGED;
}

int
executor_count_written(const Executor *executor, const uint64_t *address, int n)
{
	const void *page[WRITTEN_MOST];
	int			status[WRITTEN_MOST];
	int			i = 0;

	n = n < WRITTEN_MOST ? n : WRITTEN_MOST;
	for (; i < n; i++)
		page[i] = (const void *) (uintptr_t) address[i];
	/* Pages count as written where the kernel does not tell. */
	if (syscall(SYS_move_pages, executor->pid, (unsigned long) n, page, NULL, status, 0) != 0)
		return n;
	for (i = 0; i < n; i++)
		if (status[i] == -ENOENT || status[i] == -EFAULT)
			break;
	return i;
}
