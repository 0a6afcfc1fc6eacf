import { randomBytes } from 'node:crypto';
import type { LongText } from './long-text.ts';

/** Tokens of a text; may take a moment the first time. */
export type CountTokens = (text: string) => Promise<number>;

/**
 * The long strings of one body, by the short ones that stand in for them in its value. No client can guess a stand-in,
 * so none can write one.
 */
export class LongTexts {
  readonly #mark = `<${randomBytes(12).toString('base64url')}:`;
  readonly #texts = new Map<string, LongText>();

  /** What is to stand in the value for this text: how it begins, and a mark. */
  add(text: LongText): string {
    const standIn = `${text.head}${this.#mark}${this.#texts.size}>`;
    this.#texts.set(standIn, text);
    return standIn;
  }

  get(standIn: string): LongText | undefined {
    return this.#texts.get(standIn);
  }

  /** Keeps only those for which one of these values stands. */
  keepOnly(values: readonly unknown[]): void {
    const kept = new Set(values);
    for (const standIn of this.#texts.keys()) if (!kept.has(standIn)) this.#texts.delete(standIn);
  }

  /** Counts tokens of text in which stand-ins stand: for each, what its sample says of its whole. */
  counting(count: CountTokens): CountTokens {
    return async (text) => {
      let units = 0;
      const samples: string[] = [];
      const rest: string[] = [];
      let from = 0;
      for (const [standIn, long] of this.#within(text)) {
        rest.push(text.slice(from, standIn.start));
        from = standIn.end;
        units += long.units;
        samples.push(long.sample);
      }
      rest.push(text.slice(from));
      const sample = samples.join('\n');
      const [short, long] = await Promise.all([count(rest.join('')), count(sample)]);
      return short + (sample === '' ? 0 : Math.round((long * units) / sample.length));
    };
  }

  *#within(text: string): Generator<[{ start: number; end: number }, LongText]> {
    const all = [...this.#texts.values()];
    for (let at = text.indexOf(this.#mark); at >= 0; ) {
      const numberAt = at + this.#mark.length;
      const close = text.indexOf('>', numberAt);
      const long = all[Number(text.slice(numberAt, close))];
      // Where it was escaped once more, its beginning counts as text.
      const start = long && text.startsWith(long.head, at - long.head.length) ? at - long.head.length : at;
      if (long) yield [{ start, end: close + 1 }, long];
      at = text.indexOf(this.#mark, close);
    }
  }
}
