/* Self-test of $name: $n recorded steps.
 *
 * Call ${name}_test() on the board.  It returns 0, or the number of the first step that went wrong:
 * another action, or another state than the one recorded here.  -DSELF_TEST_MAIN makes it a program. */
#include "$file.h"

#include <stddef.h>
#include <stdint.h>

int ${name}_test(void);

static const $value observations[$n][${upper}_OBSERVATIONS] = {
$observations
};
/* 1 where an episode starts. */
static const uint8_t starts[$n] = {
$starts
};
$tables
int ${name}_test(void)
{
    ${name}_state state;
    ${name}_reset(&state);
    for (int step = 0; step < $n; step++) {
        if (starts[step]) {
            ${name}_reset(&state);
        }
$checks    }
    return 0;
}

#ifdef SELF_TEST_MAIN
int main(void)
{
    return ${name}_test();
}
#endif
