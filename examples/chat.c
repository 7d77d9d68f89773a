/* SPDX-License-Identifier: Apache-2.0 */
/* A chat: all participants read the same lines in the same order. Usage: chat_c [SOCKET]. */

#include <peal/peal.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
  const char* chat = "chat";
  char line[1024];
  peal_client* client = NULL;
  peal_event event;
  peal_options options;
  peal_options_init(&options);
  if (argc > 1) options.daemon = argv[1];
  setvbuf(stdin, NULL, _IONBF, 0); /* without a buffer, poll() reports every line */
  if (peal_connect(&options, &client) < 0 || peal_join(client, chat, NULL, 10000) < 0) {
    fprintf(stderr, "%s\n", peal_error_text());
    return 1;
  }
  struct pollfd fds[2] = {{0, POLLIN, 0}, {peal_fd(client), POLLIN, 0}};
  int here = 1;
  while (here && poll(fds, 2, -1) > 0) {
    if (fds[0].revents != 0) {
      if (fgets(line, sizeof line, stdin) == NULL) {
        fds[0].fd = -1;
        peal_flush(client, 10000);
        peal_leave(client, chat, 10000);
      } else if (peal_send(client, &chat, 1, line, strcspn(line, "\n"), NULL, 1000) < 0) {
        fprintf(stderr, "%s\n", peal_error_text());
      }
    }
    while (here && peal_receive(client, &event, 0) == 1) {
      if (event.kind == PEAL_MESSAGE) {
        printf("%.*s: %.*s\n", (int)event.sender.size, event.sender.data, (int)event.payload_bytes,
               (const char*)event.payload);
      } else if (event.kind == PEAL_GROUP_VIEW) {
        printf("-- %zu here\n", event.member_count);
      }
      here = event.kind != PEAL_LEFT && event.kind != PEAL_ENDED;
    }
    fflush(stdout);
  }
  peal_close(client, 1000);
  return 0;
}
