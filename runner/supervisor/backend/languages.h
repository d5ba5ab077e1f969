/*
 * languages.h
 *		The languages of tasks.
 */
#ifndef CUDAL1_LANGUAGES_H
#define CUDAL1_LANGUAGES_H

#include <stdbool.h>
#include <string.h>

/*
 * A row for each: its name, the ending of its files, whether tasks are modules of Python (of others
 * a signature says what their function takes), and its backends on a CPU and on a GPU.
 */
#define ROWS_OF_LANGUAGES(ROW) \
	ROW("c", ".c", false, &backend_c, NULL) \
	ROW("cuda", ".cu", false, NULL, &backend_cuda) \
	ROW("pytorch", ".py", true, &backend_torch_cpu, &backend_torch_gpu)

/* for messages, with a space before each */
#define NAME_OF(name, ending, module, cpu, gpu) " " name
#define ENDING_OF(name, ending, module, cpu, gpu) " " ending

typedef struct Language
{
	const char *name;
	const char *ending;
	bool		module;
} Language;

#define FACTS_OF(name, ending, module, cpu, gpu) {name, ending, module},
static const Language language_facts[] = {ROWS_OF_LANGUAGES(FACTS_OF)};
#define LANGUAGES ((int) (sizeof(language_facts) / sizeof(language_facts[0])))

/* the language of a name, or of a file's ending, NULL being none; LANGUAGES: there is none */
static inline int
language_of(const char *word, bool ending)
{
	int			i = 0;

	while (i < LANGUAGES && (!word || strcmp(word, ending ? language_facts[i].ending
											 : language_facts[i].name) != 0))
		i++;
	return i;
}

#endif							/* CUDAL1_LANGUAGES_H */
