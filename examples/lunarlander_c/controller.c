/* controller: a neural controller for LunarLander-v3, written by smgrnn 0.1.0.  See controller.h. */
#include "controller.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>

enum {
    OBSERVATIONS = CONTROLLER_OBSERVATIONS,
    INPUTS = 9, /* the observation, and a constant 1 */
    OUTPUTS = CONTROLLER_ACTIONS,
    STATES = CONTROLLER_STATES, /* output and hidden nodes */
    ITERATIONS = 2
};

/* Edges into each output and then into each hidden node. */
static const uint8_t fan_in[14] = {
    4, 6, 5, 7, 1, 1, 3, 3, 2, 2, 2, 3, 3, 2
};

/* The node each edge leaves: inputs, outputs, hidden nodes. */
static const uint8_t source[44] = {
    3, 17, 18, 21, 3, 13, 14, 19, 20, 21, 1, 3, 15, 16, 22, 0, 3, 4, 13, 17, 18, 20, 2, 4, 1, 2, 4,
    1, 4, 8, 7, 8, 1, 2, 0, 1, 0, 5, 7, 0, 6, 8, 3, 8
};

/* The weight of each edge. */
static const float weight[44] = {
    35.69165f, 3.7433288f, -1.99054f, 1.8262029f, 36.710735f, 1.1700854f, -3.176491f, 2.556564f,
    2.985895f, 1.1911976f, -17.121866f, 7.6098185f, -4.6155977f, -4.719171f, -1.0383489f,
    -7.5545764f, 35.877693f, 28.391256f, -0.9762463f, 3.2891433f, -3.6355934f, -2.3809443f,
    375.01617f, 9.369722f, 5.272591f, 1.111907f, 16.89543f, 3.6521428f, -23.3453f, 0.9927173f,
    7.9537935f, -0.012842391f, 12.313888f, 2.3310835f, 1.4144964f, -9.166982f, 4.442197f,
    -6.703106f, 10.439539f, -3.9884589f, 4.3560824f, -3.6642482f, -12.004342f, -2.9735405f
};

static float activate_output(float sum)
{
    return tanhf(sum);
}

static float activate_hidden(float sum)
{
    return tanhf(sum);
}

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

void controller_reset(controller_state *state)
{
    for (size_t i = 0; i < STATES; i++) {
        state->node[i] = 0.0f;
    }
}

int controller_step(controller_state *state,
                    const float observation[CONTROLLER_OBSERVATIONS])
{
    float node[INPUTS + STATES], sum[STATES];
    for (size_t i = 0; i < OBSERVATIONS; i++) {
        if (!isfinite(observation[i])) {
            return -1;
        }
        node[i] = observation[i];
    }
    for (size_t i = OBSERVATIONS; i < INPUTS; i++) {
        node[i] = 1.0f;
    }
    for (size_t i = 0; i < STATES; i++) {
        node[INPUTS + i] = 0.0f;
    }
    for (size_t iteration = 0; iteration < ITERATIONS; iteration++) {
        add_up(node, sum); /* all sums first: the nodes change at the same time */
        for (size_t i = 0; i < OUTPUTS; i++) {
            node[INPUTS + i] = activate_output(sum[i]);
        }
        for (size_t i = OUTPUTS; i < STATES; i++) {
            node[INPUTS + i] = activate_hidden(sum[i]);
        }
    }
    const float *output = sum;
    for (size_t i = 0; i < OUTPUTS; i++) {
        if (!isfinite(output[i])) {
            return -1;
        }
    }
    for (size_t i = 0; i < STATES; i++) {
        state->node[i] = node[INPUTS + i];
    }
    int action = 0;
    for (int i = 1; i < OUTPUTS; i++) {
        if (output[i] > output[action]) {
            action = i;
        }
    }
    return action;
}
