import autocannon from 'autocannon';
import type { CallRequest } from './call-request.ts';

const TIMEOUT_S = 30;

export interface LoadOptions {
  readonly urls: readonly string[];
  readonly connections: number;
  /** Total number of calls: a load ends with the last answer, never by cutting off calls. */
  readonly amount: number;
  /** Each connection repeats its own share of them. */
  readonly requests: readonly CallRequest[];
  /** Expected statuses. */
  readonly accepts: readonly number[];
}

export interface LoadResult {
  /** From the first request to the last answer. */
  readonly seconds: number;
  readonly statuses: ReadonlyMap<number, number>;
  /** Milliseconds of answers on an open connection, ascending: to the last byte, and to the head. */
  readonly answerMs: readonly number[];
  readonly headMs: readonly number[];
}

/** Sends the calls, sequentially on each connection. Throws if any of them fails, because that is no measurement. */
export async function load(options: LoadOptions): Promise<LoadResult> {
  const { urls, amount, requests, accepts } = options;
  const connections = Math.min(options.connections, amount);
  const statuses = new Map<number, number>();
  const answerMs: number[] = [];
  const headMs: number[] = [];
  const opened = new WeakSet<object>();
  let firstAt = Number.POSITIVE_INFINITY;
  let lastAt = 0;
  let clients = 0;
  const instance = autocannon({
    url: [...urls],
    connections,
    amount,
    timeout: TIMEOUT_S,
    sampleInt: 20,
    // Otherwise it reconnects forever if a server is gone.
    bailout: 1,
    setupClient(client) {
      const share = requests.filter((_, index) => index % connections === clients % connections);
      client.setRequests(share.length > 0 ? share : requests);
      clients += 1;
      let sentAt = 0;
      client.on('request', () => {
        sentAt = performance.now();
        firstAt = Math.min(firstAt, sentAt);
      });
      client.on('headers', () => {
        if (opened.has(client)) headMs.push(performance.now() - sentAt);
      });
    },
    verifyBody: (body) => isWhole(body),
  });
  instance.on('response', (client, status, _bytes, milliseconds) => {
    lastAt = performance.now();
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    // The first call of a connection also waits for the connection.
    if (opened.has(client)) answerMs.push(milliseconds);
    else opened.add(client);
  });
  const { errors, mismatches } = await instance;
  const faults = [...statuses].filter(([status]) => !accepts.includes(status));
  const answered = [...statuses.values()].reduce((sum, count) => sum + count, 0);
  if (errors > 0 || mismatches > 0 || faults.length > 0 || answered !== amount) {
    const seen = [...statuses].map(([status, count]) => `${count} × ${status}`).join(', ');
    throw new Error(
      `of ${amount} calls, ${answered} were answered (${seen}); ${errors} failed, ${mismatches} were not whole`,
    );
  }
  const ascending = (a: number, b: number) => a - b;
  return {
    seconds: (lastAt - firstAt) / 1_000,
    statuses,
    answerMs: answerMs.sort(ascending),
    headMs: headMs.sort(ascending),
  };
}

/** A JSON answer ends with its brace, a stream with its last event. */
function isWhole(body: string): boolean {
  return body.endsWith('}') || body.endsWith('data: [DONE]\n\n');
}
