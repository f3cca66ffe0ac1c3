/* Replay observations in integers through an exported controller; see replay.c. */
#include <stdio.h>

#include "controller.h"

int main(void)
{
    controller_state state;
    int16_t record[1 + CONTROLLER_OBSERVATIONS];
    controller_reset(&state);
    while (fread(record, sizeof record, 1, stdin) == 1) {
        int16_t result;
        if (record[0] != 0) {
            controller_reset(&state);
        }
#ifdef CONTINUOUS
        int16_t action[CONTROLLER_ACTIONS] = {0};
        result = (int16_t)controller_step(&state, record + 1, action);
        fwrite(&result, sizeof result, 1, stdout);
        fwrite(action, sizeof action, 1, stdout);
#else
        result = (int16_t)controller_step(&state, record + 1);
        fwrite(&result, sizeof result, 1, stdout);
#endif
#if CONTROLLER_STATES > 0
        fwrite(state.node, sizeof state.node, 1, stdout);
#endif
    }
    return 0;
}
