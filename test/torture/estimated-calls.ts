import { setTimeout as sleep } from 'node:timers/promises';
import type { Book } from '../../src/book/book.ts';
import { openBook } from '../../src/book/open-book.ts';
import { micro } from '../../src/domain/credits.ts';
import type { KeyRecord } from '../../src/domain/key.ts';
import type { Admission } from '../../src/ledger/ledger.ts';
import type { OpenLedger } from '../../src/ledger/open-ledger.ts';
import { pick } from './calls.ts';
import type { History } from './history.ts';
import type { EstimatedCallModel } from './model.ts';
import { openLedgerOf } from './open-ledger-of.ts';
import { bookOf } from './world.ts';

const CLOSED_WITHIN_MS = 30_000;

/** A call that is told to the ledger without a gateway in front; what comes of it is drawn, too. */
export interface EstimatedCallPlan {
  readonly key: number;
  /** Micro-credits. */
  readonly hold: number;
  /** Parts of 100 of the hold. */
  readonly estimate: number;
  /** Parts of 100 of the hold. */
  readonly cost: number;
  /** From its admission to its settle. */
  readonly lastsMs: number;
}

interface OwnLedger {
  readonly book: Book;
  readonly open: OpenLedger;
}

const ledgers = new WeakMap<History, OwnLedger>();

/**
 * Calls at a third gateway, of which there is only the ledger: so hold, estimate and charge can be any, at any distance, which
 * no request gives. Not with a book in a file, which one gateway has to itself.
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
  const [key, record] = await Promise.all([
    own.book.key(account.id, keyId),
    own.book.account(account.id),
  ]).catch(() => []);
  if (!key?.isActive || !record?.isActive) return;
  const call: EstimatedCallModel = {
    requestId: `estimated-${model.estimatedCalls.length + 1}`,
    keyId,
    accountId: account.id,
    estimate: Math.floor((plan.hold * plan.estimate) / 100),
    cost: Math.floor((plan.hold * plan.cost) / 100),
    state: 'asked',
  };
  model.estimatedCalls.push(call);
  summary.calls += 1;
  const admission = admissionOf(call, key, record.version, plan.hold);
  // Redis may be away, or the key changed meanwhile: then nothing is charged.
  const admitted = await own.open.ledger.admit(admission).catch(() => undefined);
  if (admitted) call.state = admitted.verdict === 'held' ? 'held' : 'refused';
  if (admitted?.verdict !== 'held') return;
  await sleep(plan.lastsMs);
  call.state = 'settled';
  own.open.ledger.settle(admitted.epoch, chargeOf(admission, call), () => {});
}

function admissionOf(
  { requestId, accountId, keyId, estimate }: EstimatedCallModel,
  key: KeyRecord,
  accountVersion: number,
  hold: number,
): Admission {
  return {
    requestId,
    accountId,
    keyId,
    keyVersion: key.version,
    accountVersion,
    hold: micro(hold),
    estimate: micro(estimate),
    spendingLimit: key.spendingLimit,
    spendingPeriod: key.spendingPeriod,
    model: 'estimated',
    category: 'text',
    endpoint: '/v1/chat/completions',
  };
}

function chargeOf({ requestId, accountId, keyId, model, endpoint }: Admission, { cost }: EstimatedCallModel) {
  return {
    id: requestId,
    type: 'charge',
    accountId,
    keyId,
    createdAt: Date.now(),
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
