import type { IncomingHttpHeaders } from 'node:http';

/** A request with its whole body. */
export interface DemoRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Tokens of an image, file or audio part in a prompt; fixed, so that tests can predict the usage. */
const TOKENS_PER_ATTACHMENT = 85;
const BYTES_PER_TOKEN = 4;

/** Tokens of a text by the demo's rule: one per four UTF-8 bytes, rounded up. */
export function tokensIn(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);
}

/** Longest prefix of at most `tokens` tokens that ends between characters. */
export function firstTokens(text: string, tokens: number): string {
  const bytes = Buffer.from(text);
  let end = Math.min(tokens * BYTES_PER_TOKEN, bytes.length);
  // A byte with leading bits 10 continues a character.
  while (end > 0 && end < bytes.length && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.subarray(0, end).toString();
}

/** Text and tokens of a message's content: a string or a list of parts. A part without text counts as an attachment. */
export function readContent(content: unknown): { text: string; tokens: number } {
  if (typeof content === 'string') return { text: content, tokens: tokensIn(content) };
  if (!Array.isArray(content)) return { text: '', tokens: 0 };
  const texts = content.filter(isObject).flatMap(({ text }) => (typeof text === 'string' ? [text] : []));
  const text = texts.join('\n');
  return { text, tokens: tokensIn(text) + (content.length - texts.length) * TOKENS_PER_ATTACHMENT };
}

/** A whole number above 0; undefined for any other value. */
export function count(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : undefined;
}

/** The JSON object in a body, if any. */
export function parseObject(body: Buffer): Record<string, unknown> | undefined {
  try {
    const json: unknown = JSON.parse(body.toString());
    return isObject(json) ? json : undefined;
  } catch {
    return undefined;
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Members of a JSON body, or fields of a form (text, or the bytes of a file); undefined if the body is neither. */
export async function fieldsOf(request: DemoRequest): Promise<Record<string, unknown> | undefined> {
  const type = request.headers['content-type'] ?? '';
  if (type.toLowerCase().startsWith('multipart/form-data')) return await formFields(request.body, type);
  try {
    const value: unknown = JSON.parse(request.body.toString());
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

async function formFields(body: Buffer, type: string): Promise<Record<string, unknown> | undefined> {
  const fields: Record<string, unknown> = {};
  try {
    const form = await new Response(new Uint8Array(body), { headers: { 'content-type': type } }).formData();
    for (const [name, value] of form) {
      fields[name] = typeof value === 'string' ? value : Buffer.from(await value.arrayBuffer());
    }
  } catch {
    return undefined;
  }
  return fields;
}

/** A whole number above 0, from JSON or from a form. */
export function countIn(value: unknown): number | undefined {
  const number = typeof value === 'string' ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) && number > 0 ? number : undefined;
}
