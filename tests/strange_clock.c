/* A clock of a strange machine, preloaded: ahead of the real one, or one that leaps. What counts from the start of the
   machine, and so every sleep and every wait, stays as it is: libfaketime 0.9 breaks Python's sleep. Linux, 64 bits. */

struct timespec { long seconds, nanoseconds; };
struct timeval { long seconds, microseconds; };

long syscall(long number, ...);
char *getenv(const char *name);
long atol(const char *text);

#ifdef __aarch64__
enum { CLOCK_GETTIME = 113 };
#else
enum { CLOCK_GETTIME = 228 };
#endif
enum { REALTIME = 0, MONOTONIC = 1, REALTIME_COARSE = 5, EVERY = 7 };

static long seconds_in(const char *name) {
    const char *text = getenv(name);
    return text ? atol(text) : 0;
}

int clock_gettime(int clock, struct timespec *now) {
    struct timespec since_start;
    if (syscall(CLOCK_GETTIME, clock, now)) return -1;
    if (clock == REALTIME || clock == REALTIME_COARSE) {
        syscall(CLOCK_GETTIME, MONOTONIC, &since_start);
        now->seconds += seconds_in("STRANGE_CLOCK_AHEAD");
        if (since_start.seconds / EVERY % 2) now->seconds += seconds_in("STRANGE_CLOCK_LEAP");
    }
    return 0;
}

int gettimeofday(struct timeval *now, void *zone) {
    struct timespec precise;
    (void)zone;
    clock_gettime(REALTIME, &precise);
    now->seconds = precise.seconds, now->microseconds = precise.nanoseconds / 1000;
    return 0;
}

long time(long *where) {
    struct timespec now;
    clock_gettime(REALTIME, &now);
    if (where) *where = now.seconds;
    return now.seconds;
}
