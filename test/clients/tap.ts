import { request as send } from 'node:http';
import { type Listening, listen, receive } from '../../src/demo/demo-provider.ts';

/** An answer of the gateway to a client. */
export interface Answered {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  /** When the request was passed on, in milliseconds. */
  readonly atMs: number;
  /** Equal for repeats of the same request. */
  readonly request: string;
  /** The message of a refusal. */
  readonly message: string | undefined;
}

export interface Tap extends Listening {
  /** Answers since `begin`, in the order in which the requests ended. */
  readonly answers: readonly Answered[];
  /** Forgets them. The first call of a model waits for `before`. */
  begin(before?: () => Promise<void>): void;
}

/** Starts a server between client and gateway that forwards everything and records requests and answers. */
export async function startTap(gateway: string): Promise<Tap> {
  let answers: Answered[] = [];
  let before: (() => Promise<void>) | undefined;
  const server = await listen({}, async (message, response) => {
    const { method, url, body } = await receive(message);
    const first = method === 'POST' ? before : undefined;
    if (first) before = undefined;
    await first?.();
    const atMs = performance.now();
    const upstream = send(`${gateway}${url}`, { method, headers: message.headers });
    response.on('close', () => upstream.destroy());
    upstream.on('error', () => response.destroy());
    upstream.on('response', (answer) => {
      const status = answer.statusCode ?? 0;
      const parts: Buffer[] = [];
      answer.on('data', (part) => status >= 400 && parts.push(part));
      answer.on('close', () => {
        const path = url.split('?', 1)[0] ?? '';
        const refusal = Buffer.concat(parts).toString();
        answers.push({
          method,
          path,
          status,
          atMs,
          request: shapeOf(path, body),
          message: messageOf(refusal),
        });
      });
      response.writeHead(status, answer.headers);
      answer.pipe(response);
    });
    upstream.end(body);
  });
  return {
    ...server,
    get answers() {
      return answers;
    },
    begin(next) {
      before = next;
      answers = [];
    },
  };
}

/** A repeat has the same model and as many messages and tools; its ids and times may differ. */
function shapeOf(path: string, body: Buffer): string {
  const { model, messages, input, tools } = (parsed(body.toString()) ?? {}) as Record<string, unknown>;
  const lengths = [messages, input, tools].map((list) => (Array.isArray(list) ? list.length : 0));
  return [path, model, ...lengths].join(' ');
}

function messageOf(text: string): string | undefined {
  const { error } = (parsed(text) ?? {}) as { error?: { message?: unknown } };
  return typeof error?.message === 'string' ? error.message : undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
