/* kind: 25 compiler; task: vector; profile: impatient; outcome: compile_error
 * Macros that grow without end. */
#define A "0123456789012345678901234567890123456789"
#define B A A A A A A A A A A A A A A A A
#define C B B B B B B B B B B B B B B B B
#define D C C C C C C C C C C C C C C C C
#define E D D D D D D D D D D D D D D D D
#define F E E E E E E E E E E E E E E E E
#define G F F F F F F F F F F F F F F F F
#define H G G G G G G G G G G G G G G G G
const char text[] = H H H H;

void solve(const float *x, float *y, int n)
{
}
