import { type Base, readUsageOf } from './account.ts';

/** Refused calls of the last 30 days by the ids of keys; keys without one are absent. */
export type Refusals = ReadonlyMap<number, number>;

export async function readRefusals(base: Base, signal: AbortSignal): Promise<Refusals> {
  const { rows } = await readUsageOf(base, { group_by: 'key' }, signal);
  return new Map(rows.flatMap(({ key_id, refused }) => (key_id && refused ? [[key_id, refused]] : [])));
}
