/* $name: a neural controller for $task, written by smgrnn $version.  See $file.h. */
#include "$file.h"

$includes
$declarations
void ${name}_reset(${name}_state *state)
{
$reset}

int ${name}_step($arguments)
{
$step}
