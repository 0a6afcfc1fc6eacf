import { setTimeout as sleep } from 'node:timers/promises';
import { ADMIN_TOKEN } from '../../helper/start/gateway-process.ts';
import { type Limits, limitsFrom, NO_LIMITS } from '../model/limits-model.ts';
import { type AccountModel, type KeyModel, keyModel, type TopUpModel } from '../model/model.ts';
import { changedTo, type SpendingLimit, spendingFrom } from '../model/spending-model.ts';
import { affirm, doubt, endOlder, leaveOpen, newestOf } from '../model/values-model.ts';
import { pick } from './calls.ts';
import type { Answered } from './client.ts';
import { firstThreshold, type History } from './history.ts';

const MICRO = 1_000_000;

export interface AccountPlan {
  readonly slot: number;
  /** Whole credits. */
  readonly credits: number;
  readonly threshold: number;
  readonly overdraft: number;
  readonly spending?: readonly SpendingLimit[];
}

/** Creates an account whose key has a webhook. Forgets it if the answer is lost, because then nobody has its key. */
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
      spending_limits: plan.spending ?? [],
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
    limits: limitsFrom(NO_LIMITS),
    spending: spendingFrom(plan.spending ?? []),
  };
  model.accounts.push(made);
  const first = keyModel(key.id, key.key, made);
  model.keys.push(first);
  await change(history, slot, first, { webhook_url: world.receiver.url });
}

export interface OverdraftPlan {
  readonly slot: number;
  readonly account: number;
  /** Whole credits. */
  readonly overdraft: number;
}

/** Changes the overdraft, as the operator. */
export async function changeOverdraft(history: History, plan: OverdraftPlan): Promise<void> {
  const account = pick(history.model.accounts, plan.account);
  // From here on it may be in force, whatever the answer.
  account.highestOverdraft = Math.max(account.highestOverdraft, plan.overdraft * MICRO);
  const answer = await history.ask(plan.slot % history.world.slots.length, {
    method: 'PATCH',
    path: `/api/admin/accounts/${account.id}/`,
    token: ADMIN_TOKEN,
    body: { overdraft: plan.overdraft },
  });
  isDone(history, answer, 200);
}

export interface SpendingPlan {
  readonly slot: number;
  readonly of: 'key' | 'account';
  readonly place: number;
  readonly spending: readonly SpendingLimit[];
}

/** Replaces the list of spending limits, of a key by its owner or of an account by the operator. */
export async function changeSpending(history: History, plan: SpendingPlan): Promise<void> {
  const { model, world } = history;
  // The first account has none, because its calls show when everything is healed.
  const keys = model.keys.slice(1);
  const accounts = model.accounts.slice(1);
  if (keys.length === 0 || accounts.length === 0) return;
  const key = pick(keys, plan.place);
  const account = pick(accounts, plan.place);
  const isOfKey = plan.of === 'key';
  changedTo((isOfKey ? key : account).spending, plan.spending);
  const answer = await history.ask(plan.slot % world.slots.length, {
    method: 'PATCH',
    path: isOfKey ? `/api/keys/${key.id}/` : `/api/admin/accounts/${account.id}/`,
    token: isOfKey ? newestOf(ownerOf(history, key)).value : ADMIN_TOKEN,
    body: { spending_limits: plan.spending },
  });
  isDone(history, answer, 200);
}

export interface KeyPlan {
  readonly slot: number;
  readonly account: number;
  /** Spending limit in whole credits; null for none. */
  readonly limit: number | null;
  readonly limits?: Limits;
  readonly spending?: readonly SpendingLimit[];
}

export async function makeKey(history: History, plan: KeyPlan): Promise<void> {
  const { model, world } = history;
  const owner = pick(ownersOf(history), plan.account);
  const limits = plan.limits ?? NO_LIMITS;
  const answer = await history.ask(plan.slot % world.slots.length, {
    method: 'POST',
    path: '/api/keys/',
    token: newestOf(owner).value,
    body: {
      name: `key ${model.keys.length}`,
      spending_limit: plan.limit,
      spending_limits: plan.spending ?? [],
      can_manage: false,
      ...limits,
    },
  });
  if (!isDone(history, answer, 201)) return;
  const { id, key } = JSON.parse(answer.text) as { id: number; key: string };
  const made = keyModel(id, key, owner.account, {
    highestLimit: plan.limit === null ? null : plan.limit * MICRO,
    limits: limitsFrom(limits),
    spending: spendingFrom(plan.spending ?? []),
  });
  model.keys.push(made);
}

