import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'tap';
import { findSecret } from '../helper/check/secrets.ts';
import { makePlace, run } from '../helper/start/gateway-process.ts';
import { freePort } from '../helper/start/redis-process.ts';
import { servePlace } from '../helper/start/served-place.ts';

test('a start that is refused names no password, token or credential', async (t) => {
  const planted = 'planted-4715';
  const { env } = makePlace(t, 'http://127.0.0.1:1');
  const port = await freePort();
  const config = env.TOLLGATE_CONFIG ?? '';
  writeFileSync(config, readFileSync(config, 'utf8').replace('apiKey: secret', `apiKey: "$\{UPSTREAM_KEY}"`));
  const faulty: NodeJS.ProcessEnv[] = [
    { DATABASE_URL: `postgres://user:${planted}@127.0.0.1:${port}/book` },
    { DATABASE_URL: `postgres://user:${planted}@:x/book` },
    { DATABASE_URL: `mysql://user:${planted}@127.0.0.1/book` },
    { REDIS_URL: `redis://:${planted}@127.0.0.1:${port}` },
    { REDIS_URL: `redis://:${planted}@127.0.0.1:x` },
    { REDIS_URL: `redis+cluster://:${planted}@127.0.0.1:${port}` },
    { REDIS_URL: `http://:${planted}@127.0.0.1` },
    { ADMIN_TOKEN: `${planted} with spaces` },
    { UPSTREAM_KEY: `${planted}\nwith a line break` },
  ];
  for (const more of faulty) {
    let log = '';
    const started = servePlace(
      t,
      { env: { UPSTREAM_KEY: 'good', ...env, ...more } },
      { write: (line) => (log += line) },
    );
    const { message } = await started.then(
      () => new Error('it started'),
      (error: Error) => error,
    );
    t.not(message, 'it started', JSON.stringify(more));
    const places = [
      { where: 'the log', text: log },
      { where: 'stderr', text: message },
    ];
    t.same(findSecret(planted, places), []);
  }
});

test('nor does the program print one', async (t) => {
  const planted = 'planted-4715';
  const { env } = makePlace(t, 'http://127.0.0.1:1');
  const REDIS_URL = `redis://:${planted}@127.0.0.1:${await freePort()}`;
  const { code, output, errors } = await run('main.js', { ...env, REDIS_URL });
  t.equal(code, 1);
  t.same(findSecret(planted, [{ where: 'stdout and stderr', text: output + errors }]), []);
});
