/* kind: 18 lower precision; task: gpu_matmul; outcome: wrong_output; first: yes
 * TF32 on tensor cores: ten bits. */
#include <mma.h>

using namespace nvcuda;

__global__ void tensor_matmul(const float *a, const float *b, float *c, int n)
{
	wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> left;
	wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> right;
	wmma::fragment<wmma::accumulator, 16, 16, 8, float> sum;
	int row = blockIdx.y * 16, column = (blockIdx.x * 4 + threadIdx.x / 32) * 16;

	wmma::fill_fragment(sum, 0);
	for (int k = 0; k < n; k += 8)
	{
		wmma::load_matrix_sync(left, a + row * n + k, n);
		wmma::load_matrix_sync(right, b + k * n + column, n);
		for (int i = 0; i < left.num_elements; i++)
			left.x[i] = wmma::__float_to_tf32(left.x[i]);
		for (int i = 0; i < right.num_elements; i++)
			right.x[i] = wmma::__float_to_tf32(right.x[i]);
		wmma::mma_sync(sum, left, right, sum);
	}
	wmma::store_matrix_sync(c + row * n + column, sum, n, wmma::mem_row_major);
}

extern "C" void solve(const float *a, const float *b, float *c, int n)
{
	tensor_matmul<<<dim3(n / 64, n / 16), 128>>>(a, b, c, n);
}
