/*
 * score.h
 *		Arithmetic of rounds, buckets, intervals and rewards.
 *
 * This file and score.c include no server header, because the server and cudal1-measure share them.
 * No other code computes a score.
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

/*
 * Rounds to two decimals, towards 1.  100 x within 1e-9 of an integer counts as that integer
 * (CUDA-L1, 2.4.4).  Rounding twice changes nothing more.
 */
extern double cudal1_score_conservative_round(double speedup);

/*
 * Number k of the score interval [k * width, (k + 1) * width) that holds a reward > 0, or its
 * logarithm.  A reward that is on an edge in decimal arithmetic (0.75 of width 0.25, 1.15 of width
 * 0.05) is on it here.  The number saturates at the ends of int.
 */
extern int	cudal1_score_bucket(double reward, double width, bool log_scale);

/* of n >= 1 values; the array is not changed; NaN if memory is short */
extern double cudal1_score_median(const double *values, size_t n);
extern double cudal1_score_mean(const double *values, size_t n);

/* linear percentile (numpy's default), p in [0, 1], n >= 1 */
extern double cudal1_score_percentile(const double *values, size_t n, double p);

/* variance about the mean over n (population), the paper's inter-bucket variance */
extern double cudal1_score_variance(const double *values, size_t n);

/* quantile of Student's t with df > 0 degrees of freedom, p in (0, 1) */
extern double cudal1_score_t_quantile(double p, double df);

/*
 * Interval of the score from n >= 2 bucket estimates: Student's t over their logarithms, the error
 * (1 - confidence) divided over `looks`.  half_width is relative: exp(t * standard error) - 1.  The
 * centre is the geometric mean, and the interval is widened to hold the median.
 *
 * From CUDAL1_TRIM_FROM buckets on, 15 % of them are trimmed at either end.  On a busy machine
 * single buckets are off by several per cent, which a median survives and a variance does not.
 * Where no bucket is off, an earlier look has ended the measurement already.
 */
#define CUDAL1_TRIM_FROM 14

extern void cudal1_score_interval(const double *buckets, size_t n, double confidence, int looks,
								  double *lower, double *upper, double *half_width);

/*
 * The same for one of `members` >= 2 candidates with n >= 2 buckets each that shared a reference:
 * buckets[i][j] is what pair j gave of candidate i. The spread is theirs together, so that two
 * pairs may be enough: by the analysis of variance with pairs as blocks, what a pair adds to all of
 * them and what is one's own, with Satterthwaite's degrees of freedom.
 *
 * False, and nothing is set, where they are too few to know it (CUDAL1_SET_FREEDOM degrees of
 * freedom of what is one's own), where this one spreads more than the others do, by Fisher's F at a
 * level of CUDAL1_SET_OWN, and from CUDAL1_TRIM_FROM buckets on: its own interval counts then.
 * Members that spread far more than the others, at a level of CUDAL1_SET_FAR, have no part in
 * theirs. At most CUDAL1_SET_MOST members.
 */
#define CUDAL1_SET_FREEDOM 3
#define CUDAL1_SET_OWN 0.2
#define CUDAL1_SET_FAR 0.005
#define CUDAL1_SET_MOST 32

extern bool cudal1_score_set_interval(const double *const *buckets, size_t members, size_t n,
									  size_t which, double confidence, int looks, double *lower,
									  double *upper, double *half_width);

/*
 * The same for a candidate by itself, of whose task earlier measurements on this device tell how
 * pairs spread: by a standard deviation of logarithms >= 0 that they know with so many degrees of
 * freedom. Both are pooled.
 *
 * False, and nothing is set, where they are too few (CUDAL1_SET_FREEDOM), where these n >= 2
 * buckets spread more, by Fisher's F at a level of CUDAL1_SET_OWN, and from CUDAL1_KNOWN_BELOW
 * buckets on, which tell their spread themselves.
 */
#define CUDAL1_KNOWN_BELOW 7

extern bool cudal1_score_known_interval(const double *buckets, size_t n, double known,
										double known_freedom, double confidence, int looks,
										double *lower, double *upper, double *half_width);

/* the probability that Fisher's F exceeds f >= 0, with df1, df2 > 0 degrees of freedom */
extern double cudal1_score_f_tail(double f, double df1, double df2);

/* the half-width that an interval over `later` buckets would have with the spread of n >= 2 */
extern double cudal1_score_foreseen(const double *buckets, size_t n, size_t later,
									double confidence, int looks);

/*
 * Whether the candidate or the host makes an interval wide: n >= 2 bucket estimates of a candidate,
 * and naa >= 2 of A/A pairs.  Fisher's F compares the variances of their logarithms, 15 % trimmed
 * at either end.
 *
 * *own is true where the candidate's variance is larger, at a level of CUDAL1_OWN_WIDTH, or where
 * there is nothing to compare it with; the result is 0 then.  (docs/protocol.md says what the level
 * is where noise has outliers.)  Else the host makes the interval wide, and the result is the
 * relative half-width of an interval over n buckets that spread as the A/A pairs do.
 */
#define CUDAL1_OWN_WIDTH 0.005

extern double cudal1_score_doubt(const double *buckets, size_t n, const double *aa, size_t naa,
								 double confidence, int looks, bool *own);

/*
 * the half-width beyond which the interval of a score is wide: `limit`, or `slope` times the size
 * of the score's logarithm; or, up to `most`, what that interval reaches which just excludes 1
 */
extern double cudal1_score_wide_from(double score, double limit, double slope, double most);

/*
 * The lower end that a wide interval is paid: of four to six values their least, where that is more
 * (but no more than 1, if the interval reaches below). Four values all exceed the middle that they
 * are drawn about once in 16 times, and Student's factor takes the end of so few far below any.
 */
extern double cudal1_score_least_end(const double *values, size_t n, double lower);

/* the end of an interval that is nearer to 1, and 1 if that lies within */
extern double cudal1_score_nearer_end(double lower, double upper);

/* standard error of a median of n values, from their interquartile range; 0 for n < 4 */
extern double cudal1_score_median_error(const double *values, size_t n);

#endif							/* CUDAL1_SCORE_H */
