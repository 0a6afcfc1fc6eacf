import type { Model } from '../model/model.ts';

/**
 * Checks key values (specification section 2, "Rotate"): no call with a value goes upstream after its end, and none
 * gets 401 while it is certainly a value of an active key.
 */
export function checkValues({ calls }: Model, reached: ReadonlyMap<number, number>): string[] {
  const faults: string[] = [];
  for (const { id, key, value, startedAt, slot, answer } of calls) {
    const about = `call ${id} with value ${key.values.indexOf(value) + 1} of ${key.values.length} of key ${key.id} at gateway ${slot}`;
    if (reached.has(id) && startedAt > value.endedAt) {
      faults.push(
        `${about} began ${startedAt - value.endedAt} ms after the end of the value and reached the upstream`,
      );
    }
    if (answer?.status !== 401) continue;
    const isValid = value.valid.some(({ from, to }) => from <= startedAt && answer.endedAt < to);
    if (isValid) faults.push(`${about} was answered 401, and the value is valid: ${answer.text}`);
  }
  return faults;
}
