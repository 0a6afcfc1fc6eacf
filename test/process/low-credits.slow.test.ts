import { Webhook } from 'standardwebhooks';
import { test } from 'tap';
import { startDemoProvider } from '../../src/demo/demo-provider.ts';
import { until } from '../helper/check/until.ts';
import { apiOf } from '../helper/clients/api.ts';
import { ledgerOf, makeOwner } from '../helper/clients/owner.ts';
import { startReceiver } from '../helper/stand-ins/receiver.ts';
import {
  ADMIN_TOKEN,
  type GatewayProcess,
  makePlace,
  startGatewayProcess,
} from '../helper/start/gateway-process.ts';
import { createDatabase } from '../helper/start/postgres-database.ts';
import { startRedis } from '../helper/start/redis-process.ts';

interface AlertList {
  readonly alerts: { deliveries: { status: string }[] }[];
}

test('one alert for each time the balance falls through the threshold, however many calls do it together', async (t) => {
  const [redis, DATABASE_URL, provider, receiver] = await Promise.all([
    startRedis(t),
    createDatabase(),
    startDemoProvider(),
    startReceiver(),
  ]);
  t.teardown(() => receiver.close());
  t.teardown(() => provider.close());
  const env = { REDIS_URL: redis.url, DATABASE_URL };
  const gateways = await Promise.all([
    startGatewayProcess(t, makePlace(t, provider.url, env)),
    startGatewayProcess(t, makePlace(t, provider.url, env)),
  ]);
  const [a, b] = gateways;
  const owner = await makeOwner(a, 150, 100);
  const managing = apiOf(a, owner.key);
  await managing.patch(`/api/keys/${owner.keyId}/`, { webhook_url: receiver.url });
  const { body: account } = await managing.get<{ webhook_secret: string }>('/api/account/');

  const spend = async (calls: number) => {
    await Promise.all(
      Array.from({ length: calls }, async (_, index) => {
        await (await (gateways[index % 2] as GatewayProcess).chat(owner.key)).text();
      }),
    );
  };
  const delivered = (alerts: number) =>
    until('the alert to be delivered', async () => {
      const { body } = await apiOf(b, owner.key).get<AlertList>('/api/account/alerts/');
      const done = body.alerts.flatMap(({ deliveries }) => deliveries);
      return done.filter(({ status }) => status === 'delivered').length === alerts && body.alerts;
    });
  const inLedger = (entries: number) =>
    until('the ledger to be whole', async () => (await ledgerOf(a, owner)).length === entries);

  await spend(80);
  const first = await receiver.next();
  t.equal(first.body, `{"event":"low_credits","user_email":"${owner.email}","credits_balance":99}`);
  t.equal(first.method, 'POST');
  t.match(first.headers, { 'content-type': 'application/json', 'user-agent': /^Tollgate\// });
  t.doesNotThrow(() =>
    new Webhook(account.webhook_secret).verify(first.body, first.headers as Record<string, string>),
  );
  await inLedger(81);
  await delivered(1);
  await spend(20);
  await inLedger(101);
  t.equal((await delivered(1)).length, 1, 'below the threshold, further calls send nothing');

  // 50 left: a top-up above the threshold arms it again.
  const operator = apiOf(a, ADMIN_TOKEN);
  await operator.post(`/api/admin/accounts/${owner.accountId}/credits/`, { amount: 60 });
  await spend(40);
  const second = await receiver.next();
  t.match(JSON.parse(second.body), { event: 'low_credits', credits_balance: 99 });
  await inLedger(142);
  t.equal((await delivered(2)).length, 2);
  t.equal(receiver.requests.length, 2);
});
