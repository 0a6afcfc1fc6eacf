/**
 * fast-check with cases that are drawn by one seed, so that a run of the suite can be had again. Others are drawn with
 * `FC_SEED`, a whole number or `random`; a failure prints its own.
 */
import fc from 'fast-check';

const { FC_SEED = '20261123' } = process.env;

/** Seed of every property, and of the histories of a torture run in the suite. */
export const SEED = FC_SEED === 'random' ? Math.floor(Math.random() * 0x7fffffff) : Number(FC_SEED);
if (!Number.isSafeInteger(SEED)) throw new Error('FC_SEED must be a whole number or "random"');

fc.configureGlobal({ seed: SEED });

export default fc;
