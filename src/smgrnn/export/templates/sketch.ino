/* Calls the controller $name every 20 ms.  See $file.h for the inputs and outputs. */
#include <$file.h>

${name}_state state;

// Replace this by what your sensors measure, in the units of the task.
float read_sensor(int i) {
  return 0.0f * i;
}

void setup() {
  Serial.begin(115200);
  ${name}_reset(&state); // again at the start of every episode
}

void loop() {
  $value observation[${upper}_OBSERVATIONS];
$fill
$step
  delay(20); // the time between two steps of the task
}
