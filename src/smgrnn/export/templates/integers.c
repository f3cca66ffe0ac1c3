#if (-1 >> 1) != -1
#error "Shifting a negative number right must keep its sign."
#endif

/* Return a sum, or 0 if it is negative. */
static int32_t positive(int32_t sum)
{
    return sum & ~(sum >> 31);
}

/* Drop the last bits of a sum, rounded, and keep it within a value's limits. */
static int16_t activate_identity(int32_t sum, int shift)
{
    int32_t x = (sum + (((int32_t)1 << shift) >> 1)) >> shift;
    int32_t left = 32767 - x;
    x += left & (left >> 31);
    left = x + 32767;
    return (int16_t)(x - (left & (left >> 31)));
}

static int16_t activate_relu(int32_t sum, int shift)
{
    return activate_identity(positive(sum), shift);
}

/* tanh, interpolated in steps of 1/8 up to 4; the shifted sum has 12 bits behind the point. */
static int16_t activate_tanh(int32_t sum, int shift)
{
    static const int16_t curve[] = {
$curve
    };
    int32_t sign = sum >> 31, x = ((sum ^ sign) - sign) >> shift;
    int32_t left = 16383 - x;
    x += left & (left >> 31);
    int32_t y = curve[x >> 9];
    y += ((curve[(x >> 9) + 1] - y) * (x & 511)) >> 9;
    return (int16_t)((y ^ sign) - sign);
}

static int16_t activate_sigmoid(int32_t sum, int shift)
{
    return (int16_t)(((int32_t)32768 + activate_tanh(sum, shift + 1)) >> 1);
}

/* Add up what reaches a row. */
static int32_t add_up(size_t row, const int16_t value[])
{
    int32_t total = $start;
    for (size_t edge = first_edge[row]; edge < first_edge[row + 1]; edge++) {
        total += (int32_t)weight[edge] * value[source[edge]];
    }
    return total;
}
