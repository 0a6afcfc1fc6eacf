import { setTimeout as sleep } from 'node:timers/promises';
import { ADMIN_TOKEN } from '../helper/gateway-process.ts';
import { pick } from './calls.ts';
import type { Answered } from './client.ts';
import { firstThreshold, type History } from './history.ts';
import type { AccountModel, KeyModel, TopUpModel } from './model.ts';

const MICRO = 1_000_000;

export interface AccountPlan {
  readonly slot: number;
  /** Whole credits. */
  readonly credits: number;
  readonly threshold: number;
  readonly overdraft: number;
}

/** An account whose key hears of crossings. One whose answer is lost is forgotten: nobody has its key. */
export async function makeAccount(history: History, plan: AccountPlan): Promise<void> {
  const { model, world } = history;
  const email = `owner${model.accounts.length}-${Date.now()}@example.com`;
  const slot = plan.slot % world.slots.length;
  const answer = await history.ask(slot, {
    method: 'POST',
    path: '/api/admin/accounts/',
    token: ADMIN_TOKEN,
    body: {
      email,
      credits: plan.credits,
      alert_threshold: plan.threshold,
      overdraft: plan.overdraft,
    },
  });
  if (!isDone(history, answer, 201)) return;
  const { account, key } = JSON.parse(answer.text) as {
    account: { id: number };
    key: { id: number; key: string };
  };
  const made: AccountModel = {
    id: account.id,
    email,
    granted: plan.credits * MICRO,
    highestOverdraft: plan.overdraft * MICRO,
    thresholds: [firstThreshold(plan.threshold * MICRO)],
  };
  model.accounts.push(made);
  const first = keyModel(key.id, key.key, made, null);
  model.keys.push(first);
  await change(history, slot, first, { webhook_url: world.receiver.url });
}

export interface OverdraftPlan {
  readonly slot: number;
  readonly account: number;
  /** Whole credits. */
  readonly overdraft: number;
}

/** The operator changes how far holds may go beyond the balance. */
export async function changeOverdraft(history: History, plan: OverdraftPlan): Promise<void> {
  const account = pick(history.model.accounts, plan.account);
  // From here on it may be in force, whatever is answered.
  account.highestOverdraft = Math.max(account.highestOverdraft, plan.overdraft * MICRO);
  const answer = await history.ask(plan.slot % history.world.slots.length, {
    method: 'PATCH',
    path: `/api/admin/accounts/${account.id}/`,
    token: ADMIN_TOKEN,
    body: { overdraft: plan.overdraft },
  });
  isDone(history, answer, 200);
}

export interface KeyPlan {
  readonly slot: number;
  readonly account: number;
  /** Whole credits; null: none. */
  readonly limit: number | null;
}

export async function makeKey(history: History, plan: KeyPlan): Promise<void> {
  const { model, world } = history;
  const owner = pick(ownersOf(history), plan.account);
  const answer = await history.ask(plan.slot % world.slots.length, {
    method: 'POST',
    path: '/api/keys/',
    token: owner.value,
    body: { name: `key ${model.keys.length}`, spending_limit: plan.limit, can_manage: false },
  });
  if (!isDone(history, answer, 201)) return;
  const { id, key } = JSON.parse(answer.text) as { id: number; key: string };
  model.keys.push(keyModel(id, key, owner.account, plan.limit === null ? null : plan.limit * MICRO));
}

export type Change = 'delete' | 'reactivate' | 'restrict' | 'open' | 'raise the limit';

export interface KeyChangePlan {
  readonly slot: number;
  readonly key: number;
  readonly change: Change;
}

/** Changes a key other than an account's first, so that there is always one left that may manage. Undefined: there is none. */
export async function changeKey(history: History, plan: KeyChangePlan): Promise<KeyModel | undefined> {
  const { model, world } = history;
  const managing = new Set(ownersOf(history));
  const keys = model.keys.filter((key) => !managing.has(key));
  const key = keys[plan.key % keys.length];
  if (!key) return undefined;
  const slot = plan.slot % world.slots.length;
  if (plan.change === 'delete') await remove(history, slot, key);
  else if (plan.change === 'raise the limit') await raiseLimit(history, slot, key);
  else await openOrRestrict(history, slot, key, plan.change);
  return key;
}

