/** Types for the parts of autocannon 9 that the load generator uses. The package has none. */
declare module 'autocannon' {
  import type { EventEmitter } from 'node:events';

  interface Client extends EventEmitter {
    setRequests(requests: readonly object[]): void;
  }

  interface Options {
    url: string | string[];
    connections: number;
    /** Total number of calls. Each connection makes its share and closes after the last answer. */
    amount: number;
    /** Seconds without an answer after which a call counts as failed. */
    timeout: number;
    /** Milliseconds between checks for the end. */
    sampleInt: number;
    /** Ends the run at this number of failures. */
    bailout: number;
    setupClient(client: Client): void;
    verifyBody(body: string): boolean;
  }

  interface Result {
    readonly errors: number;
    readonly mismatches: number;
  }

  interface Instance extends EventEmitter, PromiseLike<Result> {
    on(
      event: 'response',
      listener: (client: Client, statusCode: number, bytes: number, milliseconds: number) => void,
    ): this;
  }

  export default function autocannon(options: Options): Instance;
}
