/*
 * random.c
 *		The cipher that inputs come from, and what they are: the same on every kind of processor, of
 *		the distribution that was asked for.
 */
#include "../../runner/common/random.c"
#include "../../runner/common/tensor.c"

#include "tap.h"

#define N	100003				/* elements: no multiple of what is made at once */

static double room[N + 1];

/* the first word of each of the cipher's blocks lies beside the others' */
static bool
is_keystream(const Words *words, int block, const char *expected)
{
	for (int w = 0; w < 16; w++)
	{
		unsigned	byte[4];
		uint32_t	word = words->half[w * BLOCKS + block];

		if (sscanf(expected + 8 * w, "%2x%2x%2x%2x", &byte[0], &byte[1], &byte[2], &byte[3]) != 4
			|| word != (byte[0] | byte[1] << 8 | byte[2] << 16 | byte[3] << 24))
			return false;
	}
	return true;
}

static void
plain_chunk(const Fill *fill, uint64_t block, void *out)
{
	make_chunk(fill, block, out);
}

/* whether the oldest kind of processor makes the same of a chunk as this one */
static bool
is_alike(uint32_t dtype, RandomInit init, double low, double high)
{
	Fill		fill = {.dtype = dtype, .init = init, .low = low, .width = high - low,
		.first = (int64_t) low, .key = {{1, 2, 3, 4, 5, 6, 7, 8}}};
	uint64_t	plain[WORDS] = {0};
	uint64_t	other[WORDS] = {0};

	fill.span = (uint64_t) ((int64_t) high - fill.first) + 1;
	fill.wide = init == RANDOM_INTEGER ? fill.span - 1 > 0xFFFF : dtype == WIRE_FLOAT64;
	plain_chunk(&fill, (UINT64_C(1) << 36) - BLOCKS, plain);
	chunk(&fill, (UINT64_C(1) << 36) - BLOCKS, other);
	return memcmp(plain, other, sizeof(plain)) == 0 && plain[0] != 0;
}

/*
 * mean and standard deviation, the least and the greatest value, as they should be within five
 * standard errors
 */
static bool
is_distributed(uint32_t dtype, RandomInit init, double low, double high, double mean,
			   double deviation, double least, double greatest)
{
	RandomKey	key = {{dtype, init, 3, 4, 5, 6, 7, 8}};
	double		sum = 0;
	double		squares = 0;
	double		minimum = INFINITY;
	double		maximum = -INFINITY;
	double		coarse = tensor_dtype(dtype)->epsilon / 2;

	memset(room, 0xAA, sizeof(room));
	random_fill(room, dtype, N, init, low, high, &key);
	for (size_t i = 0; i < N; i++)
	{
		double		x = tensor_load(room, dtype, i);

		sum += x;
		squares += x * x;
		minimum = fmin(minimum, x);
		maximum = fmax(maximum, x);
	}
	sum /= N;
	squares = sqrt(squares / N - sum * sum);
	if (fabs(sum - mean) < 5 * deviation / sqrt(N) + coarse * fabs(mean)
		&& fabs(squares / deviation - 1) < 5 / sqrt(N) + coarse
		&& minimum >= least && maximum <= greatest
		&& maximum - minimum > 0.99 * fmin(greatest - least, 8 * deviation)
		&& ((unsigned char *) room)[N * tensor_dtype(dtype)->size] == 0xAA)
		return true;
	printf("# %s: mean %g, deviation %g, from %g to %g\n", tensor_dtype(dtype)->name, sum, squares,
		   minimum, maximum);
	return false;
}

/* each value comes as often as another: chi squared within five deviations */
static bool
is_even(uint32_t dtype, double low, double high)
{
	RandomKey	key = {{dtype, 9}};
	int			values = (int) (high - low) + 1;
	int			count[300] = {0};
	double		expected = (double) N / values;
	double		chi = 0;

	random_fill(room, dtype, N, RANDOM_INTEGER, low, high, &key);
	for (size_t i = 0; i < N; i++)
		count[(int) (tensor_load(room, dtype, i) - low)]++;
	for (int i = 0; i < values; i++)
		chi += (count[i] - expected) * (count[i] - expected) / expected;
	return fabs(chi - (values - 1)) < 5 * sqrt(2.0 * values);
}

static bool
is_half(float value, uint16_t half, uint16_t bfloat)
{
	if (half_of(value) != half || bfloat_of(value) != bfloat)
		printf("# %g: %04x %04x\n", value, half_of(value), bfloat_of(value));
	return half_of(value) == half && bfloat_of(value) == bfloat;
}

