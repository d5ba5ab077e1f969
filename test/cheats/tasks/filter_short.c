#include "tasks/filter.c"
