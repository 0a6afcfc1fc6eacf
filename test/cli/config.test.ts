import { readFileSync } from 'node:fs';
import { type Test, test } from 'tap';
import { startScriptedProvider } from '../helper/stand-ins/scripted-provider.ts';
import { tollgate } from '../helper/start/command.ts';

const GOOD = `
upstreams:
  here: { url: "http://127.0.0.1:1", format: openai }
  there: { url: "https://api.example.com", apiKey: "\${THERE_KEY}", format: openai }
models:
  cheap: { upstream: here, category: text, maxOutputTokens: 10, price: { input: 0.15, cachedInput: 0.075, output: 0.6 } }
  gift: { upstream: here, category: image, free: true }
  far: { upstream: there, category: video, price: { videoSecond: 0.1 } }
`;

function check(t: Test, yaml: string, args: string[] = [], env: NodeJS.ProcessEnv = {}) {
  const folder = t.testdir({ 'gateway.yaml': yaml });
  return tollgate(['config', 'check', ...args], { TOLLGATE_CONFIG: `${folder}/gateway.yaml`, ...env });
}

test('a right file: every model with its price and state, and the variable that is not set', async (t) => {
  const { code, output, errors } = await check(t, GOOD);
  t.same([code, errors], [0, '']);
  t.match(output, /^cheap +text +here +live +input 0\.150000, output 0\.600000, cachedInput 0\.075000$/m);
  t.match(output, /^gift +image +here +live +free$/m);
  t.match(output, /^far +video +there +waits for THERE_KEY +videoSecond 0\.100000$/m);
  t.match(
    output,
    /^Warning: upstream there is left out: THERE_KEY is not set; models left out with it: far$/m,
  );
  t.match(output, /^No errors\. Models: 3 \(2 live, 2 priced, 1 free\)\.$/m);
});

test('the same as JSON', async (t) => {
  const { output } = await check(t, GOOD, ['--json']);
  t.match(JSON.parse(output), {
    ok: true,
    faults: [],
    unset: [{ upstream: 'there', variables: ['THERE_KEY'] }],
    models: [
      { model: 'cheap', live: true, free: false, price: { input: '0.150000', cachedInput: '0.075000' } },
      { model: 'gift', live: true, free: true, price: {} },
      { model: 'far', live: false, waits_for: ['THERE_KEY'] },
    ],
  });
});

const BAD = GOOD.replace(', free: true', '').replace('category: video', 'category: song');

test('every fault is printed with its path, also those of the environment, and the exit code is 1', async (t) => {
  const { code, output, errors } = await check(t, BAD, [], { PORT: 'eighty' });
  t.equal(code, 1);
  t.same(
    output
      .trim()
      .split('\n')
      .map((line) => line.split(': ')[0])
      .sort(),
    ['PORT', 'models.far.category', 'models.gift.price'],
  );
  t.match(errors, /^tollgate: \S+gateway\.yaml and the environment is invalid: 3 errors\n$/);
});

test('--live without a provider says so', async (t) => {
  const { output } = await check(
    t,
    'upstreams: { d: { url: demo, format: openai } }\nmodels: { m: { upstream: d, category: text, free: true } }',
    ['--live'],
  );
  t.match(output, /\n\nNo provider to ask/);
});

test('the faults as JSON', async (t) => {
  const { code, output } = await check(t, BAD, ['--json']);
  t.equal(code, 1);
  t.match(JSON.parse(output), {
    ok: false,
    faults: [{ path: 'models.far.category' }, { path: 'models.gift.price', message: /free: true/ }],
  });
});

test('a file that is named wins over TOLLGATE_CONFIG, and one that is not there is a fault', async (t) => {
  t.equal((await check(t, BAD, ['config/gateway.yaml'])).code, 0);
  const { code, output } = await check(t, GOOD, ['nowhere.yaml']);
  t.match([code, output], [1, /does not exist/]);
});

test('the printed schema equals the shipped one', async (t) => {
  const { output } = await tollgate(['config', 'schema']);
  t.equal(output, readFileSync('config/gateway.schema.json', 'utf8'));
});

