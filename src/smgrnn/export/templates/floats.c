/* Return whether a number is neither NaN nor infinite. */
static int is_finite(float x)
{
    return x - x == 0.0f;
}

/* Return an output as a value within the bounds of the action. */
static float scaled(float output, float low, float half_range, float high)
{
    float clipped = output < -1.0f ? -1.0f : output > 1.0f ? 1.0f : output;
    float value = low + (clipped + 1.0f) * half_range;
    return value > high ? high : value; /* it may round up past it */
}

static float activate_tanh(float sum)
{
    return tanhf(sum);
}

static float activate_sigmoid(float sum)
{
    return 1.0f / (1.0f + expf(-sum));
}

static float activate_relu(float sum)
{
    return sum <= 0.0f ? 0.0f : sum;
}

/* Add up what reaches a row. */
static float add_up(size_t row, const float value[])
{
    float total = $start;
    for (size_t edge = first_edge[row]; edge < first_edge[row + 1]; edge++) {
        total += weight[edge] * value[source[edge]];
    }
    return total;
}
