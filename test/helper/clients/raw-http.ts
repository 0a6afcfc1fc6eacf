import { connect, type Socket } from 'node:net';

/** An answer, unparsed except for status and headers. */
export interface RawAnswer {
  readonly status: number;
  /** Headers by name in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** A connection on which raw bytes can be sent. */
export interface RawConnection {
  readonly socket: Socket;
  send(bytes: string | Buffer): void;
  /**
   * Resolves with the next answer, including interim ones (1xx); undefined if the server closed the connection instead.
   */
  next(method?: string): Promise<RawAnswer | undefined>;
  /** Resolves when the connection is closed, with the bytes after the last answer read. */
  closed: Promise<string>;
}

export function openRaw(url: string, options: { allowHalfOpen?: boolean } = {}): RawConnection {
  const { hostname, port } = new URL(url);
  const socket = connect({ port: Number(port), host: hostname, ...options });
  let rest = '';
  let isClosed = false;
  let wake = () => {};
  socket.on('error', () => {});
  socket.on('data', (chunk) => {
    rest += chunk.toString('latin1');
    wake();
  });
  const closed = new Promise<string>((resolve) => {
    socket.on('close', () => {
      isClosed = true;
      wake();
      resolve(rest);
    });
  });
  return {
    socket,
    send: (bytes) => void socket.write(bytes),
    closed,
    async next(method = 'POST') {
      for (;;) {
        const found = parse(rest, method);
        if (found) {
          rest = found.rest;
          return found.answer;
        }
        if (isClosed) return undefined;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}

/** Sends one request. Resolves with its answer; undefined if the connection closed without one. */
export async function sendRaw(url: string, bytes: string | Buffer): Promise<RawAnswer | undefined> {
  const connection = openRaw(url);
  connection.send(bytes);
  const answer = await connection.next(String(bytes.toString()).split(' ', 1)[0]);
  connection.socket.destroy();
  return answer;
}

function parse(text: string, method: string): { answer: RawAnswer; rest: string } | undefined {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const [line = '', ...lines] = text.slice(0, end).split('\r\n');
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(line)?.[1]);
  const headers = new Map(
    lines.map((header): [string, string] => {
      const colon = header.indexOf(':');
      return [header.slice(0, colon).toLowerCase(), header.slice(colon + 1).trim()];
    }),
  );
  const from = end + 4;
  if (method === 'HEAD' || status < 200 || status === 204) {
    return { answer: { status, headers, body: '' }, rest: text.slice(from) };
  }
  const length = Number(headers.get('content-length'));
  if (Number.isNaN(length)) throw new Error(`an answer without Content-Length: ${line}`);
  if (text.length < from + length) return undefined;
  const body = text.slice(from, from + length);
  return { answer: { status, headers, body }, rest: text.slice(from + length) };
}
