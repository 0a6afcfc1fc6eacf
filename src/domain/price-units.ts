import type { Usage } from './usage.ts';

/** Number of units that a price in a config file is for. */
type Per = 1 | 1_000 | 1_000_000;

interface UnitRule {
  /** The dimension of usage that is charged by the unit. */
  readonly usage: keyof Usage;
  readonly per: Per;
  /** The unit that is charged instead where a model has no price for this one; absent: nothing is charged. */
  readonly refines?: string;
  /** Whether its usage is part of the request's input, whose length decides which length tier prices the call. */
  readonly isInput?: true;
}

const MILLION = 1_000_000;

/**
 * The units of a price list, a row each (specification section 10, Dimensions). A new dimension is a row here, a name in
 * `Usage`, a reader that fills it in, and a column of the book's sums. `refines` names units that stand above their own row.
 */
export const UNITS = {
  input: { usage: 'input', per: MILLION, isInput: true },
  output: { usage: 'output', per: MILLION },
  cachedInput: { usage: 'cachedInput', per: MILLION, refines: 'input', isInput: true },
  cacheWrite: { usage: 'cacheWrite', per: MILLION, refines: 'input', isInput: true },
  cacheWrite1h: { usage: 'cacheWrite1h', per: MILLION, refines: 'cacheWrite', isInput: true },
  inputAudio: { usage: 'inputAudio', per: MILLION, refines: 'input', isInput: true },
  cachedInputAudio: { usage: 'cachedInputAudio', per: MILLION, refines: 'inputAudio', isInput: true },
  outputAudio: { usage: 'outputAudio', per: MILLION, refines: 'output' },
  inputImage: { usage: 'inputImage', per: MILLION, refines: 'input', isInput: true },
  cachedInputImage: { usage: 'cachedInputImage', per: MILLION, refines: 'inputImage', isInput: true },
  outputImage: { usage: 'outputImage', per: MILLION, refines: 'output' },
  webSearch: { usage: 'webSearches', per: 1_000 },
  character: { usage: 'characters', per: MILLION },
  image: { usage: 'images', per: 1 },
  audioSecond: { usage: 'audioSeconds', per: 1 },
  videoSecond: { usage: 'videoSeconds', per: 1 },
  request: { usage: 'requests', per: 1 },
} as const satisfies Readonly<Record<string, UnitRule>>;

export type Unit = keyof typeof UNITS;

export const UNIT_NAMES = Object.keys(UNITS) as readonly Unit[];

/** The row of a unit, with every column. */
export function unitRule(unit: Unit): UnitRule & { readonly refines?: Unit } {
  return UNITS[unit];
}

/** Dimensions of usage that may be fractions: all others are counted in whole units. */
export const TIMED: ReadonlySet<keyof Usage> = new Set(['audioSeconds', 'videoSeconds']);
