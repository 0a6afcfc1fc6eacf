import { type Dispatcher, Pool } from 'undici';
import type { CallRequest } from './call-request.ts';

export class UnexpectedStatus extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Makes single calls over kept-alive connections, for loads that a generator of equal calls cannot make. */
export class Caller {
  readonly #pool: Pool;

  /** `localAddress`: address that the connections come from. */
  constructor(url: string, connections: number, localAddress?: string) {
    const from = localAddress === undefined ? {} : { localAddress };
    this.#pool = new Pool(url, { connections, pipelining: 1, ...from });
  }

  /** Rejects with UnexpectedStatus unless the answer has this status; it has then ended. */
  call({ method, path, headers, body }: CallRequest, status: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#pool.dispatch({ method, path, headers, body }, new Answer(status, resolve, reject));
    });
  }

  /** Leaves when the first bytes of the answer have come. */
  async leave({ method, path, headers, body }: CallRequest): Promise<void> {
    const answer = await this.#pool.request({ method, path, headers, body });
    await new Promise<void>((resolve, reject) => {
      answer.body.once('data', () => answer.body.destroy()).once('close', resolve);
      answer.body.once('error', (error: Error) => (error.name === 'AbortError' ? resolve() : reject(error)));
    });
  }

  async close(): Promise<void> {
    await this.#pool.destroy();
  }
}

/**
 * An answer that is only waited for. `Pool.request` makes a stream of each, which took a generator of 2,500 calls a second
 * 10 to 20 ms of garbage collection twice a second: the p99 of a load was that of its generator.
 */
class Answer implements Dispatcher.DispatchHandler {
  readonly #expected: number;
  readonly #resolve: () => void;
  readonly #reject: (error: Error) => void;
  #status = 0;
  /** Of an answer that was not expected. */
  #text = '';

  constructor(expected: number, resolve: () => void, reject: (error: Error) => void) {
    this.#expected = expected;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  onRequestStart(): void {}

  onResponseStart(_controller: Dispatcher.DispatchController, status: number): void {
    this.#status = status;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#status !== this.#expected) this.#text += chunk.toString();
  }

  onResponseEnd(): void {
    if (this.#status === this.#expected) {
      this.#resolve();
      return;
    }
    const message = `a call was answered ${this.#status}, not ${this.#expected}: ${this.#text}`;
    this.#reject(new UnexpectedStatus(this.#status, message));
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#reject(error);
  }
}
