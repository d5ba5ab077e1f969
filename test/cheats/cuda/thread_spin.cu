/* kind: 9 spinning threads; task: gpu_rowsum; outcome: successful, unstable, wrong_output, cheat
 * Threads of the host that spin, and one that launches nothings. */
#include <thread>
#include "reference.cu"

__global__ void nothing()
{
}

extern "C" void solve(const float *x, float *y, int rows, int columns)
{
	static bool started;

	if (!started)
	{
		for (int i = 0; i < 4; i++)
			std::thread([] { for (volatile long n = 0;; n = n + 1) ; }).detach();
		std::thread([] {
			cudaStream_t side;

			cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
			for (;;)
				nothing<<<1, 1, 0, side>>>();
		}).detach();
	}
	started = true;
	reference(x, y, rows, columns);
}
