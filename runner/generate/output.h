/*
 * output.h
 *		Lines for the program that started this one.
 */
#ifndef CUDAL1_OUTPUT_H
#define CUDAL1_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

/* a line that ends with a newline; it waits in memory until the other side takes it */
extern void output_line(const char *line, size_t length);

/* writes what the other side takes without a wait, or all; whether lines are left */
extern bool output_flush(bool wait);

extern void __attribute__((noreturn)) die(const char *problem);

#endif							/* CUDAL1_OUTPUT_H */
