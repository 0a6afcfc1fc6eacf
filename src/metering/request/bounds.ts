import type { Model } from '../../domain/catalog.ts';

/** Upper bounds, from the configuration, of what the request alone does not say. */
export interface Bounds {
  /** Tokens of one picture, of models that do not say. */
  readonly imageTokens: number;
  /** Tokens of one file or part of an unknown kind; undefined: all that the model can read. */
  readonly fileTokens?: number | undefined;
  /** Tokens that a model can read in one pass, of models that do not say. */
  readonly contextTokens: number;
  /** Rounds of the provider's own tools that the gateway asks for where the request names no bound. */
  readonly toolRounds: number;
  /** Tokens that a round of them adds to the input, and that the gateway asks for as most of a fetched page. */
  readonly toolTokens: number;
  /** Tokens behind the stored answers that the request names, beyond what it says itself. Default 0. */
  readonly storedTokens?: number;
  /** Tokens of the sounds in the request; undefined: not measured. */
  readonly soundTokens?: number | undefined;
}

/** Tokens that a model can read in one pass. */
export function windowOf(
  { contextWindow }: Pick<Model, 'contextWindow'>,
  { contextTokens }: Pick<Bounds, 'contextTokens'>,
): number {
  return contextWindow ?? contextTokens;
}

/** Bound of the tokens of one picture. */
export function pictureBound(
  { imageTokens }: Pick<Model, 'imageTokens'>,
  bounds: Pick<Bounds, 'imageTokens'>,
): number {
  return imageTokens ?? bounds.imageTokens;
}
