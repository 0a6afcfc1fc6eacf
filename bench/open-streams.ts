import { Agent, request } from 'node:http';
import type { CallRequest } from './call-request.ts';

export interface OpenStreams {
  /** Resolves when every stream has its first chunk. Rejects if one fails or ends before. */
  readonly allOpen: Promise<void>;
  /** Resolves when every stream is complete. */
  readonly allEnded: Promise<void>;
}

/** Concurrent streams, each on its own connection. */
export function openStreams(url: string, count: number, call: CallRequest): OpenStreams {
  const agent = new Agent({ maxSockets: Number.POSITIVE_INFINITY });
  const allOpen = Promise.withResolvers<void>();
  let open = 0;
  const ended = Array.from({ length: count }, () => {
    return openStream(url, call, agent, () => {
      open += 1;
      if (open === count) allOpen.resolve();
    });
  });
  const allEnded = Promise.all(ended).then(() => agent.destroy());
  allEnded.then(
    () => allOpen.reject(new Error('streams ended before all were open')),
    (error: unknown) => allOpen.reject(error),
  );
  return { allOpen: allOpen.promise, allEnded };
}

async function openStream(url: string, call: CallRequest, agent: Agent, opened: () => void): Promise<void> {
  let answer = '';
  const { method, headers, path } = call;
  await new Promise<void>((resolve, reject) => {
    const sent = request(`${url}${path}`, { method, headers, agent }, (response) => {
      response.setEncoding('utf8');
      response.once('data', opened);
      response.on('data', (text: string) => {
        // Enough to see whether it is complete.
        answer = (answer + text).slice(-64);
      });
      response.on('error', reject);
      response.on('end', resolve);
    });
    sent.on('error', reject);
    sent.end(call.body);
  });
  if (!answer.endsWith('data: [DONE]\n\n')) throw new Error(`a stream did not end whole: ${answer}`);
}
