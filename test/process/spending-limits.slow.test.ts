import { test } from 'tap';
import { micro } from '../../src/domain/credits.ts';
import type { KeyRecord } from '../../src/domain/key.ts';
import { dayThatLasts, until, untilServed } from '../helper/check/until.ts';
import { apiOf } from '../helper/clients/api.ts';
import { makeOwner } from '../helper/clients/owner.ts';
import { ADMIN_TOKEN } from '../helper/start/gateway-process.ts';
import { startGatewayProcesses } from '../helper/start/own-servers.ts';
import { spendingSampler } from '../ledger/spending-sampler.ts';

const CLIENTS = 500;
/** Whole credits of the limit that the calls fill, of one credit each, and of the others. */
const FULL = 300;
const WIDE = 1_000;
/** Calls that are answered before Redis is killed. */
const BEFORE = 60;

const LIMITS = [
  { of: 'key', period: '5h' },
  { of: 'key', period: 'daily' },
  { of: 'key', period: 'total' },
  { of: 'account', period: 'weekly' },
  { of: 'account', period: 'monthly' },
] as const;

interface Refusal {
  readonly error: { readonly code: string; readonly metadata: { readonly limit: Record<string, unknown> } };
}

test(`${CLIENTS} clients over two gateways fill each limit exactly, while Redis is killed`, async (t) => {
  const { redis, at } = await startGatewayProcesses(t, 2);
  for (const binding of LIMITS) {
    await t.test(`the ${binding.of}'s ${binding.period} limit`, async (t) => {
      await dayThatLasts();
      const limits = LIMITS.map((limit) => ({ ...limit, credits: limit === binding ? FULL : WIDE }));
      const spending_limits = (owner: string) =>
        limits.filter(({ of }) => of === owner).map(({ period, credits }) => ({ period, credits }));
      const owner = await makeOwner(at(0), 10 * WIDE);
      const changes = [
        await untilServed('the change', () =>
          apiOf(at(0), owner.key).patch(`/api/keys/${owner.keyId}/`, {
            spending_limits: spending_limits('key'),
          }),
        ),
        await untilServed('the change', () =>
          apiOf(at(1), ADMIN_TOKEN).patch(`/api/admin/accounts/${owner.accountId}/`, {
            spending_limits: spending_limits('account'),
          }),
        ),
      ];
      t.same(
        changes.map(({ status }) => status),
        [200, 200],
      );
      const counted = { answered: 0, passed: 0 };
      let onBefore = () => {};
      const before = new Promise<void>((resolve) => {
        onBefore = resolve;
      });
      const call = async (turn: number) => {
        const answer = await untilServed('a call', async () => {
          const { status, body } = await at(turn)
            .chat(owner.key)
            .then(read, () => LOST);
          return { status, body };
        });
        counted.answered++;
        if (answer.status === 200) counted.passed++;
        if (counted.answered === BEFORE) onBefore();
        return answer;
      };
      const sampler = spendingSampler(
        await redis.connect(),
        { accountId: owner.accountId, id: owner.keyId } as KeyRecord,
        limits.map((limit) => ({ ...limit, credits: micro(limit.credits * 1e6) })),
      );
      const clients = Promise.all(Array.from({ length: CLIENTS }, (_, turn) => call(turn)));
      await before;
      await redis.kill();
      await redis.start();
      const statuses = new Set((await clients).map(({ status }) => status));
      t.same(
        [...statuses].filter((status) => status !== 200 && status !== 402),
        [],
      );
      // Calls whose admission Redis did not answer were released, so there may be room again.
      const refused = await until('the limit to be full', async () => {
        const { status, body } = await call(counted.answered);
        if (status !== 402) return undefined;
        const { error } = JSON.parse(body) as Refusal;
        return Number(error.metadata.limit.held) === 0 && error;
      });
      t.match(refused, {
        code: 'spending_limit_exceeded',
        metadata: { limit: { of: binding.of, period: binding.period, credits: FULL } },
      });
      t.equal(Number(refused.metadata.limit.spent), FULL);
      t.equal(counted.passed, FULL);
      const { samples, faults } = await sampler.stop();
      t.comment(`${counted.answered} calls, ${samples} samples`);
      t.ok(samples > 0);
      t.same(faults, []);
    });
  }
});

/** A call whose connection broke counts as not answered. */
const LOST = { status: 503, body: '' };

async function read(response: Response): Promise<{ status: number; body: string }> {
  return { status: response.status, body: await response.text() };
}
