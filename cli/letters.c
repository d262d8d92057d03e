/*
 * Letters for pictures made of pixels: a plain stroke alphabet. A stroke is a list of points, each a digit for x (':'
 * is 10) and a letter for y: 'd' is the baseline, 'k' the height of small letters, 'n' that of capitals, 'a' as deep
 * as they go. After '~' the points are those of a quadratic B-spline, closed if the last point is the first.
 */
#include "cli/raster.h"

#include <string.h>

enum { CONTROLS = 16 /* most points of a stroke in the table */, PIECES = 5 /* lines along a piece of a curve */ };

#define GAP 2.6 /* between letters */

typedef struct letter {
    int width;
    const char *strokes;
} letter;

static const letter ascii[] = {
    {1, ""},                                 /* space */
    {0, "0n0h 0d"},                          /* ! */
    {2, "0n0l 2n2l"},                        /* " */
    {7, "1d3n 4d6n 0g6g 1k7k"},              /* # */
    {6, "~6l5n0n0i6i6d1d0f 3p3b"},           /* $ */
    {8, "1d7n ~0j3j3n0n0j ~5d8d8h5h5d"},     /* % */
    {7, "~7d1k1n5n5k0g0d5d7h"},              /* & */
    {0, "0n0l"},                             /* ' */
    {2, "~2o0l0e2b"},                        /* ( */
    {2, "~0o2l2e0b"},                        /* ) */
    {4, "2m2i 0l4j 4l0j"},                   /* * */
    {6, "0h6h 3e3k"},                        /* + */
    {1, "1d0b"},                             /* , */
    {4, "0h4h"},                             /* - */
    {0, "0d"},                               /* . */
    {5, "0b5o"},                             /* / */
    {6, "~0d6d6n0n0d"},                      /* 0 */
    {6, "1l3n3d"},                           /* 1 */
    {6, "~0l0n6n6i2f0d 0d6d"},               /* 2 */
    {6, "~0l0n6n6i2i ~2i6i6d0d0f"},          /* 3 */
    {6, "4d4n0g6g"},                         /* 4 */
    {6, "5n1n0i ~0i2j6j6d0d0f"},             /* 5 */
    {6, "~0d6d6j0j0d ~5n0n0j0g"},            /* 6 */
    {6, "0n6n2d"},                           /* 7 */
    {6, "~1i5i5n1n1i ~0d6d6i0i0d"},          /* 8 */
    {6, "~0h6h6n0n0h ~6k6h6d1d"},            /* 9 */
    {0, "0d 0j"},                            /* : */
    {1, "1d0b 1j"},                          /* ; */
    {6, "6k0h6e"},                           /* < */
    {6, "0f6f 0j6j"},                        /* = */
    {6, "0k6h0e"},                           /* > */
    {5, "~0l0n5n5j2i2g 2d"},                 /* ? */
    {8, "~6h6j3j3f6f6h ~6h6f8f8n0n0c6c"},    /* @ */
    {8, "0d4n8d 1g7g"},                      /* A */
    {6, "0d0n ~0n3n6n6i3i0i ~0i3i6i6d3d0d"}, /* B */
    {7, "~7l6n0n0d6d7f"},                    /* C */
    {7, "0d0n ~0n2n7n7d2d0d"},               /* D */
    {6, "6d0d0n6n 0i5i"},                    /* E */
    {6, "0d0n6n 0i5i"},                      /* F */
    {7, "~7l6n0n0d7d7h 7h4h"},               /* G */
    {7, "0d0n 7d7n 0i7i"},                   /* H */
    {0, "0d0n"},                             /* I */
    {5, "~5n5g5d0d0g"},                      /* J */
    {6, "0d0n 6n0g 2i6d"},                   /* K */
    {5, "0n0d5d"},                           /* L */
    {8, "0d0n4f8n8d"},                       /* M */
    {7, "0d0n7d7n"},                         /* N */
    {8, "~0d8d8n0n0d"},                      /* O */
    {6, "0d0n ~0n3n6n6h3h0h"},               /* P */
    {8, "~0d8d8n0n0d 5f8c"},                 /* Q */
    {6, "0d0n ~0n3n6n6h3h0h 3h6d"},          /* R */
    {6, "~6l5n0n0i6i6d1d0f"},                /* S */
    {8, "4d4n 0n8n"},                        /* T */
    {7, "~0n0h0d7d7h7n"},                    /* U */
    {8, "0n4d8n"},                           /* V */
    {10, "0n2d5n8d:n"},                      /* W */
    {7, "0d7n 0n7d"},                        /* X */
    {8, "0n4h8n 4h4d"},                      /* Y */
    {7, "0n7n0d7d"},                         /* Z */
    {2, "2o0o0b2b"},                         /* [ */
    {5, "0o5b"},                             /* \ */
    {2, "0o2o2b0b"},                         /* ] */
    {6, "0k3n6k"},                           /* ^ */
    {6, "0b6b"},                             /* _ */
    {2, "0n2l"},                             /* ` */
    {5, "5k5d ~5d0d0k5k5d"},                 /* a */
    {5, "0n0d ~0d5d5k0k0d"},                 /* b */
    {5, "~5j4k0k0d4d5e"},                    /* c */
    {5, "5n5d ~5d0d0k5k5d"},                 /* d */
    {5, "0h5h ~5h5k0k0d4d5e"},               /* e */
    {3, "~3n1n1k1d 0k3k"},                   /* f */
    {5, "~5d0d0k5k5d ~5k5d5a1a0b"},          /* g */
    {5, "0n0d ~0h0k5k5h5d"},                 /* h */
    {0, "0k0d 0n"},                          /* i */
    {2, "~2k2d2a0a 2n"},                     /* j */
    {5, "0n0d 5k0f 2h5d"},                   /* k */
    {1, "~0n0f0d1d"},                        /* l */
    {8, "0k0d ~0h0k4k4h4d ~4h4k8k8h8d"},     /* m */
    {5, "0k0d ~0h0k5k5h5d"},                 /* n */
    {6, "~0d6d6k0k0d"},                      /* o */
    {5, "0k0a ~0d5d5k0k0d"},                 /* p */
    {5, "5k5a ~5d0d0k5k5d"},                 /* q */
    {3, "0k0d ~0h0k3k"},                     /* r */
    {5, "~5j4k0k0h5g5d1d0e"},                /* s */
    {3, "~1m1g1d3d 0k3k"},                   /* t */
    {5, "~0k0g0d5d5g 5k5d"},                 /* u */
    {6, "0k3d6k"},                           /* v */
    {8, "0k2d4k6d8k"},                       /* w */
    {5, "0k5d 0d5k"},                        /* x */
    {6, "0k3d 6k2a"},                        /* y */
    {5, "0k5k0d5d"},                         /* z */
    {3, "~3o1o1i0i ~0i1i1b3b"},              /* { */
    {0, "0o0b"},                             /* | */
    {3, "~0o2o2i3i ~3i2i2b0b"},              /* } */
    {6, "~0g1k5e6i"},                        /* ~ */
};

