/* An observation holds integers: each value times its unit, rounded and kept within limits. */
#define ${upper}_UNITS {$units}
#define ${upper}_INTEGER(value, unit) \
    ((int16_t)(!((value) * (unit) > -32767.0f)  ? -32767.0f \
               : (value) * (unit) >= 32767.0f ? 32767.0f \
               : (value) * (unit) + ((value) < 0 ? -0.5f : 0.5f)))

/* Scores are integers too: each value times its unit. */
#define ${upper}_SCORE_UNITS {$output_units}

/* An action holds integers too: each output times its unit. */
#define ${upper}_ACTION_UNITS {$output_units}

/* Outputs from -1 to 1 are scaled to these bounds: part i of the action is
 * VALUE(action[i], ACTION_UNITS[i], LOW[i], HIGH[i]). */
#define ${upper}_LOW {$low}
#define ${upper}_HIGH {$high}
#define ${upper}_VALUE(number, unit, low, high) \
    ((float)(number) >= (unit)    ? (high) \
     : (float)(number) <= -(unit) ? (low) \
     : (low) + ((float)(number) / (unit) + 1.0f) * ((high) / 2.0f - (low) / 2.0f))
