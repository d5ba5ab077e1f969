/*
 * profile_numbers.h
 *		Written by tools/profile-numbers from the columns of cudal1.profile.
 *
 * NUMBER(name, lowest, highest, whether it may be null, default); null is 0.
 */
#ifdef NUMBER
NUMBER(pairs, 1, 1000, false, 7)
NUMBER(futility_pairs, 2, 1000, true, 3)
NUMBER(bucket_seconds, 1e-3, 100000, false, 0.5)
NUMBER(block_seconds, 1e-5, 100, false, 0.010)
NUMBER(window_seconds, 1e-2, 1000000, false, 1800)
NUMBER(precision_goal, 0, 1, false, 0.005)
NUMBER(precision_slope, 0, 1, false, 0.05)
NUMBER(confidence, 0.5, 0.999999, false, 0.95)
NUMBER(half_width_limit, 1e-6, 10, true, 0.01)
NUMBER(half_width_most, 1e-6, 10, true, 0)
NUMBER(variance_limit, 1e-12, 1000000, true, 0)
NUMBER(first_checks, 1, 1000, false, 5)
NUMBER(min_checks, 0, 1000000, false, 50)
NUMBER(max_checks, 0, 1000000, false, 1000)
NUMBER(check_seconds, 0, 100000, false, 3)
NUMBER(audits, 0, 1000000, false, 400)
NUMBER(audit_seconds, 0, 100000, false, 1)
NUMBER(audit_sigma, 0, 100, false, 3)
NUMBER(audit_margin, 0, 100, false, 0.25)
NUMBER(run_limit_factor, 1, 1000000000, false, 1000)
NUMBER(run_limit_min, 1e-3, 100000, false, 1)
NUMBER(run_limit_max, 1e-3, 100000, false, 30)
NUMBER(build_seconds, 0.1, 100000, false, 120)
NUMBER(memory_mb, 64, 1073741824, false, 4096)
NUMBER(arena_mb, 1, 1048576, false, 256)
NUMBER(disturbed_factor, 1e-3, 1000000, false, 2)
NUMBER(disturbed_attempts, 1, 100, false, 3)
NUMBER(budget_factor, 1, 1000000, true, 8)
NUMBER(budget_min, 1e-3, 1000000, false, 120)
#undef NUMBER
#endif

#define PROFILE_LOOKS 7, 14, 21
#define PROFILE_QUICK \
	"{\"looks\": [7], \"bucket_seconds\": 0.1, \"half_width_limit\": 0.05, \"min_checks\": 10, " \
	"\"check_seconds\": 0.5, \"audits\": 50, \"audit_seconds\": 0.3, \"budget_min\": 60}"
