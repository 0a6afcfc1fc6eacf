/**
 * Number of surrogate pairs in a text, each of which is one character of two UTF-16 units. They are counted and not
 * listed, because a text may have millions.
 */
export function surrogatePairs(text: string): number {
  let pairs = 0;
  for (let at = 0; at + 1 < text.length; at++) {
    if ((text.charCodeAt(at) & 0xfc00) !== 0xd800 || (text.charCodeAt(at + 1) & 0xfc00) !== 0xdc00) continue;
    pairs++;
    at++;
  }
  return pairs;
}
