/* $name: a neural controller for $task, written by smgrnn $version.
 *
 * $about
 * $numbers
 * $memory
 * $network
 *
$names
 *
 *     ${name}_state state;
 *     ${name}_reset(&state);    (at the start of every episode)
 *     $call
 *
 * Nothing is allocated and nothing is global: one ${name}_state is one controller.
 * $link
 */
#ifndef ${upper}_H
#define ${upper}_H
$include
#ifdef __cplusplus
extern "C" {
#endif

#define ${upper}_OBSERVATIONS $n_observations
#define ${upper}_ACTIONS $n_actions
#define ${upper}_STATES $n_states
$units
/* $kept */
typedef struct {
    $member;
} ${name}_state;

/* Forget all steps so far. */
void ${name}_reset(${name}_state *state);

/* $promise */
int ${name}_step($arguments);

#ifdef __cplusplus
}
#endif

#endif
