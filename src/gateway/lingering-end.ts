import type { Socket } from 'node:net';

/** How long a refused client may take to read the answer before its connection is cut. */
const LINGER_MS = 1_000;

/** The same for one that goes on sending a body which is too large, from its last piece on, and in all. */
const UPLOAD_PAUSE_MS = 5_000;
const UPLOAD_MS = 20_000;
/** Most bytes that are thrown away of such a body. */
const UPLOAD_BYTES = 256 * 1024 * 1024;
/** Such connections at once: of an account, and of all. Others have a second. */
const UPLOADS_OF_ONE = 4;
const UPLOADS = 64;

/** The account of each of them. */
const uploads = new Map<Socket, number>();

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
 * `destroySoon` is what Node calls then. What still comes is thrown away: it is neither a body nor a next request. Many clients
 * read no answer before their upload is over, so one of `accountId` may take longer.
 */
export function closeAfterAnswer(socket: Socket, accountId: number | undefined): void {
  socket.destroySoon = () => {
    socket.removeAllListeners('data').on('data', () => {});
    socket.resume();
    if (accountId === undefined || !begins(socket, accountId)) lingeringEnd(socket);
    else dropUpload(socket);
  };
}

function begins(socket: Socket, accountId: number): boolean {
  const ofOne = [...uploads.values()].filter((other) => other === accountId).length;
  if (socket.destroyed || uploads.size >= UPLOADS || ofOne >= UPLOADS_OF_ONE) return false;
  uploads.set(socket, accountId);
  socket.once('close', () => uploads.delete(socket));
  return true;
}

function dropUpload(socket: Socket): void {
  const begunAt = performance.now();
  let bytes = 0;
  const pause = setTimeout(() => socket.destroy(), UPLOAD_PAUSE_MS).unref();
  socket.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > UPLOAD_BYTES || performance.now() - begunAt > UPLOAD_MS) socket.destroy();
    else pause.refresh();
  });
  socket.once('close', () => clearTimeout(pause));
  socket.end();
}
