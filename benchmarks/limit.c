/* What this machine can do: reads lines of 100 bytes, sorts them by their first bytes on all processors, writes them.
 *
 *   limit gen COUNT FILE     lines of ten random letters and filling
 *   limit sort IN OUT        as `LC_ALL=C sort IN > OUT` does
 *
 * Each thread takes the lines whose keys fall into its range, sorts them by radix (two bytes at a time, least
 * significant first) of their first eight bytes, mends the order of those that agree in these, and writes its part.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINE = 100, DIGITS = 65536, CHUNK = 10000 };

typedef struct {
    uint64_t prefix;
    const char *line;
} Entry;

typedef struct {
    const char *data;
    size_t count, taken, offset;
    uint64_t low, high;
    int last, out;
    Entry *entries;
} Part;

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static void *allocate(size_t bytes)
{
    void *made = malloc(bytes ? bytes : 1);
    if (!made)
        fail("malloc");
    return made;
}

static uint64_t prefix(const char *line)
{
    uint64_t read;
    memcpy(&read, line, sizeof read);
    return __builtin_bswap64(read);
}

static int is_in(const Part *part, uint64_t key)
{
    return key >= part->low && (part->last || key < part->high);
}

static void *count_lines(void *given)
{
    Part *part = given;
    for (size_t at = 0; at < part->count; at++)
        part->taken += is_in(part, prefix(part->data + at * LINE));
    return NULL;
}

static int by_line(const void *one, const void *other)
{
    return memcmp(((const Entry *)one)->line, ((const Entry *)other)->line, LINE);
}

static void sort_entries(Part *part)
{
    size_t n = part->taken;
    Entry *from = part->entries, *to = allocate(n * sizeof *to);
    size_t *next = allocate(DIGITS * sizeof *next);
    for (int shift = 0; shift < 64; shift += 16) {
        memset(next, 0, DIGITS * sizeof *next);
        for (size_t at = 0; at < n; at++)
            next[from[at].prefix >> shift & 0xffff]++;
        for (size_t digit = 0, sum = 0; digit < DIGITS; digit++) {
            size_t one = next[digit];
            next[digit] = sum;
            sum += one;
        }
        for (size_t at = 0; at < n; at++)
            to[next[from[at].prefix >> shift & 0xffff]++] = from[at];
        Entry *held = from;
        from = to;
        to = held;
    }
    for (size_t at = 0; at < n;) {
        size_t end = at + 1;
        while (end < n && from[end].prefix == from[at].prefix)
            end++;
        if (end - at > 1)
            qsort(from + at, end - at, sizeof *from, by_line);
        at = end;
    }
    free(next);
    free(to);
    part->entries = from;
}

static void *sort_part(void *given)
{
    Part *part = given;
    part->entries = allocate(part->taken * sizeof(Entry));
    for (size_t at = 0, to = 0; at < part->count; at++) {
        const char *line = part->data + at * LINE;
        uint64_t key = prefix(line);
        if (is_in(part, key))
            part->entries[to++] = (Entry){key, line};
    }
    sort_entries(part);
    char *buffer = allocate((size_t)CHUNK * LINE);
    for (size_t at = 0; at < part->taken;) {
        size_t lines = 0;
        while (lines < CHUNK && at < part->taken)
            memcpy(buffer + lines++ * LINE, part->entries[at++].line, LINE);
        for (size_t done = 0; done < lines * LINE;) {
            ssize_t written = pwrite(part->out, buffer + done, lines * LINE - done, (off_t)(part->offset + done));
            if (written < 0)
                fail("write");
            done += (size_t)written;
        }
        part->offset += lines * LINE;
    }
    free(buffer);
    return NULL;
}

static void on_all(Part *parts, long threads, void *(*work)(void *))
{
    pthread_t *started = allocate((size_t)threads * sizeof *started);
    for (long one = 0; one < threads; one++)
        if (pthread_create(&started[one], NULL, work, &parts[one]))
            fail("pthread_create");
    for (long one = 0; one < threads; one++)
        pthread_join(started[one], NULL);
    free(started);
}

static void sort_file(const char *from, const char *to)
{
    int in = open(from, O_RDONLY), out = open(to, O_CREAT | O_TRUNC | O_WRONLY, 0644);
    struct stat found;
    if (in < 0 || out < 0 || fstat(in, &found))
        fail(in < 0 ? from : to);
    size_t count = (size_t)found.st_size / LINE;
    char *data = allocate((size_t)found.st_size);
    for (size_t done = 0; done < (size_t)found.st_size;) {
        ssize_t got = read(in, data + done, (size_t)found.st_size - done);
        if (got <= 0)
            fail(from);
        done += (size_t)got;
    }
    long threads = sysconf(_SC_NPROCESSORS_ONLN);
    Part *parts = allocate((size_t)threads * sizeof *parts);
    /* Keys begin with letters: as many of them for each thread. */
    for (long one = 0; one < threads; one++) {
        uint64_t low = (uint64_t)('A' + 26 * one / threads) << 56, high = (uint64_t)('A' + 26 * (one + 1) / threads) << 56;
        parts[one] = (Part){data, count, 0, 0, one ? low : 0, high, one == threads - 1, out, NULL};
    }
    on_all(parts, threads, count_lines);
    for (long one = 1; one < threads; one++)
        parts[one].offset = parts[one - 1].offset + parts[one - 1].taken * LINE;
    on_all(parts, threads, sort_part);
    if (close(out))
        fail(to);
}

static void generate(size_t count, const char *to)
{
    FILE *out = fopen(to, "w");
    if (!out)
        fail(to);
    char line[LINE];
    memset(line, 'x', LINE);
    line[LINE - 1] = '\n';
    uint64_t state = 88172645463325252u;
    for (size_t at = 0; at < count; at++) {
        for (int letter = 0; letter < 10; letter++) {
            state ^= state << 13; /* xorshift64, Marsaglia 2003 */
            state ^= state >> 7;
            state ^= state << 17;
            line[letter] = (char)('A' + (state >> 32) % 26);
        }
        if (fwrite(line, LINE, 1, out) != 1)
            fail(to);
    }
    if (fclose(out))
        fail(to);
}

int main(int argc, char **argv)
{
    if (argc == 4 && !strcmp(argv[1], "gen"))
        generate(strtoull(argv[2], NULL, 10), argv[3]);
    else if (argc == 4 && !strcmp(argv[1], "sort"))
        sort_file(argv[2], argv[3]);
    else {
        fputs("limit gen COUNT FILE | limit sort IN OUT\n", stderr);
        return 2;
    }
    return 0;
}
