// The same three loops as main.swift, in C with plain libpq: what the wrapper is measured against.
//
//   cc -O2 libpq.c -I"$(pg_config --includedir)" -lpq && ./a.out CONNINFO
#include <libpq-fe.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <arpa/inet.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec / 1e9;
}

static void fail(PGconn *c) {
  fprintf(stderr, "%s", PQerrorMessage(c));
  exit(1);
}

static PGresult *run(PGconn *c, const char *name, int n, const char *const *v, const int *l, const int *f) {
  PGresult *r = PQexecPrepared(c, name, n, v, l, f, 1);
  ExecStatusType s = PQresultStatus(r);
  if (s != PGRES_TUPLES_OK && s != PGRES_COMMAND_OK) fail(c);
  return r;
}

static void prepare(PGconn *c, const char *name, const char *sql) {
  PGresult *r = PQprepare(c, name, sql, 0, NULL);
  if (PQresultStatus(r) != PGRES_COMMAND_OK) fail(c);
  PQclear(r);
}

static char *put32(char *p, uint32_t v) { v = htonl(v); memcpy(p, &v, 4); return p + 4; }

static char *head(char *p, uint32_t type, int count) {
  p = put32(p, 1); p = put32(p, 0); p = put32(p, type); p = put32(p, count); return put32(p, 1);
}

int main(int argc, char **argv) {
  PGconn *c = PQconnectdb(argc > 1 ? argv[1] : "");
  if (PQstatus(c) != CONNECTION_OK) fail(c);
  PQclear(PQexec(c, "SET client_min_messages = warning"));
  prepare(c, "one", "SELECT 1");
  prepare(c, "read", "SELECT position, type, key, account, body, message_id, recorded_at FROM bench_read ORDER BY position LIMIT 500");
  prepare(c, "begin", "BEGIN");
  prepare(c, "rollback", "ROLLBACK");
  prepare(c, "append", "INSERT INTO bench_append SELECT * FROM unnest($1::int8[], $2::text[], $3::uuid[], $4::json[])");

  double begun = now();
  for (int i = 0; i < 20000; i++) PQclear(run(c, "one", 0, NULL, NULL, NULL));
  printf("select_1_us %.2f\n", (now() - begun) / 20000 * 1e6);

  begun = now();
  volatile uint64_t sum = 0;
  for (int i = 0; i < 1000; i++) {
    PGresult *r = run(c, "read", 0, NULL, NULL, NULL);
    int n = PQntuples(r);
    for (int row = 0; row < n; row++) {
      int64_t position;
      memcpy(&position, PQgetvalue(r, row, 0), 8);
      sum += position;
      // A program that uses the rows copies what it keeps.
      char *type = strndup(PQgetvalue(r, row, 1), PQgetlength(r, row, 1));
      char *key = strndup(PQgetvalue(r, row, 2), PQgetlength(r, row, 2));
      unsigned char account[16], message[16];
      memcpy(account, PQgetvalue(r, row, 3), 16);
      int length = PQgetlength(r, row, 4);
      char *body = malloc(length);
      memcpy(body, PQgetvalue(r, row, 4), length);
      memcpy(message, PQgetvalue(r, row, 5), 16);
      int64_t at;
      memcpy(&at, PQgetvalue(r, row, 6), 8);
      sum += at + account[0] + message[0] + body[0] + type[0] + key[0];
      free(type); free(key); free(body);
    }
    PQclear(r);
  }
  printf("read_500_us %.2f\n", (now() - begun) / 1000 * 1e6);

  static char a[8192], b[65536], d[8192], e[65536];
  char body[200];
  memset(body, 'x', 200);
  memcpy(body, "{\"x\":\"", 6);
  memcpy(body + 198, "\"}", 2);
  PQsetnonblocking(c, 1);
  begun = now();
  for (int i = 0; i < 2000; i++) {
    char *pa = head(a, 20, 100), *pb = head(b, 25, 100), *pd = head(d, 2950, 100), *pe = head(e, 114, 100);
    for (int row = 0; row < 100; row++) {
      pa = put32(pa, 8); pa = put32(pa, 0); pa = put32(pa, i * 100 + row);
      pb = put32(pb, 12); memcpy(pb, "EntryPosted!", 12); pb += 12;
      pd = put32(pd, 16); memset(pd, row, 16); pd += 16;
      pe = put32(pe, 200); memcpy(pe, body, 200); pe += 200;
    }
    const char *values[] = {a, b, d, e};
    int lengths[] = {pa - a, pb - b, pd - d, pe - e}, formats[] = {1, 1, 1, 1};
    PQenterPipelineMode(c);
    PQsendQueryPrepared(c, "begin", 0, NULL, NULL, NULL, 1);
    PQsendQueryPrepared(c, "append", 4, values, lengths, formats, 1);
    PQsendQueryPrepared(c, "rollback", 0, NULL, NULL, NULL, 1);
    PQpipelineSync(c);
    while (PQflush(c) == 1) {}
    for (int result = 0; result < 3; result++) {
      PGresult *r;
      while ((r = PQgetResult(c))) {
        if (PQresultStatus(r) != PGRES_COMMAND_OK) fail(c);
        PQclear(r);
      }
    }
    PQclear(PQgetResult(c));
    PQexitPipelineMode(c);
  }
  printf("append_100_us %.2f\n", (now() - begun) / 2000 * 1e6);
  PQfinish(c);
}
