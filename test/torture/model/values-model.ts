import { STRAY_MS } from './limits-model.ts';

/** One value of a key (specification section 2, "Rotate"). Times in milliseconds since the epoch. */
export interface ValueModel {
  readonly value: string;
  /** Time from which it is certainly refused forever; Infinity while it may be valid. */
  endedAt: number;
  /** Times in which it is certainly a value of an active key, so no call with it gets 401. */
  readonly valid: { readonly from: number; to: number }[];
}

/** The values of a key, and the knowledge about their changes. */
export interface ValuesModel {
  /** Values in the order of their creation; never empty. */
  readonly values: ValueModel[];
  /** False if a later rotation got no answer, so there may be a newer, unknown value. */
  isNewestKnown: boolean;
  /** Time until which an unanswered change may still take effect. */
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

/** Records that a value may be invalid from `at` on. */
export function doubt({ valid }: ValueModel, at: number): void {
  for (const span of valid) span.to = Math.min(span.to, at);
}

/** Records that every value but the newest known one is certainly refused from `at` on. */
export function endOlder({ values }: ValuesModel, at: number): void {
  for (const value of values.slice(0, -1)) value.endedAt = Math.min(value.endedAt, at);
}

/**
 * Records that the newest value is certainly valid from `at` on, by the answer to a request sent at `askedAt`, unless
 * an earlier unanswered change may have taken effect after it.
 */
export function affirm(key: ValuesModel, askedAt: number, at: number): void {
  if (key.isNewestKnown && askedAt >= key.strayUntil) newestOf(key).valid.push({ from: at, to: Infinity });
}

/** Records a change of the key at `at` without an answer, which may or may not take effect. */
export function leaveOpen(key: ValuesModel, at: number): void {
  key.strayUntil = Math.max(key.strayUntil, at + STRAY_MS);
}
