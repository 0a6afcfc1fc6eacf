import { test } from 'tap';
import { makeOwner } from '../helper/clients/owner.ts';
import { worstJson } from '../helper/fixtures/worst-json.ts';
import { startScriptedProvider } from '../helper/stand-ins/scripted-provider.ts';
import { makePlace, startGatewayProcess } from '../helper/start/gateway-process.ts';

const MIB = 1024 * 1024;
/** Prints how much of the heap is for young objects when the process ends. */
const REPORT = `
import { isMainThread } from 'node:worker_threads';
import { getHeapSpaceStatistics } from 'node:v8';
if (isMainThread) process.on('exit', () => {
  const young = getHeapSpaceStatistics().find((space) => space.space_name === 'new_space');
  process.stderr.write('young ' + young.space_size);
});`;

test('of a heap of 512 MB the young generation took up to 128 MB, which a burst of calls filled with garbage', async (t) => {
  const provider = await startScriptedProvider();
  t.teardown(() => provider.close());
  const report = `data:text/javascript,${encodeURIComponent(REPORT)}`;
  const place = makePlace(t, provider.url, {
    NODE_OPTIONS: `--max-old-space-size=512 --import ${report}`,
  });
  const gateway = await startGatewayProcess(t, place);
  const owner = await makeOwner(gateway, 1_000);
  const body = worstJson('empty objects', 100_000, 'x', '"model":"flat","messages":[],');
  const calls = Array.from({ length: 150 }, async () => {
    const { status } = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${owner.key}` },
      body,
    });
    return status;
  });
  await Promise.all(calls);
  const { errors } = await gateway.stop();
  const bytes = Number(/young (\d+)/.exec(errors)?.[1]);
  t.ok(bytes <= 32 * MIB, `${bytes / MIB} MiB`);
});
