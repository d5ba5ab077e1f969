/*
 * languages.h
 *		The languages of tasks.
 */
#ifndef CUDAL1_LANGUAGES_H
#define CUDAL1_LANGUAGES_H

#include <stdbool.h>

typedef enum JobLanguage
{
	LANGUAGE_C,
	LANGUAGE_CUDA,
	LANGUAGE_PYTORCH,
	LANGUAGES
} JobLanguage;

/* as jobs and tables name them */
static const char *const language_names[LANGUAGES] = {"c", "cuda", "pytorch"};

/* of files with code */
static const char *const language_endings[LANGUAGES] = {".c", ".cu", ".py"};

/* whether a signature says what the code's function takes; a module of Python says it itself */
static inline bool
language_has_signature(JobLanguage language)
{
	return language != LANGUAGE_PYTORCH;
}

#endif							/* CUDAL1_LANGUAGES_H */
