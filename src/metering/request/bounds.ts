/** Upper bounds, from the configuration, of what the request alone does not say. */
export interface Bounds {
  /** Tokens of one image, audio or file part. */
  readonly imageTokens: number;
  /** Tokens that a model can read in one pass. */
  readonly contextTokens: number;
  /** Tokens behind the stored answers that the request names, beyond what it says itself. Default 0. */
  readonly storedTokens?: number;
}