test('--live asks each credential for the models of its provider', async (t) => {
  const provider = await startScriptedProvider({
    behave: ({ headers }) =>
      headers.authorization === 'Bearer good'
        ? { body: { data: [{ id: 'a' }, { id: 'b' }] } }
        : { status: 401, body: { error: { message: 'Incorrect key secret-2' } } },
  });
  t.teardown(() => provider.close());
  const yaml = `
upstreams:
  here: { url: "${provider.url}", format: openai, apiKeys: [good, secret-2] }
  azure: { provider: azure, url: "${provider.url}/azure", apiKey: k3 }
  demo: { url: demo, format: openai }
models:
  m: { targets: [{ upstream: here }, { upstream: azure, priority: 2 }], category: text, maxOutputTokens: 10, price: { input: 1 } }
  d: { upstream: demo, category: text, free: true }
`;
  const { code, output, errors } = await check(t, yaml, ['--live']);
  t.equal(code, 1);
  t.match(errors, 'a provider did not answer as it should');
  t.match(output, /^m +text +here, here#2, azure +live/m);
  t.match(output, /^In the formats of OpenAI and of Anthropic: m\.$/m);
  t.match(output, /^here +200 +\d+ ms +2 models, without m$/m);
  t.match(output, /^here#2 +401 +\d+ ms +Incorrect key …$/m);
  const json = JSON.parse((await check(t, yaml, ['--live', '--json'])).output);
  t.match(json, {
    ok: false,
    models: [
      { model: 'm', formats: ['openai', 'anthropic'] },
      { model: 'd', formats: ['openai'] },
    ],
    live: [{ target: 'here', ok: true }, { ok: false, status: 401 }, { target: 'azure' }],
  });
  const paths = provider.requests.map(({ url }) => url);
  t.ok(paths.includes('/v1/models'));
  t.ok(paths.includes('/azure/openai/models?api-version=2024-10-21'));
});

test('--live finds what is no API, a model that the list lacks, and TLS where there is none', async (t) => {
  const provider = await startScriptedProvider({
    behave: ({ url }) => {
      if (url.startsWith('/portal'))
        return { headers: { 'content-type': 'text/html' }, body: '<html>Sign in</html>' };
      if (url.startsWith('/refuses')) return { status: 401, body: { error: { message: 'no such key' } } };
      if (url.startsWith('/none')) return { status: 404, body: 'nothing here' };
      return { body: { data: [{ id: 'models/m-alpha' }] } };
    },
  });
  t.teardown(() => provider.close());
  const tls = provider.url.replace('http:', 'https:');
  const yaml = `
upstreams:
  portal: { url: "${provider.url}/portal", format: openai }
  alpha: { url: "${provider.url}", format: openai }
  plain: { url: "${tls}", format: openai }
  two: { url: "${provider.url}", messagesUrl: "${provider.url}/refuses", format: openai }
  half: { url: "${provider.url}", messagesUrl: "${provider.url}/none", format: openai }
models:
  a: { upstream: portal, category: text, free: true }
  b: { upstream: alpha, upstreamModel: m-alpha, category: text, free: true }
  c: { upstream: alpha, upstreamModel: no-such-model, category: text, free: true }
  d: { upstream: plain, category: text, free: true }
  e: { upstream: two, upstreamModel: m-alpha, category: text, free: true }
  f: { upstream: half, upstreamModel: m-alpha, category: text, free: true }
`;
  const { code, output } = await check(t, yaml, ['--live']);
  t.equal(code, 1);
  t.match(output, /^portal +200 +\d+ ms +no JSON, so it is no API: check url$/m);
  t.match(output, /^alpha +200 +\d+ ms +1 models, without no-such-model$/m);
  t.match(output, /^two \(\/v1\/messages\) +401 +\d+ ms +no such key$/m);
  t.match(output, /^half \(\/v1\/messages\) +404 +\d+ ms +no list of models$/m);
  t.match(output, /^plain +none +\d+ ms +speaks no TLS at this port: use http:\/\/, or another port$/m);
});
