/*
 * signature.c
 *		libFuzzer driver of the signature: within a job that is otherwise right it is refused with a reason, or describes arrays whose
 *		sizes multiply without overflow and names that fit. `make sanitize` builds and runs it.
 */
#define SIGNATURE
#include "job.c"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char before[] = "{\"task\":{\"name\":\"t\",\"language\":\"c\",\"reference\":\"r\",\"cores\":1,\"signature\":";
	static const char after[] = "},\"candidate\":{\"code\":\"c\"},\"device\":{\"key\":\"cpu:1\",\"class\":\"cpu\"}}";
	char	   *text = malloc(sizeof(before) + sizeof(after) + size);
	size_t		n = sizeof(before) - 1;

	memcpy(text, before, n);
	memcpy(text + n, data, size);
	memcpy(text + n + size, after, sizeof(after) - 1);
	check_job((const uint8_t *) text, n + size + sizeof(after) - 1);
	free(text);
	return 0;
}
