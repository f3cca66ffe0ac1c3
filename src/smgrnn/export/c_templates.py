"""The C99 that every exported controller consists of, with $placeholders where they differ.

The frames are `controller.h` and `controller.c`; the parts that not all controllers have are here.
"""

from importlib.resources import files
from string import Template

HEADER, SOURCE = (
    Template(files("smgrnn.export").joinpath(name).read_text(encoding="utf-8"))
    for name in ("controller.h", "controller.c")
)

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

COPY = """\
    for (size_t i = 0; i < OUTPUTS; i++) {
        action[i] = output[i];
    }
    return 0;
"""

SCALE = """\
    for (size_t i = 0; i < OUTPUTS; i++) {
        float share = output[i] < -1.0f ? -1.0f : output[i] > 1.0f ? 1.0f : output[i];
        float value = action_low[i] + (share + 1.0f) * half_range[i];
        action[i] = value > action_high[i] ? action_high[i] : value; /* it may round up past it */
    }
    return 0;
"""
