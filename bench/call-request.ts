import type { Behavior } from '../test/helper/stand-ins/scripted-provider.ts';
import { BEHAVIOR_HEADER, CALLER_HEADERS, CHAT_PATH, MODEL } from './wire.ts';

/** One HTTP call of the load generator. */
export interface CallRequest {
  readonly method: 'POST';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * A chat call with a prompt of about this many bytes, from a browser page behind a load balancer. The same for every
 * target.
 */
export function chatCall(
  key: string,
  { promptBytes, stream = false, behavior }: { promptBytes: number; stream?: boolean; behavior?: Behavior },
): CallRequest {
  const words = 'The quick brown fox jumps over the lazy dog. ';
  const content = words.repeat(Math.ceil(promptBytes / words.length)).slice(0, promptBytes);
  return {
    method: 'POST',
    path: CHAT_PATH,
    headers: {
      ...CALLER_HEADERS,
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      ...(behavior ? { [BEHAVIOR_HEADER]: JSON.stringify(behavior) } : {}),
    },
    body: JSON.stringify({
      model: MODEL,
      max_tokens: 200,
      ...(stream ? { stream, stream_options: { include_usage: true } } : {}),
      messages: [
        { role: 'system', content: 'Answer in one sentence.' },
        { role: 'user', content },
      ],
    }),
  };
}
