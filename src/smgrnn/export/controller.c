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
