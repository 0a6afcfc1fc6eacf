import t, { type Test } from 'tap';
import type { OwnKeyView } from '../../src/api/keys/key-view.ts';
import { micro } from '../../src/domain/credits.ts';
import { dayThatLasts } from '../helper/check/until.ts';
import { apiOf } from '../helper/clients/api.ts';
import { startGatewayInProcess } from '../helper/start/gateway-in-process.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const world = await startGatewayInProcess(t);

/** Sets another time for this process, like a gateway whose machine's clock is wrong. Redis keeps its own clock. */
function clockIsOff(t: Test, byMs: number): void {
  const { now } = Date;
  Date.now = () => now() + byMs;
  t.teardown(() => {
    Date.now = now;
  });
}

for (const [words, byMs] of [
  ['ahead', 40 * DAY_MS],
  ['behind', -40 * DAY_MS],
] as const) {
  for (const spendingPeriod of ['daily', 'weekly', 'monthly'] as const) {
    t.test(`a gateway whose clock was ${words} gave a ${spendingPeriod} limit twice`, async (t) => {
      await dayThatLasts();
      const { key } = await world.account({ key: { spendingLimit: micro(3_000_000), spendingPeriod } });
      const statuses = async (calls: number) => {
        const all: number[] = [];
        for (let call = 0; call < calls; call++) {
          const answer = await world.chat(key);
          await answer.arrayBuffer();
          all.push(answer.status);
        }
        return all;
      };
      t.same(await statuses(1), [200]);
      const { body: before } = await apiOf(world, key).get<OwnKeyView>('/api/key/');
      await t.test('on the other clock', async (t) => {
        clockIsOff(t, byMs);
        t.same(await statuses(1), [200], 'it does not block the key either');
        const { body } = await apiOf(world, key).get<OwnKeyView>('/api/key/');
        t.match(body, { spending_current: '2.000000', period_ends_at: before.period_ends_at });
      });
      t.same(await statuses(2), [200, 402]);
    });
  }
}

for (const [words, byMs] of [
  ['ahead', 2 * HOUR_MS],
  ['behind', -2 * HOUR_MS],
] as const) {
  t.test(`a gateway whose clock was ${words} checked the expiry of keys by it`, async (t) => {
    const keys = await Promise.all(
      [-1_000, HOUR_MS].map((inMs) => world.account({ key: { expiresAt: Date.now() + inMs } })),
    );
    clockIsOff(t, byMs);
    const statuses = await Promise.all(keys.map(async ({ key }) => (await world.chat(key)).status));
    t.same(statuses, [401, 200]);
  });
}
