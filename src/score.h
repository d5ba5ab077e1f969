/*
 * score.h
 *		Arithmetic of rounds, buckets, intervals and rewards.
 *
 * This file and score.c include no server header: the server's functions and cudal1-measure share them, so that there is
 * one place that computes a score.
 */
#ifndef CUDAL1_SCORE_H
#define CUDAL1_SCORE_H

#include <stdbool.h>
#include <stddef.h>

typedef enum Cudal1Estimator
{
	CUDAL1_ESTIMATE_MEDIAN,
	CUDAL1_ESTIMATE_MEAN,
} Cudal1Estimator;

/* two decimals, towards 1; 100 x within 1e-9 of an integer is that integer (CUDA-L1, 2.4.4); idempotent */
extern double cudal1_score_conservative_round(double speedup);

/*
 * Number k of the score interval [k * width, (k + 1) * width) that holds a reward > 0, or its logarithm. A reward on an edge
 * in decimal arithmetic (0.75 of width 0.25, 1.15 of width 0.05) is on it here. Saturates at the ends of int.
 */
extern int	cudal1_score_bucket(double reward, double width, bool log_scale);

/* of n >= 1 values; the array is left as it is; NaN if memory is short */
extern double cudal1_score_median(const double *values, size_t n);
extern double cudal1_score_mean(const double *values, size_t n);

/* linear percentile (numpy's default), p in [0, 1], n >= 1 */
extern double cudal1_score_percentile(const double *values, size_t n, double p);

/* variance about the mean over n (population), the paper's inter-bucket variance */
extern double cudal1_score_variance(const double *values, size_t n);

/* quantile of Student's t with df > 0 degrees of freedom, p in (0, 1) */
extern double cudal1_score_t_quantile(double p, double df);

/*
 * Interval of the score from n >= 2 bucket estimates: Student's t over their logarithms, the error (1 - confidence) divided
 * over `looks`. half_width is relative: exp(t * standard error) - 1. The centre is the geometric mean, widened to hold the median.
 * From CUDAL1_TRIM_FROM buckets on, 15 % of them are trimmed at either end: a first look that saw no outlier has ended the
 * measurement by then, and on a busy machine single buckets are off by several per cent, which a median survives and a variance does not.
 */
#define CUDAL1_TRIM_FROM 14

extern void cudal1_score_interval(const double *buckets, size_t n, double confidence, int looks,
								  double *lower, double *upper, double *half_width);

/* that Fisher's F exceeds f >= 0, with df1, df2 > 0 degrees of freedom */
extern double cudal1_score_f_tail(double f, double df1, double df2);

/* the half-width to be expected of the interval over `later` buckets, from the spread of the first n >= 2 */
extern double cudal1_score_foreseen(const double *buckets, size_t n, size_t later, double confidence, int looks);

/*
 * Whose doing the width of an interval is: n >= 2 bucket estimates of a candidate, and naa >= 2 of pairs of the reference
 * with itself (A/A). The variances of their logarithms, 15 % trimmed at either end, are compared by Fisher's F. `own`: the
 * candidate's is larger, at a level of CUDAL1_OWN_WIDTH (docs/protocol.md has what that is where noise has outliers), or there is
 * nothing to compare it with. Else the result is the relative half-width that an interval over n buckets has where they spread
 * as the reference's; 0 where `own`.
 */
#define CUDAL1_OWN_WIDTH 0.005

extern double cudal1_score_doubt(const double *buckets, size_t n, const double *aa, size_t naa, double confidence, int looks, bool *own);

/* the end of an interval that is nearer to 1, and 1 if that lies within */
extern double cudal1_score_nearer_end(double lower, double upper);

/* standard error of a median of n values, from their interquartile range; 0 for n < 4 */
extern double cudal1_score_median_error(const double *values, size_t n);

#endif							/* CUDAL1_SCORE_H */
