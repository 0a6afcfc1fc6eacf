/**
 * fast-check with a fixed seed, so that a run can be repeated. Set `FC_SEED` to an integer or `random` for other cases;
 * a failure prints its seed.
 */
import fc from 'fast-check';

const { FC_SEED = '20261123' } = process.env;

/** Seed of every property, and of the histories of a torture run in the suite. */
export const SEED = FC_SEED === 'random' ? Math.floor(Math.random() * 0x7fffffff) : Number(FC_SEED);
if (!Number.isSafeInteger(SEED)) throw new Error('FC_SEED must be a whole number or "random"');

fc.configureGlobal({ seed: SEED });

export default fc;
