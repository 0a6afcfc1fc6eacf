import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'tap';
import { GatewayApi } from '../../src/cli/gateway-api.ts';

test('a gateway that does not answer in time is running', async (t) => {
  const silent = createServer(() => {}).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  t.teardown(() => silent.closeAllConnections());
  t.teardown(() => silent.close());
  const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const api = new GatewayApi({ url }, 'token', 10);
  await t.rejects(api.call('GET', '/'), { message: /^The gateway at \S+ did not answer within 0\.01 s\./ });
});
