import { GatewayError } from '../../domain/errors.ts';
import type { Share } from '../../shares/fair-pool.ts';
import type { Pools } from '../../shares/pools.ts';
import type { Spool } from './spool/spool.ts';

/** Memory for a call besides body and answer: the objects of request, reply and exchange, and buffers of sockets. */
const CALL_BYTES = 32 * 1024;
/** Memory for a stream beyond that: what is read and waits to be passed on. */
const STREAM_BYTES = 96 * 1024;
/** An answer that `CALL_BYTES` have room for. */
const SMALL_ANSWER_BYTES = 16 * 1024;
/** Memory for a body in a file: the piece being written or sent, and the next one. */
const PIECE_BYTES = 128 * 1024;

/**
 * The memory of one model call: its part of the pool `calls`, from the first byte of the body until the call is settled
 * and its answer is sent, of `bodies` while the body comes, and of `held` and `unread` for its answer. States: without
 * a body → receiving → received → free.
 */
export class CallMemory {
  readonly #pools: Pools;
  readonly #accountId: number;
  #call: Share | undefined;
  #body: Share | undefined;
  #answer: Share | undefined;
  #unread: Share | undefined;
  #spool: Spool | undefined;
  #isFree = false;

  constructor(pools: Pools, accountId: number) {
    this.#pools = pools;
    this.#accountId = accountId;
  }

  /**
   * Takes memory for a call whose body has `bytes`, as far as they are known. False if there is none for the body,
   * which then goes to a file. Throws 503 `service_unavailable` if there is none for the call.
   */
  receive(bytes: number): boolean {
    // Nobody would release a share given to a client that has left.
    if (this.#isFree) throw new GatewayError('invalid_request', 'The upload was interrupted.');
    const { calls, bodies } = this.#pools;
    this.#body = bodies.take(this.#accountId, bytes);
    this.#call = calls.take(this.#accountId, CALL_BYTES + (this.#body ? bytes : PIECE_BYTES));
    if (!this.#call) {
      this.free();
      throw noMemory();
    }
    return this.#body !== undefined;
  }

  /** Takes memory for more of a body of unknown length. False if there is none: the body goes to a file. */
  receiveMore(bytes: number): boolean {
    return this.#call?.grow(bytes) === true && this.#body?.grow(bytes) === true;
  }

  /** The body goes to a file, including the part that has arrived. */
  spooling(): void {
    if (this.#body) this.#call?.grow(PIECE_BYTES - this.#body.bytes);
    this.received();
  }

  /** The body has come whole; `spool` is the file that has it. */
  received(spool?: Spool): void {
    this.#body?.release();
    this.#body = undefined;
    this.#spool = spool;
    if (this.#isFree) this.closeBody();
  }

  /** Takes memory for an answer that is a stream. Throws 503 `service_unavailable` if there is none. */
  stream(): void {
    if (!this.#isFree && !this.#call?.grow(STREAM_BYTES)) throw noMemory();
  }

  /** Takes memory for an answer that is held, of which `bytes` have come. False if there is none. */
  holdAnswer(bytes: number): boolean {
    if (bytes <= SMALL_ANSWER_BYTES) return true;
    if (this.#isFree) return false;
    if (this.#answer) return this.#answer.grow(bytes - this.#answer.bytes);
    this.#answer = this.#pools.held.take(this.#accountId, bytes);
    return this.#answer !== undefined;
  }

  /** The client takes nothing of the answer for now. False if there is no memory for another call of this kind. */
  unread(): boolean {
    this.#unread ??= this.#isFree ? undefined : this.#pools.unread.take(this.#accountId);
    return this.#unread !== undefined;
  }

  /** The client takes its answer again. */
  read(): void {
    this.#unread?.release();
    this.#unread = undefined;
  }

  /** Closes the body's file, if it is in one. */
  closeBody(): void {
    void this.#spool?.close();
  }

  /** Gives back all memory. Safe to call again. */
  free(): void {
    this.#isFree = true;
    this.#body?.release();
    this.#call?.release();
    this.#answer?.release();
    this.read();
    this.closeBody();
  }
}

function noMemory(): GatewayError {
  const message = 'The gateway has no memory for another call. Try again shortly.';
  return new GatewayError('service_unavailable', message);
}

/**
 * Bytes that a body counts as at least while it is read: JSON of very many parts takes 13 MB for 1.2 MB.
 */
const MIN_BYTES = 4 * 1024 * 1024;

/** Runs the reading of a large body of `size` bytes once there is memory for it: of an account, one at a time. */
export type ReadLarge = <T>(size: number, read: () => Promise<T>) => Promise<T>;

export function largeReadsOf({ reading }: Pools, accountId: number): ReadLarge {
  return (size, read) => reading.run(accountId, read, Math.max(size, MIN_BYTES));
}
