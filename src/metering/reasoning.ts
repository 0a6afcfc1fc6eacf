import { hash } from 'node:crypto';
import type { ElidedStrings } from './json/elided-strings.ts';
import { isObject } from './json/value.ts';
import { eventData } from './sse/event.ts';

/**
 * Reasoning that an answer does not show, as far as it says something of it: for estimates of streams that ended before their
 * report (specification section 5).
 */

/** Bytes of base64 of an encrypted reasoning that are taken for a token. */
const BYTES_PER_TOKEN = 4;
const TOKEN_COUNT = /"estimated_tokens"\s*:\s*(\d{1,9})/;

export function tokensOfEncrypted(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}

/**
 * Bytes of encrypted reasoning in an item of a response, or in a chunk of a chat, where OpenRouter sends it as
 * `reasoning_details` of the type `reasoning.encrypted`.
 */
export function encryptedBytes(value: unknown): number {
  if (!isObject(value)) return 0;
  const { encrypted_content: content, choices } = value;
  let bytes = lengthOf(content);
  for (const choice of Array.isArray(choices) ? choices : []) {
    const delta: unknown = isObject(choice) ? choice.delta : undefined;
    if (!isObject(delta)) continue;
    bytes += lengthOf(delta.encrypted_content);
    const details = delta.reasoning_details;
    for (const detail of Array.isArray(details) ? details : [])
      if (isObject(detail) && detail.type === 'reasoning.encrypted') bytes += lengthOf(detail.data);
  }
  return bytes;
}

/** The thinking of a message that is not shown: `thinking.display: omitted`, the default of newer models, or redacted. */
export class HiddenThinking {
  /** Sum of the increments that thinking deltas report. */
  #reported = 0;
  #encryptedBytes = 0;
  /** Pieces of output text before the block. */
  #piecesBefore = 0;

  get tokens(): number {
    return Math.max(this.#reported, tokensOfEncrypted(this.#encryptedBytes));
  }

  /** Reads the beginning of a block. `pieces`: of output text that has come until then. */
  block(event: string, pieces: number): void {
    this.#piecesBefore = pieces;
    if (!event.includes('redacted_thinking')) return;
    const block = eventData(event)?.content_block;
    if (isObject(block) && block.type === 'redacted_thinking') this.#encryptedBytes += lengthOf(block.data);
  }

  /** Reads a delta without output text. `pieces`: of output text that has come. A signature belongs to all of its block. */
  delta(event: string, pieces: number): void {
    const [, tokens] = TOKEN_COUNT.exec(event) ?? [];
    if (tokens !== undefined) this.#reported += Number(tokens);
    if (pieces > this.#piecesBefore || !event.includes('signature_delta')) return;
    const delta = eventData(event)?.delta;
    if (isObject(delta) && delta.type === 'signature_delta')
      this.#encryptedBytes += lengthOf(delta.signature);
  }
}

function lengthOf(value: unknown): number {
  return typeof value === 'string' ? value.length : 0;
}

/**
 * Characters that identify an encrypted content, with its length. OpenAI's has 15 random bytes in them. The
 * beginning is all that stays of a long string of a request.
 */
const HEAD_CHARS = 32;
/** Items of a request that are looked for, from the last one back: one provider made all that it can read. */
const MOST_ITEMS = 8;

/**
 * Ids of the encrypted reasoning in items of an answer, or of a request's input, whose long strings `elided` knows: by them the
 * provider is found that made it and alone can read it. The last item comes first.
 */
export function encryptedIds(items: unknown, elided?: ElidedStrings): string[] {
  const ids: string[] = [];
  if (!Array.isArray(items)) return ids;
  for (let at = items.length - 1; at >= 0 && ids.length < MOST_ITEMS; at--) {
    const id = encryptedId(items[at], elided);
    if (id !== undefined) ids.push(id);
  }
  return ids;
}

/** The id of an item with encrypted reasoning; undefined if it has none. */
export function encryptedId(item: unknown, elided?: ElidedStrings): string | undefined {
  const content = isObject(item) ? item.encrypted_content : undefined;
  if (typeof content !== 'string' || content === '') return undefined;
  const long = elided?.get(content);
  const [head, length] = long ? [long.head, long.units] : [content, content.length];
  return `encrypted_${hash('sha256', `${length} ${head.slice(0, HEAD_CHARS)}`).slice(0, HEAD_CHARS)}`;
}