async function raiseLimit(history: History, slot: number, key: KeyModel): Promise<void> {
  if (key.highestLimit === null) return;
  key.highestLimit += 5 * MICRO;
  await change(history, slot, key, { spending_limit: key.highestLimit / MICRO });
}

async function openOrRestrict(
  history: History,
  slot: number,
  key: KeyModel,
  what: 'reactivate' | 'restrict' | 'open',
): Promise<void> {
  const opens = what !== 'restrict';
  // From here on it may be let in again: also those of its calls that are on their way.
  if (opens)
    for (const call of history.model.calls)
      if (call.key === key && !call.answer) call.mustBeRefused = undefined;
  const isAboutActive = what === 'reactivate';
  const before = key.mayOpen;
  if (opens) key.mayOpen = true;
  const isChanged = await change(
    history,
    slot,
    key,
    isAboutActive ? { is_active: true } : { allowed_models: opens ? [] : ['tokens'] },
  );
  if (isAboutActive) key.isActive = isChanged ? true : undefined;
  else key.isRestricted = isChanged ? !opens : undefined;
  if (opens && isChanged) key.mayOpen = before;
}

async function remove(history: History, slot: number, key: KeyModel): Promise<void> {
  const answer = await history.ask(slot, {
    method: 'DELETE',
    path: `/api/keys/${key.id}/`,
    token: ownerOf(history, key).value,
  });
  key.isActive = isDone(history, answer, 200) ? false : undefined;
}

/** Whether it was answered as done. */
async function change(history: History, slot: number, key: KeyModel, body: object): Promise<boolean> {
  const answer = await history.ask(slot, {
    method: 'PATCH',
    path: `/api/keys/${key.id}/`,
    token: ownerOf(history, key).value,
    body,
  });
  return isDone(history, answer, 200);
}

const TRIES_PAUSE_MS = 150;

/** Sends a top-up or adjustment with one Idempotency-Key, at the gateways in turn, until it is acknowledged or the tries are used up. */
export async function topUp(history: History, topUp: TopUpModel, slot: number, tries: number): Promise<void> {
  const { slots } = history.world;
  for (let attempt = 0; attempt < tries; attempt++) {
    const answer = await history.ask((slot + attempt) % slots.length, {
      method: 'POST',
      path: `/api/admin/accounts/${topUp.account.id}/credits/`,
      token: ADMIN_TOKEN,
      headers: { 'idempotency-key': topUp.idempotencyKey },
      body: { amount: topUp.amount / MICRO, note: topUp.idempotencyKey },
    });
    if (isDone(history, answer, 200)) {
      topUp.isAcknowledged = true;
      return;
    }
    await sleep(TRIES_PAUSE_MS);
  }
}

/** Amounts end in a number of their own, by which the ledger shows each of them. `credits` below 0: an adjustment. */
export function newTopUp(history: History, account: AccountModel, credits: number): TopUpModel {
  const { topUps } = history.model;
  const number = topUps.length + 1;
  const made = {
    account,
    amount: credits * MICRO + Math.sign(credits) * number,
    idempotencyKey: `top-up ${number}`,
    isAcknowledged: false,
  };
  topUps.push(made);
  return made;
}

/** The first key of every account. */
function ownersOf({ model }: History): KeyModel[] {
  return model.accounts.flatMap((account) => model.keys.find((key) => key.account === account) ?? []);
}

function ownerOf({ model }: History, { account }: KeyModel): KeyModel {
  const owner = model.keys.find((key) => key.account === account);
  if (!owner) throw new Error('an account without a key');
  return owner;
}

/** Only the answer asked for, none at all, and 503 are right, whatever goes on. */
export function isDone({ model }: History, { status, text, isWhole }: Answered, wanted: number): boolean {
  if (status === wanted) return isWhole;
  if (status !== undefined && status !== 503 && status !== 500) {
    model.violations.push(`${status} instead of ${wanted}: ${text}`);
  }
  return false;
}

function keyModel(id: number, value: string, account: AccountModel, limit: number | null): KeyModel {
  return { id, value, account, highestLimit: limit, isActive: true, isRestricted: false, mayOpen: false };
}
