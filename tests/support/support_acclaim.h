/* support_acclaim.h: small ASF and AMC texts, read with what was remarked upon. */
#ifndef ULNA_TESTS_SUPPORT_ACCLAIM_H
#define ULNA_TESTS_SUPPORT_ACCLAIM_H

#include <string.h>

#include "support_model.h"
#include "ulna/formats.h"

#define DEGREE (3.14159265358979323846 / 180)
#define UNIT (0.0254 / 0.45)

/* A skeleton of one bone, in metres; the bone's own lines go between. */
#define HEAD ":version 1.10\n:name test\n:units\n  mass 1.0\n  length 0.0254\n  angle deg\n"
#define ROOT ":root\n  order TX TY TZ RX RY RZ\n  axis XYZ\n  position 0 0 0\n  orientation 0 0 0\n"
#define ARM(lines) ":bonedata\n  begin\n    id 1\n    name arm\n    direction 0 3 4\n    length 2\n" lines "  end\n"
#define TREE ":hierarchy\n  begin\n    root arm\n  end\n"
#define ARM_FILE(lines)                                                                                                \
    HEAD ROOT ARM(lines)                                                                                               \
    TREE

static inline ulna_content read_text(const char *text, ulna_format format, const ulna_read_options *options)
{
    ulna_content content = ulna_content_empty(NULL);
    ulna_error error = {.message = "untouched"};
    if (ulna_content_read(text, strlen(text), format, options, &content, &error) != ULNA_OK)
        fail_msg("line %d: %s", error.line, error.message);
    assert_string_equal(error.message, "untouched");
    assert_int_equal(content.format, format);
    return content;
}

static inline ulna_content read_motion(const char *text, const ulna_content *skeleton)
{
    ulna_read_options options = ulna_read_options_for(skeleton);
    return read_text(text, ULNA_FORMAT_AMC, &options);
}

static inline int has_remark(const ulna_content *content, int line, const char *part)
{
    for (size_t i = 0; i < content->remarks.count; i++)
        if (content->remarks.items[i].line == line && strstr(content->remarks.items[i].message, part))
            return 1;
    return 0;
}

static inline void assert_remark(const ulna_content *content, int line, const char *part)
{
    if (!has_remark(content, line, part)) {
        for (size_t i = 0; i < content->remarks.count; i++)
            print_message("line %d: %s\n", content->remarks.items[i].line, content->remarks.items[i].message);
        fail_msg("there is no remark \"%s\" on line %d", part, line);
    }
}

#endif
