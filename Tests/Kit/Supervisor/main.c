// Runs one command and makes sure that nothing of it outlives the test that asked for it.
//
//   test-supervisor COMMAND [ARGUMENT...]
//
// The test holds the writing end of the pipe that is our standard input: the lifeline. When it closes, because the test
// is done or because somebody killed it with -9, we kill the command's whole process group and every descendant that
// left the group, and end. The command's standard output and error are ours; its standard input is empty.
//
// On file descriptor 3 we report, a line each: "started PID", or "failed ERRNO"; then "exited STATUS" or "killed SIGNAL".
// The command stays a zombie until the lifeline closes, so that its process id means nobody else while the test may
// still send signals to it.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

enum { lifeline = 0, report = 3 };

static void say(const char *word, int number) {
    char line[64];
    int length = snprintf(line, sizeof line, "%s %d\n", word, number);
    if (write(report, line, (size_t)length) < 0) {
        // The test is gone; the lifeline says so, too.
    }
}

// Becomes the command. Whatever stops that is written to `failure` as an errno.
static void become(char **command, int failure, const sigset_t *signals) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL); // should somebody kill the supervisor itself
    sigprocmask(SIG_SETMASK, signals, NULL);
    signal(SIGPIPE, SIG_DFL);
    close(report);
    int nothing = open("/dev/null", O_RDONLY);
    if (nothing >= 0) {
        dup2(nothing, lifeline);
        if (nothing > 2) close(nothing);
        execvp(command[0], command);
    }
    int reason = errno;
    if (write(failure, &reason, sizeof reason) < 0) _exit(126);
    _exit(127);
}

static void kill_children(void) {
    FILE *list = fopen("/proc/thread-self/children", "r");
    if (list == NULL) return;
    int child;
    while (fscanf(list, "%d", &child) == 1) kill(child, SIGKILL);
    fclose(list);
}

int main(int count, char **arguments) {
    if (count < 2) {
        fprintf(stderr, "usage: test-supervisor COMMAND [ARGUMENT...]\n");
        return 2;
    }
    setsid();                              // Ctrl-C is for the tests; they close the lifeline
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); // what leaves the group still comes back to us
    signal(SIGPIPE, SIG_IGN);
    fcntl(report, F_SETFD, FD_CLOEXEC);
    close_range(report + 1, ~0U, 0); // what the tests have open is none of the command's business

    sigset_t before, watched;
    sigemptyset(&watched);
    sigaddset(&watched, SIGCHLD);
    sigprocmask(SIG_BLOCK, &watched, &before);
    int children = signalfd(-1, &watched, SFD_CLOEXEC);

    int failure[2];
    if (children < 0 || pipe2(failure, O_CLOEXEC) != 0) {
        say("failed", errno);
        return 1;
    }
    pid_t command = fork();
    if (command < 0) {
        say("failed", errno);
        return 1;
    }
    if (command == 0) become(arguments + 1, failure[1], &before);
    setpgid(command, command); // also here: whoever comes first
    close(failure[1]);
    int reason = 0;
    if (read(failure[0], &reason, sizeof reason) == sizeof reason) {
        say("failed", reason);
        return 1;
    }
    close(failure[0]);
    // Readers of the command's output wait for its end, not for ours.
    int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nothing >= 0) {
        dup2(nothing, STDOUT_FILENO);
        dup2(nothing, STDERR_FILENO);
    }
    say("started", command);

    struct pollfd sources[] = {{.fd = lifeline, .events = POLLIN}, {.fd = children, .events = POLLIN}};
    int reported = 0;
    for (;;) {
        if (poll(sources, 2, -1) < 0 && errno != EINTR) break;
        if (sources[1].revents & POLLIN) {
            struct signalfd_siginfo happened;
            if (read(children, &happened, sizeof happened) < 0 && errno != EINTR) break;
            siginfo_t ended;
            memset(&ended, 0, sizeof ended);
            if (!reported && waitid(P_PID, (id_t)command, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
                ended.si_pid == command) {
                reported = 1;
                say(ended.si_code == CLD_EXITED ? "exited" : "killed", ended.si_status);
            }
        }
        if (sources[0].revents & (POLLHUP | POLLERR)) break;
        if (sources[0].revents & POLLIN) {
            char byte;
            if (read(lifeline, &byte, 1) == 0) break;
        }
    }

    kill(-command, SIGKILL);
    do {
        kill_children();
    } while (waitpid(-1, NULL, 0) >= 0 || errno == EINTR);
    return 0;
}
