import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';

/** A body too large to be in memory at once: a beginning, one piece repeated many times, and an end. */
export interface LargeBody {
  readonly type: string;
  readonly head: Buffer;
  readonly piece: Buffer;
  readonly pieces: number;
  readonly tail: Buffer;
}

const PIECE_BYTES = 64 * 1024;

function largeBody(type: string, head: string, piece: Buffer, bytes: number, tail: string): LargeBody {
  const pieces = Math.ceil(bytes / piece.length);
  return { type, head: Buffer.from(head), piece, pieces, tail: Buffer.from(tail) };
}

/** An upload of about `bytes`, whose fields come after the file. */
export function audioForm(model: string, bytes: number): LargeBody {
  const head = '--edge\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\n';
  const tail = `\r\n--edge\r\nContent-Disposition: form-data; name="model"\r\n\r\n${model}\r\n--edge--\r\n`;
  return largeBody('multipart/form-data; boundary=edge', head, Buffer.alloc(PIECE_BYTES, 7), bytes, tail);
}

/** A chat call with a picture of about `bytes`. */
export function pictureChat(model: string, bytes: number): LargeBody {
  const head = `{ "messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,`;
  const tail = `"}}]}],"seed":12345678901234567890,"model":${JSON.stringify(model)} }`;
  return largeBody('application/json', head, Buffer.alloc(PIECE_BYTES, 'QUJD'), bytes, tail);
}

/** A chat call of about `bytes` in messages of a kilobyte each, so that none of its strings is very long. */
export function wordyChat(model: string, bytes: number): LargeBody {
  const message = `{"role":"user","content":"${'words '.repeat(160)}"},`;
  const head = `{"model":${JSON.stringify(model)},"messages":[`;
  return largeBody(
    'application/json',
    head,
    Buffer.from(message.repeat(64)),
    bytes,
    '{"role":"user","content":""}]}',
  );
}

export function lengthOf({ head, piece, pieces, tail }: LargeBody): number {
  return head.length + piece.length * pieces + tail.length;
}

export function sha256Of({ head, piece, pieces, tail }: LargeBody): string {
  const hash = createHash('sha256').update(head);
  for (let index = 0; index < pieces; index++) hash.update(piece);
  return hash.update(tail).digest('hex');
}

/** A call whose body has been sent except for its end. */
export interface Begun {
  readonly outgoing: ClientRequest;
  /** Sends the end; resolves with the status of the answer. */
  finish(): Promise<number>;
}

/** On a busy machine Redis may be late for the head of a call or for its end: then all of it is sent again. */
const TRIES = 10;

/** Sends a body except for its end, as fast as the gateway takes it. Rejects where that breaks again and again. */
export async function begin(
  url: string,
  key: string,
  path: string,
  body: LargeBody,
  tries = TRIES,
): Promise<Begun> {
  const again = () => begin(url, key, path, body, tries - 1);
  try {
    const { outgoing, finish } = await beginOnce(url, key, path, body);
    return {
      outgoing,
      async finish() {
        const status = await finish();
        return status === 503 && tries > 1 ? await (await again()).finish() : status;
      },
    };
  } catch (error) {
    if (tries === 1) throw error;
    return await again();
  }
}

async function beginOnce(url: string, key: string, path: string, body: LargeBody): Promise<Begun> {
  const outgoing = request(`${url}${path}`, {
    method: 'POST',
    agent: false,
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': body.type,
      'content-length': lengthOf(body),
    },
  });
  const answered = once(outgoing, 'response') as Promise<[IncomingMessage]>;
  answered.catch(() => {});
  outgoing.write(body.head);
  for (let index = 0; index < body.pieces; index++) {
    if (!outgoing.write(body.piece)) await once(outgoing, 'drain');
  }
  return {
    outgoing,
    async finish() {
      outgoing.end(body.tail);
      const [response] = await answered;
      response.resume();
      return response.statusCode ?? 0;
    },
  };
}
