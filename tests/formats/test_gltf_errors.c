/* glTF: what is refused, where, and what hostile files may cost. */
#include "support_base64.h"
#include "support_content.h"

/* ---- what is refused -------------------------------------------------------------------------------------------- */

/* In double quotes; the caller frees. */
static char *quoted(const char *text)
{
    size_t length = strlen(text);
    char *copy = malloc(length + 1);
    assert_non_null(copy);
    for (size_t i = 0; i <= length; i++)
        copy[i] = (char)(text[i] == '\'' ? '"' : text[i]);
    return copy;
}

static void assert_fails(const char *text, ulna_status status, const char *words)
{
    char *copy = quoted(text);
    assert_refused(copy, strlen(copy), ULNA_FORMAT_GLTF, NULL, status, 0, 0, words);
    free(copy);
}

#define HEAD "{'asset':{'version':'2.0'},"
#define NODES "'nodes':[{'name':'a','children':[1]},{'name':'b'}],"
/* One track of node 1. 24 bytes: times 0 and 1, then four floats 0 0 0 1. */
#define BUFFER "'buffers':[{'byteLength':24,'uri':'data:;base64,AAAAAAAAgD8AAAAAAAAAAAAAAAAAAIA/'}],"
#define CHANNEL "'animations':[{'channels':[{'sampler':0,'target':{'node':1,'path':'rotation'}}],"
#define SAMPLER "'samplers':[{'input':0,'output':1}]}],"
#define TIMES "{'bufferView':0,'componentType':5126,'count':1,'type':'SCALAR'}"
#define TURNS "{'bufferView':0,'byteOffset':8,'componentType':5126,'count':1,'type':'VEC4'}"
#define VIEW "'bufferViews':[{'buffer':0,'byteLength':24}]}"
#define ACCESSORS "'accessors':[" TIMES "," TURNS "],"

