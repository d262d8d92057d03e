/* Command lines as a batch makes them, and keys: hashes of everything that the outputs of a command depend on. */
#include "cli/batch/command.h"

#include <stdlib.h>
#include <string.h>

#include "cli/input.h"
#include "ulna/ulna.h"

/* ---- words ------------------------------------------------------------------------------------------------------------------ */

void command_add(command_line *line, const char *word)
{
    if (line->count + 1 >= line->room) {
        int room = line->room ? 2 * line->room : 32;
        char **grown = realloc(line->words, (size_t)room * sizeof *grown);
        if (!grown)
            cli_out_of_memory();
        line->words = grown;
        line->room = room;
    }
    line->words[line->count++] = (char *)(size_t)word; /* nobody writes to it */
    line->words[line->count] = NULL;
}

void command_add_pair(command_line *line, const char *option, const char *value)
{
    if (value && *value) {
        command_add(line, option);
        command_add(line, value);
    }
}

int command_add_options(command_line *line, const char *text)
{
    char *from = strdup(text), *to = from;
    if (!from)
        cli_out_of_memory();
    free(line->options);
    line->options = from;
    while (*(from += strspn(from, " \t"))) {
        char *word = to, quote = 0;
        for (; *from && (quote || !strchr(" \t", *from)); from++)
            if (quote ? *from == quote : *from == '"' || *from == '\'')
                quote = quote ? 0 : *from;
            else
                *to++ = *from;
        if (quote)
            return 0;
        from += *from != 0;
        *to++ = 0;
        command_add(line, word);
    }
    return 1;
}

command_line command_begin(const char *command)
{
    command_line line = {0};
    command_add(&line, "ulna");
    command_add(&line, command);
    return line;
}

int command_parse(command_line *line)
{
    line->tool = (cli){.refusal = &line->refusal, .columns = CLI_COLUMNS};
    ulna_error_clear(&line->refusal);
    int code = cli_parse(&line->tool, line->count, line->words);
    line->tool.quiet = 1;
    return code;
}

void command_end(command_line *line)
{
    cli_release(&line->tool);
    free(line->words);
    free(line->options);
}

/* ---- keys ------------------------------------------------------------------------------------------------------------------ */

static uint64_t hash_word(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0x9fb21c651e98df25; /* odd, and half of its bits are set */
    return hash ^ hash >> 29;
}

static uint64_t hash_eight(uint64_t hash, const unsigned char *bytes)
{
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return hash_word(hash, word);
}

/* Eight bytes at a time: multiply and fold, as FNV-1a does with one; four such sums side by side, since each waits for its last product.
 * They are no array, as compilers would keep that in vectors, which have no product of 64 bits. Not for secrets: it tells files apart
 * that changed. */
static uint64_t hash_bytes(uint64_t hash, const void *data, size_t size)
{
    unsigned char end[32] = {0};
    const unsigned char *bytes = data;
    size_t whole = size / sizeof end * sizeof end, at = 0;
    uint64_t a = hash_word(hash, size), b = 1, c = 2, d = 3;
    memcpy(end, bytes + whole, size - whole);
    for (; at < size; at += sizeof end) {
        const unsigned char *words = at < whole ? bytes + at : end;
        a = hash_eight(a, words);
        b = hash_eight(b, words + 8);
        c = hash_eight(c, words + 16);
        d = hash_eight(d, words + 24);
    }
    return hash_word(hash_word(hash_word(a, b), c), d);
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
    return hash_bytes(hash, text, strlen(text));
}

/* The bytes of a file; of what is no file, only its name. */
static uint64_t hash_file(uint64_t hash, const char *path, files_kept *kept)
{
    files_kept own = {0};
    if (!files_kept_bytes(kept, path)) {
        own = files_keep(path);
        kept = &own;
    }
    const ulna_text *text = files_kept_bytes(kept, path);
    hash = text ? hash_bytes(hash, text->data ? text->data : "", text->length) : hash_text(hash, path);
    files_kept_release(&own);
    return hash;
}

void command_file_key(const char *path, char key[20])
{
    snprintf(key, 20, "%016llx", (unsigned long long)hash_file(0, path, NULL));
}

void command_key(const command_line *line, char key[20])
{
    const cli *tool = &line->tool;
    uint64_t hash = hash_text(0, ulna_version());
    for (int i = 0; i < tool->given_count; i++) {
        const char *name = tool->given[i]->name;
        if (strcmp(name, "output") == 0)
            continue;
        hash = hash_text(hash, name);
        if (cli_is_listed(tool->command->reads, name))
            hash = hash_file(hash, tool->values[i], tool->kept);
        else if (strcmp(name, "report") != 0)
            hash = hash_text(hash, tool->values[i]);
    }
    for (int i = 0; i < tool->operand_count; i++)
        hash = hash_file(hash, tool->operands[i], tool->kept);
    snprintf(key, 20, "%016llx", (unsigned long long)hash);
}
