/* kind: 25 compiler; task: gpu_rowsum; outcome: compile_error; profile: impatient
 * Templates that do not end for a long time. */
template <long n, long m> struct Deep { static constexpr long value = Deep<n - 1, m>::value + Deep<n - 1, m + (1L << n)>::value; };
template <long m> struct Deep<0, m> { static constexpr long value = m; };

extern "C" void solve(const float *x, float *y, int rows, int columns)
{
	y[0] = Deep<40, 0>::value;
}
