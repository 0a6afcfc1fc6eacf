import { test } from 'tap';
import { ConfigError, loadConfig } from '../../src/config/load.ts';
import { SECRET_VARIABLES } from '../../src/config/secrets.ts';
import { SMALL } from '../helper/fixtures/config-file.ts';

const withKey = (apiKey: string) => SMALL.replace(`\${OPENAI_API_KEY}`, apiKey);

function read(folder: string, env: NodeJS.ProcessEnv = {}) {
  return loadConfig({ env, file: `${folder}/gateway.yaml` });
}

function refusal(folder: string, env: NodeJS.ProcessEnv = {}): ConfigError {
  try {
    read(folder, env);
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error('the configuration was accepted');
}

test("a setting comes from a file beside the config file, without the file's line break", async (t) => {
  const folder = t.testdir({ 'gateway.yaml': withKey('file:keys/openai'), keys: { openai: 'sk-file\n' } });
  t.equal(read(folder).upstreams.get('openai')?.apiKey, 'sk-file');
});

test('the path of a file can contain a variable', async (t) => {
  const folder = t.testdir({ 'gateway.yaml': withKey(`file:\${KEYS}/openai`), keys: { openai: 'sk-file' } });
  t.equal(read(folder, { KEYS: `${folder}/keys` }).upstreams.get('openai')?.apiKey, 'sk-file');
  t.same(
    read(folder).unconfigured.map(({ variables }) => variables),
    [['KEYS']],
  );
});

test('a file that is missing, empty or wrong is named, and its content is not', async (t) => {
  const folder = t.testdir({ 'gateway.yaml': withKey('file:gone'), empty: '\n', wrong: 'hunter2 hunter2\n' });
  t.same(refusal(folder).faults, [
    `upstreams.openai.apiKey: names the file ${folder}/gone, which does not exist`,
  ]);
  const other = (apiKey: string) =>
    t.testdir({ 'gateway.yaml': withKey(apiKey), empty: '\n', wrong: 'hunter2 hunter2\n' });
  t.match(refusal(other('file:empty')).faults, [/empty, which is empty$/]);
  t.match(refusal(t.testdir({ 'gateway.yaml': withKey('file:quoted'), quoted: '"hunter2"\n' })).faults, [
    /must not be in quotes.*\/quoted\)$/,
  ]);
  const wrong = refusal(other('file:wrong'));
  t.match(wrong.faults, [/^upstreams\.openai\.apiKey: must be visible .*\(it comes from .*\/wrong\)$/]);
  t.notMatch(wrong.message, /hunter2/);
  t.notMatch(wrong.origin, /environment/);
});

test('secret variables come from the files that their _FILE names', async (t) => {
  const values = {
    ADMIN_TOKEN: 'a'.repeat(24),
    METRICS_TOKEN: 'm'.repeat(24),
    DATABASE_URL: 'postgres://tollgate:pw@db/tollgate',
    REDIS_URL: 'redis://:pw@cache:6379',
  };
  t.same(Object.keys(values), SECRET_VARIABLES);
  const folder = t.testdir({ 'gateway.yaml': withKey('sk'), ...values });
  const files = Object.keys(values).map((name) => [`${name}_FILE`, `${folder}/${name}`]);
  const { adminToken, metricsToken, databaseUrl, redisUrl, workers } = read(folder, {
    ...Object.fromEntries(files),
    WORKERS: '2',
  });
  t.same([adminToken, metricsToken, databaseUrl, redisUrl], Object.values(values));
  t.equal(workers, 2, 'and count as set');
});

test('a variable and its file, or a file that is not there, are refused', async (t) => {
  const folder = t.testdir({ 'gateway.yaml': withKey('sk'), token: 'x'.repeat(24), short: 'hunter2' });
  const faults = (env: NodeJS.ProcessEnv) => refusal(folder, env).faults;
  t.same(faults({ ADMIN_TOKEN: 'y'.repeat(24), ADMIN_TOKEN_FILE: `${folder}/token` }), [
    'ADMIN_TOKEN_FILE: must not be combined with ADMIN_TOKEN',
  ]);
  t.match(faults({ REDIS_URL_FILE: `${folder}/gone` }), [
    /^REDIS_URL_FILE: names the file .*does not exist$/,
  ]);
  t.same(faults({ REDIS_URL_FILE: 'redis://:hunter2@cache' }), [
    'REDIS_URL_FILE: names a file that does not exist',
  ]);
  t.match(faults({ ADMIN_TOKEN_FILE: `${folder}/short` }), [/^ADMIN_TOKEN_FILE: must have at least 24/]);
});
