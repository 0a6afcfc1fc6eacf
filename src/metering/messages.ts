import type { Terms } from '../domain/bill.ts';
import type { Usage } from '../domain/units.ts';
import { contentParts, readable } from './content-parts.ts';
import { asText, isObject } from './json-value.ts';
import { MessagesStream, messagesResourceIds } from './messages-stream.ts';
import { hasOtherModels, iterationsOf, messagesToUsage, passTerms } from './messages-usage.ts';
import { type Meter, saysError } from './meter.ts';
import type { MeteredBody } from './metered-body.ts';
import { outputTextIn } from './output-text.ts';
import { askMessages } from './request/ask-messages.ts';
import { asksLongCache } from './request/cache-life.ts';
import { messagesTiers, tierNames } from './service-tiers.ts';
import type { CountTokens } from './tokens/token-counter.ts';
import { reportedBy } from './usage.ts';

const TURN_TOKENS = 4;

/** `/v1/messages`. */
export const messages: Meter = {
  ask: askMessages,
  usage: (answer, body) => messagesToUsage(reportedBy(answer), () => asksLongCache(body)),
  terms: messageTerms,
  isEstimated: (answer) => hasOtherModels(iterationsOf(reportedBy(answer))),
  outputText: messagesOutputText,
  failed: saysError,
  resourceIds: messagesResourceIds,
  stream: (_injectedUsage, body) => new MessagesStream(body),
  estimate: estimateMessage,
};

/** Tiers and passes of a whole message, and whether it is a refusal that is not billed. */
function messageTerms(answer: unknown, body: MeteredBody): Terms {
  const usage = reportedBy(answer);
  const isRefused = isObject(answer) && answer.stop_reason === 'refusal';
  return {
    serviceTiers: tierNames(messagesTiers(usage), body),
    ...passTerms(iterationsOf(usage), body),
    ...(isRefused && Array.isArray(answer.content) && answer.content.length === 0
      ? { isUnbilled: true }
      : {}),
  };
}

async function estimateMessage(
  body: MeteredBody,
  outputText: string,
  count: CountTokens,
  storedTokens: number,
  mediaTokens?: number,
): Promise<Usage> {
  const { messages, system, tools } = body.value;
  const said = readable(contentParts(messages));
  const ruled = typeof system === 'string' ? system : readable(contentParts(system)).text;
  const [input, output] = await Promise.all([
    count([ruled, said.text, asText(tools)].join('\n')),
    count(outputText),
  ]);
  const turns = Array.isArray(messages) ? messages.length : 0;
  const media = mediaTokens ?? said.mediaTokens;
  return { input: input + turns * TURN_TOKENS + media + storedTokens, output };
}

/** The output text of a whole message: text, thinking, names and arguments of tool calls; not what tools found. */
export function messagesOutputText(message: unknown): string {
  const content = isObject(message) ? message.content : undefined;
  if (!Array.isArray(content)) return '';
  return content
    .filter((block) => isObject(block) && !/_tool_result$/.test(asText(block.type)))
    .map((block) => outputTextIn(asText(block)))
    .join('');
}