export type Change = 'delete' | 'reactivate' | 'restrict' | 'open' | 'raise the limit';

export interface KeyChangePlan {
  readonly slot: number;
  readonly key: number;
  readonly change: Change;
}

/** Changes a key other than the first of an account, which must be able to manage. Undefined if there is no other. */
export async function changeKey(history: History, plan: KeyChangePlan): Promise<KeyModel | undefined> {
  const { world } = history;
  const key = managedKey(history, plan.key);
  if (!key) return undefined;
  const slot = plan.slot % world.slots.length;
  if (plan.change === 'delete') await remove(history, slot, key);
  else if (plan.change === 'raise the limit') await raiseLimit(history, slot, key);
  else await openOrRestrict(history, slot, key, plan.change);
  return key;
}

/** A key that is not the first of its account; undefined if there is none. */
export function managedKey(history: History, place: number): KeyModel | undefined {
  const managing = new Set(ownersOf(history));
  const keys = history.model.keys.filter((key) => !managing.has(key));
  return keys[place % keys.length];
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
  // From here on its calls may be admitted again, including those already sent.
  if (opens)
    for (const call of history.model.calls)
      if (call.key === key && !call.answer) call.mustBeRefused = undefined;
  const isAboutActive = what === 'reactivate';
  const before = key.mayOpen;
  const askedAt = Date.now();
  if (opens) key.mayOpen = true;
  const isChanged = await change(
    history,
    slot,
    key,
    isAboutActive ? { is_active: true } : { allowed_models: opens ? [] : ['tokens'] },
  );
  if (isAboutActive) {
    key.isActive = isChanged ? true : undefined;
    if (isChanged) affirm(key, askedAt, Date.now());
    else leaveOpen(key, Date.now());
  } else key.isRestricted = isChanged ? !opens : undefined;
  if (opens && isChanged) key.mayOpen = before;
}

async function remove(history: History, slot: number, key: KeyModel): Promise<void> {
  for (const value of key.values) doubt(value, Date.now());
  const answer = await history.ask(slot, {
    method: 'DELETE',
    path: `/api/keys/${key.id}/`,
    token: newestOf(ownerOf(history, key)).value,
  });
  if (isDone(history, answer, 200)) {
    key.isActive = false;
    endOlder(key, Date.now());
  } else {
    key.isActive = undefined;
    leaveOpen(key, Date.now());
  }
}

/** Sends a change of a key. Resolves with true if the answer confirms it. */
export async function change(history: History, slot: number, key: KeyModel, body: object): Promise<boolean> {
  const answer = await history.ask(slot, {
    method: 'PATCH',
    path: `/api/keys/${key.id}/`,
    token: newestOf(ownerOf(history, key)).value,
    body,
  });
  return isDone(history, answer, 200);
}

const TRIES_PAUSE_MS = 150;

/**
 * Sends a top-up or adjustment with one Idempotency-Key to the gateways in turn, until it is acknowledged, `tries`
 * times.
 */
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

/**
 * Makes a top-up, or with `credits` below 0 an adjustment. Its amount ends in a unique number, which the ledger shows.
 */
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

export function ownerOf({ model }: History, { account }: KeyModel): KeyModel {
  const owner = model.keys.find((key) => key.account === account);
  if (!owner) throw new Error('an account without a key');
  return owner;
}

/** Returns true for status `wanted`, false for 503 or no answer. Records any other answer as a violation. */
export function isDone({ model }: History, { status, text, isWhole }: Answered, wanted: number): boolean {
  if (status === wanted) return isWhole;
  if (status !== undefined && status !== 503 && status !== 500) {
    model.violations.push(`${status} instead of ${wanted}: ${text}`);
  }
  return false;
}
