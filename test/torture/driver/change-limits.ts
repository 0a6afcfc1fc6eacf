import { setTimeout as sleep } from 'node:timers/promises';
import { ADMIN_TOKEN } from '../../helper/start/gateway-process.ts';
import { type LimitChange, type LimitField, STRAY_MS } from '../model/limits-model.ts';
import { newestOf } from '../model/values-model.ts';
import { pick } from './calls.ts';
import type { History } from './history.ts';
import { isDone, ownerOf } from './owners.ts';

/** A change of one rate limit, of a key by its owner or of an account by the operator. */
export interface LimitPlan {
  readonly slot: number;
  readonly of: 'key' | 'account';
  readonly place: number;
  readonly field: LimitField;
  /** Null for none. */
  readonly limit: number | null;
}

/** Changes a limit. The first account has none, because its calls show when everything is healed. */
export async function changeLimit(history: History, plan: LimitPlan): Promise<void> {
  const { model, world } = history;
  const keys = model.keys.slice(1);
  const accounts = model.accounts.slice(1);
  if (keys.length === 0 || accounts.length === 0) return;
  const key = pick(keys, plan.place);
  const account = pick(accounts, plan.place);
  const isOfKey = plan.of === 'key';
  const changes = (isOfKey ? key : account).limits[plan.field];
  const change: LimitChange = {
    limit: plan.limit,
    askedAt: Date.now(),
    answeredAt: undefined,
    settledAt: Infinity,
  };
  changes.push(change);
  const answer = await history.ask(plan.slot % world.slots.length, {
    method: 'PATCH',
    path: isOfKey ? `/api/keys/${key.id}/` : `/api/admin/accounts/${account.id}/`,
    token: isOfKey ? newestOf(ownerOf(history, key)).value : ADMIN_TOKEN,
    body: { [plan.field]: plan.limit },
  });
  const now = Date.now();
  if (isDone(history, answer, 200)) {
    change.answeredAt = now;
    change.settledAt = now;
    // Times are in whole milliseconds; this makes the next step certainly later than the answer.
    await sleep(2);
  } else change.settledAt = now + STRAY_MS;
}
