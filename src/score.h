/*
 * score.h
 *		Arithmetic of rounds, intervals and rewards.
 *
 * This file and score.c include no server header, because the server and cudal1-measure share them.
 * No other code computes a score.
 */
#ifndef CUDAL1_SCORE_H
#define CUDAL1_SCORE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Rounds to two decimals, towards 1.  100 x within 1e-9 of an integer counts as that integer
 * (CUDA-L1, 2.4.4).  Rounding twice changes nothing more.
 */
extern double cudal1_score_conservative_round(double speedup);

/* of n >= 1 values; the array is not changed; NaN if memory is short */
extern double cudal1_score_median(const double *values, size_t n);
extern double cudal1_score_mean(const double *values, size_t n);

/* the mean of n >= 1 values but the largest `share` of them, in [0, 1); NaN if memory is short */
extern double cudal1_score_trimmed(const double *values, size_t n, double share);

/* variance about the mean over n (population), the paper's inter-bucket variance */
extern double cudal1_score_variance(const double *values, size_t n);

/* quantile of Student's t with df > 0 degrees of freedom, p in (0, 1) */
extern double cudal1_score_t_quantile(double p, double df);

/*
 * Interval of the score from n >= 2 pairs: Student's t over their logarithms, the error
 * (1 - confidence) divided over `looks`.  half_width is relative: exp(t * standard error) - 1.  The
 * interval is widened to hold the median.  NaN where n < 2.
 */
extern void cudal1_score_interval(const double *pairs, size_t n, double confidence, int looks,
								  double *lower, double *upper, double *half_width);

/*
 * A relative half-width that is allowed for a score > 0: `width`, or CUDAL1_SLOPE of the size of
 * its logarithm where that is more, because a large speedup needs no more digits than a small one.
 */
#define CUDAL1_SLOPE	0.05

extern double cudal1_score_width(double score, double width);

/* Pays a score: of a wide interval the lower end if that is >= 1, else at most 1. */
extern double cudal1_score_paid(double score, double lower, bool wide);

#endif							/* CUDAL1_SCORE_H */
