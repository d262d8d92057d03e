/* Drawing with braille characters. */
#include "cli/canvas.h"

#include <math.h>
#include <stdlib.h>

int canvas_create(canvas *paper, int columns, int rows)
{
    paper->columns = columns > 0 ? columns : 1;
    paper->rows = rows > 0 ? rows : 1;
    paper->dots = calloc((size_t)paper->columns * (size_t)paper->rows, 1);
    return paper->dots != NULL;
}

void canvas_release(canvas *paper)
{
    free(paper->dots);
    paper->dots = NULL;
}

void canvas_dot(canvas *paper, int x, int y)
{
    /* The order of the dots in a braille character: down the left column, down the right one, then the last row. */
    static const unsigned char bits[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    if (x < 0 || y < 0 || x >= 2 * paper->columns || y >= 4 * paper->rows)
        return;
    paper->dots[(y / 4) * paper->columns + x / 2] |= bits[y % 4][x % 2];
}

void canvas_line(canvas *paper, double x0, double y0, double x1, double y1)
{
    double length = fmax(fabs(x1 - x0), fabs(y1 - y0));
    int steps = (int)fmin(ceil(length), 4096);
    for (int i = 0; i <= steps; i++) {
        double t = steps ? (double)i / steps : 0;
        canvas_dot(paper, (int)lround(x0 + t * (x1 - x0)), (int)lround(y0 + t * (y1 - y0)));
    }
}

/* Where the dots of a character are: in one column, or in its upper or lower half. */
static char ascii_of(unsigned dots)
{
    int left = (dots & 0x47) != 0, right = (dots & 0xB8) != 0;
    int upper = (dots & 0x1B) != 0, lower = (dots & 0xE4) != 0;
    if (upper && lower)
        return left && right ? ':' : '|';
    return upper ? '\'' : lower ? '.' : ' ';
}

void canvas_row(const canvas *paper, int row, int is_ascii, char *text)
{
    for (int i = 0; i < paper->columns; i++) {
        unsigned dots = paper->dots[row * paper->columns + i];
        if (!dots || is_ascii) {
            *text++ = ascii_of(dots);
            continue;
        }
        unsigned code = 0x2800 + dots;
        *text++ = (char)(0xE0 | (code >> 12));
        *text++ = (char)(0x80 | ((code >> 6) & 0x3F));
        *text++ = (char)(0x80 | (code & 0x3F));
    }
    *text = 0;
}
