import { test } from 'tap';
import type { CallPageView } from '../../../src/api/calls/call-view.ts';
import { until } from '../../helper/check/until.ts';
import { apiOf } from '../../helper/clients/api.ts';
import { startOwnGateway } from '../../helper/start/gateway-in-process.ts';
import { createDatabase } from '../../helper/start/postgres-database.ts';

const HALF = String.fromCharCode(0xd800);

// PostgreSQL can store neither, and one such text would keep its whole batch of charges out of the ledger.
test('errors and models with U+0000 or half of a surrogate pair are charged and recorded', async (t) => {
  const error = { message: `not\0now${HALF}`, code: `odd\0code${HALF}`, param: `\0${HALF}` };
  const world = await startOwnGateway(t, {
    behave: ({ body }) => (body.includes('"user":"odd"') ? { status: 400, body: { error } } : undefined),
    config: { databaseUrl: await createDatabase() },
  });
  const { key } = await world.account({ credits: 100 });
  t.equal((await world.chat(key, { user: 'odd' })).status, 400);
  t.equal((await world.chat(key, { model: `no\0model${HALF}` })).status, 404);
  t.equal((await world.chat(key)).status, 200);
  const api = apiOf(world, key);
  const calls = await until('all three', async () => {
    const { body } = await api.get<CallPageView>('/api/account/calls/');
    return body.calls.length === 3 && body.calls;
  });
  t.match(
    calls.find(({ outcome }) => outcome === 'upstream_error'),
    { code: 'oddcode\ufffd', charge: '0.000000' },
  );
  t.match(
    calls.find(({ outcome }) => outcome === 'refused'),
    { code: 'model_not_found', model: 'nomodel\ufffd' },
  );
});
