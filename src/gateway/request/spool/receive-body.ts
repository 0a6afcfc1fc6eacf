import type { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { GatewayError } from '../../../domain/errors.ts';
import type { Call } from '../../call.ts';
import type { Spool, SpoolFolder } from './spool.ts';

/**
 * Largest body kept in memory: a megabyte of content and some JSON around it. Larger ones go to a file, which at this
 * size takes 1.8 times the CPU (12 ms a call instead of 6.7 ms, on a busy machine).
 */
const MAX_IN_MEMORY_BYTES = 1.25 * 1024 * 1024;

export interface ReceiverParts {
  readonly spools: SpoolFolder;
  readonly bodyLimitBytes: number;
  /**
   * Repeats checks 1 to 8 with the current record before a body is refused: the cached record may be outdated, and the
   * refusals of these checks come first. Rejects with the refusal.
   */
  confirm(request: FastifyRequest): Promise<void>;
}

type Done = (error: Error | null, body?: Buffer | Spool) => void;

/**
 * Fastify's parser for model call bodies of any content type. Receives small bodies in memory while there is room
 * (call-memory.ts), others in a file, with back-pressure from disk to client. `bodyLimitBytes` applies to both.
 */
export function bodyReceiver(parts: ReceiverParts) {
  const spool = (request: FastifyRequest, payload: Readable, begun: readonly Buffer[], done: Done) => {
    const { memory } = request.call as Call;
    memory.spooling();
    receiveSpool(parts, request, payload, begun).then(
      (body) => {
        memory.received(body);
        done(null, body);
      },
      (error: Error) => done(error),
    );
  };
  return (request: FastifyRequest, payload: Readable, done: Done): void => {
    const { memory } = request.call as Call;
    const announced = Number(request.headers['content-length'] ?? 0);
    let isInMemory = announced <= MAX_IN_MEMORY_BYTES && announced <= parts.bodyLimitBytes;
    try {
      isInMemory = memory.receive(isInMemory ? announced : 0) && isInMemory;
    } catch (error) {
      done(error as Error);
      return;
    }
    if (!isInMemory) {
      spool(request, payload, [], done);
      return;
    }
    const isUnknown = request.headers['content-length'] === undefined;
    const chunks: Buffer[] = [];
    let length = 0;
    const stop = () => {
      payload.off('data', onData);
      payload.off('end', onEnd);
      payload.off('error', onError);
    };
    const onData = (chunk: Buffer) => {
      chunks.push(chunk);
      length += chunk.length;
      // A body with Content-Length was handled above.
      const isShort = length <= MAX_IN_MEMORY_BYTES && length <= parts.bodyLimitBytes;
      if (!isUnknown || (isShort && memory.receiveMore(chunk.length))) return;
      stop();
      payload.pause();
      spool(request, payload, chunks, done);
    };
    // The listeners stay: removing them from an ended stream would cost more.
    const onEnd = () => {
      const [first] = chunks;
      const body = first && chunks.length === 1 ? first : Buffer.concat(chunks, length);
      // Otherwise the listeners, and so the call, would retain them.
      chunks.length = 0;
      memory.received();
      done(null, body);
    };
    const onError = (error: Error) => {
      stop();
      done(error);
    };
    payload.on('data', onData);
    payload.on('end', onEnd);
    payload.on('error', onError);
    payload.resume();
  };
}

async function receiveSpool(
  parts: ReceiverParts,
  request: FastifyRequest,
  payload: Readable,
  begun: readonly Buffer[],
): Promise<Spool> {
  let spool: Spool | undefined;
  const append = async (chunk: Buffer) => {
    if ((spool?.size ?? 0) + chunk.length > parts.bodyLimitBytes) throw tooLarge();
    spool ??= await parts.spools.create();
    await spool.append(chunk);
  };
  try {
    if (Number(request.headers['content-length'] ?? 0) > parts.bodyLimitBytes) throw tooLarge();
    // First, because a client that leaves while the file is written would go unnoticed, and the file stay.
    const chunks = new Chunks(payload);
    for (const chunk of begun) await append(chunk);
    for (let chunk = await chunks.next(); chunk; chunk = await chunks.next()) await append(chunk);
    if (!spool) throw new Error('a body to be spooled that is empty');
    return spool;
  } catch (error) {
    await spool?.close();
    if (error instanceof GatewayError) await parts.confirm(request);
    throw error;
  }
}

/**
 * The chunks of a body, one at a time and unjoined; the stream's own iterator concatenates them. The stream is not
 * destroyed, because its connection may still have to carry a refusal.
 */
class Chunks {
  readonly #payload: Readable;
  #chunks: Buffer[] = [];
  #end: Error | 'end' | undefined;
  #wake = () => {};

  constructor(payload: Readable) {
    this.#payload = payload;
    payload
      .on('data', (chunk: Buffer) => {
        payload.pause();
        this.#chunks.push(chunk);
        this.#wake();
      })
      .on('end', () => this.#over('end'))
      .on('error', (error) => this.#over(error))
      .on('close', () => this.#over(new Error('the body is not whole')));
  }

  /** The next chunk; undefined at the end of the body. Rejects if it breaks off. */
  async next(): Promise<Buffer | undefined> {
    while (this.#chunks.length === 0) {
      if (this.#end === 'end') return undefined;
      if (this.#end) throw this.#end;
      await new Promise<void>((wake) => {
        this.#wake = wake;
        this.#payload.resume();
      });
    }
    return this.#chunks.shift();
  }

  #over(end: Error | 'end'): void {
    this.#end ??= end;
    this.#wake();
  }
}

function tooLarge(): GatewayError {
  return new GatewayError('body_too_large', 'The request body is larger than this gateway accepts.');
}
