import type { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { GatewayError } from '../../../domain/errors.ts';
import type { LoopTurns } from '../../../shares/loop-turns.ts';
import type { EnteredCall } from '../../call.ts';
import type { Spool, SpoolFolder } from './spool.ts';

/**
 * Bytes of the largest body that is kept in memory: one with a megabyte of content and some JSON around it. Larger ones
 * go to a file as they come, which at this size takes 1.8 times the CPU (12 ms a call against 6.7 ms, on a busy
 * machine).
 */
const IN_MEMORY_MAX_BYTES = 1.25 * 1024 * 1024;

/** Time that the system takes to read a chunk of a body, 64 KiB, from its connection. */
const READ_MS = 0.1;

export interface ReceiverParts {
  readonly spools: SpoolFolder;
  readonly bodyLimitBytes: number;
  /** Bodies that come, end or break off together do so in several turns of the event loop. */
  readonly turns: LoopTurns;
  /**
   * Repeats checks 1 to 8 with the key's current record, before a body is refused: the cached record may be stale, and
   * their refusal comes first. Rejects with it.
   */
  confirm(request: FastifyRequest): Promise<void>;
}

type Done = (error: Error | null, body?: Buffer | Spool) => void;

/**
 * Parser of Fastify for the body of a model call of any content type. Small bodies are received in memory while there is
 * room for them (call-memory.ts), others in a file, with back-pressure from the disk to the client. `bodyLimitBytes` holds
 * for both.
 */
export function bodyReceiver(parts: ReceiverParts) {
  const spool = (request: FastifyRequest, payload: Readable, begun: readonly Buffer[], done: Done) => {
    const { memory, compiled } = request.call as EnteredCall;
    const { accountId } = compiled.key;
    memory.spooling();
    receiveSpool(parts, request, payload, begun).then(
      (body) => {
        memory.received(body);
        done(null, body);
      },
      (error: Error) => parts.turns.run(accountId, () => done(error)),
    );
  };
  return (request: FastifyRequest, payload: Readable, done: Done): void => {
    const { memory, compiled } = request.call as EnteredCall;
    const announced = Number(request.headers['content-length'] ?? 0);
    let isInMemory = announced <= IN_MEMORY_MAX_BYTES && announced <= parts.bodyLimitBytes;
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
    const turn = (work: () => void, more?: number) => parts.turns.run(compiled.key.accountId, work, more);
    const resume = () => void payload.resume();
    const stop = () => {
      payload.off('data', onData);
      payload.off('end', onEnd);
      payload.off('error', onError);
    };
    const onData = (chunk: Buffer) => {
      chunks.push(chunk);
      length += chunk.length;
      // A body with Content-Length was decided on above.
      const isShort = length <= IN_MEMORY_MAX_BYTES && length <= parts.bodyLimitBytes;
      if (!isUnknown || (isShort && memory.receiveMore(chunk.length))) {
        if (length === announced) return;
        // A thousand bodies that come together would else be read in one turn of the loop.
        payload.pause();
        turn(resume, READ_MS);
        return;
      }
      stop();
      payload.pause();
      spool(request, payload, chunks, done);
    };
    // The listeners stay: removing them from a stream that has ended would cost more than they do.
    const onEnd = () => {
      const [first] = chunks;
      const body = first && chunks.length === 1 ? first : Buffer.concat(chunks, length);
      // They would stay with the listeners, and the listeners with the call.
      chunks.length = 0;
      memory.received();
      turn(() => done(null, body));
    };
    const onError = (error: Error) => {
      stop();
      turn(() => done(error));
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
  const { accountId } = (request.call as EnteredCall).compiled.key;
  const append = async (chunk: Buffer) => {
    if ((spool?.size ?? 0) + chunk.length > parts.bodyLimitBytes) throw tooLarge();
    spool ??= await parts.spools.create();
    await spool.append(chunk);
  };
  try {
    if (Number(request.headers['content-length'] ?? 0) > parts.bodyLimitBytes) throw tooLarge();
    for (const chunk of begun) await append(chunk);
    const chunks = new Chunks(payload, () => parts.turns.next(accountId, READ_MS));
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
 * The chunks of a body, one at a time and as they came: the stream's own iterator copies what has come into one piece. The
 * stream is not destroyed, because a refusal may still have to be sent on its connection.
 */
class Chunks {
  readonly #payload: Readable;
  readonly #turn: () => Promise<void>;
  #chunks: Buffer[] = [];
  #end: Error | 'end' | undefined;
  #wake = () => {};

  /** `turn` is waited for before each chunk is asked for. */
  constructor(payload: Readable, turn: () => Promise<void>) {
    this.#payload = payload;
    this.#turn = turn;
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

  /** The next chunk; undefined at the end of the body. Rejects where it breaks off. */
  async next(): Promise<Buffer | undefined> {
    if (this.#chunks.length === 0) await this.#turn();
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
