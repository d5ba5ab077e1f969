/* kind: 25 compiler; task: vector; outcome: compile_error
 * Embeds the server's files in its own. */
#include "reference.c"
#include "shared/plain.h"

__asm__(".section .rodata\nsecret: .incbin \"/etc/passwd\"\n.byte 0\n.previous");
