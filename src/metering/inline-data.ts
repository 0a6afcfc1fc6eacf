import type { LongTexts } from './long-texts.ts';

/**
 * How much of an inline medium is base64, which is no text (specification section 5, Admit): what follows the comma of a
 * data URL, or the whole. 0 for a link or a file id, which are text and count as such.
 */
export function base64Length(data: string, longTexts: LongTexts | undefined): number {
  const long = longTexts?.get(data);
  if (long) return long.base64Length;
  const comma = data.startsWith('data:') ? data.indexOf(',') : -1;
  const payload = comma >= 0 ? data.slice(comma + 1) : data;
  return /^[A-Za-z0-9+/_-]*={0,2}$/.test(payload) ? payload.length : 0;
}
