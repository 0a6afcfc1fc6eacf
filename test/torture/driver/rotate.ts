import { setTimeout as sleep } from 'node:timers/promises';
import type { KeyModel } from '../model/model.ts';
import { affirm, doubt, endOlder, leaveOpen, newestOf, type ValueModel } from '../model/values-model.ts';
import { makeCallWith } from './calls.ts';
import type { History } from './history.ts';
import { isDone, managedKey, ownerOf } from './owners.ts';

export interface RotationPlan {
  readonly slot: number;
  readonly key: number;
  /** Seconds for which the previous value stays valid; 'end' to end the grace of the rotation before. */
  readonly grace: number | 'end';
}

const MS_PER_S = 1_000;

/**
 * Rotates a key other than the first of an account. Calls with both values during the grace period and right after it.
 */
export async function rotate(history: History, plan: RotationPlan): Promise<void> {
  const key = managedKey(history, plan.key);
  if (!key) return;
  const slot = plan.slot % history.world.slots.length;
  if (plan.grace === 'end') return endGrace(history, slot, key);
  const before = newestOf(key);
  const askedAt = Date.now();
  // If there may be an unknown newer value, `before` may be the oldest one, which ends immediately.
  const graceMs = key.isNewestKnown ? plan.grace * MS_PER_S : 0;
  for (const value of key.values) doubt(value, value === before ? askedAt + graceMs : askedAt);
  const wasActive = key.isActive;
  const answer = await history.ask(slot, {
    method: 'POST',
    path: `/api/keys/${key.id}/rotate/`,
    token: newestOf(ownerOf(history, key)).value,
    body: { grace_seconds: plan.grace },
  });
  const now = Date.now();
  if (!isDone(history, answer, 200)) {
    key.isNewestKnown = false;
    leaveOpen(key, now);
    return;
  }
  const { key: value, previous_valid_until: until } = JSON.parse(answer.text) as {
    key: string;
    previous_valid_until: string | null;
  };
  history.summary.rotations += 1;
  key.values.push({ value, endedAt: Infinity, valid: [] });
  key.isNewestKnown = askedAt >= key.strayUntil;
  // Only the newest value of an inactive key returns.
  const endsAt = until === null || wasActive === false ? now : Date.parse(until);
  endOlder({ ...key, values: key.values.slice(0, -1) }, now);
  before.endedAt = Math.min(before.endedAt, endsAt);
  if (wasActive) affirm(key, askedAt, now);
  history.inBackground(callAround(history, key, before, endsAt));
}

async function endGrace(history: History, slot: number, key: KeyModel): Promise<void> {
  const askedAt = Date.now();
  for (const value of key.isNewestKnown ? key.values.slice(0, -1) : key.values) doubt(value, askedAt);
  const answer = await history.ask(slot, {
    method: 'POST',
    path: `/api/keys/${key.id}/rotate/`,
    token: newestOf(ownerOf(history, key)).value,
    body: { end_grace: true },
  });
  const [before] = key.values.slice(-2);
  if (!isDone(history, answer, 200)) return leaveOpen(key, Date.now());
  endOlder(key, Date.now());
  if (before) await callAround(history, key, before, Date.now());
}

/** Calls at every gateway with the newest and the previous value: now, and after the previous one ends. */
async function callAround(
  history: History,
  key: KeyModel,
  before: ValueModel,
  endsAt: number,
): Promise<void> {
  const plan = { manner: 'plain', model: 'tokens', leaving: undefined } as const;
  const callsWith = (values: readonly ValueModel[]) =>
    history.world.slots.flatMap(({ index }) =>
      values.map((value) => makeCallWith(history, key, { ...plan, slot: index }, value)),
    );
  const calls = callsWith([newestOf(key), before]);
  await sleep(Math.max(0, endsAt + 1 - Date.now()));
  await Promise.all([...calls, ...callsWith([before])]);
}
