import type { Usage } from '../../domain/units.ts';
import type { Log } from '../../log/log.ts';
import type { Reading } from './recipient.ts';

/**
 * Settles a call by the usage that was reported, else by an estimate; without a `reading` it is free. `settle` throws RangeError
 * if a usage costs more than any account can hold.
 */
export function settleBy(
  reading: Reading | undefined,
  settle: (usage: Usage | undefined, estimated: boolean) => void,
  log: Log,
): void {
  if (!reading || reading.free) {
    settle(undefined, false);
    return;
  }
  const { usage } = reading;
  if (usage && isSettled(() => settle(usage, reading.isEstimated === true))) return;
  reading
    .estimate()
    .then((estimate) => settle(estimate, true))
    .catch((error: unknown) => {
      log.error({ err: error }, 'usage could not be estimated; the price per request is charged');
      settle({}, true);
    });
}

/** False if the charge of a reported usage exceeds what any account can hold, so that the report is ignored. */
function isSettled(settle: () => void): boolean {
  try {
    settle();
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}
