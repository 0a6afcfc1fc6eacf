import type { Micro } from '../domain/credits.ts';
import { holdFor } from '../domain/price.ts';
import { base64Length } from './inline-data.ts';
import type { LongTexts } from './long-texts.ts';
import type { Bounds } from './meter.ts';
import { countOf, type MeteredBody } from './metered-body.ts';

/** Tokens that a chat template adds around a message or tool, and around the whole; vendors document 3 to 10. */
const MESSAGE_OVERHEAD = 16;
const TOOL_OVERHEAD = 64;
const REQUEST_OVERHEAD = 64;

/**
 * An upper bound of what a chat call can cost (specification section 5, Admit).
 *
 * Why it is one: byte-level tokenizers make no token out of less than a byte, and JSON text is never shorter than the
 * UTF-8 text it stands for (an escape is longer than its character), so the bytes of the body bound the tokens of all
 * text in it: messages, tools and schemas. What templates add is bounded per message and tool. Inline media is not
 * text: its base64 is taken off, and each media part counts the configured bound. Output is bounded by the maximum that
 * the request names, times `n`. Where it names none, the model's `maxOutputTokens` stands in, and the bound is as true as
 * that entry of the catalog.
 */
export function chatHold(body: MeteredBody, { imageTokens, storedTokens = 0 }: Bounds): Micro {
  const { messages, tools } = body.value;
  let input = body.textBytes + REQUEST_OVERHEAD + storedTokens;
  if (Array.isArray(messages)) {
    input += messages.length * MESSAGE_OVERHEAD;
    for (const message of messages) input += mediaTokens(message, imageTokens, body.longTexts);
  }
  if (Array.isArray(tools)) input += tools.length * TOOL_OVERHEAD;
  const named = Math.max(countOf(body, 'max_tokens') ?? -1, countOf(body, 'max_completion_tokens') ?? -1);
  const output = (named >= 0 ? named : body.model.maxOutputTokens) * Math.max(1, countOf(body, 'n') ?? 1);
  return holdFor(body.model.price, { input: Math.max(0, input), output });
}

/** Bound of the media parts of a message, less the base64 text by which they stand in the body. */
function mediaTokens(message: unknown, imageTokens: number, longTexts: LongTexts | undefined): number {
  const content = (message as { content?: unknown } | null)?.content;
  if (!Array.isArray(content)) return 0;
  let tokens = 0;
  for (const part of content) {
    const type: unknown = part?.type;
    if (type === 'text' || type === 'refusal' || type === undefined) continue;
    tokens += imageTokens;
    const data: unknown = part.image_url?.url ?? part.input_audio?.data ?? part.file?.file_data;
    if (typeof data === 'string') tokens -= base64Length(data, longTexts);
  }
  return tokens;
}
