import type { Socket } from 'node:net';

/** Time a refused client has to read the answer. */
const LINGER_MS = 1_000;

/** Time a client that still uploads a body that is too large has: since its last chunk, and in total. */
const UPLOAD_PAUSE_MS = 5_000;
const UPLOAD_MS = 20_000;
/** Maximum discarded bytes of such a body. */
const UPLOAD_BYTES = 256 * 1024 * 1024;
/** Maximum connections of this kind, per account and in total. Others get one second. */
const UPLOADS_OF_ONE = 4;
const UPLOADS = 64;

/** Account of each such connection. */
const uploads = new Map<Socket, number>();

/**
 * Ends the connection of a refused client that may still be sending. If cut at once, the client would get a reset
 * instead of the refusal (RFC 9112 §9.6). It has one second, because it could leave its half open forever.
 */
export function lingeringEnd(socket: Socket, lastBytes?: string): void {
  if (lastBytes === undefined) socket.end();
  else socket.end(lastBytes);
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}

/**
 * Makes Node end the connection like `lingeringEnd` after an answer with `Connection: close` to a request whose body is
 * incomplete. Node calls `destroySoon` then. Further data is discarded: it is neither a body nor a next request. Many
 * clients read no answer before their upload is over, so a client of `accountId` may take longer.
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
