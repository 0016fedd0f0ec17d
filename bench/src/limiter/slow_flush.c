/* A disk that flushes slowly: every fsync and fdatasync takes DELAY_MS longer. Preloaded into a
 * database server (ld.so(8), LD_PRELOAD). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>

static void pause_first(void) {
    struct timespec span = {DELAY_MS / 1000, (DELAY_MS % 1000) * 1000000L};
    nanosleep(&span, 0);
}

int fsync(int file) {
    static int (*real)(int);
    if (!real) real = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
    pause_first();
    return real(file);
}

int fdatasync(int file) {
    static int (*real)(int);
    if (!real) real = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
    pause_first();
    return real(file);
}
