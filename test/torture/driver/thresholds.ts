import { accountRedisKey } from '../../../src/ledger/redis/redis-keys.ts';
import type { AccountModel, ThresholdModel } from '../model/model.ts';
import { newestOf } from '../model/values-model.ts';
import { pick } from './calls.ts';
import type { History } from './history.ts';
import { isDone } from './owners.ts';

const MICRO = 1_000_000;
/** Maximum wait for a read of Redis, which may be going down. */
const LOOK_MS = 200;

export interface ThresholdPlan {
  readonly slot: number;
  readonly account: number;
  /** Whole credits. */
  readonly threshold: number;
}

/**
 * Changes the alert threshold, as the owner. Reads Redis before and after, to know between which entries it took
 * effect.
 */
export async function changeThreshold(history: History, plan: ThresholdPlan): Promise<void> {
  const { model, world } = history;
  const account = pick(model.accounts, plan.account);
  const owner = model.keys.find((key) => key.account === account);
  if (!owner) return;
  const change: ThresholdModel = {
    threshold: plan.threshold * MICRO,
    afterSeq: (await lastSeq(history, account)) ?? 0,
    surelyAfterSeq: undefined,
    askedAt: Date.now(),
  };
  account.thresholds.push(change);
  const answer = await history.ask(plan.slot % world.slots.length, {
    method: 'PATCH',
    path: '/api/account/',
    token: newestOf(owner).value,
    body: { alert_threshold: plan.threshold },
  });
  if (isDone(history, answer, 200)) change.surelyAfterSeq = await lastSeq(history, account);
}

async function lastSeq({ raw, isRedisUp }: History, account: AccountModel): Promise<number | undefined> {
  if (!isRedisUp) return undefined;
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, LOOK_MS, undefined);
  });
  const seq = await Promise.race([
    raw.hget(accountRedisKey(account.id), 'seq').catch(() => undefined),
    patience,
  ]);
  clearTimeout(timer);
  return seq == null ? undefined : Number(seq);
}
