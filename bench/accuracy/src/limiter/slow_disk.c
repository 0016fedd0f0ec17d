/* A library that slows down a disk: it adds FLUSH_US microseconds to each flush (fsync, fdatasync),
 * READ_US microseconds to each pread, and WRITE_NS nanoseconds to each byte of a pwrite; 0 adds
 * nothing. It is preloaded into the process that uses the disk (ld.so(8), LD_PRELOAD). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/types.h>
#include <time.h>

static void pause_for(unsigned long long ns) {
    struct timespec span = {ns / 1000000000ull, ns % 1000000000ull};
    if (ns) nanosleep(&span, 0);
}

#define NEXT(name) \
    static __typeof__(&name) real; \
    if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

#define SLOW_FLUSH(name) \
    int name(int file) { \
        NEXT(name); \
        pause_for(FLUSH_US * 1000ull); \
        return real(file); \
    }

#define SLOW_READ(name, place) \
    ssize_t name(int file, void *to, size_t count, place at) { \
        NEXT(name); \
        pause_for(READ_US * 1000ull); \
        return real(file, to, count, at); \
    }

#define SLOW_WRITE(name, place) \
    ssize_t name(int file, const void *from, size_t count, place at) { \
        NEXT(name); \
        pause_for(count * (unsigned long long)WRITE_NS); \
        return real(file, from, count, at); \
    }

SLOW_FLUSH(fsync)
SLOW_FLUSH(fdatasync)
SLOW_READ(pread, off_t)
SLOW_READ(pread64, off64_t)
SLOW_WRITE(pwrite, off_t)
SLOW_WRITE(pwrite64, off64_t)
