import { hash } from 'node:crypto';
import type { ElidedStrings } from './json/elided-strings.ts';
import { isObject } from './json/value.ts';
import { eventData } from './sse/event.ts';

/**
 * Hidden reasoning: its tokens, for estimates of streams that ended before their report (specification section 5), and
 * ids that identify the provider that encrypted it.
 */

/** Base64 bytes of encrypted reasoning per token. */
const BYTES_PER_TOKEN = 4;
const TOKEN_COUNT = /"estimated_tokens"\s*:\s*(\d{1,9})/;

export function tokensOfEncrypted(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}

/**
 * Bytes of encrypted reasoning in a response item or chat chunk. OpenRouter sends it as `reasoning_details` of type
 * `reasoning.encrypted`.
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

/** Hidden thinking in a message: redacted, or omitted by `thinking.display: omitted`, the default of newer models. */
export class HiddenThinking {
  /** Sum of the increments in thinking deltas. */
  #reported = 0;
  #encryptedBytes = 0;
  /** Pieces of output text before the block. */
  #piecesBefore = 0;

  get tokens(): number {
    return Math.max(this.#reported, tokensOfEncrypted(this.#encryptedBytes));
  }

  /** Reads the start of a block. `pieces`: output text pieces so far. */
  block(event: string, pieces: number): void {
    this.#piecesBefore = pieces;
    if (!event.includes('redacted_thinking')) return;
    const block = eventData(event)?.content_block;
    if (isObject(block) && block.type === 'redacted_thinking') this.#encryptedBytes += lengthOf(block.data);
  }

  /** Reads a delta without output text. The signature of a block counts only if the block showed no text. */
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
 * Leading characters that, with the length, identify encrypted content. OpenAI's have 15 random bytes. Of a long string
 * in a request only the head is kept.
 */
const HEAD_CHARS = 32;
/** Most ids of a request: one provider made all the reasoning that it can read. */
const MAX_ITEMS = 8;

/**
 * Ids of encrypted reasoning in the items of an answer or request, last item first. They identify the only provider
 * that can read it.
 */
export function encryptedIds(items: unknown, elided?: ElidedStrings): string[] {
  const ids: string[] = [];
  if (!Array.isArray(items)) return ids;
  for (let at = items.length - 1; at >= 0 && ids.length < MAX_ITEMS; at--) {
    const id = encryptedId(items[at], elided);
    if (id !== undefined) ids.push(id);
  }
  return ids;
}

/** Id of the encrypted reasoning in an item; undefined if there is none. */
export function encryptedId(item: unknown, elided?: ElidedStrings): string | undefined {
  const content = isObject(item) ? item.encrypted_content : undefined;
  if (typeof content !== 'string' || content === '') return undefined;
  const long = elided?.get(content);
  const [head, length] = long ? [long.head, long.units] : [content, content.length];
  return `encrypted_${hash('sha256', `${length} ${head.slice(0, HEAD_CHARS)}`).slice(0, HEAD_CHARS)}`;
}
