import type { AddressInfo } from 'node:net';
import { createServer, type Socket } from 'node:net';

/** A request as far as the choice of its answer needs it. */
export interface RawRequest {
  readonly path: string;
  /** The model that the body names, in JSON or a form. */
  readonly model: string;
  readonly body: string;
}

/** An answer byte by byte. */
export interface RawAnswer {
  /** Status line and headers but those of `send`, without the blank line. */
  readonly head: string;
  readonly body: Buffer;
  /**
   * How the body is framed and when it is sent. `waits`: in chunks, and what follows the first blank line only when
   * `until` resolves; `bytes`: each byte in a chunk of its own; `close`: up to the end of the connection; `breaks`: in
   * chunks without the last one.
   */
  readonly send: 'length' | 'chunked' | 'waits' | 'bytes' | 'close' | 'breaks';
  readonly until?: Promise<unknown>;
}

export interface RawProvider {
  readonly url: string;
  close(): Promise<void>;
}

/** Starts a provider that answers each request with exact bytes. */
export async function startRawProvider(answer: (request: RawRequest) => RawAnswer): Promise<RawProvider> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
      const end = requestEnd(received);
      if (end === undefined) return;
      const request = requestOf(received.slice(0, end));
      received = received.slice(end);
      send(socket, answer(request));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** Length of the first request; undefined while a part of it is missing. */
function requestEnd(received: string): number | undefined {
  const body = received.indexOf('\r\n\r\n') + 4;
  if (body < 4) return undefined;
  const head = received.slice(0, body);
  const length = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
  if (!/\r\ntransfer-encoding: *chunked/i.test(head)) {
    return received.length < body + length ? undefined : body + length;
  }
  const last = received.indexOf('\r\n0\r\n\r\n', body - 2);
  return last < 0 ? undefined : last + 7;
}

function requestOf(request: string): RawRequest {
  const [, path = ''] = /^\S+ (\S+)/.exec(request) ?? [];
  const body = request.slice(request.indexOf('\r\n\r\n') + 4);
  const model = /"model"\s*:\s*"([^"]*)"/.exec(body)?.[1] ?? /name="model"\r\n\r\n([^\r]*)/.exec(body)?.[1];
  return { path, model: model ?? '', body };
}

const CHUNKED = 'Transfer-Encoding: chunked';
const LAST_CHUNK = '0\r\n\r\n';

function send(socket: Socket, answer: RawAnswer): void {
  const [now, later] = partsOf(answer);
  socket.write(Buffer.from(now, 'latin1'));
  if (later !== undefined) void answer.until?.then(() => socket.write(later, 'latin1'));
  if (answer.send === 'close' || answer.send === 'breaks') socket.end();
}

/** The bytes of an answer, and those that are sent later, both as Latin-1. */
function partsOf({ head, body, send }: RawAnswer): readonly [now: string, later?: string] {
  const text = body.toString('latin1');
  const start = (header: string) => `${head}\r\n${header}\r\n\r\n`;
  switch (send) {
    case 'length':
      // An answer without a body has no length.
      return [
        / 204 [^\r]*$/m.test(head) ? `${head}\r\n\r\n` : start(`Content-Length: ${text.length}`) + text,
      ];
    case 'close':
      return [start('Connection: close') + text];
    case 'breaks':
      return [start(CHUNKED) + chunk(text)];
    case 'waits': {
      const rest = text.indexOf('\n\n') + 2;
      return [start(CHUNKED) + chunk(text.slice(0, rest)), chunk(text.slice(rest)) + LAST_CHUNK];
    }
    case 'bytes':
      return [start(CHUNKED) + Array.from(text, chunk).join('') + LAST_CHUNK];
    case 'chunked':
      return [start(CHUNKED) + chunk(text) + LAST_CHUNK];
  }
}

function chunk(bytes: string): string {
  return bytes === '' ? '' : `${bytes.length.toString(16)}\r\n${bytes}\r\n`;
}
