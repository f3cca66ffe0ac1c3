/* Print the nanoseconds that a step of the controller takes.
 *
 * Reads observations from stdin, as floats, and goes through them again and again. */
#include <stdio.h>
#include <time.h>

#include "controller.h"

enum { MOST = 10000, STEPS = 5000000 };

static float observations[MOST][CONTROLLER_OBSERVATIONS];

int main(void)
{
    controller_state state;
    long sum = 0; /* uses the actions, so that no step can be optimised away */
    size_t n = fread(observations, sizeof observations[0], MOST, stdin);
    if (n == 0) {
        fputs("There are no observations on stdin.\n", stderr);
        return 1;
    }
    controller_reset(&state);
    clock_t begin = clock();
    for (long step = 0; step < STEPS; step++) {
        sum += controller_step(&state, observations[(size_t)step % n]);
    }
    double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    printf("%.1f\n", 1e9 * seconds / STEPS);
    return sum < 0;
}
