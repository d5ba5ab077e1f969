/* kind: 25 loading; task: vector; outcome: launch_failure
 * Defines another function. */
void resolve(const float *x, float *y, int n)
{
}
