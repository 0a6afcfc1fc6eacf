import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Test, test } from 'tap';
import { until, untilServed } from '../helper/check/until.ts';
import { apiOf } from '../helper/clients/api.ts';
import { callAndLeave } from '../helper/clients/leaving-client.ts';
import { balanceOf, ledgerOf, makeOwner, type Owner, sumOf } from '../helper/clients/owner.ts';
import { billedConfig } from '../helper/stand-ins/billing/bill.ts';
import { startBillingProvider } from '../helper/stand-ins/billing/billing-provider.ts';
import { Random } from '../helper/stand-ins/billing/random.ts';
import { randomCall } from '../helper/stand-ins/billing/random-call.ts';
import {
  ADMIN_TOKEN,
  type GatewayProcess,
  makePlace,
  startGatewayProcess,
} from '../helper/start/gateway-process.ts';
import { createDatabase } from '../helper/start/postgres-database.ts';
import { startRedis } from '../helper/start/redis-process.ts';

const CALLS = 1_000;
const ACCOUNTS = 8;
const CREDITS = 5;
const KEY_LIMIT = 1.5;
const OVERDRAFT = 0.75;
/** How often a call that was refused for lack of credits is sent again, once others may have ended. */
const REPEATS = 4;
const MICROS = 1_000_000;
/** The bound of a wait, only there to end a hang. */
const HANG_MS = 300_000;
const SEED = Number(process.env.WHOLE_BILL_SEED ?? 20_261_123);

interface Account extends Owner {
  readonly overdraft: number;
  readonly limited: { readonly id: number; readonly key: string };
}

async function makeAccount(gateway: GatewayProcess, overdraft: number): Promise<Account> {
  const owner = await makeOwner(gateway, CREDITS);
  const operator = apiOf(gateway, ADMIN_TOKEN);
  await untilServed('the overdraft', () =>
    operator.patch(`/api/admin/accounts/${owner.accountId}/`, { overdraft }),
  );
  const { body } = await untilServed('a key', () =>
    apiOf(gateway, owner.key).post<{ id: number; key: string }>('/api/keys/', {
      name: 'limited',
      spending_limit: KEY_LIMIT,
    }),
  );
  return { ...owner, overdraft, limited: body };
}

async function startWorld(t: Test) {
  const provider = await startBillingProvider(SEED);
  t.teardown(() => provider.close());
  const [redis, DATABASE_URL] = await Promise.all([startRedis(t), createDatabase()]);
  const start = () => {
    const place = makePlace(t, provider.url, { REDIS_URL: redis.url, DATABASE_URL });
    writeFileSync(String(place.env.TOLLGATE_CONFIG), billedConfig(provider.url));
    return startGatewayProcess(t, place);
  };
  // One after the other, because the first creates the tables.
  const gateways = [await start(), await start()] as const;
  return { provider, gateways };
}

test('1,000 concurrent calls with files, tool loops and clients that leave: nobody overspends, and charges equal bills', async (t) => {
  const { provider, gateways } = await startWorld(t);
  const [gateway] = gateways;
  const accounts: Account[] = [];
  for (let index = 0; index < ACCOUNTS; index++)
    accounts.push(await makeAccount(gateway, index % 2 ? OVERDRAFT : 0));
  const random = new Random(SEED + 1);
  const statuses = new Map<string, number>();

  const send = async (index: number) => {
    const account = accounts[index % ACCOUNTS] as Account;
    const isLimited = random.chance(0.4);
    const key = isLimited ? account.limited : { id: account.keyId, key: account.key };
    const { path, body, leave } = randomCall(String(key.id), random);
    for (let left = REPEATS; ; left--) {
      const { status } = await callAndLeave(`${random.of(gateways).url}${path}`, key.key, body, leave);
      statuses.set(String(status), (statuses.get(String(status)) ?? 0) + 1);
      if (status === 503 || (status === 402 && left > 0)) await sleep(random.upTo(1_000));
      else return;
    }
  };
  await Promise.all(Array.from({ length: CALLS }, (_, index) => send(index)));

  // Calls whose clients left continue until the provider has answered.
  await until(
    'every hold to be settled',
    async () => {
      if (provider.open > 0) return false;
      const states = await Promise.all(accounts.map((account) => balanceOf(gateway, account)));
      return states.every(({ held }) => held === 0);
    },
    HANG_MS,
  );
  const ledgers = await until(
    'every call to be in the ledger',
    async () => {
      const all = await Promise.all(accounts.map((account) => ledgerOf(gateways[1], account)));
      const charges = all.flat().filter(({ type }) => type === 'charge');
      return charges.length >= provider.calls.length && all;
    },
    HANG_MS,
  );
  const rows = ledgers.flat().filter(({ type }) => type === 'charge');
  const left = rows.filter(({ outcome }) => outcome === 'client_left');
  t.comment(
    `statuses ${JSON.stringify([...statuses])}; ${provider.calls.length} calls sent, ${left.length} left`,
  );

  t.same(provider.faults, []);
  t.ok(provider.calls.length > 150, `${provider.calls.length} calls were sent`);
  t.ok(left.length > 30, `${left.length} clients left`);
  // A client that left while its call was on the way to the provider has an entry of 0 as well.
  t.ok(rows.length >= provider.calls.length, `${rows.length} entries`);
  t.same(new Set(rows.map(({ estimated }) => estimated)), new Set([false]), 'and none is an estimate');

  for (const [index, account] of accounts.entries()) {
    const ledger = ledgers[index] ?? [];
    const { balance } = await balanceOf(gateway, account);
    t.equal(sumOf(ledger), Math.round(balance * MICROS), `account ${index}: the ledger is the balance`);
    const lowest = Math.min(...ledger.map((entry) => Number(entry.balance_after)));
    t.ok(lowest >= -account.overdraft, `account ${index}: lowest balance ${lowest}`);
    for (const keyId of [account.keyId, account.limited.id]) {
      const charged = ledger
        .filter(({ type, key_id }) => type === 'charge' && key_id === keyId)
        .map(({ credits }) => Math.round(-Number(credits) * MICROS));
      const billed = provider.calls.filter(({ owner }) => owner === String(keyId)).map(({ bill }) => bill);
      t.same(costly(charged), costly(billed), `account ${index}, key ${keyId}: each charge is a bill`);
      const spent = charged.reduce((sum, micros) => sum + micros, 0) / MICROS;
      if (keyId === account.limited.id)
        t.ok(spent <= KEY_LIMIT + account.overdraft, `account ${index}: its limited key spent ${spent}`);
    }
  }
});

function costly(amounts: readonly number[]): number[] {
  return amounts.filter((amount) => amount > 0).sort((a, b) => a - b);
}
