/* $name: a neural controller for $task, written by smgrnn $version.
 *
 * $about
 * $memory
 *
$names
 *
 *     ${name}_state state;
 *     ${name}_reset(&state);    (at the start of every episode)
 *     $call
 *
 * Nothing is allocated and nothing is global: one ${name}_state is one controller.
 * Compile as C99 and link with the mathematical library (-lm).
 */
#ifndef ${upper}_H
#define ${upper}_H

#ifdef __cplusplus
extern "C" {
#endif

#define ${upper}_OBSERVATIONS $n_observations
#define ${upper}_ACTIONS $n_actions
#define ${upper}_STATES $n_states

/* Values of the output nodes and then of the hidden ones after the last step. */
typedef struct {
    float node[${upper}_STATES];
} ${name}_state;

/* Forget all steps so far. */
void ${name}_reset(${name}_state *state);

/* $promise
 * Return -1, and change nothing, if the observation or an output is not finite. */
int ${name}_step($arguments);

#ifdef __cplusplus
}
#endif

#endif
