/*
 * dtypes.h
 *		The element types of arrays, a row each. Before a file includes this one, it defines DTYPE()
 *		as what it makes of a row.
 *
 *	NAME	WIRE_NAME is its number, which counts the rows from 1
 *	name	in signatures, and in PyTorch
 *	type	of an element in memory
 *	store	an element of a value, x or n: of a floating point type x, else the integer n
 *	load	the value of an element e
 *	ffi		how libffi passes a scalar
 *	epsilon from 1 to the next number; 0: of integers
 *	rtol, atol	default tolerance, relative to the element and to the output's scale: far above what
 *				sums in another order differ by; of half precision a few of the type's roundings
 *	signature	whether a signature's arguments may have it, and not PyTorch's tensors alone
 */
/* clang-format off */
DTYPE(FLOAT64,  float64,  double,   x,            e,            double, 0x1p-52, 1e-7, 1e-8, true)
DTYPE(FLOAT32,  float32,  float,    x,            e,            float,  0x1p-23, 1e-3, 1e-4, true)
DTYPE(FLOAT16,  float16,  uint16_t, half_of(x),   of_half(e),   uint16, 0x1p-10, 1e-2, 1e-2, true)
DTYPE(BFLOAT16, bfloat16, uint16_t, bfloat_of(x), of_bfloat(e), uint16, 0x1p-7,  2e-2, 2e-2, true)
DTYPE(INT64,    int64,    int64_t,  n,            e,            sint64, 0,       0,    0,    true)
DTYPE(INT32,    int32,    int32_t,  n,            e,            sint32, 0,       0,    0,    true)
DTYPE(INT16,    int16,    int16_t,  n,            e,            sint16, 0,       0,    0,    false)
DTYPE(INT8,     int8,     int8_t,   n,            e,            sint8,  0,       0,    0,    false)
DTYPE(UINT8,    uint8,    uint8_t,  n,            e,            uint8,  0,       0,    0,    true)
DTYPE(BOOL,     bool,     uint8_t,  n != 0,       e,            uint8,  0,       0,    0,    true)
/* clang-format on */
#undef DTYPE
