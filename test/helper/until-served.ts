import { until } from './until.ts';

/**
 * Sends again while the answer is 503, as it is on a machine so loaded that Redis or the book answers too late. Resolves
 * with the first other answer. For calls whose refusal costs nothing and changes nothing, in tests of other things.
 */
export function untilServed<Answer extends { readonly status: number }>(
  what: string,
  send: () => Promise<Answer>,
): Promise<Answer> {
  return until(`${what} to be served`, async () => {
    const answer = await send();
    if (answer.status !== 503) return answer;
    if (answer instanceof Response && !answer.bodyUsed) await answer.arrayBuffer();
    return undefined;
  }) as Promise<Answer>;
}
