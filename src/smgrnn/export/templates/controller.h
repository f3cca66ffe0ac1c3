/* $name: a neural controller for $task, written by smgrnn $version.
 *
 *     ${name}_state state;
 *     ${name}_reset(&state);    (at the start of every episode)
 *     $call
 *
$names
 *
 * Network:  parameters $n_parameters, hidden nodes $n_hidden$student, digest $digest
 * Weights:  $n_weights weights + $n_constants constants in $type
 * Step:     multiplications $n_products, additions $n_sums, activations $n_activations$cycles
 * Memory:   $table_bytes bytes of constant tables, $state_bytes bytes of state,
 *           at most $stack_bytes bytes of stack
 * Compile:  as C99, $library
 *
 * No heap, no globals: one ${name}_state is one controller, and any number may run.
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
