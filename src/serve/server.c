/* SPDX-License-Identifier: Apache-2.0 */
/*
 * serve/server: the loop of the main thread. It accepts connections itself, on both loopback
 * addresses, and hands them to libmicrohttpd, which runs them when the loop calls it. So the loop
 * knows every connection and can end those that are past their deadline.
 *
 *     wait for: sockets (libmicrohttpd's epoll), new connections, news of jobs, at most 0.5 s
 *     accept -> resume streams with news -> run connections -> end late ones -> idle or stopped?
 */
#include "serve/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "serve/request.h"

enum {
  MAX_CONNECTIONS = 800,
  BACKLOG = 1024,
  CONNECTION_BYTES = 32 << 10, /* for headers: longer ones get status 431 */
  SILENT_SECONDS = 30,         /* libmicrohttpd closes a connection after this silence */
  DEADLINE_SECONDS = 30,
  WAIT_MILLISECONDS = 500,
  OPEN_FILES = 4096
};

/* ---------------------------------------------------------------- connections */

static void notify_connection(void *user, struct MHD_Connection *connection, void **context,
                              enum MHD_ConnectionNotificationCode code) {
  serve_server *server = user;
  serve_connection *entry = *context;
  if (code == MHD_CONNECTION_NOTIFY_STARTED) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    entry = calloc(1, sizeof *entry);
    *context = entry;
    if (!entry) return;
    entry->fd = info ? info->connect_fd : -1;
    entry->deadline = serve_now() + server->deadline_seconds;
    entry->next = server->connections;
    entry->link = &server->connections;
    if (entry->next) entry->next->link = &entry->next;
    server->connections = entry;
    server->n_connections++;
  } else if (entry) {
    *entry->link = entry->next;
    if (entry->next) entry->next->link = entry->link;
    server->n_connections--;
    free(entry);
    *context = NULL;
  }
}

void serve_set_deadline(struct MHD_Connection *connection, double seconds) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  serve_connection *entry = info ? info->socket_context : NULL;
  if (entry) entry->deadline = seconds > 0 ? serve_now() + seconds : 0;
}

static void end_late_connections(serve_server *server) {
  double now = serve_now();
  for (serve_connection *c = server->connections; c; c = c->next) {
    bool late = c->deadline > 0 && now >= c->deadline;
    if (!late || c->fd < 0) continue;
    (void)shutdown(c->fd, SHUT_RDWR); /* libmicrohttpd then finds it closed */
    c->deadline = 0;
  }
}

static void accept_connections(serve_server *server, int listener) {
  while (server->n_connections < MAX_CONNECTIONS) {
    struct sockaddr_storage address;
    socklen_t size = sizeof address;
    int fd = accept4(listener, (struct sockaddr *)&address, &size, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) return;
    /* It closes the socket if it fails. */
    (void)MHD_add_connection(server->daemon, fd, (struct sockaddr *)&address, size);
  }
}

/* ---------------------------------------------------------------- sessions */

serve_session *serve_find_session(serve_server *server, const char *id) {
  for (size_t i = 0; i < SERVE_MAX_SESSIONS; i++)
    if (server->sessions[i] && serve_same_secret(id, server->sessions[i]->id))
      return server->sessions[i];
  return NULL;
}

void serve_remove_session(serve_server *server, serve_session *session) {
  for (size_t i = 0; i < SERVE_MAX_SESSIONS; i++)
    if (server->sessions[i] == session) {
      server->sessions[i] = NULL;
      serve_session_close(session);
      return;
    }
}

serve_session *serve_add_session(serve_server *server) {
  serve_session **place = &server->sessions[0];
  for (size_t i = 0; i < SERVE_MAX_SESSIONS && *place; i++) {
    serve_session **other = &server->sessions[i];
    if (!*other || (*other)->last_used < (*place)->last_used) place = other;
  }
  serve_session *session = serve_session_new(&server->private_files);
  if (!session) return NULL;
  if (*place) serve_session_close(*place);
  session->now.root = server->directory;
  *place = session;
  return session;
}

/* ---------------------------------------------------------------- start */

