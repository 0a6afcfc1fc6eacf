import type { Socket } from 'node:net';

/** How long a refused client may take to read the answer before its connection is cut. */
const LINGER_MS = 1_000;

/**
 * Ends the connection of a client that is refused while it may still be sending: cut at once, what it sends would be
 * answered with a reset, and it would see that instead of the refusal (RFC 9112 §9.6). It could leave its half open for
 * ever, so it has a second.
 */
export function lingeringEnd(socket: Socket, lastBytes?: string): void {
  if (lastBytes === undefined) socket.end();
  else socket.end(lastBytes);
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}

/**
 * Has Node end the connection so after an answer with `Connection: close` to a request whose body has not come whole.
 * `destroySoon` is what Node calls then. What still comes is thrown away: it is neither a body nor a next request.
 */
export function closeAfterAnswer(socket: Socket): void {
  socket.destroySoon = () => {
    socket.removeAllListeners('data').on('data', () => {});
    socket.resume();
    lingeringEnd(socket);
  };
}
