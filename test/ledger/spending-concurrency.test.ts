import { test } from 'tap';
import { micro } from '../../src/domain/credits.ts';
import type { KeyRecord } from '../../src/domain/key.ts';
import { type OwnedLimit, ownedLimits } from '../../src/domain/spending-limits.ts';
import type { OpenLedger } from '../../src/ledger/open-ledger.ts';
import { accountRedisKey, keyRedisKey, memberRedisKey } from '../../src/ledger/redis/redis-keys.ts';
import { dayThatLasts } from '../helper/check/until.ts';
import { newKey } from '../helper/fixtures/book-records.ts';
import { admissionOf, chargeOf, spentBy, startLedger } from '../helper/start/ledger.ts';
import { OPEN_KEY } from '../helper/start/ledger-account.ts';
import { spendingSampler } from './spending-sampler.ts';

const CLIENTS = 500;
const PERSON = 7;
/** Micro-credits of the limit that the calls fill, and of the others. */
const FULL = 123_456_789;
const WIDE = 2 * FULL;
/** Calls that fill a limit between them. */
const PARTS = 100;

const LIMITS = [
  { of: 'key', period: '5h' },
  { of: 'key', period: 'daily' },
  { of: 'key', period: 'total' },
  { of: 'member', period: '5h' },
  { of: 'member', period: 'monthly' },
  { of: 'account', period: 'weekly' },
  { of: 'account', period: 'monthly' },
] as const satisfies readonly Omit<OwnedLimit, 'credits'>[];

for (const binding of LIMITS) {
  test(`${CLIENTS} clients over two gateways fill the ${binding.of}'s ${binding.period} limit, and exceed none`, async (t) => {
    await dayThatLasts();
    const { open, book, account, second, raw } = await startLedger(t);
    const limitsOf = (owner: OwnedLimit['of']) =>
      LIMITS.filter(({ of }) => of === owner).map((limit) => ({
        period: limit.period,
        credits: micro(limit === binding ? FULL : WIDE),
      }));
    const settings = {
      canManage: false,
      personId: PERSON,
      spendingLimits: limitsOf('key'),
      memberSpendingLimits: limitsOf('member'),
    };
    const made = await account({ credits: 10_000, key: settings, spendingLimits: limitsOf('account') });
    const { key } = made;
    // A limit of the member or the account binds all its keys together.
    const keys = [key];
    for (let more = binding.of === 'key' ? 0 : 2; more > 0; more--) {
      const other = await book.createKey(key.accountId, newKey({ ...OPEN_KEY, ...settings }), Date.now());
      await open.ledger.publishKey(other, other.hash);
      keys.push(other);
    }
    const limits = ownedLimits(key, made.account.spendingLimits);
    const gateways = [open, await second()] as const;
    const [ofAccount, ofKey] = [accountRedisKey(key.accountId), keyRedisKey(key.accountId, key.id)];
    const lost = new Map([
      [CLIENTS * 0.3, [ofAccount]],
      [CLIENTS * 0.5, [ofAccount, ofKey]],
      [CLIENTS * 0.6, [memberRedisKey(key.accountId, PERSON)]],
      [CLIENTS * 0.7, [ofKey]],
    ]);
    const sampler = spendingSampler(raw, key, limits);
    /** Resolves with the number of admitted calls. `costOf`: what a call costs. */
    const callAll = async (hold: number, costOf: (index: number) => number) => {
      const calls = Array.from({ length: CLIENTS }, async (_, index) => {
        const names = lost.get(index);
        if (names) await raw.del(names);
        const own = keys[index % keys.length] as KeyRecord;
        return await call(gateways[index % 2 === 0 ? 0 : 1], own, limits, { hold, cost: costOf(index) });
      });
      return (await Promise.all(calls)).filter(Boolean).length;
    };
    const hold = Math.floor(FULL / 50);
    const first = await callAll(hold, (index) => Math.floor(hold * ((index % 7) / 7)));
    t.ok(first >= 50);
    for (const gateway of gateways) await gateway.settled();
    const spent = () => spentBy(open.ledger, key, binding.period, binding.of);
    const part = Math.floor((FULL - (await spent())) / PARTS);
    t.ok(part > 0);
    t.equal(await callAll(part, () => part), PARTS);
    for (const gateway of gateways) await gateway.settled();
    const rest = FULL - (await spent());
    t.ok(await call(open, key, limits, { hold: rest, cost: rest }));
    await open.settled();
    t.equal(await spent(), FULL);
    t.match(await open.ledger.admit(admissionOf(key, 1e-6, { spendingLimits: limits })), {
      verdict: 'over_limit',
    });
    const { samples, faults } = await sampler.stop();
    t.comment(`${first + PARTS} calls, ${samples} samples`);
    t.ok(samples > 0);
    t.same(faults, []);
  });
}

/** Makes a call. Resolves with whether it was admitted, once its charge is on the way. */
async function call(
  { ledger }: OpenLedger,
  key: KeyRecord,
  spendingLimits: readonly OwnedLimit[],
  { hold, cost }: { readonly hold: number; readonly cost: number },
): Promise<boolean> {
  const admission = admissionOf(key, hold / 1e6, { spendingLimits });
  const admitted = await ledger.admit(admission);
  if (admitted.verdict !== 'held') return false;
  await new Promise<void>((resolve) => ledger.settle(chargeOf(admission, cost / 1e6), resolve));
  return true;
}
