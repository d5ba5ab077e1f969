/*
 * cuda_nvml.h
 *		What NVIDIA's management library says of a GPU: names, clocks, temperature, throttling, and
 *		which other processes compute there.
 */
#ifndef CUDAL1_CUDA_NVML_H
#define CUDAL1_CUDA_NVML_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

typedef struct NvmlDevice
{
	char		uuid[96];		/* "GPU-..." */
	char		name[96];
	char		driver[96];
	int			index;			/* NVML's, that of nvidia-smi */
	int			minor;			/* of /dev/nvidiaN */
	int			major_capability;
	int			minor_capability;
	size_t		memory_bytes;
	bool		mig;
} NvmlDevice;

typedef struct NvmlState
{
	int			sm_mhz;			/* -1 where not known */
	int			memory_mhz;
	int			temperature;	/* degrees Celsius */
	unsigned long long throttle;	/* NVML's clocks event reasons */
	int			processes;		/* computing on it, -1 where not known */
	pid_t		pid[64];		/* of the first; none where there are more */
} NvmlState;

/* number of GPUs, 0 without the library */
extern int	nvml_count(void);
extern bool nvml_device(int index, NvmlDevice *device);
extern bool nvml_state(int index, NvmlState *state);
/* bytes of memory and operations a second at the highest clocks; false where not known */
extern bool nvml_light(int index, double *bandwidth, double *peak);

/* "hw_thermal_slowdown, ..." */
extern void nvml_throttle_text(unsigned long long reasons, char *text, size_t size);

#endif							/* CUDAL1_CUDA_NVML_H */
