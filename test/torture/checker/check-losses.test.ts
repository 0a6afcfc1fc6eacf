import { test } from 'tap';
import type { CallModel, Loss } from '../model/model.ts';
import { checkReplicated } from './check-calls.ts';
import { answer, CREDIT, faultsOf, fixture, loss, PREFIX, row, withLedger } from './check-fixture.ts';
import type { LedgerRow } from './snapshot.ts';

// Tests of the checker: what faults excuse and what they don't.

test('an answered call whose hold expired is right only where its gateway died while Redis was in trouble', async (t) => {
  const base = fixture();
  base.life.killedAt = 1_100;
  const ledger = [
    row(1, 'grant', 10, 10, { note: 'Initial credits' }),
    row(2, `${PREFIX}1`, 0, 10, { type: 'expired_hold', outcome: null }),
    ...base.snapshot.ledger.slice(2),
  ];
  const about = (fault: string) => fault.includes('its hold expired');
  t.equal(faultsOf(withLedger(base, ledger)).filter(about).length, 1);
  const trouble = { slot: 0, ofBook: false, from: 900, to: 2_000 };
  base.model.troubles.push({ ...trouble, buckets: new Set([2]) });
  t.equal(faultsOf(withLedger(base, ledger)).filter(about).length, 1, 'not where it was another node');
  base.model.troubles.push({ ...trouble, buckets: new Set([1]) });
  t.equal(faultsOf(withLedger(base, ledger)).filter(about).length, 0);
});

/** The fixture after Redis lost the entry of the first call. */
function withLostEntry(more: Pick<Loss, 'trouble'> = {}) {
  const base = fixture();
  const lost = { accountId: 1, credits: -CREDIT, keyId: 1, createdAt: 0, journalledAt: 0 };
  const entries = new Map([[`${PREFIX}1`, lost]]);
  base.model.losses.push(loss({ entries, ...more }));
  return base;
}

test('a call that was lost with an emptied Redis may have no row, and no other', async (t) => {
  const base = withLostEntry();
  const without = (seq: number) =>
    faultsOf(
      withLedger(
        base,
        base.snapshot.ledger.filter((r) => r.seq !== seq),
      ),
    ).filter((fault) => /has no row/.test(fault));
  t.same(without(2), []);
  t.equal(without(3).length, 1);
});

test('a call that went with the last moments of a node may have no row only where its gateway died before it healed', async (t) => {
  const trouble = { slot: undefined, ofBook: false, buckets: new Set([1]), from: 0, to: 2_000 };
  const base = withLostEntry({ trouble });
  const found = () =>
    faultsOf(
      withLedger(
        base,
        base.snapshot.ledger.filter(({ seq }) => seq !== 2),
      ),
    ).filter((fault) => /has no row/.test(fault)).length;
  t.equal(found(), 1);
  base.life.killedAt = 2_001;
  t.equal(found(), 1);
  base.life.killedAt = 2_000;
  t.equal(found(), 0);
});

test('it may have none either where the gateway died before the book was back, to compare Redis with', async (t) => {
  const of = { slot: undefined, buckets: new Set([1]), from: 0 };
  const base = withLostEntry({ trouble: { ...of, ofBook: false, to: 2_000 } });
  const { model, snapshot, life } = base;
  const lost = withLedger(
    base,
    snapshot.ledger.filter(({ seq }) => seq !== 2),
  );
  const found = () => faultsOf(lost).filter((fault) => /has no row/.test(fault)).length;
  life.killedAt = 13_000;
  t.equal(found(), 1);
  model.troubles.push({ ...of, slot: life.slot + 1, ofBook: true, to: 5_000 });
  t.equal(found(), 1, 'of another gateway');
  model.troubles.push({ ...of, slot: life.slot, ofBook: true, to: 5_000 });
  t.equal(found(), 0);
  life.killedAt = 13_001;
  t.equal(found(), 1);
});