static int listen_on(int family, unsigned port) {
  struct sockaddr_in v4 = {.sin_family = AF_INET,
                           .sin_port = htons((uint16_t)port),
                           .sin_addr = {htonl(INADDR_LOOPBACK)}};
  struct sockaddr_in6 v6 = {.sin6_family = AF_INET6,
                            .sin6_port = htons((uint16_t)port),
                            .sin6_addr = IN6ADDR_LOOPBACK_INIT};
  int on = 1, fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const struct sockaddr *address =
      family == AF_INET ? (const struct sockaddr *)&v4 : (const struct sockaddr *)&v6;
  socklen_t size = family == AF_INET ? sizeof v4 : sizeof v6;
  if (fd < 0) return -1;
  (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (family == AF_INET6) (void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
  if (!bind(fd, address, size) && !listen(fd, BACKLOG)) return fd;
  int code = errno;
  (void)close(fd);
  errno = code;
  return -1;
}

/* Listens on 127.0.0.1 and, if the system has it, on the same port of ::1. */
static shoal_status listen_on_loopback(serve_server *server, shoal_error *error) {
  struct sockaddr_in bound = {0};
  socklen_t size = sizeof bound;
  int v4 = listen_on(AF_INET, server->options->port);
  if (v4 < 0 || getsockname(v4, (struct sockaddr *)&bound, &size))
    return serve_fail(error, errno == EADDRINUSE ? SHOAL_BAD_INPUT : SHOAL_FAILED,
                      "cannot listen on 127.0.0.1, port %u: %s%s", server->options->port,
                      strerror(errno),
                      errno == EADDRINUSE ? "; choose another '--port', or 0 for a free one" : "");
  server->listeners[server->n_listeners++] = v4;
  server->port = ntohs(bound.sin_port);
  int v6 = listen_on(AF_INET6, server->port);
  if (v6 >= 0) server->listeners[server->n_listeners++] = v6;
  return SHOAL_OK;
}

static shoal_status start_daemon(serve_server *server, shoal_error *error) {
  server->daemon = MHD_start_daemon(
      MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL,
      serve_request_handle, server, MHD_OPTION_NOTIFY_COMPLETED, serve_request_completed, server,
      MHD_OPTION_NOTIFY_CONNECTION, notify_connection, server, MHD_OPTION_CONNECTION_LIMIT,
      (unsigned)MAX_CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)SILENT_SECONDS,
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES, MHD_OPTION_STRICT_FOR_CLIENT, 1,
      MHD_OPTION_END);
  if (server->daemon) return SHOAL_OK;
  return serve_fail(error, SHOAL_FAILED, "cannot start the HTTP server: %s", strerror(errno));
}

static void allow_open_files(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= OPEN_FILES) return;
  limit.rlim_cur = limit.rlim_max < OPEN_FILES ? limit.rlim_max : OPEN_FILES;
  (void)setrlimit(RLIMIT_NOFILE, &limit);
}

/* Tests set shorter deadlines than people need. */
static double read_deadline(void) {
  const char *text = getenv("SHOAL_SERVE_DEADLINE_SECONDS");
  double seconds = text ? strtod(text, NULL) : 0;
  return seconds > 0 && seconds < DEADLINE_SECONDS ? seconds : DEADLINE_SECONDS;
}

