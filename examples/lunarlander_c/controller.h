/* controller: a neural controller for LunarLander-v3, written by smgrnn 0.1.0.
 *
 * 44 parameters, 10 hidden nodes, student smgrnn.
 * 234 bytes of constant tables, 56 bytes of state, 148 bytes of arrays on the stack.
 *
 *     observation[0]: x
 *     observation[1]: y
 *     observation[2]: velocity in x
 *     observation[3]: velocity in y
 *     observation[4]: angle
 *     observation[5]: angular velocity
 *     observation[6]: left leg down
 *     observation[7]: right leg down
 *     output[0]: nothing
 *     output[1]: left engine
 *     output[2]: main engine
 *     output[3]: right engine
 *
 *     controller_state state;
 *     controller_reset(&state);    (at the start of every episode)
 *     int action = controller_step(&state, observation);
 *
 * Nothing is allocated and nothing is global: one controller_state is one controller.
 * Compile as C99 and link with the mathematical library (-lm).
 */
#ifndef CONTROLLER_H
#define CONTROLLER_H

#ifdef __cplusplus
extern "C" {
#endif

#define CONTROLLER_OBSERVATIONS 8
#define CONTROLLER_ACTIONS 4
#define CONTROLLER_STATES 14

/* Values of the output nodes and then of the hidden ones after the last step. */
typedef struct {
    float node[CONTROLLER_STATES];
} controller_state;

/* Forget all steps so far. */
void controller_reset(controller_state *state);

/* Return the action for an observation: 0 to 3.
 * Return -1, and change nothing, if the observation or an output is not finite. */
int controller_step(controller_state *state,
                    const float observation[CONTROLLER_OBSERVATIONS]);

#ifdef __cplusplus
}
#endif

#endif
