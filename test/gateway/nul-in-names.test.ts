import { test } from 'tap';
import { startOwnGateway } from '../helper/start/gateway-in-process.ts';
import { createDatabase } from '../helper/start/postgres-database.ts';

test('U+0000, which PostgreSQL cannot take, in a name is a name that nobody has, and no fault of the gateway', async (t) => {
  const world = await startOwnGateway(t, { config: { databaseUrl: await createDatabase() } });
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
