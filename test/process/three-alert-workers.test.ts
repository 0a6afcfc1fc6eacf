import { test } from 'tap';
import { until } from '../helper/check/until.ts';
import { apiOf } from '../helper/clients/api.ts';
import { ledgerOf, makeOwner } from '../helper/clients/owner.ts';
import { startReceiver } from '../helper/stand-ins/receiver.ts';
import { ADMIN_TOKEN } from '../helper/start/gateway-process.ts';
import { startGatewayProcesses } from '../helper/start/own-servers.ts';

const CROSSINGS = 8;

test('three alert workers send one alert for each crossing', async (t) => {
  const { gateways, at } = await startGatewayProcesses(t, 3);
  const receiver = await startReceiver();
  t.teardown(() => receiver.close());
  const owner = await makeOwner(at(0), 130, 100);
  const managing = apiOf(at(0), owner.key);
  await managing.patch(`/api/keys/${owner.keyId}/`, { webhook_url: receiver.url });
  const credits = `/api/admin/accounts/${owner.accountId}/credits/`;
  for (let crossing = 1; crossing <= CROSSINGS; crossing++) {
    await Promise.all(
      Array.from({ length: 60 }, async (_, turn) => (await at(turn).served(owner.key)).text()),
    );
    await until('the alert', () => receiver.requests.length >= crossing);
    await apiOf(at(crossing), ADMIN_TOKEN).post(credits, { amount: 60 });
  }
  await until('the ledger to be whole', async () => {
    return (await ledgerOf(at(0), owner)).length === 1 + CROSSINGS * 61;
  });
  const outcomes = await until('every outcome', async () => {
    const { body } = await managing.get<{ alerts: { deliveries: { status: string }[] }[] }>(
      '/api/account/alerts/',
    );
    const all = body.alerts.flatMap(({ deliveries }) => deliveries.map(({ status }) => status));
    return all.every((status) => status === 'delivered') && all;
  });
  t.equal(outcomes.length, CROSSINGS);
  // A worker that was still sending would be waited for.
  for (const gateway of gateways) t.match(await gateway.stop(), { code: 0 });
  t.equal(receiver.requests.length, CROSSINGS);
});
