import { Agent, type IncomingMessage, request } from 'node:http';

/** A chat call whose answer has ended. Unlike fetch, this reports the exact moment of the end. */
export interface EndedCall {
  /** `x-request-id`; undefined without a head. */
  readonly id: string | undefined;
  /** Status; undefined without a head. */
  readonly status: number | undefined;
  /** Whether the answer is complete, including its end. */
  readonly isWhole: boolean;
}

/** An HTTP agent with at most `connections` connections. */
export function callAgent(connections: number): Agent {
  return new Agent({ keepAlive: true, maxSockets: connections });
}

/** Sends one chat call. Calls `onEnd` in the event that completes the answer. Never rejects. */
export function call(
  url: string,
  key: string,
  body: Record<string, unknown>,
  options: { agent: Agent; onEnd?: (status: number | undefined) => void },
): Promise<EndedCall> {
  return new Promise((resolve) => {
    let id: string | undefined;
    let status: number | undefined;
    const broken = () => resolve({ id, status, isWhole: false });
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const outgoing = request(`${url}/v1/chat/completions`, { method: 'POST', headers, agent: options.agent });
    outgoing.on('error', broken);
    outgoing.on('response', (response: IncomingMessage) => {
      id = response.headers['x-request-id'] as string;
      status = response.statusCode;
      response.on('error', broken);
      response.on('end', () => {
        if (!response.complete) return broken();
        options.onEnd?.(status);
        resolve({ id, status, isWhole: true });
      });
      response.resume();
    });
    outgoing.end(JSON.stringify({ model: 'flat', messages: [{ role: 'user', content: 'Hello' }], ...body }));
  });
}
