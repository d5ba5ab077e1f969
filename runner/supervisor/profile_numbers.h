/*
 * profile_numbers.h
 *		Written by tools/profile-numbers from the columns of cudal1.profile.
 *
 * NUMBER(name, lowest, highest, whether it may be null, default); null is 0.
 */
#ifdef NUMBER
NUMBER(pairs, 1, 1000, false, 5)
NUMBER(bucket_seconds, 1e-3, 100000, false, 0.15)
NUMBER(window_seconds, 1e-5, 100, false, 0.005)
NUMBER(precision_goal, 0, 1, false, 0.005)
NUMBER(confidence, 0.5, 0.999999, false, 0.95)
NUMBER(half_width_limit, 1e-6, 10, true, 0.02)
NUMBER(variance_limit, 1e-12, 1000000, true, 0)
NUMBER(checks, 1, 1000, false, 5)
NUMBER(check_seconds, 0, 100000, false, 3)
NUMBER(run_limit_factor, 1, 1000000000, false, 1000)
NUMBER(run_limit_max, 1e-3, 100000, false, 30)
NUMBER(build_seconds, 0.1, 100000, false, 120)
NUMBER(memory_mb, 64, 1073741824, false, 4096)
NUMBER(budget_seconds, 1e-3, 1000000, false, 20)
#undef NUMBER
#endif

#define PROFILE_LOOKS 5, 9, 15
#define PROFILE_QUICK \
	"{\"pairs\": 3, \"looks\": [3, 5, 7], \"bucket_seconds\": 0.05, \"precision_goal\": 0.02, " \
	"\"half_width_limit\": 0.05, \"check_seconds\": 0.5, \"budget_seconds\": 10}"
