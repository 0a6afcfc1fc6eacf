import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { until } from '../helper/check/until.ts';
import { balanceOf, ledgerOf, makeOwner } from '../helper/clients/owner.ts';
import { worstJson } from '../helper/fixtures/worst-json.ts';
import { startScriptedProvider } from '../helper/stand-ins/scripted-provider.ts';
import { makePlace, startGatewayProcess } from '../helper/start/gateway-process.ts';

/** Bodies that are read one after the other, each in steps of some milliseconds. */
const CALLS = 300;
const BODY_BYTES = 100_000;

test('calls whose bodies waited when their gateway was killed leave nothing behind', async (t) => {
  const provider = await startScriptedProvider({ behave: () => ({ stallAfter: 'nothing' }) });
  t.teardown(() => provider.close());
  const place = makePlace(t, provider.url);
  const killed = await startGatewayProcess(t, place);
  const owner = await makeOwner(killed, 1_000);
  const body = worstJson('empty objects', BODY_BYTES, 'x', '"model":"flat","messages":[],');
  const calls = Array.from({ length: CALLS }, () =>
    fetch(`${killed.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${owner.key}` },
      body,
    }).catch(() => 'broken'),
  );
  await provider.request(2);
  await killed.kill();
  t.same(new Set(await Promise.all(calls)), new Set(['broken']));
  const gateway = await startGatewayProcess(t, place);
  const { balance, held } = await balanceOf(gateway, owner);
  t.equal(balance, 1_000);
  t.ok(held < CALLS, `${held} of ${CALLS} hold a credit`);
  // Some may have been admitted and not sent, and the provider may still have to read what was sent.
  await until('no other call to hold a credit', () => held <= provider.requests.length + 8);
  t.same(
    (await ledgerOf(gateway, owner)).map(({ type }) => type),
    ['top_up'],
  );
  const uploads = join(place.dataDir, 'uploads');
  t.same(existsSync(uploads) ? readdirSync(uploads) : [], []);
});
