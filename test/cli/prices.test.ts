import { type Test, test } from 'tap';
import { unitText } from '../../src/cli/print.ts';
import { tollgate } from '../helper/start/command.ts';

const FILE = `
pricing: { markup: 1.5 }
upstreams:
  own: { url: "http://127.0.0.1:1", format: openai }
  vendor: { url: "https://api.openai.com", apiKey: "\${VENDOR_KEY}", format: openai, provider: openai }
  google: { url: "https://g.example", apiKey: k, format: openai, provider: google }
models:
  home: { upstream: own, category: text, maxOutputTokens: 9, price: { input: 1 } }
  gift: { upstream: own, category: image, free: true }
  mini: { upstream: vendor, upstreamModel: gpt-4o-mini, category: text, maxOutputTokens: 9, serviceTiers: { flex: 0.5 } }
  sol: { upstream: vendor, upstreamModel: gpt-6-sol, category: text, maxOutputTokens: 9 }
  old: { upstream: vendor, upstreamModel: o3, category: text, maxOutputTokens: 9, price: { input: 3, output: 5, cachedInput: 0.75 } }
  same: { upstream: vendor, upstreamModel: text-embedding-3-small, category: text, price: { input: 0.03 } }
  new: { upstream: vendor, upstreamModel: gpt-99, category: text, maxOutputTokens: 9, price: { input: 3 } }
`;

function prices(t: Test, args: string[] = [], yaml = FILE) {
  const folder = t.testdir({ 'gateway.yaml': yaml });
  return tollgate(['prices', ...args], { TOLLGATE_CONFIG: `${folder}/gateway.yaml` });
}

test('every model with its prices, their source, tiers and the version of the list', async (t) => {
  const { code, output, errors } = await prices(t);
  t.same([code, errors], [0, '']);
  t.match(output, /^home +config +- +- +input 1\.000000$/m);
  t.match(output, /^gift +free +- +- +free$/m);
  t.match(
    output,
    /^mini +list +openai\/gpt-4o-mini +flex ×0\.5 +input 0\.225000, output 0\.900000, cachedInput 0\.112500, webSearch 15\.000000$/m,
  );
  t.match(output, /^sol .*input 3\.000000 \(above 272000: 6\.000000\)/m);
  t.match(
    output,
    /^Price list: @pydantic\/genai-prices \d+\.\d+\.\d+\. Credits for a US dollar: 1\. Markup: 1\.5\.$/m,
  );
});

test('a price by size and quality names each', async (t) => {
  t.equal(unitText({ '1024x1024': '0.040000', high: '0.100000' }), '0.040000 (1024x1024), 0.100000 (high)');
});

test('the same as JSON', async (t) => {
  const { output } = await prices(t, ['--json']);
  const { models, ...head } = JSON.parse(output);
  t.match(head, { list: /^@pydantic/, credits_per_usd: 1, markup: 1.5 });
  t.match(
    models.find(({ model }: { model: string }) => model === 'sol'),
    {
      source: 'list',
      list_model: 'openai/gpt-6-sol',
      context_window: 1_050_000,
      changes_on: null,
      price: {
        input: [{ price: '3.000000' }, { above: 272_000, price: '6.000000' }],
        webSearch: '15.000000',
      },
    },
  );
  t.match(models[0], { model: 'home', source: 'config', list_model: null, price: { input: '1.000000' } });
});

test('--diff: each written unit with another price in the list, and models that the list lacks', async (t) => {
  const { code, output } = await prices(t, ['--diff']);
  t.equal(code, 0);
  t.match(output, /^old +output +5\.000000 +12\.000000 +openai\/o3$/m);
  t.match(output, /^old +webSearch +none +15\.000000 +openai\/o3$/m);
  t.notMatch(output, /^old +input/m);
  t.match(output, /^Not compared, as their upstream names no provider: home$/m);
  t.match(output, /^Not compared, as the list has no such model of openai: new$/m);
  t.match(output, /^Written prices: 4, of which 1 match the list\.$/m);
  const json = JSON.parse((await prices(t, ['--diff', '--json'])).output);
  t.match(json.differences, [
    { model: 'old', unit: 'output', written: '5.000000', list: '12.000000' },
    { model: 'old', unit: 'webSearch', written: null, list: '15.000000' },
  ]);
  t.match(json.not_compared, [{ model: 'home' }, { model: 'new', reason: /no such model of openai/ }]);
});

test('a list price that has a date of its next change says it', async (t) => {
  const yaml = FILE.replace(
    '  home:',
    '  flash: { upstream: google, upstreamModel: gemini-3.6-flash, category: text, maxOutputTokens: 9 }\n  home:',
  );
  const { output } = await prices(t, [], yaml);
  if (Date.now() < Date.parse('2027-01-01')) {
    t.match(output, /^The prices of flash change on 2027-01-01 \(UTC\): send SIGHUP then, or restart\.$/m);
  } else t.notMatch(output, /change on/);
});

test('a price that was promised until a day is marked once that day is over', async (t) => {
  const until = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
  const yaml = (day: string) => FILE.replace('gpt-6-sol,', `gpt-6-sol, priceUntil: ${day},`);
  const passed = await prices(t, [], yaml(until(-2)));
  t.match(
    passed.output,
    new RegExp(`^sol has a price that its provider promised until ${until(-2)}, which has passed`, 'm'),
  );
  t.notMatch((await prices(t, [], yaml(until(2)))).output, /promised/);
  const { models } = JSON.parse((await prices(t, ['--json'], yaml(until(-2)))).output);
  t.match(
    models.filter(({ promise_passed }: { promise_passed: boolean }) => promise_passed),
    [{ model: 'sol', promised_until: until(-2) }],
  );
});

test('a file with faults is refused in one line', async (t) => {
  const { code, output, errors } = await prices(t, [], FILE.replace('gpt-6-sol', 'gpt-66-sol'));
  t.same([code, output], [1, '']);
  t.match(errors, /^tollgate: .*models\.sol\.price: /);
});

test('a model with several targets has a line for each', async (t) => {
  const yaml = `
upstreams:
  first: { url: "http://127.0.0.1:1", format: openai }
  second: { url: "http://127.0.0.1:2", format: openai }
models:
  chat:
    category: text
    maxOutputTokens: 9
    targets:
      - { upstream: first, price: { input: 1 } }
      - { upstream: second, price: { input: 2 } }
`;
  const { output } = await prices(t, [], yaml);
  t.match(output, /^chat at first +config +- +- +input 1\.000000$/m);
  t.match(output, /^chat at second +config +- +- +input 2\.000000$/m);
});

test('each target is named in the JSON', async (t) => {
  const yaml = `
upstreams:
  first: { url: "http://127.0.0.1:1", format: openai }
models:
  one: { upstream: first, category: text, free: true }
  two: { category: text, free: true, targets: [{ upstream: first }] }
`;
  const { models } = JSON.parse((await prices(t, ['--json'], yaml)).output);
  t.match(
    models.map(({ model, target }: { model: string; target: string | null }) => [model, target]),
    [
      ['one', null],
      ['two', null],
    ],
  );
});
