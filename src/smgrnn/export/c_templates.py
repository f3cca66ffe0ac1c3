"""The C99 that every exported controller consists of, with $placeholders where they differ."""

from string import Template

HEADER = Template("""\
/* $name: a neural controller for $task, written by smgrnn $version.
 *
 * $about
 * $memory
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
""")

SOURCE = Template("""\
/* $name: a neural controller for $task, written by smgrnn $version.  See $file.h. */
#include "$file.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>

enum {
    OBSERVATIONS = ${upper}_OBSERVATIONS,
    INPUTS = $n_inputs, /* $inputs */
    OUTPUTS = ${upper}_ACTIONS,
    STATES = ${upper}_STATES, /* output and hidden nodes */
    ITERATIONS = $iterations
};

$tables
$activations
/* Add up what reaches each output and hidden node. */
static void add_up(const float node[INPUTS + STATES], float sum[STATES])
{
    size_t edge = 0;
    for (size_t i = 0; i < STATES; i++) {
        float total = 0.0f;
        for (size_t last = edge + fan_in[i]; edge < last; edge++) {
            total += weight[edge] * node[source[edge]];
        }
        sum[i] = total;
    }
}

void ${name}_reset(${name}_state *state)
{
    for (size_t i = 0; i < STATES; i++) {
        state->node[i] = 0.0f;
    }
}

int ${name}_step($arguments)
{
    float node[INPUTS + STATES], sum[STATES];
    for (size_t i = 0; i < OBSERVATIONS; i++) {
        if (!isfinite(observation[i])) {
            return -1;
        }
        node[i] = $observed;
    }
$set_biases    for (size_t i = 0; i < STATES; i++) {
        node[INPUTS + i] = $carried;
    }
    for (size_t iteration = 0; iteration < ITERATIONS; iteration++) {
        add_up(node, sum); /* all sums first: the nodes change at the same time */
        for (size_t i = 0; i < OUTPUTS; i++) {
            node[INPUTS + i] = activate_output(sum[i]);
        }
$activate_hidden    }
    const float *output = $output;
    for (size_t i = 0; i < OUTPUTS; i++) {
        if (!isfinite(output[i])) {
            return -1;
        }
    }
    for (size_t i = 0; i < STATES; i++) {
        state->node[i] = node[INPUTS + i];
    }
$act}
""")

ACTIVATION = Template("""\
static float activate_$kind(float sum)
{
    return $formula;
}
""")

FORMULAS = {
    "tanh": "tanhf(sum)",
    "sigmoid": "1.0f / (1.0f + expf(-sum))",
    "relu": "sum <= 0.0f ? 0.0f : sum",
    "identity": "sum",
}

NORMALISED = "(observation[i] - mean[i]) * scale[i]"

SET_BIASES = """\
    for (size_t i = OBSERVATIONS; i < INPUTS; i++) {
        node[i] = 1.0f;
    }
"""

ACTIVATE_HIDDEN = """\
        for (size_t i = OUTPUTS; i < STATES; i++) {
            node[INPUTS + i] = activate_hidden(sum[i]);
        }
"""

CHOOSE = """\
    int action = 0;
    for (int i = 1; i < OUTPUTS; i++) {
        if (output[i] > output[action]) {
            action = i;
        }
    }
    return action;
"""

SCALE = """\
    for (size_t i = 0; i < OUTPUTS; i++) {
        float share = output[i] < -1.0f ? -1.0f : output[i] > 1.0f ? 1.0f : output[i];
        float value = action_low[i] + (share + 1.0f) * half_range[i];
        action[i] = value > action_high[i] ? action_high[i] : value; /* it may round up past it */
    }
    return 0;
"""
