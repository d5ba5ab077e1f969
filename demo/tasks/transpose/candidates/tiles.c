/* a tile of 16 x 16 floats touches 32 cache lines, all of which are used whole before they leave the cache */
#define TILE 16

void
solve(const float *restrict x, float *restrict y, int rows, int columns)
{
	for (int i0 = 0; i0 < rows; i0 += TILE)
		for (int j0 = 0; j0 < columns; j0 += TILE)
		{
			float		tile[TILE][TILE];

			for (int i = 0; i < TILE; i++)
				for (int j = 0; j < TILE; j++)
					tile[j][i] = x[(i0 + i) * columns + j0 + j];
			for (int j = 0; j < TILE; j++)
				for (int i = 0; i < TILE; i++)
					y[(j0 + j) * rows + i0 + i] = tile[j][i];
		}
}
