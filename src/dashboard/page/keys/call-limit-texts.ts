import type { CallLimitsView } from '../../../api/keys/key-view.ts';
import { MAX_CALL_LIMIT } from '../../../domain/call-limits.ts';
import { CALL_LIMITS, type CallLimit } from '../format/call-limits.ts';
import { readWhole } from '../format/read-whole.ts';

/** Text of the fields for the limits of calls; "" where there is no limit. */
export type CallLimitTexts = Readonly<Record<CallLimit, string>>;

export const NO_LIMIT_TEXTS: CallLimitTexts = { rpm_limit: '', tpm_limit: '', max_parallel_requests: '' };

/** Texts of the fields for limits as they are stored. */
export function callLimitTexts(of: CallLimitsView): CallLimitTexts {
  const texts = CALL_LIMITS.map((name) => [name, of[name] === null ? '' : String(of[name])]);
  return Object.fromEntries(texts);
}

/**
 * Limit that a field's text says; null for an empty one. Throws an ApiFailure that names the field, with `empty` for
 * what an empty field means.
 */
export function callLimitOf(
  texts: CallLimitTexts,
  name: CallLimit,
  empty = 'Leave empty for none.',
): number | null {
  const text = texts[name];
  if (text.trim() === '') return null;
  return readWhole('The limit', text, name, MAX_CALL_LIMIT, empty);
}

/** Limits that the fields of `names` say. Throws an ApiFailure that names the first field whose text is none. */
export function limitsOfTexts(
  texts: CallLimitTexts,
  names: readonly CallLimit[],
  empty?: string,
): Partial<CallLimitsView> {
  return Object.fromEntries(names.map((name) => [name, callLimitOf(texts, name, empty)]));
}
