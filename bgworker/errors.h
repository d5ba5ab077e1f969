/*
 * errors.h
 *		What sessions read of an error.
 */
#ifndef CUDAL1_ERRORS_H
#define CUDAL1_ERRORS_H

extern void cudal1_errors_install(void);

#endif							/* CUDAL1_ERRORS_H */