/* Checks the files of the command line, so that a wrong name fails here and not on the page. */
static shoal_status check_options(serve_server *server, shoal_error *error) {
  const serve_options *options = server->options;
  shoal_policy *policy = NULL;
  char path[4096];
  if (options->data && access(options->data, R_OK))
    return serve_fail(error, SHOAL_BAD_INPUT, "%s: cannot open the table: %s", options->data,
                      strerror(errno));
  if (!options->policy) return SHOAL_OK;
  shoal_status status = shoal_policy_read(options->policy, &policy, error);
  shoal_policy_free(policy);
  if (status != SHOAL_OK) return status;
  (void)snprintf(path, sizeof path, "%s", options->policy);
  char *slash = strrchr(path, '/');
  if (slash) slash[slash == path] = '\0';
  server->policy_root = open(slash ? path : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  return SHOAL_OK;
}

static shoal_status start(serve_server *server, shoal_error *error) {
  server->directory = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  server->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (server->directory < 0 || server->wake_fd < 0 ||
      !getcwd(server->directory_path, sizeof server->directory_path))
    return serve_fail(error, SHOAL_FAILED, "cannot use this directory: %s", strerror(errno));
  if (!serve_random_name(server->token))
    return serve_fail(error, SHOAL_FAILED, "the system has no random numbers");
  allow_open_files();
  shoal_status status = check_options(server, error);
  if (status == SHOAL_OK) status = serve_private_make(&server->private_files, error);
  if (status == SHOAL_OK) status = listen_on_loopback(server, error);
  if (status == SHOAL_OK) status = start_daemon(server, error);
  (void)snprintf(server->address, sizeof server->address, "http://127.0.0.1:%u/#%s", server->port,
                 server->token);
  return status;
}

/* Opens the browser on a file, so that the token is in no list of arguments. */
static shoal_status open_browser(serve_server *server, shoal_error *error) {
  char path[4096];
  shoal_status status =
      serve_private_redirect(&server->private_files, server->address, path, sizeof path, error);
  if (status != SHOAL_OK) return status;
  (void)signal(SIGCHLD, SIG_IGN); /* nobody waits for the browser */
  pid_t child = fork();
  if (child) return SHOAL_OK;
  int nowhere = open("/dev/null", O_RDWR);
  if (nowhere >= 0) {
    (void)dup2(nowhere, STDIN_FILENO);
    (void)dup2(nowhere, STDOUT_FILENO);
    (void)dup2(nowhere, STDERR_FILENO);
  }
  (void)setsid();
  (void)execlp("xdg-open", "xdg-open", path, (char *)NULL);
  _exit(127);
}

/* ---------------------------------------------------------------- loop */

static bool is_idle(serve_server *server) {
  double minutes = server->options->idle_minutes;
  if (!(minutes > 0)) return false;
  (void)pthread_mutex_lock(&server->pool.lock);
  bool working = server->pool.n_running > 0;
  (void)pthread_mutex_unlock(&server->pool.lock);
  if (working) server->last_request = serve_now();
  return serve_now() - server->last_request > minutes * 60;
}

static void wait_for_events(serve_server *server) {
  const union MHD_DaemonInfo *info = MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_EPOLL_FD);
  MHD_UNSIGNED_LONG_LONG milliseconds;
  int timeout = WAIT_MILLISECONDS;
  if (MHD_get_timeout(server->daemon, &milliseconds) == MHD_YES && milliseconds < WAIT_MILLISECONDS)
    timeout = (int)milliseconds;
  bool full = server->n_connections >= MAX_CONNECTIONS;
  struct pollfd fds[4] = {{.fd = info->epoll_fd, .events = POLLIN},
                          {.fd = server->wake_fd, .events = POLLIN}};
  nfds_t n = 2;
  for (size_t i = 0; i < server->n_listeners && !full; i++)
    fds[n++] = (struct pollfd){.fd = server->listeners[i], .events = POLLIN};
  if (poll(fds, n, timeout) <= 0) return;
  uint64_t count;
  if (fds[1].revents && read(server->wake_fd, &count, sizeof count) < 0) return;
  for (nfds_t i = 2; i < n; i++)
    if (fds[i].revents) accept_connections(server, fds[i].fd);
}

/* libmicrohttpd aborts if it is stopped while a connection is suspended. */
static void stop(serve_server *server) {
  server->stopping = true; /* requests may still be complete when connections are run below */
  for (size_t i = 0; i < SERVE_MAX_SESSIONS; i++)
    if (server->sessions[i]) serve_remove_session(server, server->sessions[i]);
  for (size_t i = 0; i < server->n_listeners; i++) (void)close(server->listeners[i]);
  if (server->daemon) {
    serve_jobs_end(&server->pool);
    serve_streams_resume(server, true);
    (void)MHD_run(server->daemon);
    MHD_stop_daemon(server->daemon);
  }
  if (server->wake_fd >= 0) (void)close(server->wake_fd);
  if (server->directory >= 0) (void)close(server->directory);
  if (server->policy_root >= 0) (void)close(server->policy_root);
  serve_private_remove(&server->private_files);
}

shoal_status serve_run(const serve_options *options, shoal_error *error) {
  serve_server *server = calloc(1, sizeof *server);
  if (!server) return serve_fail(error, SHOAL_FAILED, "out of memory");
  server->options = options;
  server->directory = server->wake_fd = server->policy_root = -1;
  server->deadline_seconds = read_deadline();
  shoal_status status = start(server, error);
  if (status == SHOAL_OK) serve_jobs_begin(&server->pool);
  if (status == SHOAL_OK) {
    printf("shoal serve: %s (Control-C ends it)\n", server->address);
    (void)fflush(stdout);
  }
  if (status == SHOAL_OK && options->open_browser) status = open_browser(server, error);
  if (status == SHOAL_OK) {
    server->last_request = serve_now();
    while (!server->options->stopped() && !is_idle(server)) {
      wait_for_events(server);
      serve_streams_resume(server, false);
      (void)MHD_run(server->daemon);
      end_late_connections(server);
    }
  }
  stop(server);
  memset(server->token, 0, sizeof server->token);
  free(server);
  return status;
}
