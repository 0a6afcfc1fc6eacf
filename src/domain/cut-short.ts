/** Longest text of a client that an error message repeats, in UTF-16 code units. */
const LONGEST = 100;

/** Text that a client sent, cut to a length that is fit for an error message. */
export function cutShort(text: string): string {
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}
