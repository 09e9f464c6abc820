/* What every library has besides the functions in numba's Python: a text that says what it was made of, what tells the
   processor's level, and the two functions that LLVM calls instead of a loop. Compiled for the oldest processors. */

#include <stddef.h>
#include <stdint.h>

#ifdef _WIN32
#define EXPORTED __declspec(dllexport)
#else
#define EXPORTED __attribute__((visibility("default")))
#endif

EXPORTED const char gradledger_built_from[] = BUILT_FROM;

#ifdef __x86_64__
EXPORTED void gradledger_cpuid(uint32_t leaf, uint32_t part, uint32_t *found) {
    __asm__("cpuid" : "=a"(found[0]), "=b"(found[1]), "=c"(found[2]), "=d"(found[3]) : "a"(leaf), "c"(part));
}

EXPORTED uint32_t gradledger_xgetbv(void) {
    uint32_t low, high;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}
#endif

#if !defined(__APPLE__) /* whose libraries are linked to libSystem, which has them */
__attribute__((visibility("hidden"))) void *memset(void *start, int byte, size_t count) {
#ifdef __x86_64__
    void *at = start;
    __asm__ volatile("rep stosb" : "+D"(at), "+c"(count) : "a"(byte) : "memory");
#else
    for (volatile char *at = start; count; count--) *at++ = (char)byte;
#endif
    return start;
}

__attribute__((visibility("hidden"))) void *memcpy(void *to, const void *from, size_t count) {
#ifdef __x86_64__
    void *at = to;
    __asm__ volatile("rep movsb" : "+D"(at), "+S"(from), "+c"(count) : : "memory");
#else
    volatile char *at = to;
    for (const char *source = from; count; count--) *at++ = *source++;
#endif
    return to;
}
#endif

#ifdef _WIN32
const int _fltused = 0; /* Windows' linkers want it where there are floats */
int gradledger_entry(void *library, unsigned reason, void *reserved) { return 1; }
#endif
