/*
 * The journal of a batch: a line of JSON for each take that ended, added when its outputs are in their place. Each shard writes
 * a file of its own; all of them are read. A line that was cut off by a crash is no JSON, and does not count. Files of a take stay until
 * others replace them: if it fails later, the line of the failure has the line of these files ("earlier").
 *
 * The lock is one of the system (fcntl), on a byte of OUT/journal/lock for each shard: it ends with the process, however that
 * ends. Shards of one number run side by side; shards of different numbers would share takes, and are refused.
 */
#define _GNU_SOURCE /* nftw, F_OFD_SETLKW */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/batch/batch.h"

enum { SHARDS_MOST = 65536 };

/* ---- reading -------------------------------------------------------------------------------------------------------------------- */

/* Of two lines about one take the later one in its file counts. */
static void add_line(json_t *lines, json_t *line)
{
    const char *take = json_string_value(json_object_get(line, "take"));
    if (row_is(line, "failed") && !json_object_get(line, "error"))
        put_text(line, "error", "unknown"); /* by an earlier version */
    if (take)
        json_object_set(lines, take, line);
}

/* Of lines in two files the one with the later time. */
static void add_newer(json_t *lines, json_t *others)
{
    const char *take;
    json_t *line;
    json_object_foreach(others, take, line)
    {
        const json_t *before = json_object_get(lines, take);
        if (!before ||
            json_number_value(json_object_get(line, "time")) >= json_number_value(json_object_get(before, "time")))
            json_object_set(lines, take, line);
    }
}

/* A crash of the machine may leave bytes of zero where a line was to be. */
static ulna_status read_journal(const char *path, json_t *lines, ulna_error *error)
{
    ulna_text text = ulna_text_empty(NULL);
    ulna_status status = ulna_file_read(path, SIZE_MAX / 4, &text, error);
    json_t *own = json_object();
    for (size_t at = 0, length; status == ULNA_OK && at < text.length; at += length + 1) {
        while (at < text.length && !text.data[at])
            at++;
        const char *line = text.data + at, *end = memchr(line, '\n', text.length - at);
        length = end ? (size_t)(end - line) : text.length - at;
        json_t *object = json_loadb(line, length, 0, NULL);
        add_line(own, object);
        json_decref(object);
    }
    add_newer(lines, own);
    json_decref(own);
    ulna_text_release(&text);
    return status;
}

int journal_read(json_t *object, const char *output, json_t **lines)
{
    ulna_error error;
    char *folder = folder_join(output, "journal");
    DIR *open = folder ? opendir(folder) : NULL;
    struct dirent *entry;
    int code = folder ? CLI_DONE : cli_out_of_memory();
    *lines = json_object();
    if (!code && !open && errno != ENOENT) {
        cli_fail(&error, cli_io_status(errno), "cannot read the folder: %s", strerror(errno));
        code = files_fail(object, folder, &error);
    }
    while (open && !code && (entry = readdir(open)) != NULL) {
        size_t length = strlen(entry->d_name);
        char *path = folder_join(folder, entry->d_name);
        ulna_error_clear(&error);
        if (path && length > 6 && strcmp(entry->d_name + length - 6, ".jsonl") == 0 &&
            read_journal(path, *lines, &error) != ULNA_OK)
            code = files_fail(object, path, &error);
        free(path);
    }
    if (open)
        (void)closedir(open);
    free(folder);
    return code;
}

json_t *journal_line(const json_t *lines, const batch_take *take)
{
    json_t *name = cli_json_text(take->name), *line = json_object_get(lines, json_string_value(name));
    json_decref(name);
    return take->is_namesake ? NULL : line;
}

json_t *journal_finished(json_t *line)
{
    return row_is(line, "done") ? line : json_object_get(line, "earlier");
}

/* ---- the lock --------------------------------------------------------------------------------------------------------------------- */

static int is_locked(int file, off_t from, off_t length, long *process)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = from, .l_len = length};
    if (fcntl(file, F_GETLK, &lock) != 0 || lock.l_type == F_UNLCK)
        return 0;
    *process = (long)lock.l_pid;
    return 1;
}

/* The shard's own byte first: of two that come at once, at least one sees the other. */
static int take_lock(json_t *object, int file, const char *output, batch_shard shard)
{
    off_t row = (off_t)shard.count * SHARDS_MOST;
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = row + shard.number, .l_len = 1};
    long process = 0;
    ulna_error error;
    if (fcntl(file, F_SETLK, &lock) != 0) {
        if (errno != EACCES && errno != EAGAIN)
            cli_fail(&error, cli_io_status(errno), "this file system has no locks (%s): use another output folder",
                     strerror(errno));
        else {
            (void)is_locked(file, row + shard.number, 1, &process);
            cli_fail(&error, ULNA_ERR_IO, "another batch (process %ld) writes to this folder: wait for it, or end it",
                     process);
        }
    } else if (is_locked(file, 0, row, &process) || is_locked(file, row + SHARDS_MOST, 0, &process))
        cli_fail(&error, ULNA_ERR_IO,
                 "another batch (process %ld) writes to this folder with another number of shards than %d: wait for "
                 "it, or end it",
                 process, shard.count);
    else
        return CLI_DONE;
    return files_fail(object, output, &error);
}

