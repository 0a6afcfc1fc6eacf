import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { clientNetwork } from '../domain/addresses.ts';
import type { FairPool, Share } from '../shares/fair-pool.ts';

/** Memory of a request that waits, without its headers and body, which are at most 64 KiB of a connection. */
const REQUEST_BYTES = 2 * 1024;
/**
 * Bytes given to Node's parser at a time if they may have several requests, because it begins each request that it finds.
 * These have at most 28 requests, and the 64 KiB that are read at once 3,600.
 */
const PIECE_BYTES = 512;
const END_OF_HEAD = Buffer.from('\r\n\r\n');

type Begin = (request: IncomingMessage, response: ServerResponse) => void;
type Feed = (bytes: Buffer) => void;
interface ServerSocket extends Socket {
  /** True while Node's parser takes no bytes, because the client takes none of an answer. */
  readonly _paused?: boolean;
  readonly _readableState: { highWaterMark: number };
}

/**
 * Runs one request of a connection at a time: the next begins when the answer to the one before it is sent. Node alone
 * begins each request that it has read, and goes on reading until answers pile up. Here, what was read waits unparsed,
 * at most 64 KiB, and the connection is not read meanwhile. Without room for the few requests that were parsed, it is
 * cut. Node's parser thus gets its bytes from here instead of the system, which costs 5 µs of processor time a call.
 */
export function runOneAtATime(server: Server, ahead: FairPool<string>): void {
  const lines = new WeakMap<Socket, Line>();
  server
    .on('connection', (socket) => lines.set(socket, new Line(socket as ServerSocket, ahead)))
    .on('connect', ({ socket }) => lines.get(socket)?.end());
  for (const event of ['request', 'checkExpectation']) {
    const [begin] = server.listeners(event) as Begin[];
    if (!begin) throw new Error(`the server has no listener of ${event}`);
    server.off(event, begin).on(event, (request: IncomingMessage, response: ServerResponse) => {
      // Node gives the connection to one answer at a time.
      if (response.socket) begin.call(server, request, response);
      else lines.get(request.socket)?.join(response, () => begin.call(server, request, response));
    });
  }
}

/** The requests of a connection that wait. */
class Line {
  readonly #socket: ServerSocket;
  readonly #ahead: FairPool<string>;
  /** Node's own listener of the connection's bytes: its parser. */
  readonly #feed: Feed;
  #share: Share | undefined;
  #requests = 0;
  #isEnded = false;

  constructor(socket: ServerSocket, ahead: FairPool<string>) {
    this.#socket = socket;
    this.#ahead = ahead;
    const [feed] = socket.listeners('data') as Feed[];
    if (!feed) throw new Error('the connection has no parser');
    this.#feed = feed;
    socket
      .off('data', feed)
      .on('data', this.#read)
      .once('close', () => this.end());
    // A paused connection is not read beyond the bytes that it was given back.
    socket._readableState.highWaterMark = 1;
  }

  /** Must be called when the connection has no parser any more. */
  end(): void {
    this.#isEnded = true;
    this.#socket.off('data', this.#read);
    this.#share?.release();
  }

  /** `begin` is called when the connection is free for this answer. */
  join(response: ServerResponse, begin: () => void): void {
    if (this.#isEnded) return;
    if (!this.#hasRoom()) {
      this.#isEnded = true;
      this.#socket.destroy();
      return;
    }
    this.#requests++;
    // In a later turn of the event loop, so that other connections come between.
    response.once('socket', () => setImmediate(() => this.#next(begin)));
  }

  #hasRoom(): boolean {
    if (this.#share) return this.#share.grow(REQUEST_BYTES);
    this.#share = this.#ahead.take(clientNetwork(this.#socket.remoteAddress ?? ''), REQUEST_BYTES);
    return this.#share !== undefined;
  }

  #next(begin: () => void): void {
    if (this.#isEnded || this.#socket.destroyed) return;
    if (--this.#requests > 0) this.#share?.grow(-REQUEST_BYTES);
    else {
      this.#share?.release();
      this.#share = undefined;
    }
    begin();
    if (this.#requests === 0) this.#socket.resume();
  }

  readonly #read = (chunk: Buffer): void => {
    let rest = chunk;
    const socket = this.#socket;
    while (rest.length > 0 && this.#requests === 0 && !socket._paused) {
      const piece = mayHaveSeveral(rest) ? rest.subarray(0, PIECE_BYTES) : rest;
      rest = rest.subarray(piece.length);
      this.#feed(piece);
      if (this.#isEnded || socket.destroyed) return;
    }
    if (rest.length === 0) return;
    socket.pause();
    socket.unshift(rest);
  };
}

function mayHaveSeveral(bytes: Buffer): boolean {
  const first = bytes.indexOf(END_OF_HEAD);
  return first >= 0 && bytes.indexOf(END_OF_HEAD, first + 1) >= 0;
}
