import { Pool } from 'undici';
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

  constructor(url: string, connections: number) {
    this.#pool = new Pool(url, { connections, pipelining: 1 });
  }

  /** Rejects with UnexpectedStatus unless the answer has this status; it has then ended. */
  async call({ method, path, headers, body }: CallRequest, status: number): Promise<void> {
    const answer = await this.#pool.request({ method, path, headers, body });
    const text = await answer.body.text();
    if (answer.statusCode !== status) {
      throw new UnexpectedStatus(
        answer.statusCode,
        `a call was answered ${answer.statusCode}, not ${status}: ${text}`,
      );
    }
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
