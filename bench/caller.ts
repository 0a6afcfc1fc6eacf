import { Pool } from 'undici';
import type { CallRequest } from './call-request.ts';

/** Makes single calls over kept-alive connections, for loads that a generator of equal calls cannot make. */
export class Caller {
  readonly #pool: Pool;

  constructor(url: string, connections: number) {
    this.#pool = new Pool(url, { connections, pipelining: 1 });
  }

  /** Rejects unless the answer has this status and ends. */
  async call({ method, path, headers, body }: CallRequest, status: number): Promise<void> {
    const answer = await this.#pool.request({ method, path, headers, body });
    await answer.body.dump({ limit: Number.MAX_SAFE_INTEGER });
    if (answer.statusCode !== status)
      throw new Error(`a call was answered ${answer.statusCode}, not ${status}`);
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
