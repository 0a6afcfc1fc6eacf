import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/**
 * Memory that this process uses after a full garbage collection: the heap and the buffers outside it. Resident memory
 * also contains garbage, whose amount depends on how busy the machine is.
 */
export function keptBytes(): number {
  // The second collection frees the buffers that the first one finds.
  collectGarbage();
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