int
main(void)
{
	RandomKey	none = {{0}};
	RandomKey	first;
	RandomKey	second;
	RandomStream stream;
	Words		words;
	bool		good;
	static float one[N];
	static float other[N];
	size_t		common = 0;

	cipher(&none, 0, &words);
	check(is_keystream(&words, 0, "3e00ef2f895f40d67f5bb8e81f09a5a12c840ec3ce9a7f3b181be188ef711a1e"
					   "984ce172b9216f419f445367456d5619314a42a3da86b001387bfdb80e0cfe42"),
		  "the cipher is ChaCha with 8 rounds");
	check(is_keystream(&words, 1, "d2aefa0deaa5c151bf0adb6c01f2a5adc0fd581259f9a2aadcf20f8fd566a26b"
					   "5032ec38bbc5da98ee0c6f568b872a65a08abf251deb21bb4b56e5d8821e68aa"),
		  "its blocks are counted");

	pthread_once(&quantile_once, make_quantiles);
	good = true;
	for (uint32_t i = 1; i < WIRE_DTYPES; i++)
		good = good && is_alike(i, RANDOM_INTEGER, 0, 100)
			&& is_alike(i, RANDOM_INTEGER, -5, 1e9)
			&& (!tensor_dtype_is_float(i)
				|| (is_alike(i, RANDOM_NORMAL, 0, 1) && is_alike(i, RANDOM_UNIFORM, -3, 7)));
	check(good, "every kind of processor makes the same elements");

	good = true;
	for (uint32_t i = 1; i < WIRE_DTYPES; i++)
		good = (!tensor_dtype_is_float(i)
				|| (is_distributed(i, RANDOM_NORMAL, 0, 1, 0, 1, -4.5, 4.5)
					&& is_distributed(i, RANDOM_UNIFORM, -3, 5, 1, 8 / sqrt(12), -3, 5))) && good;
	check(good, "normal and uniform values of every type have their distribution, and no more");
	good = true;
	for (uint32_t i = 1; i < WIRE_DTYPES; i++)
		good = is_even(i, 0, i == WIRE_BOOL ? 1 : 100) && good;
	check(good && is_even(WIRE_UINT8, 0, 255) && is_even(WIRE_INT32, -20, 20)
		  && is_even(WIRE_INT64, 0, 299), "integers come equally often");
	check(is_distributed(WIRE_INT64, RANDOM_INTEGER, -4e18, 4e18, 0, 8e18 / sqrt(12), -4e18, 4e18)
		  && is_distributed(WIRE_INT32, RANDOM_INTEGER, -2147483648.0, 2147483647, 0,
							4294967296.0 / sqrt(12), -2147483648.0, 2147483647)
		  && is_distributed(WIRE_FLOAT32, RANDOM_INTEGER, -1e6, 1e6, 0, 2e6 / sqrt(12), -1e6, 1e6),
		  "and so do those of a wide range");
	random_fill(room, WIRE_INT32, N, RANDOM_INTEGER, 7, 7, &none);
	check(((int32_t *) room)[0] == 7 && ((int32_t *) room)[N - 1] == 7,
		  "a range of one integer gives that one");
	random_fill(room, WIRE_FLOAT64, N, RANDOM_ZERO, 0, 0, &none);
	check(room[0] == 0 && room[N - 1] == 0, "zeros are zeros");

	random_seed(&stream, &none);
	random_key(&stream, &first);
	random_key(&stream, &second);
	random_fill(one, WIRE_FLOAT32, N, RANDOM_NORMAL, 0, 1, &first);
	random_fill(other, WIRE_FLOAT32, N, RANDOM_NORMAL, 0, 1, &second);
	for (size_t i = 0; i < N; i++)
		common += one[i] == other[i];
	check(common < 5, "arrays of two keys have nothing in common");
	random_fill(other, WIRE_FLOAT32, N / 3, RANDOM_NORMAL, 0, 1, &first);
	check(memcmp(one, other, N / 3 * sizeof(float)) == 0,
		  "a shorter array of the same key begins like the longer one");

	check(is_half(1.0f, 0x3C00, 0x3F80) && is_half(-2.5f, 0xC100, 0xC020) && is_half(0.0f, 0, 0)
		  && is_half(-0.0f, 0x8000, 0x8000),
		  "half precision of values that have one");
	check(is_half(65519.0f, 0x7BFF, 0x4780) && is_half(65520.0f, 0x7C00, 0x4780)
		  && is_half(INFINITY, 0x7C00, 0x7F80)
		  && is_half(-INFINITY, 0xFC00, 0xFF80), "the largest, and infinity");
	check(half_of(0x1p-24f) == 1 && half_of(0x1p-25f) == 0 && half_of(0x1.8p-24f) == 2
		  && half_of(0x1.ff8p-15f) == 0x3FF
		  && half_of(0x1.ffcp-15f) == 0x400 && half_of(0x1p-14f) == 0x400,
		  "the smallest, and what lies between");
	check(half_of(1 + 0x1p-11f) == 0x3C00 && half_of(1 + 0x3p-11f) == 0x3C02
		  && bfloat_of(1 + 0x1p-8f) == 0x3F80
		  && bfloat_of(1 + 0x3p-8f) == 0x3F82, "what lies in the middle goes to the even one");
	check((half_of(NAN) & 0x7C00) == 0x7C00 && (half_of(NAN) & 0x3FF) != 0
		  && (bfloat_of(NAN) & 0x7F) != 0, "no number stays none");
	return done();
}
