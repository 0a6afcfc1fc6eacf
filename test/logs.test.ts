import { pino } from 'pino';
import { test } from 'tap';
import { startDemoProvider } from '../src/demo/demo-provider.ts';
import { newKeyValue } from '../src/domain/key-value.ts';
import { logOptions, RequestLog } from '../src/log/log.ts';
import { until } from './helper/check/until.ts';
import { apiOf } from './helper/clients/api.ts';
import { makeOwner } from './helper/clients/owner.ts';
import { makePlace, startGatewayProcess } from './helper/start/gateway-process.ts';
import { startRedis } from './helper/start/redis-process.ts';

/** The lines of a log that is JSON. */
function linesOf(output: string): Record<string, unknown>[] {
  return output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

test('each line of a request carries its id, at every level, and from children too', async (t) => {
  let written = '';
  const log = pino({ level: 'trace', base: null }, { write: (line: string) => (written += line) });
  const request = new RequestLog(log, { reqId: 'req_1' });
  for (const level of ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const) {
    request[level]({ level_: level }, 'text');
  }
  request.child({ part: 'a' }).info('text');
  request.silent();
  const lines = linesOf(written);
  t.same(
    lines.map(({ level }) => level),
    [10, 20, 30, 40, 50, 60, 30],
  );
  t.ok(lines.every(({ reqId, msg }) => reqId === 'req_1' && msg === 'text'));
  t.equal(lines[6]?.part, 'a');
});

test('no line has a key value, or a character that a terminal obeys', (t) => {
  let written = '';
  const options = logOptions('info', 'sk-tg-');
  const log = pino(options, { write: (line: string) => (written += line) });
  const { value } = newKeyValue('sk-tg-');
  const odd = '\u0085\u009b2J\u202e\u{e0041}';
  log.child({ reqId: 'req_1' }).info({ model: value, name: odd }, `key ${value}!`);
  t.notMatch(written, value.slice(6));
  t.notMatch(written, /[\u0080-\u009f\u202e]/);
  t.match(linesOf(written), [{ model: 'sk-tg-…', name: odd, msg: 'key sk-tg-…!' }]);
  t.end();
});

test('lines of a worker have its number', (t) => {
  let written = '';
  pino(logOptions('info', 'sk-tg-', 2), { write: (line: string) => (written += line) }).info('text');
  t.match(linesOf(written), [{ worker: 2, msg: 'text' }]);
  t.end();
});

test('a request that logs nothing makes no logger', async (t) => {
  const log = pino({ level: 'silent' });
  log.child = () => t.fail('made') as never;
  t.equal(new RequestLog(log, { reqId: 'req_1' }).level, 'silent');
});

test('a gateway logs JSON lines; that of a refused call has the id that its caller got', async (t) => {
  const redis = await startRedis(t);
  const provider = await startDemoProvider();
  t.teardown(() => provider.close());
  const gateway = await startGatewayProcess(t, makePlace(t, provider.url, { REDIS_URL: redis.url }));
  const { key } = await makeOwner(gateway, 10);
  await redis.kill();
  const refused = await gateway.chat(key);
  t.equal(refused.status, 503);
  await until('the refusal to be logged', () => gateway.output().includes('request refused with 503'));
  const lines = linesOf(gateway.output());
  const line = lines.find(({ msg }) => msg === 'request refused with 503');
  t.equal(line?.reqId, refused.headers.get('x-request-id'));
  t.notMatch(gateway.output(), key);
  await redis.start();
  t.equal((await apiOf(gateway, key).get('/healthz')).status, 200);
});
