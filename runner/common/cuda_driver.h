/*
 * cuda_driver.h
 *		The part of the CUDA driver's interface that is used here, resolved at run time.
 *
 * No header and no library of NVIDIA's is needed to build, and a machine without a driver builds
 * and runs the same: it has no such devices. Names and layouts are those of the driver's stable ABI
 * (its versioned symbols).
 */
#ifndef CUDAL1_CUDA_DRIVER_H
#define CUDAL1_CUDA_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef int CuResult;			/* 0: success */
typedef int CuDevice;
typedef uint64_t CuAddress;		/* CUdeviceptr */
typedef uint64_t CuHandle;		/* CUmemGenericAllocationHandle */
typedef struct CuContext *CuContextRef;
typedef struct CuModule *CuModuleRef;
typedef struct CuFunction *CuFunctionRef;
typedef struct CuStream *CuStreamRef;

typedef struct CuLocation
{
	int			type;			/* 1: a device */
	int			id;
} CuLocation;

typedef struct CuAllocation
{
	int			type;			/* 1: pinned */
	int			handle_types;	/* 1: a POSIX descriptor */
	CuLocation	location;
	void	   *security;
	struct
	{
		unsigned char compression;
		unsigned char rdma;
		unsigned short usage;
		unsigned char reserved[4];
	}			flags;
} CuAllocation;

typedef struct CuAccess
{
	CuLocation	location;
	int			flags;			/* 1: read, 3: read and write */
} CuAccess;

/* CUDA_MEMCPY2D; memory types: 1 the host's, 2 the device's */
typedef struct CuCopy
{
	size_t		from_x;
	size_t		from_y;
	int			from_type;
	const void *from_host;
	CuAddress	from;
	void	   *from_array;
	size_t		from_pitch;
	size_t		to_x;
	size_t		to_y;
	int			to_type;
	void	   *to_host;
	CuAddress	to;
	void	   *to_array;
	size_t		to_pitch;
	size_t		width;
	size_t		height;
} CuCopy;

/* ends a function with the driver's error, if this call gives one */
#define CU_TRY(call) \
	do \
	{ \
		CuResult	result_of_call = (call); \
		\
		if (result_of_call != 0) \
			return result_of_call; \
	} while (0)

#define CU_OUT_OF_MEMORY			2
#define CU_SCHEDULE_SPIN			1
#define CU_ATTRIBUTE_MULTIPROCESSORS	16
#define CU_ATTRIBUTE_CACHE_BYTES		38
#define CU_ATTRIBUTE_SHARED_BYTES		97	/* that a block may ask for */
#define CU_FUNCTION_SHARED_BYTES		8	/* that a kernel may ask for */

/* X(name without "cu", symbol's suffix, parameters) */
/* clang-format off */
#define CU_FUNCTIONS(X) \
	X(Init, "", (unsigned int flags)) \
	X(DriverGetVersion, "", (int *version)) \
	X(DeviceGet, "", (CuDevice *device, int ordinal)) \
	X(DeviceGetAttribute, "", (int *value, int attribute, CuDevice device)) \
	X(DevicePrimaryCtxSetFlags, "_v2", (CuDevice device, unsigned int flags)) \
	X(DevicePrimaryCtxRetain, "", (CuContextRef *context, CuDevice device)) \
	X(DevicePrimaryCtxRelease, "_v2", (CuDevice device)) \
	X(CtxSetCurrent, "", (CuContextRef context)) \
	X(CtxSynchronize, "", (void)) \
	X(MemGetInfo, "_v2", (size_t *left, size_t *total)) \
	X(MemAlloc, "_v2", (CuAddress *address, size_t bytes)) \
	X(MemFree, "_v2", (CuAddress address)) \
	X(MemHostAlloc, "", (void **address, size_t bytes, unsigned int flags)) \
	X(MemFreeHost, "", (void *address)) \
	X(MemCreate, "", (CuHandle *handle, size_t bytes, const CuAllocation *allocation, \
					  unsigned long long flags)) \
	X(MemRelease, "", (CuHandle handle)) \
	X(MemAddressReserve, "", (CuAddress *address, size_t bytes, size_t alignment, CuAddress wish, \
							  unsigned long long flags)) \
	X(MemAddressFree, "", (CuAddress address, size_t bytes)) \
	X(MemMap, "", (CuAddress address, size_t bytes, size_t offset, CuHandle handle, \
				   unsigned long long flags)) \
	X(MemUnmap, "", (CuAddress address, size_t bytes)) \
	X(MemSetAccess, "", (CuAddress address, size_t bytes, const CuAccess *access, size_t count)) \
	X(MemExportToShareableHandle, "", (void *shareable, CuHandle handle, int type, \
									  unsigned long long flags)) \
	X(MemImportFromShareableHandle, "", (CuHandle *handle, void *shareable, int type)) \
	X(MemcpyHtoD, "_v2", (CuAddress to, const void *from, size_t bytes)) \
	X(MemcpyDtoH, "_v2", (void *to, CuAddress from, size_t bytes)) \
	X(MemcpyDtoD, "_v2", (CuAddress to, CuAddress from, size_t bytes)) \
	X(Memcpy2DAsync, "_v2", (const CuCopy *copy, CuStreamRef stream)) \
	X(StreamCreate, "", (CuStreamRef *stream, unsigned int flags)) \
	X(StreamSynchronize, "", (CuStreamRef stream)) \
	X(MemsetD8, "_v2", (CuAddress to, unsigned char value, size_t n)) \
	X(ModuleLoadData, "", (CuModuleRef *module, const void *image)) \
	X(ModuleGetFunction, "", (CuFunctionRef *function, CuModuleRef module, const char *name)) \
	X(FuncSetAttribute, "", (CuFunctionRef function, int attribute, int value)) \
	X(LaunchKernel, "", (CuFunctionRef function, unsigned int gx, unsigned int gy, \
						 unsigned int gz, unsigned int bx, unsigned int by, unsigned int bz, \
						 unsigned int shared, CuStreamRef stream, void **parameters, \
						 void **extra)) \
	X(GetErrorString, "", (CuResult error, const char **text)) \
	X(GetErrorName, "", (CuResult error, const char **text))

typedef struct CuDriver
{
#define CU_MEMBER(name, suffix, parameters) CuResult (*name) parameters;
	CU_FUNCTIONS(CU_MEMBER)
#undef CU_MEMBER
/* clang-format on */
	char		folder[4096];	/* of the library, for sandboxes */
} CuDriver;

/* a library of the driver's, from where they are installed; NULL: it is not there */
extern void *cuda_driver_library(const char *name);

/* false without a driver; `problem` says what is missing */
extern bool cuda_driver_load(CuDriver *driver, const char **problem);

/* the first device's primary context, made current; the process waits for the GPU by spinning */
extern CuResult cuda_driver_open(const CuDriver *driver, CuDevice *device);

/* "an illegal memory access was encountered (CUDA_ERROR_ILLEGAL_ADDRESS)" */
extern void cuda_driver_error(const CuDriver *driver, CuResult error, char *text, size_t size);

/* whether an error is a fault of a kernel that ran, and not of a call */
extern bool cuda_driver_is_fault(CuResult error);

/* maps an allocation, or one that another process has exported, to be written to; 0 or an error */
extern CuResult cuda_driver_map(const CuDriver *driver, CuDevice device, CuHandle handle,
								size_t bytes, CuAddress *address);
extern CuResult cuda_driver_import(const CuDriver *driver, CuDevice device, int fd, size_t bytes,
								   CuAddress *address);

#endif							/* CUDAL1_CUDA_DRIVER_H */
