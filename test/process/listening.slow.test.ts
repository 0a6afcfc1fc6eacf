import { test } from 'tap';
import { makePlace, startGatewayProcess } from '../helper/start/gateway-process.ts';

const PLACES = [
  ['0.0.0.0', /^http:\/\/0\.0\.0\.0:\d+$/],
  ['::1', /^http:\/\/\[::1\]:\d+$/],
  ['127.0.0.1', /^http:\/\/127\.0\.0\.1:\d+$/],
] as const;
for (const [HOST, url] of PLACES) {
  test(`the line that says where names ${HOST} as it was set`, async (t) => {
    const gateway = await startGatewayProcess(t, makePlace(t, 'http://127.0.0.1:1', { HOST }));
    t.match(gateway.url, url);
    t.equal((await fetch(`${gateway.url}/healthz`)).status, 200);
    t.equal((await gateway.stop()).code, 0);
  });
}