static void refused_files(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        ulna_status status;
        const char *words;
    } cases[] = {
        {"{'nodes':[{}]}", ULNA_ERR_PARSE, "\"asset\" is missing"},
        {"{'asset':{'version':'1.0'},'nodes':[{}]}", ULNA_ERR_UNSUPPORTED, "glTF version 1.0"},
        {"{'asset':{'version':2}}", ULNA_ERR_PARSE, "asset: version: should be a text"},
        {"{'asset':[]}", ULNA_ERR_PARSE, "asset: should be an object"},
        {"[]", ULNA_ERR_PARSE, "should be an object"},
        {"{", ULNA_ERR_PARSE, "too early"},
        {HEAD "'nodes':{}}", ULNA_ERR_PARSE, "nodes: should be a list"},
        {HEAD "'nodes':[7]}", ULNA_ERR_PARSE, "nodes[0]: should be an object"},
        {HEAD "'nodes':[]}", ULNA_ERR_MODEL, "no skeleton"},
        {HEAD "'nodes':[{'mesh':0}]}", ULNA_ERR_MODEL, "no skeleton"},
        {HEAD "'nodes':[{'name':7}]}", ULNA_ERR_PARSE, "nodes[0]: name: should be a text"},
        {HEAD "'nodes':[{'children':[0]}]}", ULNA_ERR_MODEL, "nodes[0]: the node is its own ancestor"},
        {HEAD "'nodes':[{},{'children':[2]},{'children':[1]}]}", ULNA_ERR_MODEL,
         "nodes[1]: the node is its own ancestor"},
        {HEAD "'nodes':[{'children':[1]},{},{'children':[1]}]}", ULNA_ERR_MODEL, "node 1 has two parents, 0 and 2"},
        {HEAD "'nodes':[{'children':[1,1]},{}]}", ULNA_ERR_MODEL, "two parents"},
        {HEAD "'nodes':[{'children':[3]}]}", ULNA_ERR_PARSE, "nodes[0]: children[0]: index 3 is out of range"},
        {HEAD "'nodes':[{'children':[0.5]}]}", ULNA_ERR_PARSE, "index 0.5 is out of range"},
        {HEAD "'nodes':[{'children':[-1]}]}", ULNA_ERR_PARSE, "index -1 is out of range"},
        {HEAD "'nodes':[{'children':7}]}", ULNA_ERR_PARSE, "should be a list of indices of nodes"},
        {HEAD "'nodes':[{'translation':[1,2]}]}", ULNA_ERR_PARSE, "should have 3 numbers, not 2"},
        {HEAD "'nodes':[{'translation':[1,2,1e200]}]}", ULNA_ERR_NUMBER, "too large"},
        {HEAD "'nodes':[{'scale':[1,2,1e999]}]}", ULNA_ERR_NUMBER, "too large"},
        {HEAD "'nodes':[{'rotation':[0,0,0,0]}]}", ULNA_ERR_MODEL, "rotation: the quaternion is zero"},
        {HEAD "'nodes':[{'matrix':[1,0,0,0, 0,1,0,0, 0,0,1,0, 0,0,0,2]}]}", ULNA_ERR_MODEL, "last row"},
        {HEAD "'nodes':[{'matrix':[0,0,0,0, 0,1,0,0, 0,0,1,0, 0,0,0,1]}]}", ULNA_ERR_MODEL, "singular"},
        {HEAD "'nodes':[{'matrix':[1,0,0,0, 1,1,0,0, 0,0,1,0, 0,0,0,1]}]}", ULNA_ERR_MODEL, "shears too much"},
        {HEAD "'nodes':[{'matrix':[1,0,0,0, 1,0,0,0, 0,0,1,0, 0,0,0,1]}]}", ULNA_ERR_MODEL, "shears too much"},
        {HEAD NODES "'skins':[{'joints':[2]}]}", ULNA_ERR_PARSE, "skins[0]: joints[0]: index 2 is out of range"},
        {HEAD NODES "'skins':[3]}", ULNA_ERR_PARSE, "skins[0]: should be an object"},
        {HEAD NODES BUFFER CHANNEL SAMPLER "'accessors':[" TIMES "]," VIEW, ULNA_ERR_PARSE,
         "samplers[0]: output: index 1 is out of range"},
        {HEAD NODES BUFFER CHANNEL SAMPLER "'accessors':[" TIMES "," TIMES "]," VIEW, ULNA_ERR_PARSE,
         "accessors[1]: type: should be VEC4"},
        {HEAD NODES BUFFER CHANNEL "'samplers':[{'input':0,'output':1,'interpolation':'NONE'}]}]," ACCESSORS VIEW,
         ULNA_ERR_PARSE, "\"NONE\" is not a known interpolation"},
        {HEAD NODES BUFFER CHANNEL
         "'samplers':[{'input':0,'output':1,'interpolation':'CUBICSPLINE'}]}]," ACCESSORS VIEW,
         ULNA_ERR_PARSE, "1 values for 1 times"},
        {HEAD NODES BUFFER CHANNEL "'samplers':[]}]," ACCESSORS VIEW, ULNA_ERR_PARSE,
         "sampler: index 0 is out of range"},
        {HEAD NODES BUFFER CHANNEL SAMPLER "'accessors':[" TIMES ",{'bufferView':0,'byteOffset':9,'componentType':5126,"
                                           "'count':1,'type':'VEC4'}]," VIEW,
         ULNA_ERR_PARSE, "accessors[1]: 1 elements do not fit into its view of 24"},
        {HEAD NODES BUFFER CHANNEL SAMPLER "'accessors':[" TIMES ",{'bufferView':0,'byteOffset':8,'componentType':5126,"
                                           "'count':9007199254740992,'type':'VEC4'}]," VIEW,
         ULNA_ERR_PARSE, "do not fit"},
        {HEAD NODES BUFFER CHANNEL SAMPLER "'accessors':[{'bufferView':0,'componentType':5126,'count':0,"
                                           "'type':'SCALAR'}," TURNS "]," VIEW,
         ULNA_ERR_PARSE, "holds nothing"},
        {HEAD NODES BUFFER CHANNEL SAMPLER "'accessors':[{'bufferView':0,'componentType':5127,'count':1,"
                                           "'type':'SCALAR'}," TURNS "]," VIEW,
         ULNA_ERR_PARSE, "5127 is not a component type"},
        {HEAD NODES BUFFER CHANNEL SAMPLER "'accessors':[{'bufferView':0,'componentType':5126,'count':1,'sparse':{},"
                                           "'type':'SCALAR'}," TURNS "]," VIEW,
         ULNA_ERR_UNSUPPORTED, "sparse"},
        {HEAD NODES BUFFER CHANNEL SAMPLER "'accessors':[{'bufferView':0,'componentType':5126,'count':2,"
                                           "'type':'SCALAR'}," TURNS "]," VIEW,
         ULNA_ERR_PARSE, "1 values for 2 times"},
        {HEAD NODES BUFFER CHANNEL SAMPLER ACCESSORS "'bufferViews':[{'buffer':0,'byteOffset':1,'byteLength':24}]}",
         ULNA_ERR_PARSE, "bufferViews[0]: bytes 1 to 25 are not all inside a buffer of 24"},
        {HEAD NODES BUFFER CHANNEL SAMPLER ACCESSORS "'bufferViews':[{'buffer':0,'byteLength':24,'byteStride':3}]}",
         ULNA_ERR_PARSE, "do not fit"},
        {HEAD NODES BUFFER CHANNEL SAMPLER ACCESSORS
         "'bufferViews':[{'buffer':0,'byteLength':24,'extensions':{'EXT_meshopt_compression':{}}}]}",
         ULNA_ERR_UNSUPPORTED, "compressed"},
        {HEAD NODES "'buffers':[{'byteLength':24,'uri':'other.bin'}]," CHANNEL SAMPLER ACCESSORS VIEW,
         ULNA_ERR_UNSUPPORTED, "in another file, \"other.bin\""},
        {HEAD NODES "'buffers':[{'byteLength':24}]," CHANNEL SAMPLER ACCESSORS VIEW, ULNA_ERR_PARSE, "has no data"},
        {HEAD NODES "'buffers':[{'byteLength':24,'uri':'data:;base64,AAAA'}]," CHANNEL SAMPLER ACCESSORS VIEW,
         ULNA_ERR_PARSE, "should have 24 bytes, but has 3"},
        {HEAD NODES "'buffers':[{'byteLength':3,'uri':'data:;base64,AA A'}]," CHANNEL SAMPLER ACCESSORS VIEW,
         ULNA_ERR_PARSE, "not base64"},
        {HEAD NODES "'buffers':[{'byteLength':-3,'uri':'data:;base64,AAAA'}]," CHANNEL SAMPLER ACCESSORS VIEW,
         ULNA_ERR_PARSE, "whole number"},
        {HEAD NODES BUFFER "'animations':[{'channels':[{'sampler':0,'target':{'node':1,'path':'rotation'}},"
                           "{'sampler':0,'target':{'node':1,'path':'rotation'}}]," SAMPLER ACCESSORS VIEW,
         ULNA_ERR_PARSE, "has two channels"},
        {HEAD NODES BUFFER "'animations':[{'channels':[{'sampler':0}]," SAMPLER ACCESSORS VIEW, ULNA_ERR_PARSE,
         "\"target\" is missing"},
        /* the turn is four zeros, and a time is not a number */
        {HEAD NODES
         "'buffers':[{'byteLength':24,'uri':'data:;base64,AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'}]," CHANNEL SAMPLER
             ACCESSORS VIEW,
         ULNA_ERR_NUMBER, "accessor 1: its value for frame 0 is not a rotation"},
        {HEAD NODES
         "'buffers':[{'byteLength':24,'uri':'data:;base64,AADAfwAAAAAAAAAAAAAAAAAAAAAAAIA/'}]," CHANNEL SAMPLER
             ACCESSORS VIEW,
         ULNA_ERR_NUMBER, "input: time 0 is not a number"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_fails(cases[i].text, cases[i].status, cases[i].words);
    /* all is well without the mistake */
    char *text = quoted(HEAD NODES BUFFER CHANNEL SAMPLER ACCESSORS VIEW);
    ulna_content c = content_of_text(text, ULNA_FORMAT_UNKNOWN, NULL);
    assert_int_equal(c.clip.frame_count, 1);
    ulna_content_release(&c);
    free(text);
    /* the place of a mistake */
    text = quoted(HEAD "\n'nodes':[{},\n  {'translation':[1,2]}]}");
    assert_refused(text, strlen(text), ULNA_FORMAT_GLTF, NULL, ULNA_ERR_PARSE, 3, 4, "should have 3");
    free(text);
}

/* A skeleton is read without the file of its mesh. */
static void other_files_are_not_needed(void **state)
{
    (void)state;
    char *text = quoted(HEAD NODES "'buffers':[{'byteLength':24,'uri':'other.bin'}]," ACCESSORS VIEW);
    ulna_content c = content_of_text(text, ULNA_FORMAT_UNKNOWN, NULL);
    assert_int_equal(ulna_model_body_count(c.model), 2);
    ulna_content_release(&c);
    free(text);
}

/* ---- binary files ----------------------------------------------------------------------------------------------- */

static void put_word(char *to, size_t value)
{
    for (int i = 0; i < 4; i++)
        to[i] = (char)(value >> (8 * i) & 255);
}

static const unsigned char numbers[24] = {0, 0, 0, 0, 0, 0, 0x80, 0x3F, [22] = 0x80, [23] = 0x3F};

/* Returns the length; `text` is filled up with `filler`. */
static size_t pack(const char *json, char filler, char *file, size_t room)
{
    char *text = quoted(json);
    size_t length = strlen(text), whole = (length + 3) / 4 * 4, total = 12 + 8 + whole + 8 + sizeof numbers;
    assert_true(total <= room);
    put_word(file, 0x46546C67);
    put_word(file + 4, 2);
    put_word(file + 8, total);
    put_word(file + 12, whole);
    put_word(file + 16, 0x4E4F534A);
    for (size_t i = 0; i < whole; i++)
        file[20 + i] = i < length ? text[i] : filler;
    put_word(file + 20 + whole, sizeof numbers);
    put_word(file + 24 + whole, 0x004E4942);
    memcpy(file + 28 + whole, numbers, sizeof numbers);
    free(text);
    return total;
}

static const char binary[] = HEAD NODES "'buffers':[{'byteLength':24}]," CHANNEL SAMPLER ACCESSORS VIEW;

static void assert_fails_at(const char *data, size_t length, long long byte, const char *words)
{
    ulna_error error = {0};
    ulna_content content = ulna_content_empty(NULL);
    assert_int_not_equal(ulna_content_read(data, length, ULNA_FORMAT_GLB, NULL, &content, &error), ULNA_OK);
    if (!strstr(error.message, words) || error.byte != byte || error.line)
        fail_msg("byte %lld, line %d: %s; wanted byte %lld: %s", error.byte, error.line, error.message, byte, words);
    ulna_content_release(&content);
}

static void binary_files(void **state)
{
    (void)state;
    char file[2048], spoilt[2100];
    for (int filler = 0; filler < 2; filler++) {
        size_t length = pack(binary, filler ? 0 : ' ', file, sizeof file);
        ulna_content c = content_of(file, length, ULNA_FORMAT_UNKNOWN, NULL);
        assert_int_equal(c.format, ULNA_FORMAT_GLB);
        assert_int_equal(c.clip.frame_count, 1);
        ulna_content_release(&c);
    }
    size_t length = pack(binary, ' ', file, sizeof file);
    assert_fails_at(file, 19, 0, "no complete header");
    assert_fails_at(file, length - 1, 8, "its header says");
    memcpy(spoilt, file, length);
    assert_fails_at(spoilt, length + 4, 8, "its header says");
    spoilt[4] = 1;
    assert_fails_at(spoilt, length, 4, "glTF version 1 is not supported");
    memcpy(spoilt, file, length);
    spoilt[16] = 'X';
    assert_fails_at(spoilt, length, 16, "not JSON");
    memcpy(spoilt, file, length);
    spoilt[14] = 1;
    assert_fails_at(spoilt, length, 12, "beyond the end");
    memcpy(spoilt, file, length);
    spoilt[length - 32]++;
    assert_fails_at(spoilt, length, (long long)length - 32, "beyond the end");
    spoilt[length - 32] = 0; /* an empty chunk, and others of no kind that is known */
    assert_refused(spoilt, length, ULNA_FORMAT_GLB, NULL, ULNA_ERR_PARSE, 0, 0, "24 bytes, but has 0");
    length = pack(HEAD "'nodes':[{'translation':[1]}]}", ' ', file, sizeof file);
    assert_fails_at(file, length, 20 + 37, "should have 3");
    length = pack(HEAD NODES "'buffers':[{'byteLength':25}]," CHANNEL SAMPLER ACCESSORS VIEW, ' ', file, sizeof file);
    assert_refused(file, length, ULNA_FORMAT_GLB, NULL, ULNA_ERR_PARSE, 0, 0, "should have 25 bytes");
}

/* ---- what hostile files cost ------------------------------------------------------------------------------------ */

static size_t peak_of(const char *text, size_t length, ulna_status wanted)
{
    ulna_test_memory memory = {.fail_at = -1};
    ulna_allocator allocator = ulna_test_allocator(&memory);
    ulna_content c = ulna_content_empty(&allocator);
    ulna_error error = {0};
    ulna_status status = ulna_content_read(text, length, ULNA_FORMAT_GLTF, NULL, &c, &error);
    if (status != wanted)
        fail_msg("status %d: %s", status, error.message);
    ulna_content_release(&c);
    ulna_test_memory_check(&memory);
    return memory.peak_bytes;
}

enum { MANY = 20000, ROOM = 4 << 20 };

static void deep_and_wide_trees(void **state)
{
    (void)state;
    char *text = malloc(ROOM);
    assert_non_null(text);
    size_t used = (size_t)snprintf(text, ROOM, "{\"asset\":{\"version\":\"2.0\"},\"nodes\":[{}");
    for (int i = 1; i < MANY; i++)
        used += (size_t)snprintf(text + used, ROOM - used, ",{\"name\":\"a\",\"children\":[%d]}", i - 1);
    used += (size_t)snprintf(text + used, ROOM - used, "]}");
    assert_true(peak_of(text, used, ULNA_OK) < 200 * used);

    used = (size_t)snprintf(text, ROOM, "{\"asset\":{\"version\":\"2.0\"},\"nodes\":[{\"children\":[1");
    for (int i = 2; i < MANY; i++)
        used += (size_t)snprintf(text + used, ROOM - used, ",%d", i);
    used += (size_t)snprintf(text + used, ROOM - used, "]}");
    for (int i = 1; i < MANY; i++)
        used += (size_t)snprintf(text + used, ROOM - used, ",{}");
    used += (size_t)snprintf(text + used, ROOM - used, "]}");
    assert_true(peak_of(text, used, ULNA_OK) < 400 * used);
    free(text);
}

/* Appends a piece for each of the numbers from `first` on; in it %d is the number, and the piece before it a comma's. */
static size_t repeat(char *text, size_t used, const char *piece, int first, int count)
{
    for (int i = first; i < first + count; i++) {
        text[used++] = ',';
        used += (size_t)snprintf(text + used, ROOM - used, piece, i, i);
    }
    return used;
}

/* Many nodes share one track, or many accessors the same bytes: the product is refused, not computed. */
static void products(void **state)
{
    (void)state;
    enum { TRACKS = 3000, KEYS = 3000 };
    float *times = calloc(4 * KEYS, sizeof *times);
    char *text = malloc(ROOM);
    assert_true(text && times);
    for (int k = 0; k < KEYS; k++)
        times[k] = (float)k;
    char *bytes = base64(times, 4 * KEYS * sizeof *times);
    for (int is_shared = 0; is_shared < 2; is_shared++) {
        size_t used = (size_t)snprintf(text, ROOM, "{\"asset\":{\"version\":\"2.0\"},\"nodes\":[{}");
        used = repeat(text, used, "{}", 1, TRACKS);
        used += (size_t)snprintf(text + used, ROOM - used,
                                 "],\"animations\":[{\"channels\":[{\"target\":{\"path\":\"w\"}}");
        used = repeat(text, used,
                      is_shared ? "{\"sampler\":0,\"target\":{\"node\":%d,\"path\":\"translation\"}}"
                                : "{\"sampler\":%d,\"target\":{\"node\":%d,\"path\":\"translation\"}}",
                      0, TRACKS);
        used += (size_t)snprintf(text + used, ROOM - used, "],\"samplers\":[{\"input\":1,\"output\":0}");
        used = repeat(text, used, "{\"input\":%d,\"output\":0}", 2, TRACKS);
        used += (size_t)snprintf(text + used, ROOM - used,
                                 "]}],\"accessors\":[{\"bufferView\":0,\"byteOffset\":%d,\"componentType\":5126,"
                                 "\"count\":%d,\"type\":\"VEC3\"}",
                                 4 * KEYS, KEYS);
        used = repeat(text, used,
                      "{\"bufferView\":0,\"componentType\":5126,\"count\":3000,\"type\":\"SCALAR\",\"name\":\"%d\"}", 1,
                      TRACKS + 1);
        used += (size_t)snprintf(text + used, ROOM - used,
                                 "],\"bufferViews\":[{\"buffer\":0,\"byteLength\":%d}],"
                                 "\"buffers\":[{\"byteLength\":%d,\"uri\":\"data:;base64,%s\"}]}",
                                 16 * KEYS, 16 * KEYS, bytes);
        assert_true(used < ROOM - 1);
        assert_true(peak_of(text, used, ULNA_ERR_LIMIT) < 100 * used);
    }
    free(bytes);
    free(times);
    free(text);
}

/* ---- memory runs out -------------------------------------------------------------------------------------------- */

static void memory_may_fail(void **state)
{
    (void)state;
    char *text =
        quoted(HEAD "'nodes':[{'children':[1,2]},{'name':'a'},{'name':'a','extras':{'ulna_marker':'body'}},"
                    "{'name':'m','extras':{'ulna_marker':'recording'}}]," BUFFER CHANNEL SAMPLER ACCESSORS VIEW);
    for (long fail = 0;; fail++) {
        ulna_test_memory memory = {.fail_at = fail};
        ulna_allocator allocator = ulna_test_allocator(&memory);
        ulna_content content = ulna_content_empty(&allocator);
        ulna_error error = {0};
        ulna_status status = ulna_content_read(text, strlen(text), ULNA_FORMAT_GLTF, NULL, &content, &error);
        if (status == ULNA_OK) {
            assert_int_equal(ulna_model_marker_count(content.model), 1);
            assert_int_equal(content.recording.marker_count, 1);
        }
        int is_whole = status == ULNA_OK && content.remarks.dropped == 0;
        ulna_content_release(&content);
        ulna_test_memory_check(&memory);
        if (!memory.failed) {
            assert_true(is_whole && fail > 10);
            break;
        }
        if (status != ULNA_OK) /* a remark may be lost without harm */
            assert_true(status == ULNA_ERR_MEMORY && error.status == status && *error.message);
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refused_files), cmocka_unit_test(other_files_are_not_needed),
        cmocka_unit_test(binary_files),  cmocka_unit_test(deep_and_wide_trees),
        cmocka_unit_test(products),      cmocka_unit_test(memory_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
