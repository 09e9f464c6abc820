/* Calls functions of a library as they were recorded: driver LIBRARY CALLS RESULTS.

   CALLS is a row of these, of little-endian 64-bit words but for the bytes:

       symbol, 64 bytes | buffers | for each: its size, its bytes, padded to words
       | pointers | for each: the buffer that it is in, its offset there, the buffer that it points to, the offset there

   The first buffer is the row of words that the function takes. RESULTS gets the status, the result, and the bytes of
   all buffers after the call, with 0 for each pointer. */

#include <stddef.h>
#include <stdint.h>

#ifdef _WIN32
/* With the system's C library, which msvcrt.def names: the compiler's takes minutes to compile. */
typedef struct file FILE;
FILE *fopen(const char *, const char *);
size_t fread(void *, size_t, size_t, FILE *), fwrite(const void *, size_t, size_t, FILE *);
int fclose(FILE *), puts(const char *), __getmainargs(int *, char ***, char ***, int, int *);
void *malloc(size_t), *calloc(size_t, size_t), *memcpy(void *, const void *, size_t);
_Noreturn void exit(int);
void *LoadLibraryA(const char *), *GetProcAddress(void *, const char *);
int main(int, char **);
void __main(void) {}
void begin(void) {
    int count, nothing = 0;
    char **arguments, **environment;
    __getmainargs(&count, &arguments, &environment, 0, &nothing);
    exit(main(count, arguments));
}
static void *symbol_of(const char *library, const char *name) {
    return GetProcAddress(LoadLibraryA(library), name);
}
#else
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static void *symbol_of(const char *library, const char *name) {
    void *opened = dlopen(library, RTLD_NOW);
    if (!opened) puts(dlerror());
    return opened ? dlsym(opened, name) : NULL;
}
#endif

typedef int32_t (*function)(int64_t *result, void **error, int64_t *words);

static int64_t word(FILE *calls) {
    int64_t value = 0;
    if (fread(&value, 8, 1, calls) != 1) exit(3);
    return value;
}

int main(int count, char **arguments) {
    if (count != 4) return 2;
    FILE *calls = fopen(arguments[2], "rb"), *results = fopen(arguments[3], "wb");
    char name[64];
    while (fread(name, 64, 1, calls) == 1) {
        int64_t buffers = word(calls);
        char **at = calloc(buffers, sizeof *at);
        int64_t *sizes = calloc(buffers, sizeof *sizes);
        for (int64_t i = 0; i < buffers; i++) {
            sizes[i] = word(calls);
            int64_t padded = (sizes[i] + 7) / 8 * 8;
            char *memory = malloc(padded + 128);
            at[i] = memory + (64 - (uintptr_t)memory % 64);
            if (padded && fread(at[i], padded, 1, calls) != 1) return 3;
        }
        int64_t pointers = word(calls), *places = calloc(4 * pointers + 1, 8);
        for (int64_t i = 0; i < 4 * pointers; i++) places[i] = word(calls);
        for (int64_t *p = places; p < places + 4 * pointers; p += 4) {
            int64_t address = (int64_t)(uintptr_t)(at[p[2]] + p[3]);
            memcpy(at[p[0]] + p[1], &address, 8);
        }
        function called = (function)symbol_of(arguments[1], name);
        if (!called) {
            puts(name);
            return 4;
        }
        int64_t result = 0, nothing = 0;
        void *error = NULL;
        int64_t status = called(&result, &error, (int64_t *)at[0]);
        for (int64_t *p = places; p < places + 4 * pointers; p += 4) memcpy(at[p[0]] + p[1], &nothing, 8);
        fwrite(&status, 8, 1, results);
        fwrite(&result, 8, 1, results);
        for (int64_t i = 0; i < buffers; i++) fwrite(at[i], sizes[i], 1, results);
    }
    fclose(results);
    return 0;
}
