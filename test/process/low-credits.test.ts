import { test } from 'tap';
import { startDemoProvider } from '../../src/demo/demo-provider.ts';
import { apiOf } from '../helper/clients/api.ts';
import { makeOwner } from '../helper/clients/owner.ts';
import { startReceiver } from '../helper/stand-ins/receiver.ts';
import { makePlace, startGatewayProcess } from '../helper/start/gateway-process.ts';

interface AlertList {
  readonly alerts: { deliveries: { status: string }[] }[];
}

test('a crossing of the last call before a stop is sent before the process ends', async (t) => {
  const [provider, receiver] = await Promise.all([startDemoProvider(), startReceiver()]);
  t.teardown(() => receiver.close());
  t.teardown(() => provider.close());
  const place = makePlace(t, provider.url);
  const gateway = await startGatewayProcess(t, place);
  const owner = await makeOwner(gateway, 100, 100);
  await apiOf(gateway, owner.key).patch(`/api/keys/${owner.keyId}/`, { webhook_url: receiver.url });
  await (await gateway.chat(owner.key)).text();
  t.match(await gateway.stop(), { code: 0, errors: '' });
  t.match(receiver.requests, [{ body: /"credits_balance":99}$/ }]);

  const again = await startGatewayProcess(t, place);
  const { body } = await apiOf(again, owner.key).get<AlertList>('/api/account/alerts/');
  t.match(body.alerts, [{ deliveries: [{ status: 'delivered' }] }]);
});
