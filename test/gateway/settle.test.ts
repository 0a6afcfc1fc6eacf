import { test } from 'tap';
import type { Model } from '../../src/domain/catalog.ts';
import { micro } from '../../src/domain/credits.ts';
import type { EntryDraft } from '../../src/domain/ledger-entry.ts';
import type { AdmittedCall, AttemptRecord } from '../../src/gateway/call.ts';
import { settleCall } from '../../src/gateway/settle.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { admittedCall } from '../helper/fixtures/admitted-call.ts';
import { creditPrice } from '../helper/fixtures/credit-price.ts';

function heldCall(more: Partial<Model> = {}, attempts: readonly AttemptRecord[] = []): AdmittedCall {
  const call = admittedCall({ model: 'flat', more });
  return { ...call, startedAt: 0, isSettled: false, attempts: [...attempts] };
}

/** The entry of a call that costs the operator 0.4 credits. */
function entryOf(attempts: readonly AttemptRecord[]): EntryDraft | undefined {
  const drafts: EntryDraft[] = [];
  const ledger = { settle: (draft: EntryDraft) => drafts.push(draft) } as unknown as Ledger;
  const cost = creditPrice({ request: 0.4 });
  const call = heldCall({ cost }, attempts);
  settleCall(ledger, call, { status: 200, outcome: 'complete', usage: {}, estimated: false }, () => {});
  return drafts[0];
}

test('the cost of a call includes that of failed attempts that reported usage', async (t) => {
  const last = { target: 'b', status: 200, ms: 5 };
  const failed = { target: 'a', status: 529, ms: 3 };
  t.match(entryOf([last]), { credits: -1_000_000, cost: 400_000, attempts: undefined });
  t.match(entryOf([failed, last]), { cost: 400_000, attempts: [failed, last] });
  const reported = { ...failed, usage: { input: 9 } };
  const entry = entryOf([{ ...reported, cost: micro(100_000) }, last]);
  t.equal(entry?.cost, 500_000);
  t.same(entry?.attempts, [reported, last]);
});

test('a call is settled once', async (t) => {
  let settles = 0;
  const ledger = { settle: () => settles++ } as unknown as Ledger;
  const call = heldCall();
  const ending = { status: 200, outcome: 'complete', usage: {}, estimated: false } as const;
  settleCall(ledger, call, ending, () => {});
  t.throws(() => settleCall(ledger, call, ending, () => {}), { message: 'a call is being settled twice' });
  t.equal(settles, 1);
});
