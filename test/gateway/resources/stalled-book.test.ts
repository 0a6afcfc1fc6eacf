import pg from 'pg';
import { test } from 'tap';
import { until } from '../../helper/check/until.ts';
import { startOwnGateway } from '../../helper/start/gateway-in-process.ts';
import { createDatabase } from '../../helper/start/postgres-database.ts';

/** As many as can be read at a time. */
const READ_AT_ONCE = 4;
const TRIES = 3;

test('large bodies that wait for the book let others be read', async (t) => {
  const databaseUrl = await createDatabase();
  const gateway = await startOwnGateway(t, { config: { databaseUrl } });
  const owners = await Promise.all(Array.from({ length: READ_AT_ONCE + 1 }, () => gateway.account()));
  const text = 'a '.repeat(750_000);
  const lock = new pg.Client({ connectionString: databaseUrl });
  await lock.connect();
  t.teardown(() => lock.end());
  let hasPassed = false;
  // A busy machine may take longer than the book waits for a statement.
  for (let tries = 0; tries < TRIES && !hasPassed; tries++) {
    await lock.query('begin; lock table resources in access exclusive mode');
    let waiting = READ_AT_ONCE;
    const others = owners.slice(1).map(async ({ key }) => {
      const body = { model: 'flat', input: text, previous_response_id: 'resp_unknown' };
      await (await gateway.api('POST', '/v1/responses', key, body)).text();
      waiting--;
    });
    await until('the others to wait for the book', async () => {
      const { rows } = await lock.query("select pid from pg_stat_activity where wait_event_type = 'Lock'");
      return rows.length >= READ_AT_ONCE;
    });
    const messages = [{ role: 'user', content: text }];
    const { status } = await gateway.chat(owners[0]?.key ?? '', { messages });
    hasPassed = status === 200 && waiting === READ_AT_ONCE;
    await lock.query('rollback');
    await Promise.all(others);
  }
  t.ok(hasPassed);
});
