/* Replay observations through an exported controller.
 *
 * Reads records of floats from stdin: 1 if an episode starts and 0 otherwise, then the observation.
 * Writes records of floats to stdout: what the step returned, then with -DCONTINUOUS the action,
 * then the state. */
#include <stdio.h>

#include "controller.h"

int main(void)
{
    controller_state state;
    float record[1 + CONTROLLER_OBSERVATIONS];
    controller_reset(&state);
    while (fread(record, sizeof record, 1, stdin) == 1) {
        float result;
        if (record[0] != 0.0f) {
            controller_reset(&state);
        }
#ifdef CONTINUOUS
        float action[CONTROLLER_ACTIONS] = {0.0f};
        result = (float)controller_step(&state, record + 1, action);
        fwrite(&result, sizeof result, 1, stdout);
        fwrite(action, sizeof action, 1, stdout);
#else
        result = (float)controller_step(&state, record + 1);
        fwrite(&result, sizeof result, 1, stdout);
#endif
#if CONTROLLER_STATES > 0
        fwrite(state.node, sizeof state.node, 1, stdout);
#endif
    }
    return 0;
}
