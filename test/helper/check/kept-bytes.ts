import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/**
 * Memory of this process that is in use once all garbage is collected: the heap, and buffers beside it. Resident memory
 * is no measure of what is kept: how much garbage is in it depends on how busy the machine is.
 */
export function keptBytes(): number {
  // Buffers that the first collection finds are given back by the second.
  collectGarbage();
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
