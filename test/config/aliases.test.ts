import { test } from 'tap';
import { configChanges } from '../../src/config/changes.ts';
import { modelOf } from '../../src/domain/catalog.ts';
import { faults, load } from '../helper/fixtures/config-file.ts';

const MODEL = 'upstream: one, category: text, maxOutputTokens: 10, price: { input: 1 }';
const yaml = (...models: string[]) => `
upstreams:
  one: { provider: openai, apiKey: k }
models:
${models.map((model, index) => `  m${index}: { ${MODEL}${model} }`).join('\n')}
`;

test('a model goes by its slug and by its aliases', async (t) => {
  const { catalog } = load(t, yaml(', aliases: [m0-2026-11-01, vendor/m0]', ''));
  for (const name of ['m0', 'm0-2026-11-01', 'vendor/m0']) t.equal(modelOf(catalog, name)?.slug, 'm0', name);
  t.equal(modelOf(catalog, 'm1')?.slug, 'm1');
  t.equal(modelOf(catalog, 'm0-2026'), undefined);
});

test('an alias that is another name already is a fault that says whose', async (t) => {
  t.same(faults(t, yaml(', aliases: [m1, a, a]', ', aliases: [a, m1]')), [
    'models.m0.aliases[0]: must not be m1, which is the name of a model',
    'models.m0.aliases[2]: must not repeat a',
    'models.m1.aliases[0]: must not be a, which is an alias of m0',
    'models.m1.aliases[1]: must not be m1, which is the name of a model',
  ]);
  t.match(faults(t, yaml(', aliases: [a b, ""]')), [
    /^models\.m0\.aliases\[0\]: must be a name of the model without spaces/,
    /^models\.m0\.aliases\[1\]: /,
  ]);
  t.match(faults(t, yaml(', aliases: a')), [/^models\.m0\.aliases: must be a list/]);
});

test('a reload reports changed aliases', async (t) => {
  const [before, after] = [load(t, yaml('')), load(t, yaml(', aliases: [a, b]'))];
  t.same(configChanges(before, after).changed.m0, ['aliases: none -> a, b']);
});