static const struct {
    unsigned code;
    letter shape;
} others[] = {
    {0xB0, {3, "~0k3k3n0n0k"}},        /* degree */
    {0xB1, {6, "0h6h 3e3k 0d6d"}},     /* plus-minus */
    {0xB2, {3, "~0n0o3o3m1l0k 0k3k"}}, /* squared */
    {0xB7, {0, "0h"}},                 /* dot */
    {0xD7, {5, "0e5j 0j5e"}},          /* times */
    {0x2013, {6, "0h6h"}},             /* en dash */
    {0x2026, {6, "0d 3d 6d"}},         /* ellipsis */
    {0x2212, {5, "0h5h"}},             /* minus */
};

static const letter *find(unsigned code)
{
    static const letter unknown = {6, "0d6d6n0n0d"}; /* a box, as everywhere */
    if (code >= ' ' && code - ' ' < sizeof ascii / sizeof *ascii)
        return &ascii[code - ' '];
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (others[i].code == code)
            return &others[i].shape;
    return &unknown;
}

double letter_advance(unsigned code)
{
    return find(code)->width + GAP;
}

static picture_point middle(picture_point a, picture_point b)
{
    return (picture_point){(a.x + b.x) / 2, (a.y + b.y) / 2};
}

/* Appends the parabola from `a` to `c` that heads for `b` first, without its first point. */
static int bend(picture_point a, picture_point b, picture_point c, picture_point *points, int count)
{
    for (int i = 1; i <= PIECES; i++, count++) {
        double t = (double)i / PIECES, s = 1 - t;
        points[count].x = s * s * a.x + 2 * s * t * b.x + t * t * c.x;
        points[count].y = s * s * a.y + 2 * s * t * b.y + t * t * c.y;
    }
    return count;
}

/* The curve runs from the middle of each side of the control polygon to that of the next. */
static int curve(const picture_point *controls, int count, picture_point *points)
{
    int last = count - 1, made = 1;
    int is_closed = controls[0].x == controls[last].x && controls[0].y == controls[last].y;
    points[0] = is_closed ? middle(controls[0], controls[1]) : controls[0];
    for (int i = 1; i < last + is_closed; i++) {
        picture_point next = controls[i < last ? i + 1 : 1];
        picture_point to = i + 1 < last || is_closed ? middle(controls[i], next) : next;
        made = bend(points[made - 1], controls[i], to, points, made);
    }
    return made;
}

int letter_stroke(unsigned code, int stroke, picture_point *points)
{
    const char *at = find(code)->strokes;
    picture_point controls[CONTROLS] = {{0}};
    int count = 0;
    for (; stroke > 0 && *at; stroke--) {
        at += strcspn(at, " ");
        at += strspn(at, " ");
    }
    int is_curved = *at == '~';
    for (at += is_curved; *at && *at != ' '; at += 2, count++) {
        controls[count].x = at[0] - '0';
        controls[count].y = at[1] - 'd';
    }
    if (is_curved)
        return curve(controls, count, points);
    memcpy(points, controls, (size_t)count * sizeof *points);
    return count;
}
