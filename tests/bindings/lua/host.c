/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* host THREADS SCRIPT [ARGUMENT...]: runs a script in THREADS threads at once, each with its own
 * Lua state. The script gets the arguments as `...`, and a table `host`: thread (its number),
 * fork(), wait(pid), leave(status). */
#define _POSIX_C_SOURCE 200809L
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_THREADS = 64 };

static char** arguments;
static int argument_count;
static pthread_barrier_t start;

static int host_fork(lua_State* L) {
  lua_pushinteger(L, fork());
  return 1;
}

static int host_wait(lua_State* L) {
  int status = -1;
  waitpid((pid_t)luaL_checkinteger(L, 1), &status, 0);
  lua_pushinteger(L, WIFEXITED(status) ? WEXITSTATUS(status) : -1);
  return 1;
}

static int host_leave(lua_State* L) {
  _exit((int)luaL_checkinteger(L, 1));
}

static void push_host(lua_State* L, int thread) {
  lua_newtable(L);
  lua_pushinteger(L, thread);
  lua_setfield(L, -2, "thread");
  lua_pushcfunction(L, host_fork);
  lua_setfield(L, -2, "fork");
  lua_pushcfunction(L, host_wait);
  lua_setfield(L, -2, "wait");
  lua_pushcfunction(L, host_leave);
  lua_setfield(L, -2, "leave");
  lua_setglobal(L, "host");
}

static int run(lua_State* L) {
  if (luaL_loadfile(L, arguments[0]) != 0) {
    fprintf(stderr, "%s\n", lua_tostring(L, -1));
    return 1;
  }
  for (int i = 1; i < argument_count; ++i) lua_pushstring(L, arguments[i]);
  if (lua_pcall(L, argument_count - 1, 0, 0) != 0) {
    fprintf(stderr, "%s\n", lua_tostring(L, -1));
    return 1;
  }
  return 0;
}

static void* thread_main(void* number) {
  int* result = number;
  lua_State* L = luaL_newstate();
  if (!L) abort();
  luaL_openlibs(L);
  push_host(L, *result);
  pthread_barrier_wait(&start);
  *result = run(L);
  lua_close(L);
  return NULL;
}

int main(int argc, char** argv) {
  pthread_t threads[MAX_THREADS];
  int results[MAX_THREADS];
  const int count = argc > 2 ? atoi(argv[1]) : 0;
  int status = 0;
  if (count < 1 || count > MAX_THREADS) return 2;
  arguments = argv + 2;
  argument_count = argc - 2;
  if (pthread_barrier_init(&start, NULL, (unsigned)count) != 0) return 2;
  for (int i = 0; i < count; ++i) {
    results[i] = i;
    if (pthread_create(&threads[i], NULL, thread_main, &results[i]) != 0) return 2;
  }
  for (int i = 0; i < count; ++i) {
    pthread_join(threads[i], NULL);
    status |= results[i];
  }
  pthread_barrier_destroy(&start);
  return status;
}
