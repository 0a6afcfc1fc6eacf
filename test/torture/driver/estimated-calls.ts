import { setTimeout as sleep } from 'node:timers/promises';
import type { Book } from '../../../src/book/book.ts';
import { openBook } from '../../../src/book/open-book.ts';
import { type CallLimits, callLimitsOf, hasCallLimits } from '../../../src/domain/call-limits.ts';
import { micro } from '../../../src/domain/credits.ts';
import type { AccountRecord, KeyRecord } from '../../../src/domain/key.ts';
import { ownedLimits } from '../../../src/domain/spending-limits.ts';
import type { Admission, TokenCorrection } from '../../../src/ledger/ledger.ts';
import type { OpenLedger } from '../../../src/ledger/open-ledger.ts';
import type { EstimatedCallModel } from '../model/model.ts';
import { openLedgerOf } from '../nemesis/other-gateway.ts';
import { bookOf } from '../world/world.ts';
import { pick } from './calls.ts';
import type { History } from './history.ts';

const CLOSED_WITHIN_MS = 30_000;

/** A call made directly to the ledger, without a gateway; its outcome is drawn, too. */
export interface EstimatedCallPlan {
  readonly key: number;
  /** Micro-credits. */
  readonly hold: number;
  /** Parts of 100 of the hold. */
  readonly estimate: number;
  /** Parts of 100 of the hold. */
  readonly cost: number;
  /** Tokens that it is likely to use. */
  readonly tokens?: number;
  /** Tokens that it uses. */
  readonly usedTokens?: number;
  /** From its admission to its settle. */
  readonly lastsMs: number;
}

interface OwnLedger {
  readonly book: Book;
  readonly open: OpenLedger;
}

const ledgers = new WeakMap<History, OwnLedger>();

/**
 * Calls at a third gateway that consists of only the ledger. Unlike those of requests, its holds, estimates and charges
 * can have any amounts and differences. Not with a book in a file, which only one gateway can use.
 */
export async function makeEstimatedCalls(
  history: History,
  { plans }: { readonly plans: readonly EstimatedCallPlan[] },
): Promise<void> {
  const own = await ownLedgerOf(history);
  if (own) history.inBackground(Promise.all(plans.map((plan) => makeEstimatedCall(history, own, plan))));
}

async function ownLedgerOf(history: History): Promise<OwnLedger | undefined> {
  const known = ledgers.get(history);
  if (known) return known;
  const { world, isRedisUp, isBookUp, model } = history;
  if (!world.book || !isRedisUp || !isBookUp) return undefined;
  // Either may go away meanwhile: then there are no such calls.
  const book = await openBook(bookOf(world)).catch(() => undefined);
  const open = book && (await openLedgerOf(world, book).catch(() => undefined));
  if (!book || !open) {
    await book?.close();
    return undefined;
  }
  const own = { book, open };
  ledgers.set(history, own);
  history.onHealed(async () => {
    await open.sweep.cancelUnanswered().catch((error: Error) => model.violations.push(error.message));
    await open.close(CLOSED_WITHIN_MS);
    if (open.openSettlements() > 0) model.violations.push('estimated calls were never settled');
    await book.close();
  });
  return own;
}

async function makeEstimatedCall(history: History, own: OwnLedger, plan: EstimatedCallPlan): Promise<void> {
  const { model, summary } = history;
  const { id: keyId, account } = pick(model.keys, plan.key);
  const estimate = Math.floor((plan.hold * plan.estimate) / 100);
  const cost = Math.floor((plan.hold * plan.cost) / 100);
  // In every second account, no call costs more than its estimate, so the balance must suffice whatever the overdraft.
  const isSure = model.accounts.indexOf(account) % 2 === 0;
  const [key, record] = await Promise.all([
    own.book.key(account.id, keyId),
    own.book.account(account.id),
  ]).catch(() => []);
  if (!key?.isActive || !record?.isActive) return;
  const call: EstimatedCallModel = {
    requestId: `estimated-${model.estimatedCalls.length + 1}`,
    keyId,
    accountId: account.id,
    estimate,
    cost: isSure ? Math.min(cost, estimate) : cost,
    tokens: plan.tokens ?? 0,
    usedTokens: plan.usedTokens ?? 0,
    askedAt: Date.now(),
    heldAt: undefined,
    settledAt: undefined,
    state: 'asked',
  };
  model.estimatedCalls.push(call);
  summary.calls += 1;
  const admission = admissionOf(call, key, record, plan.hold);
  // If Redis is away or the key has changed, nothing is charged.
  const admitted = await own.open.ledger.admit(admission).catch(() => undefined);
  if (admitted) call.state = admitted.verdict === 'held' ? 'held' : 'refused';
  if (admitted?.verdict !== 'held') return;
  call.heldAt = Date.now();
  await sleep(plan.lastsMs);
  call.state = 'settled';
  call.settledAt = Date.now();
  own.open.ledger.settle(chargeOf(admission, call), () => {}, correctionOf(admission, call));
}

function admissionOf(
  { requestId, accountId, keyId, estimate, tokens }: EstimatedCallModel,
  key: KeyRecord,
  account: AccountRecord,
  hold: number,
): Admission {
  const isLimited = hasCallLimits(key) || hasCallLimits(account);
  return {
    requestId,
    accountId,
    keyId,
    personId: key.personId,
    keyVersion: key.version,
    accountVersion: account.version,
    hold: micro(hold),
    estimate: micro(estimate),
    spendingLimits: ownedLimits(key, account.spendingLimits),
    limits: isLimited ? { key: callLimitsOf(key), account: callLimitsOf(account), tokens } : undefined,
    model: 'estimated',
    category: 'text',
    endpoint: '/v1/chat/completions',
  };
}

/** Usage beyond the tokens that the admission took (specification section 11). */
function correctionOf(
  { limits }: Admission,
  { tokens, usedTokens }: EstimatedCallModel,
): TokenCorrection | undefined {
  if (!limits) return undefined;
  const beyond = ({ tpmLimit }: CallLimits) =>
    tpmLimit === null ? 0 : usedTokens - Math.min(tokens, tpmLimit);
  return { key: beyond(limits.key), account: beyond(limits.account) };
}

function chargeOf(
  { requestId, accountId, keyId, model, endpoint }: Admission,
  { cost, heldAt = 0 }: EstimatedCallModel,
) {
  return {
    id: requestId,
    type: 'charge',
    accountId,
    keyId,
    createdAt: Date.now(),
    admittedAt: heldAt,
    model,
    category: 'text',
    endpoint,
    status: 200,
    outcome: 'complete',
    usage: { requests: 1 },
    estimated: false,
    credits: micro(-cost),
  } as const;
}