/* Of the open file where the system has such locks: those of the process would keep threads from nothing, and end with the first close. */
int journal_wait_for(const char *output, const char *name, off_t number)
{
#ifdef F_OFD_SETLKW
    const int command = F_OFD_SETLKW;
#else
    const int command = F_SETLKW;
#endif
    char *folder = folder_join(output, "journal"), *path = folder ? folder_join(folder, name) : NULL;
    int file = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666) : -1;
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = number, .l_len = 1};
    while (file >= 0 && fcntl(file, command, &lock) != 0 && errno == EINTR && !pool_signal)
        ;
    free(folder);
    free(path);
    return file;
}

/* ---- files -------------------------------------------------------------------------------------------------------------------------- */

static int remove_one(const char *path, const struct stat *about, int type, struct FTW *place)
{
    (void)about;
    (void)type;
    (void)place;
    (void)remove(path);
    return 0;
}

void journal_remove_tree(const char *folder)
{
    (void)nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static int open_file(json_t *object, const char *path, int flags)
{
    ulna_error error;
    int file = open(path, flags | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0) {
        cli_fail(&error, cli_io_status(errno), "cannot write the file: %s", strerror(errno));
        (void)files_fail(object, path, &error);
    }
    return file;
}

/* A line that a crash cut off is ended, so that the next one is a line of its own. */
static int end_last_line(json_t *object, const char *path, int file)
{
    ulna_error error;
    char last = '\n';
    off_t end = lseek(file, 0, SEEK_END);
    if (end <= 0 || pread(file, &last, 1, end - 1) != 1 || last == '\n' || write(file, "\n", 1) == 1)
        return CLI_DONE;
    cli_fail(&error, cli_io_status(errno), "cannot write the file: %s", strerror(errno));
    return files_fail(object, path, &error);
}

int journal_open(json_t *object, const char *output, batch_shard shard, batch_journal *journal)
{
    char name[64];
    char *folder = folder_join(output, "journal"), *lock = folder ? folder_join(folder, "lock") : NULL;
    snprintf(name, sizeof name, "%d-of-%d.jsonl", shard.number, shard.count);
    journal->path = folder ? folder_join(folder, name) : NULL;
    snprintf(name, sizeof name, "%d-of-%d.work", shard.number, shard.count);
    journal->work_folder = folder ? folder_join(folder, name) : NULL;
    int code = lock && journal->path && journal->work_folder ? folder_make(object, folder) : cli_out_of_memory();
    if (!code) {
        journal->lock = open_file(object, lock, O_RDWR);
        code = journal->lock < 0 ? CLI_IO : take_lock(object, journal->lock, output, shard);
    }
    if (!code) {
        journal->file = open_file(object, journal->path, O_RDWR | O_APPEND);
        code = journal->file < 0 ? CLI_IO : CLI_DONE;
    }
    if (!code)
        code = end_last_line(object, journal->path, journal->file);
    if (!code)
        code = journal_read(object, output, &journal->lines);
    if (!code) {
        journal_remove_tree(journal->work_folder); /* of a batch that was killed */
        code = folder_make(object, journal->work_folder);
    }
    free(folder);
    free(lock);
    return code;
}

/* In one piece, so that a crash loses the line or keeps it. */
ulna_status journal_add(batch_journal *journal, json_t *line, ulna_error *error)
{
    char *text = json_dumps(line, JSON_COMPACT | JSON_REAL_PRECISION(17)); /* of times, every digit counts */
    size_t length = text ? strlen(text) : 0;
    char *whole = text ? realloc(text, length + 2) : NULL;
    ssize_t written = -1;
    if (!whole) {
        free(text);
        return cli_no_memory(error);
    }
    memcpy(whole + length, "\n", 2);
    errno = 0;
    do
        written = write(journal->file, whole, length + 1);
    while (written < 0 && errno == EINTR);
    free(whole);
    if (written == (ssize_t)length + 1) {
        add_line(journal->lines, line);
        return ULNA_OK;
    }
    return cli_fail(error, ULNA_ERR_IO, "cannot write the journal: %s", strerror(errno ? errno : ENOSPC));
}

ulna_status journal_sync(batch_journal *journal, ulna_error *error)
{
    if (fdatasync(journal->file) == 0)
        return ULNA_OK;
    return cli_fail(error, cli_io_status(errno), "cannot write the journal: %s", strerror(errno));
}

void journal_close(batch_journal *journal)
{
    if (journal->work_folder && journal->file >= 0)
        journal_remove_tree(journal->work_folder);
    if (journal->file >= 0)
        (void)close(journal->file);
    if (journal->lock >= 0)
        (void)close(journal->lock); /* and the lock with it */
    json_decref(journal->lines);
    free(journal->path);
    free(journal->work_folder);
    *journal = (batch_journal){.file = -1, .lock = -1};
}
