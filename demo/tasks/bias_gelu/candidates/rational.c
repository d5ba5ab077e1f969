/* erf to 1.5e-7 by Abramowitz and Stegun 7.1.26, sixteen values at a time; no call, no branch */
#include <string.h>

#define LANES 16

typedef float Floats __attribute__((vector_size(4 * LANES)));
typedef int Ints __attribute__((vector_size(4 * LANES)));

static inline Floats
exp_of_negative(Floats t)
{
	Floats		scaled = t * 1.44269504f;
	Ints		small = scaled < -126;
	Ints		whole = __builtin_convertvector(scaled - 0.5f, Ints);
	Floats		f = scaled - __builtin_convertvector(whole, Floats);
	Floats		p = 1.8775767e-3f * f + 8.9893397e-3f;

	p = p * f + 5.5826318e-2f;
	p = p * f + 2.4015361e-1f;
	p = p * f + 6.9315308e-1f;
	p = p * f + 9.9999994e-1f;
	return (Floats) (~small & (Ints) (p * (Floats) ((whole + 127) << 23)));
}

static inline Floats
gelu(Floats t)
{
	const Ints	sign = (Ints) {} + (int) 0x80000000u;
	Floats		z = (Floats) (~sign & (Ints) t) * 0.70710678f;
	Floats		u = 1 / (1 + 0.3275911f * z);
	Floats		p = 1.061405429f * u - 1.453152027f;
	Floats		erf;

	p = p * u + 1.421413741f;
	p = p * u - 0.284496736f;
	p = p * u + 0.254829592f;
	erf = 1 - p * u * exp_of_negative(-z * z);
	erf = (Floats) ((Ints) erf | (sign & (Ints) t));
	return 0.5f * t * (1 + erf);
}

void
solve(const float *restrict x, const float *restrict bias, float *restrict y, int rows, int columns)
{
	for (int r = 0; r < rows; r++)
		for (int i = 0; i < columns; i += LANES)
		{
			Floats		t;
			Floats		b;

			memcpy(&t, x + r * columns + i, sizeof(t));
			memcpy(&b, bias + i, sizeof(b));
			t = gelu(t + b);
			memcpy(y + r * columns + i, &t, sizeof(t));
		}
}
