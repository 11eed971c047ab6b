/* A slow disk in a test's hand: preloaded into a process, it makes every fsync and fdatasync last longer, by milliseconds kept
 * in a mapped file. What is written stays as it is. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static volatile const int64_t *delay_ms;

__attribute__((constructor)) static void map_delay(void) {
  const char *path = getenv("SLOW_DISK_FILE");
  int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0) return;
  void *map = mmap(NULL, sizeof(int64_t), PROT_READ, MAP_SHARED, file, 0);
  close(file);
  if (map != MAP_FAILED) delay_ms = map;
}

static void linger(void) {
  int64_t ms = delay_ms ? *delay_ms : 0;
  if (ms <= 0) return;
  struct timespec rest = {ms / 1000, (ms % 1000) * 1000000};
  while (nanosleep(&rest, &rest) != 0) continue;
}

int fsync(int file) {
  linger();
  return (int)syscall(SYS_fsync, file);
}

int fdatasync(int file) {
  linger();
  return (int)syscall(SYS_fdatasync, file);
}
