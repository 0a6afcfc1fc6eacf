import { STRAY_MS } from './limits-model.ts';

/** One value of a key (specification section 2, "Rotate"). Times in milliseconds since the epoch. */
export interface ValueModel {
  readonly value: string;
  /** Time from which on it is surely refused for ever; Infinity while it may be valid. */
  endedAt: number;
  /** Times in which it is surely a value of an active key, so that no call with it is 401. */
  readonly valid: { readonly from: number; to: number }[];
}

/** The values of a key, and what is known of how they change. */
export interface ValuesModel {
  /** Values in the order in which they were made; never empty. */
  readonly values: ValueModel[];
  /** False where a rotation was not answered since the last of them, so that there may be a newer one, which nobody knows. */
  isNewestKnown: boolean;
  /** Time until which a change that was not answered may still come into force. */
  strayUntil: number;
}

export function valuesFrom(value: string): ValuesModel {
  const first = { value, endedAt: Infinity, valid: [{ from: Date.now(), to: Infinity }] };
  return { values: [first], isNewestKnown: true, strayUntil: 0 };
}

/** The newest value that is known. */
export function newestOf({ values }: ValuesModel): ValueModel {
  const newest = values.at(-1);
  if (!newest) throw new Error('a key without a value');
  return newest;
}

/** The newest value that is known, or the previous one. */
export function valueToSend(key: ValuesModel, isBefore: boolean): ValueModel {
  return (isBefore ? key.values.at(-2) : undefined) ?? newestOf(key);
}

/** Records that from `at` on a value need not be valid. */
export function doubt({ valid }: ValueModel, at: number): void {
  for (const span of valid) span.to = Math.min(span.to, at);
}

/** Records that every value but the newest that is known is surely refused from `at` on. */
export function endOlder({ values }: ValuesModel, at: number): void {
  for (const value of values.slice(0, -1)) value.endedAt = Math.min(value.endedAt, at);
}

/**
 * Records that the newest value is surely valid from `at` on, as an answer said to what was asked at `askedAt`: not where an
 * earlier change, which was not answered, may have come into force after it.
 */
export function affirm(key: ValuesModel, askedAt: number, at: number): void {
  if (key.isNewestKnown && askedAt >= key.strayUntil) newestOf(key).valid.push({ from: at, to: Infinity });
}

/** Records that a change of the key was not answered at `at`, so that it may come into force or not. */
export function leaveOpen(key: ValuesModel, at: number): void {
  key.strayUntil = Math.max(key.strayUntil, at + STRAY_MS);
}
