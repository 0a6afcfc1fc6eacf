import t from 'tap';
import type { CreatedKeyView } from '../../src/api/keys/key-view.ts';
import { NO_CALL_LIMITS } from '../../src/domain/call-limits.ts';
import { micro } from '../../src/domain/credits.ts';
import { dayThatLasts } from '../helper/check/until.ts';
import { apiOf } from '../helper/clients/api.ts';
import {
  ADMIN_TOKEN,
  type InProcessGateway,
  startGatewayInProcess,
} from '../helper/start/gateway-in-process.ts';
import { admissionOf } from '../helper/start/ledger.ts';

const CREDIT = 1_000_000;

interface Created {
  readonly account: { readonly id: number; readonly overdraft: number };
  readonly key: CreatedKeyView;
}

let emails = 0;

interface Explanation {
  readonly code: string | null;
  readonly checks: readonly { readonly check: string; readonly passed: boolean; readonly detail: string }[];
}

t.test('a new account has the overdraft of the configuration, unless the request sets another', async (t) => {
  const config = {
    accounts: { maxKeys: 10, maxKeyBytes: 33_554_432, overdraft: micro(2_500_000), ...NO_CALL_LIMITS },
  };
  const operator = apiOf(await startGatewayInProcess(t, { config }), ADMIN_TOKEN);
  const create = async (more: object) =>
    (await operator.post<Created>('/api/admin/accounts/', { email: `${emails++}@example.com`, ...more })).body
      .account.overdraft;
  t.equal(await create({}), 2.5);
  t.equal(await create({ overdraft: 0 }), 0);
  t.equal(await create({ overdraft: 7.000001 }), 7.000001);
});

/** A call of the key that stays open. Hold and estimate are in credits. */
async function openCall(
  { book, ledger }: InProcessGateway,
  account: { accountId: number; keyId: number },
  hold: number,
  estimate: number,
) {
  const key = await book.key(account.accountId, account.keyId);
  const record = await book.account(account.accountId);
  if (!key || !record) throw new Error('no such key');
  const more = { estimate: micro(estimate * CREDIT), accountVersion: record.version };
  return await ledger.ledger.admit(admissionOf(key, hold, more));
}

t.test('explain decides by the two conditions of a real call', async (t) => {
  await dayThatLasts();
  const world = await startGatewayInProcess(t);
  const owner = await world.account({
    credits: 3,
    overdraft: 5,
    key: { spendingLimit: micro(2 * CREDIT), spendingPeriod: 'daily' },
  });
  const explain = async () =>
    (await apiOf(world, owner.key).post<Explanation>(`/api/keys/${owner.keyId}/explain/`, { model: 'flat' }))
      .body;
  const detailOf = ({ checks }: Explanation, name: string) =>
    checks.find(({ check }) => check === name)?.detail;
  t.match(await openCall(world, owner, 6, 1), { verdict: 'held' });
  const fits = await explain();
  t.equal(fits.code, null, 'estimates of 2 and holds of 7 fit balance, limit and overdraft');
  t.match(detailOf(fits, 'credits'), /likely to cost 1\.00,.*overdraft of 5\.00\.$/);
  t.equal((await world.chat(owner.key)).status, 200);
  await world.settled();
  const full = await explain();
  t.equal(full.code, 'spending_limit_exceeded', '1 is spent: estimates of 2 are beyond the limit of 2');
  t.match(
    full.checks.filter(({ passed }) => !passed),
    [{ check: 'spending_limit' }],
  );
  t.equal((await world.chat(owner.key)).status, 402, 'as a call is');
});

t.test('an overdraft that is taken away holds from the next call on', async (t) => {
  const world = await startGatewayInProcess(t);
  const owner = await world.account({ credits: 2, overdraft: 5 });
  t.match(await openCall(world, owner, 4, 0), { verdict: 'held' });
  t.equal((await world.chat(owner.key)).status, 200);
  await world.settled();
  const operator = apiOf(world, ADMIN_TOKEN);
  t.equal((await operator.patch(`/api/admin/accounts/${owner.accountId}/`, { overdraft: 0 })).status, 200);
  t.equal((await world.chat(owner.key)).status, 402);
  t.equal((await operator.patch(`/api/admin/accounts/${owner.accountId}/`, { overdraft: 5 })).status, 200);
  t.equal((await world.chat(owner.key)).status, 200);
});
