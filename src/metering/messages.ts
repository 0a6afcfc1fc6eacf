import { invalidField } from '../domain/errors.ts';
import { holdFor } from '../domain/price.ts';
import type { Usage } from '../domain/usage.ts';
import { contentParts, inputBound, readable, TOOL_ROUNDS } from './content-parts.ts';
import { asText, isObject } from './json-value.ts';
import { MessagesStream, messagesResourceIds } from './messages-stream.ts';
import { hasOtherModels, iterationsOf, messagesToUsage } from './messages-usage.ts';
import { type Bounds, type Meter, saysError } from './meter.ts';
import { countOf, type MeteredBody } from './metered-body.ts';
import { outputTextIn } from './output-text.ts';
import { messagesTiers, tierNames } from './service-tiers.ts';
import type { CountTokens } from './tokens/token-counter.ts';
import { reportedBy } from './usage.ts';

/** Types of Anthropic's tools that the client runs, by their beginning. A tool without a type is the client's own. */
const CLIENT_TOOLS = /^(custom|bash_|text_editor_|computer_|memory_|browser_)/;
/** Tokens that Anthropic adds to a prompt with tools: it documents up to 804, and up to 735 for each tool of its own. */
const TOOL_PROMPT = 1_024;
const TURN_TOKENS = 4;

/** `/v1/messages`. */
export const messages: Meter = {
  check: checkMessage,
  hold: messagesHold,
  usage: (answer) => messagesToUsage(reportedBy(answer)),
  serviceTiers: (answer, body) => tierNames(messagesTiers(reportedBy(answer)), body),
  isEstimated: (answer) => hasOtherModels(iterationsOf(reportedBy(answer))),
  outputText: messagesOutputText,
  failed: saysError,
  resourceIds: messagesResourceIds,
  stream: (_injectedUsage, body) => new MessagesStream(body),
  estimate: estimateMessage,
};

/** Refuses `fallbacks`: an answer of another model than the one named would be charged at the wrong price. */
function checkMessage(body: MeteredBody): void {
  const { fallbacks } = body.value;
  if (fallbacks === undefined || fallbacks === null) return;
  throw invalidField(
    'fallbacks',
    'fallbacks is not served here, because another model than the one named would answer. Leave it out.',
  );
}

/**
 * An upper bound of what a message can cost. Compacting a conversation is one more model call, over at most a whole
 * context. Thinking is inside `max_tokens`, unless its budget is larger.
 */
function messagesHold(body: MeteredBody, bounds: Bounds) {
  const { messages, thinking } = body.value;
  const tools = toolsOf(body);
  const toolPrompts =
    tools.length === 0 ? 0 : 1 + tools.filter(({ type }) => typeof type === 'string').length;
  const input = inputBound(body, messages, bounds, roundsOf(body, tools)) + toolPrompts * TOOL_PROMPT;
  const named = countOf(body, 'max_tokens') ?? body.model.maxOutputTokens;
  const budget = isObject(thinking) ? thinking.budget_tokens : undefined;
  const beyond = typeof budget === 'number' && budget > named && Number.isSafeInteger(budget) ? budget : 0;
  const output = named + beyond;
  const { price, maxOutputTokens } = body.model;
  if (!body.value.context_management) return holdFor(price, { input, output });
  return holdFor(price, { input: input + bounds.contextTokens, output: output + maxOutputTokens });
}

/** Bound of the passes of the model over what the provider's own tools found. */
function roundsOf(body: MeteredBody, tools: readonly Record<string, unknown>[]): number {
  const { mcp_servers: servers } = body.value;
  const theirs = tools.filter(({ type }) => typeof type === 'string' && !CLIENT_TOOLS.test(type));
  if (Array.isArray(servers) && servers.length > 0) return TOOL_ROUNDS;
  if (theirs.length === 0) return 0;
  const uses = theirs.map(({ max_uses: most }) =>
    Number.isSafeInteger(most) ? (most as number) : TOOL_ROUNDS,
  );
  return Math.min(
    TOOL_ROUNDS,
    uses.reduce((sum, most) => sum + Math.max(0, most), 0),
  );
}

async function estimateMessage(
  body: MeteredBody,
  outputText: string,
  count: CountTokens,
  storedTokens: number,
): Promise<Usage> {
  const { messages, system, tools } = body.value;
  const said = readable(contentParts(messages));
  const ruled = typeof system === 'string' ? system : readable(contentParts(system)).text;
  const [input, output] = await Promise.all([
    count([ruled, said.text, asText(tools)].join('\n')),
    count(outputText),
  ]);
  const turns = Array.isArray(messages) ? messages.length : 0;
  return { input: input + turns * TURN_TOKENS + said.mediaTokens + storedTokens, output };
}

function toolsOf(body: MeteredBody): Record<string, unknown>[] {
  const { tools } = body.value;
  return Array.isArray(tools) ? tools.filter(isObject) : [];
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
