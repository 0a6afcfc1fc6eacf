import { Agent, request as httpRequest } from 'node:http';

/** When a client leaves: once its request is sent, at the head of the answer, at a text, after some bytes or some time. */
export type Leave =
  | 'never'
  | 'sent'
  | 'head'
  | 'END'
  | { readonly afterBytes: number }
  | { readonly afterMs: number };

export interface Left {
  /** Undefined if the client left before the head. */
  readonly status: number | undefined;
  readonly text: string;
}

/** Opens a connection for each call, as independent clients do. */
const agent = new Agent({ keepAlive: false, maxSockets: Number.POSITIVE_INFINITY });

/** Sends JSON with a key, and closes the connection at the moment that `leave` names. Resolves when it is closed. */
export function callAndLeave(url: string, key: string, body: object, leave: Leave): Promise<Left> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest(url, {
      method: 'POST',
      agent,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    });
    let status: number | undefined;
    let text = '';
    let hasLeft = false;
    const go = () => {
      hasLeft = true;
      sent.destroy();
    };
    const afterMs = typeof leave === 'object' && 'afterMs' in leave ? leave.afterMs : undefined;
    const timer = afterMs === undefined ? undefined : setTimeout(go, afterMs);
    sent.on('finish', () => leave === 'sent' && go());
    sent.on('response', (answer) => {
      status = answer.statusCode;
      if (leave === 'head') go();
      answer.setEncoding('utf8').on('data', (more: string) => {
        text += more;
        const isFar = typeof leave === 'object' && 'afterBytes' in leave && text.length > leave.afterBytes;
        if (isFar || (leave === 'END' && text.includes('END'))) go();
      });
      answer.on('error', () => {});
    });
    sent.on('error', (error) => {
      if (!hasLeft) reject(error);
    });
    sent.on('close', () => {
      clearTimeout(timer);
      resolve({ status, text });
    });
    sent.end(JSON.stringify(body));
  });
}
