/* support_base64.h: bytes as glTF has them in JSON. */
#ifndef ULNA_TESTS_SUPPORT_BASE64_H
#define ULNA_TESTS_SUPPORT_BASE64_H

#include <stdlib.h>
#include <string.h>

#include "support.h"

/* free() it. */
static inline char *base64(const void *data, size_t length)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *b = data;
    char *text = malloc(length / 3 * 4 + 8), *to = text;
    assert_non_null(text);
    for (size_t i = 0; i < length; i += 3) {
        unsigned char three[3] = {0, 0, 0};
        memcpy(three, b + i, length - i < 3 ? length - i : 3);
        unsigned bits = (unsigned)three[0] << 16 | (unsigned)three[1] << 8 | (unsigned)three[2];
        for (int k = 0; k < 4; k++)
            *to++ = i + (size_t)k > length ? '=' : digits[bits >> (18 - 6 * k) & 63];
    }
    *to = 0;
    return text;
}

#endif
