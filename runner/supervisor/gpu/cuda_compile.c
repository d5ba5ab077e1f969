/*
 * cuda_compile.c
 *		The supervisor's kernels as PTX.
 *
 * Where the extension was built with nvcc, the program holds their PTX. Elsewhere it compiles their
 * source by NVRTC when it opens a GPU: the CUDA Toolkit has that library, and so have PyTorch's
 * packages for CUDA. Either way the PTX is for the oldest architecture that compilers know, so the
 * driver compiles it for its device, and keeps the result in its cache.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"
#include "supervisor/gpu/cuda.h"

/* a file's text, and a zero after it */
#define EMBED(name, file) \
	__asm__(".section .rodata\n.global " #name "\n" #name ":\n.incbin \"" file "\"\n.byte 0\n" \
			".previous\n"); \
	extern const char name[]

#ifdef CUDAL1_KERNELS
EMBED(cudal1_kernels, CUDAL1_KERNELS);
#else
static const char cudal1_kernels[] = "";	/* there was no nvcc */
#endif
EMBED(cudal1_kernels_source, "supervisor/gpu/cuda_kernels.cu");
EMBED(cudal1_kernels_header, "supervisor/gpu/cuda_kernels.h");
EMBED(cudal1_kernels_wire, "common/wire.h");
EMBED(cudal1_kernels_tolerance, "common/tolerance.h");
EMBED(cudal1_kernels_change, "common/change.h");

/* NVRTC has no headers of its own */
static const char integers[] =
	"typedef unsigned char uint8_t; typedef unsigned short uint16_t;\n"
	"typedef int int32_t; typedef unsigned int uint32_t;\n"
	"typedef long long int64_t; typedef unsigned long uint64_t;\n"
	"#define UINT64_C(n) n##UL\n";

#define PTX_VERSION "6.5"		/* drivers since CUDA 10.2 read it */
#define MISSING \
	"no compiler for the supervisor's kernels: build cudal1 where nvcc is, or install libnvrtc" \
	" (the CUDA Toolkit's, or that of PyTorch for CUDA)"

typedef struct Program *ProgramRef;

typedef struct Nvrtc
{
	int			(*create) (ProgramRef *program, const char *source, const char *name, int n,
						   const char *const *headers, const char *const *names);
	int			(*compile) (ProgramRef program, int n, const char *const *options);
	int			(*ptx_size) (ProgramRef program, size_t *bytes);
	int			(*ptx) (ProgramRef program, char *text);
	int			(*log_size) (ProgramRef program, size_t *bytes);
	int			(*log) (ProgramRef program, char *text);
} Nvrtc;

/* the library beside an interpreter's PyTorch; false: there is none */
static bool
find_beside(const char *python, char *path, size_t size)
{
	char		command[PATH_MAX + 300];

	/* -I: modules that lie in the folder we are in are anybody's */
	snprintf(command, sizeof(command), "'%s' -I -c 'import glob, sys; "
			 "print(next((f for p in sys.path for w in (\"nvidia/*\", \"torch\") for f in "
			 "glob.glob(p + \"/\" + w + \"/lib/libnvrtc*.so*\") if \"builtins\" not in f "
			 "and \"alt\" not in f), \"\"))' 2>/dev/null", python);
	return text_first_line(command, path, size) && path[0] == '/';
}

static void *
open_library(const char *python)
{
	static const char *const names[] = {"libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12",
		"libnvrtc.so.11.2", "/usr/local/cuda/lib64/libnvrtc.so"};
	void	   *library = NULL;
	char		path[PATH_MAX];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !library; i++)
		library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	if (!library && python && find_beside(python, path, sizeof(path)))
		library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	return library;
}

static bool
load(Nvrtc *nvrtc, const char *python)
{
	void	   *library = open_library(python);

	return library
		&& (*(void **) &nvrtc->create = dlsym(library, "nvrtcCreateProgram"))
		&& (*(void **) &nvrtc->compile = dlsym(library, "nvrtcCompileProgram"))
		&& (*(void **) &nvrtc->ptx_size = dlsym(library, "nvrtcGetPTXSize"))
		&& (*(void **) &nvrtc->ptx = dlsym(library, "nvrtcGetPTX"))
		&& (*(void **) &nvrtc->log_size = dlsym(library, "nvrtcGetProgramLogSize"))
		&& (*(void **) &nvrtc->log = dlsym(library, "nvrtcGetProgramLog"));
}

/* what a call of the library gives as text, to be freed; NULL where it fails */
static char *
text_of(ProgramRef program, int (*size) (ProgramRef, size_t *), int (*get) (ProgramRef, char *))
{
	size_t		bytes = 0;
	char	   *text = size(program, &bytes) == 0 && bytes > 0 ? malloc(bytes) : NULL;

	if (text && get(program, text) != 0)
	{
		free(text);
		text = NULL;
	}
	return text;
}

/* a newer compiler's PTX differs in nothing that is used here */
static void
set_version(char *ptx)
{
	static const char directive[] = ".version ";
	char	   *at = strstr(ptx, directive);
	size_t		length;

	if (!at)
		return;
	at += strlen(directive);
	length = strcspn(at, "\r\n");
	if (length >= strlen(PTX_VERSION))
	{
		memset(at, ' ', length);
		memcpy(at, PTX_VERSION, strlen(PTX_VERSION));
	}
}

const char *
gpu_kernels_problem(const char *python)
{
	Nvrtc		nvrtc;

	return cudal1_kernels[0] || load(&nvrtc, python) ? NULL : MISSING;
}

char *
gpu_kernels_compile(const char *python, char *problem, size_t size)
{
	static const char *const names[] = {"supervisor/gpu/cuda_kernels.h", "common/wire.h",
		"common/tolerance.h", "common/change.h", "stdint.h"};
	const char *const headers[] = {cudal1_kernels_header, cudal1_kernels_wire,
		cudal1_kernels_tolerance, cudal1_kernels_change, integers};
	static const char *const options[] = {"-arch=compute_75", "-default-device"};
	ProgramRef	program;
	Nvrtc		nvrtc;
	char	   *ptx;
	char	   *log;

	snprintf(problem, size, "no memory");
	if (cudal1_kernels[0])
		ptx = strdup(cudal1_kernels);
	else if (!load(&nvrtc, python)
			 || nvrtc.create(&program, cudal1_kernels_source, "cuda_kernels.cu", 5, headers, names)
			 != 0)
	{
		snprintf(problem, size, MISSING);
		return NULL;
	}
	else if (nvrtc.compile(program, 2, options) == 0)
		ptx = text_of(program, nvrtc.ptx_size, nvrtc.ptx);
	else
	{
		log = text_of(program, nvrtc.log_size, nvrtc.log);
		snprintf(problem, size, "NVRTC: %.400s", log ? log : "no reason given");
		free(log);
		return NULL;
	}
	if (ptx)
		set_version(ptx);
	return ptx;
}
