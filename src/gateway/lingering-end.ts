import type { Socket } from 'node:net';
import { FairPool, type Share } from '../shares/fair-pool.ts';

/** Time a refused client has to read the answer. */
const LINGER_MS = 1_000;

/** Time a client that still uploads a body that is too large has: since its last chunk, and in total. */
const UPLOAD_PAUSE_MS = 5_000;
const UPLOAD_MS = 20_000;
/** Maximum discarded bytes of such a body. */
const UPLOAD_BYTES = 256 * 1024 * 1024;
/** Connections of this kind, by account; those without a place get one second. */
const uploads = new FairPool({ places: { all: 64, ofOne: 4 } });

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
    const place = accountId === undefined || socket.destroyed ? undefined : uploads.take(accountId);
    if (place) dropUpload(socket, place);
    else lingeringEnd(socket);
  };
}

function dropUpload(socket: Socket, place: Share): void {
  const begunAt = performance.now();
  let bytes = 0;
  const pause = setTimeout(() => socket.destroy(), UPLOAD_PAUSE_MS).unref();
  socket.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > UPLOAD_BYTES || performance.now() - begunAt > UPLOAD_MS) socket.destroy();
    else pause.refresh();
  });
  socket.once('close', () => {
    clearTimeout(pause);
    place.release();
  });
  socket.end();
}
