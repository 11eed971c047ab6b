/* A server's wall clock in a test's hand: preloaded into the server, it adds an offset in nanoseconds, kept in a mapped file,
 * to what the kernel says. The monotonic clock is left alone. Plain system calls and no memory: it may be asked for the
 * time before the C library, or the server's own allocator, is ready. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000LL

static volatile const int64_t *offset;

__attribute__((constructor)) static void map_offset(void) {
  const char *path = getenv("STEP_CLOCK_FILE");
  int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0) return;
  void *map = mmap(NULL, sizeof(int64_t), PROT_READ, MAP_SHARED, file, 0);
  close(file);
  if (map != MAP_FAILED) offset = map;
}

int clock_gettime(clockid_t clock, struct timespec *at) {
  long result = syscall(SYS_clock_gettime, clock, at);
  if (result != 0 || !offset || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE)) return (int)result;
  int64_t ns = (int64_t)at->tv_sec * SECOND + at->tv_nsec + *offset;
  at->tv_sec = ns / SECOND;
  at->tv_nsec = ns % SECOND;
  return 0;
}

int gettimeofday(struct timeval *restrict at, void *restrict zone) {
  (void)zone;
  struct timespec exact;
  int result = clock_gettime(CLOCK_REALTIME, &exact);
  at->tv_sec = exact.tv_sec;
  at->tv_usec = exact.tv_nsec / 1000;
  return result;
}

time_t time(time_t *at) {
  struct timespec exact;
  clock_gettime(CLOCK_REALTIME, &exact);
  if (at) *at = exact.tv_sec;
  return exact.tv_sec;
}
