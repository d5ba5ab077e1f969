/* kind: 25 loading; task: vector; outcome: launch_failure; cause: exception
 * Defines another function. */
void resolve(const float *x, float *y, int n)
{
}
