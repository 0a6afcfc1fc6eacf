/** The part of a text that is counted: all of it, or slices spread evenly over it. */
export interface TokenSample {
  readonly slices: readonly string[];
  /** How many times the length of the slices the text is long; 1 where they are the whole text. */
  readonly scale: number;
}

const SLICES = 16;

/**
 * A sample of at most `maxUnits` UTF-16 units (≥ 16). Spread out and not the beginning, because the beginning of a
 * long text (instructions, a licence, a list of imports) is seldom like the rest. The places are fixed by the
 * length, so that the same text gives the same sample.
 */
export function sampleText(text: string, maxUnits: number): TokenSample {
  if (text.length <= maxUnits) return { slices: [text], scale: 1 };
  const sliceUnits = Math.floor(maxUnits / SLICES);
  const step = (text.length - sliceUnits) / (SLICES - 1);
  const slices = Array.from({ length: SLICES }, (_, index) => {
    const start = Math.floor(index * step);
    return text.slice(start, start + sliceUnits);
  });
  return { slices, scale: text.length / (SLICES * sliceUnits) };
}

/** Tokens of the sampled text where no tokenizer can be asked: a token is about four bytes of UTF-8. */
export function tokensByBytes({ slices, scale }: TokenSample): number {
  const bytes = slices.reduce((sum, slice) => sum + Buffer.byteLength(slice), 0);
  return Math.ceil((bytes * scale) / 4);
}
