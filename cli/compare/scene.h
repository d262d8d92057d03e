/* scene.h: the first problem of a contest as a drawing: where it starts, where it ends, and the goals. */
#ifndef ULNA_CLI_SCENE_H
#define ULNA_CLI_SCENE_H

#include "cli/compare/compare.h"
#include "cli/markup.h"

/* A figure with inline SVG, solved by the best method or else the first that can. Fails only for lack of memory. */
ulna_status scene_write(contest *game, markup *page, ulna_error *error);

#endif