test('a call may be answered 503 only where something was in its way', (t) => {
  const base = fixture();
  const [first] = base.model.calls as [CallModel];
  const refused = answer({ status: 503, requestId: `${PREFIX}9`, endedAt: 50 });
  base.model.calls.push({ ...first, id: 9, answer: refused, startedAt: 10 });
  const found = () => faultsOf(base).filter((fault) => fault.includes('answered 503 by')).length;
  const trouble = { slot: undefined, ofBook: false, from: 0, to: 20 };
  t.equal(found(), 1);
  base.model.troubles.push({ ...trouble, buckets: new Set([2]) });
  t.equal(found(), 1, 'on another node');
  base.life.killedAt = 40;
  t.equal(found(), 0, 'a gateway died that may have been rebuilding the account');
  base.life.killedAt = undefined;
  base.model.troubles.push({ ...trouble, buckets: new Set([1]) });
  t.equal(found(), 0);
  t.end();
});

test('a trouble lasts until a call of the account was served after it, however long a slow machine takes for that', (t) => {
  const base = fixture();
  const [first] = base.model.calls as [CallModel];
  const call = (id: number, status: number, startedAt: number) =>
    base.model.calls.push({
      ...first,
      id,
      answer: answer({ status, requestId: `${PREFIX}${id}`, endedAt: startedAt + 10 }),
      startedAt,
    });
  const found = () => faultsOf(base).filter((fault) => fault.includes('answered 503 by')).length;
  const trouble = { slot: undefined, ofBook: false, from: 0, to: 2_000 };
  base.model.troubles.push({ ...trouble, buckets: new Set([1]) });
  call(9, 503, 60_000);
  t.equal(found(), 0);
  call(10, 200, 1_995);
  t.equal(found(), 0, 'that one began before the end of the trouble');
  call(11, 200, 59_995);
  t.equal(found(), 0, 'that one ended after the beginning of the call');
  call(12, 200, 50_000);
  t.equal(found(), 1);
  t.end();
});

test('where calls wait for a replica, none is sent whose hold a failover took', (t) => {
  const { model, reached } = fixture();
  const hold = { accountId: 1, keyId: 1, amount: CREDIT, createdAt: 0 };
  const lost = loss({ holds: new Map([[`${PREFIX}1`, hold]]) });
  model.losses.push(lost);
  t.same(checkReplicated(model, reached), [], 'a node that was emptied has none, nor has its replica');
  model.losses.push({ ...lost, isFailover: true });
  t.match(checkReplicated(model, reached), [/call 1 /]);
  t.end();
});

test('a book that is away excuses a hold that expired only where Redis lost the account', async (t) => {
  const base = fixture();
  base.life.killedAt = 1_100;
  base.model.troubles.push({
    slot: 0,
    ofBook: true,
    buckets: new Set([1]),
    from: 900,
    to: 2_000,
  });
  const ledger = [
    row(1, 'grant', 10, 10, { note: 'Initial credits' }),
    row(2, `${PREFIX}1`, 0, 10, { type: 'expired_hold', outcome: null }),
    ...base.snapshot.ledger.slice(2),
  ];
  const found = () =>
    faultsOf(withLedger(base, ledger)).filter((fault) => fault.includes('its hold expired')).length;
  t.equal(found(), 1);
  base.model.losses.push(loss({ at: 800 }));
  t.equal(found(), 0);
});

test('a gateway that ends before it hears of a takeover may use replies of a frozen master', (t) => {
  const base = fixture();
  base.life.stoppedAt = 1_100;
  const [grant, first, ...rest] = base.snapshot.ledger as [LedgerRow, LedgerRow, ...LedgerRow[]];
  const expired = { ...first, type: 'expired_hold', credits: 0, balance_after: 10 * CREDIT, outcome: null };
  const found = (ledger: LedgerRow[]) =>
    faultsOf(withLedger(base, ledger)).filter((fault) => /never died|hold expired|has no row/.test(fault));
  t.match(found([grant, expired, ...rest]), [/never died/, /its hold expired/]);
  t.match(found([grant, ...rest]), [/has no row/]);
  const trouble = { slot: undefined, ofBook: false, buckets: new Set([1]), from: 900, to: 2_000 };
  const takeover = loss({ at: 1_000, isFailover: true, trouble });
  base.model.losses.push(takeover);
  t.match(found([grant, ...rest]), [/has no row/], 'a master that was killed answers nothing');
  base.model.losses.push({ ...takeover, wasFrozen: true });
  t.same([...found([grant, expired, ...rest]), ...found([grant, ...rest])], []);
  base.life.stoppedAt = 2_001;
  t.match(found([grant, ...rest]), [/has no row/], 'it has heard by then');
  t.end();
});
