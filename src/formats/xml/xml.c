/* XML by expat: see xml.h for what is refused. */
#include "formats/xml/xml.h"

#include <expat.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"

typedef struct reading {
    XML_Parser parser;
    const ulna_xml_handler *handler;
    ulna_error *error;
    ulna_status status;
    int depth;          /* open elements */
    int lines, skipped; /* and bytes before the text that expat sees */
} reading;

ulna_status ulna_xml_fail(ulna_error *error, int line, ulna_status status, const char *format, ...)
{
    char message[sizeof error->message];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    ulna_fail(error, status, "%s", message);
    if (error)
        error->line = line;
    return status;
}

static int line_of(const reading *r)
{
    XML_Size line = XML_GetCurrentLineNumber(r->parser);
    return line < (XML_Size)(INT_MAX - r->lines) ? (int)line + r->lines : INT_MAX;
}

static void stop(reading *r, ulna_status status)
{
    r->status = status;
    XML_StopParser(r->parser, XML_FALSE);
}

static ulna_status check_attributes(reading *r, const char *name, const char *const *attributes)
{
    int count = 0;
    for (; attributes[2 * count]; count++)
        if (strlen(attributes[2 * count + 1]) > ULNA_XML_VALUE)
            return ulna_xml_fail(r->error, line_of(r), ULNA_ERR_LIMIT,
                                 "<%.40s>: the value of \"%.40s\" is longer than %d bytes", name, attributes[2 * count],
                                 ULNA_XML_VALUE);
    if (count > ULNA_XML_ATTRIBUTES)
        return ulna_xml_fail(r->error, line_of(r), ULNA_ERR_LIMIT, "<%.40s> has %d attributes, more than %d", name,
                             count, ULNA_XML_ATTRIBUTES);
    return ULNA_OK;
}

static void XMLCALL start(void *context, const XML_Char *name, const XML_Char **attributes)
{
    reading *r = context;
    const char *const *list = (const char *const *)attributes;
    if (r->status != ULNA_OK)
        return;
    ulna_status status = check_attributes(r, name, list);
    if (status == ULNA_OK && r->depth >= ULNA_XML_DEPTH)
        status = ulna_xml_fail(r->error, line_of(r), ULNA_ERR_LIMIT, "more than %d elements are inside each other",
                               ULNA_XML_DEPTH);
    if (status == ULNA_OK) {
        ulna_xml_element element = {name, list, r->depth++, line_of(r)};
        status = r->handler->start(r->handler->context, &element);
    }
    if (status != ULNA_OK)
        stop(r, status);
}

static void XMLCALL end(void *context, const XML_Char *name)
{
    reading *r = context;
    if (r->status != ULNA_OK)
        return;
    ulna_status status = r->handler->end(r->handler->context, name, --r->depth, line_of(r));
    if (status != ULNA_OK)
        stop(r, status);
}

static void XMLCALL start_document_type(void *context, const XML_Char *name, const XML_Char *system,
                                        const XML_Char *public_name, int has_subset)
{
    reading *r = context;
    (void)name, (void)system, (void)public_name, (void)has_subset;
    if (r->status == ULNA_OK)
        stop(r, ulna_xml_fail(r->error, line_of(r), ULNA_ERR_UNSUPPORTED,
                              "document types (<!DOCTYPE ...>) are not read, as they can define entities: remove it"));
}

/* What expat itself refuses: syntax, encodings, references to entities that nobody has defined. */
static ulna_status syntax_error(reading *r)
{
    enum XML_Error code = XML_GetErrorCode(r->parser);
    if (code == XML_ERROR_NO_MEMORY)
        return ulna_fail(r->error, ULNA_ERR_MEMORY, "no memory left to read XML");
    ulna_xml_fail(r->error, line_of(r), ULNA_ERR_PARSE, "this is not valid XML: %s", XML_ErrorString(code));
    if (r->error) {
        XML_Size column = XML_GetCurrentColumnNumber(r->parser);
        r->error->column = column < INT_MAX ? (int)column + 1 : INT_MAX;
        r->error->byte = XML_GetCurrentByteIndex(r->parser) + r->skipped;
    }
    return ULNA_ERR_PARSE;
}

ulna_status ulna_xml_read(const char *data, size_t length, const ulna_xml_handler *handler, ulna_error *error)
{
    reading r = {.handler = handler, .error = error};
    if (length > INT_MAX)
        return ulna_fail(error, ULNA_ERR_LIMIT, "the file is larger than 2 GB");
    r.parser = XML_ParserCreate(NULL);
    if (!r.parser)
        return ulna_fail(error, ULNA_ERR_MEMORY, "no memory left to read XML");
    XML_SetUserData(r.parser, &r);
    XML_SetElementHandler(r.parser, start, end);
    XML_SetStartDoctypeDeclHandler(r.parser, start_document_type);
    XML_SetParamEntityParsing(r.parser, XML_PARAM_ENTITY_PARSING_NEVER);

    /* Blank lines before <?xml, which expat refuses and most other readers do not. */
    while ((size_t)r.skipped < length && data[r.skipped] && strchr(" \t\r\n", data[r.skipped]))
        r.lines += data[r.skipped++] == '\n';

    /* all at once: a token in several pieces would be read again with each of them */
    enum XML_Status parsed = XML_Parse(r.parser, data + r.skipped, (int)length - r.skipped, XML_TRUE);
    if (r.status == ULNA_OK && parsed != XML_STATUS_OK)
        r.status = syntax_error(&r);
    XML_ParserFree(r.parser);
    return r.status;
}

const char *ulna_xml_attribute(const ulna_xml_element *element, const char *name)
{
    for (const char *const *at = element->attributes; *at; at += 2)
        if (strcmp(at[0], name) == 0)
            return at[1];
    return NULL;
}
