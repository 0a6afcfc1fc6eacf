/**
 * Usage of a call, by dimension (price-units.ts says which price each is charged at). An absent dimension is 0. All are
 * integers, but for seconds, which may be fractions. No token is in two dimensions.
 */
export interface Usage {
  /** Input tokens that are in none of the dimensions below: text, neither read from a cache nor written to one. */
  input?: number;
  output?: number;
  cachedInput?: number;
  cacheWrite?: number;
  /** Tokens written to a cache that keeps them for an hour. */
  cacheWrite1h?: number;
  inputAudio?: number;
  cachedInputAudio?: number;
  outputAudio?: number;
  inputImage?: number;
  cachedInputImage?: number;
  outputImage?: number;
  webSearches?: number;
  characters?: number;
  images?: number;
  audioSeconds?: number;
  videoSeconds?: number;
  requests?: number;
}
