import { t as ofFile, test } from 'tap';
import type { CallPageView } from '../../src/api/calls/call-view.ts';
import { until } from '../helper/check/until.ts';
import { apiOf } from '../helper/clients/api.ts';
import { startOwnGateway } from '../helper/start/gateway-in-process.ts';
import { createDatabase } from '../helper/start/postgres-database.ts';

const HALF = String.fromCharCode(0xd800);

const error = { message: `not\0now${HALF}`, code: `odd\0code${HALF}`, param: `\0${HALF}` };
const world = await startOwnGateway(ofFile, {
  behave: ({ body }) => (body.includes('"user":"odd"') ? { status: 400, body: { error } } : undefined),
  config: { databaseUrl: await createDatabase() },
});

// PostgreSQL can store neither, and one such text would keep its whole batch of charges out of the ledger.
test('errors and models with U+0000 or half of a surrogate pair are charged and recorded', async (t) => {
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

test('U+0000 in a name is a name that nobody has, and no fault of the gateway', async (t) => {
  const { key } = await world.account();
  const response = await world.api('POST', '/v1/responses', key, {
    model: 'tokens',
    input: 'Hi',
    previous_response_id: 'resp_\u0000',
  });
  t.equal(response.status, 404);
  t.match(await response.json(), { error: { code: 'object_not_found' } });
  const ledger = await world.api('GET', '/api/account/ledger/?model=%00', key);
  t.equal(ledger.status, 400);
  t.match(await ledger.json(), { error: { code: 'invalid_field', param: 'model' } });
  for (const path of ['/v1/videos/%00', '/v1/models/%00', '/api/keys/%00/explain/']) {
    const answer = await world.api('GET', path, key);
    t.ok(answer.status < 500, `${path}: ${answer.status}`);
    await answer.body?.cancel();
  }
});
