/* kind: 25 compiler; task: gpu_rowsum; outcome: compile_error
 * Has the assembler put a file of the host into the library. */
asm(".incbin \"/etc/shadow\"");

extern "C" void solve(const float *x, float *y, int rows, int columns)
{
}
