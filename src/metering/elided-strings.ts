import { randomBytes } from 'node:crypto';
import { invalidJson } from '../domain/errors.ts';
import { surrogatePairs } from '../domain/surrogate-pairs.ts';
import type { CountTokens } from './tokens/token-counter.ts';

const BASE64 = /^[A-Za-z0-9+/_-]*(={0,2})$/;
/** UTF-16 units that are sampled of every piece (256 KiB at most) for an estimate of the tokens. */
const MAX_SAMPLE_UNITS = 4 * 1024;
const MIN_SAMPLE_UNITS = 64;
/** Beginning of the string that is kept: enough to tell a picture from other text, and to quote an id in a message. */
const HEAD_UNITS = 64;

/** Facts about a JSON string that is too long to keep in memory, found as its pieces pass: what meters need of it. */
export class ElidedString {
  readonly #sampled: number;
  readonly #isDataUrl: boolean;
  #hasComma = false;
  #isBase64 = true;
  #padding = 0;
  #payloadUnits = 0;
  #pairs = 0;
  #endsInHalf = false;
  #units = 0;
  #sample = '';
  /** The beginning of the string. */
  readonly head: string;

  /**
   * `raw`: the first piece as it stands between the quotes, of at least five characters. `sampled`: the share of the
   * string that is kept as a sample, 0 to 1. Throws 400 `invalid_json`.
   */
  constructor(raw: string, sampled: number) {
    const text = decoded(raw);
    this.#sampled = sampled;
    this.#isDataUrl = text.startsWith('data:');
    this.head = copied(text.slice(0, HEAD_UNITS));
    this.#add(text);
  }

  /** Takes the next piece, which cuts no escape in two. Throws 400 `invalid_json`. */
  push(raw: string): void {
    this.#add(decoded(raw));
  }

  /** Unicode code points; half a surrogate pair is one, too. */
  get characters(): number {
    return this.#units - this.#pairs;
  }

  /** Units of base64 in the string, by the rules of `base64Length` for short strings. */
  get base64Length(): number {
    return this.#isBase64 && (this.#hasComma || !this.#isDataUrl) ? this.#payloadUnits : 0;
  }

  /** Length in UTF-16 units. */
  get units(): number {
    return this.#units;
  }

  /** Parts of the string, spread from its beginning to its end; "" where the sampled share is 0. */
  get sample(): string {
    return this.#sample;
  }

  #add(text: string): void {
    this.#units += text.length;
    this.#pairs += surrogatePairs(text);
    if (this.#endsInHalf && /^[\udc00-\udfff]/.test(text)) this.#pairs++;
    if (text !== '') this.#endsInHalf = /[\ud800-\udbff]$/.test(text);
    if (this.#sampled > 0) this.#sample += copied(text.slice(0, this.#sampleUnits(text)));
    this.#addPayload(text);
  }

  #sampleUnits({ length }: string): number {
    return Math.min(MAX_SAMPLE_UNITS, Math.max(MIN_SAMPLE_UNITS, Math.ceil(length * this.#sampled)));
  }

  #addPayload(text: string): void {
    let payload = text;
    if (this.#isDataUrl && !this.#hasComma) {
      const comma = text.indexOf(',');
      if (comma < 0) return;
      this.#hasComma = true;
      payload = text.slice(comma + 1);
    }
    if (!this.#isBase64 || payload === '') return;
    const padding = BASE64.exec(payload)?.[1]?.length;
    const isAfterPadding = this.#padding > 0 && padding !== payload.length;
    this.#padding += padding ?? 0;
    this.#payloadUnits += payload.length;
    this.#isBase64 = padding !== undefined && !isAfterPadding && this.#padding <= 2;
  }
}

/** A copy, because a slice keeps the whole piece in memory. */
function copied(slice: string): string {
  return JSON.parse(JSON.stringify(slice)) as string;
}

function decoded(raw: string): string {
  try {
    return JSON.parse(`"${raw}"`) as string;
  } catch {
    throw invalidJson('The body is not valid JSON.');
  }
}

/**
 * The long strings of one body by their placeholders: short strings that replace them in the parsed value. A placeholder
 * has a random mark, so that no client can write one.
 */
export class ElidedStrings {
  readonly #mark = `<${randomBytes(12).toString('base64url')}:`;
  readonly #texts = new Map<string, ElidedString>();

  /** Returns the placeholder for a string: its beginning and a mark. */
  add(text: ElidedString): string {
    const placeholder = `${text.head}${this.#mark}${this.#texts.size}>`;
    this.#texts.set(placeholder, text);
    return placeholder;
  }

  get(placeholder: string): ElidedString | undefined {
    return this.#texts.get(placeholder);
  }

  /** Forgets all strings but those whose placeholder is among these values. */
  keepOnly(values: readonly unknown[]): void {
    const kept = new Set(values);
    for (const placeholder of this.#texts.keys()) if (!kept.has(placeholder)) this.#texts.delete(placeholder);
  }

  /**
   * Wraps `count` for texts with placeholders: each counts as the tokens of its sample, scaled up to the whole string.
   */
  counting(count: CountTokens): CountTokens {
    return async (text) => {
      let units = 0;
      const samples: string[] = [];
      const rest: string[] = [];
      let from = 0;
      for (const [placeholder, long] of this.#within(text)) {
        rest.push(text.slice(from, placeholder.start));
        from = placeholder.end;
        units += long.units;
        samples.push(long.sample);
      }
      rest.push(text.slice(from));
      const sample = samples.join('\n');
      const [short, long] = await Promise.all([count(rest.join('')), count(sample)]);
      return short + (sample === '' ? 0 : Math.round((long * units) / sample.length));
    };
  }

  *#within(text: string): Generator<[{ start: number; end: number }, ElidedString]> {
    const all = [...this.#texts.values()];
    for (let at = text.indexOf(this.#mark); at >= 0; ) {
      const numberAt = at + this.#mark.length;
      const close = text.indexOf('>', numberAt);
      const long = all[Number(text.slice(numberAt, close))];
      // A placeholder that was escaped once more has another beginning, which then counts as text.
      const start = long && text.startsWith(long.head, at - long.head.length) ? at - long.head.length : at;
      if (long) yield [{ start, end: close + 1 }, long];
      at = text.indexOf(this.#mark, close);
    }
  }
}
