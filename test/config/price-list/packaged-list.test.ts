import { calcPrice, waitForUpdate } from '@pydantic/genai-prices';
import { test } from 'tap';
import { listedModel } from '../../../src/config/price-list/listed-model.ts';
import { PACKAGED_IDS, packagedList } from '../../../src/config/price-list/price-list.ts';
import { nearNames } from '../../../src/domain/near-names.ts';
import { isPriced, priceInCredits } from '../../../src/domain/price.ts';

const NOW = new Date('2026-11-22T12:00:00Z');
const ASKED = { exchange: { creditsPerUsd: 1_000_000, markup: 1_000_000 }, now: NOW };
const list = packagedList();
const data = (await waitForUpdate()) ?? [];
const every = data.flatMap((provider) => provider.models.map((model) => ({ provider, model })));

test('the ids that faults name are those of the package', async (t) => {
  t.same(list.ids, data.map(({ id }) => id).sort());
  for (const id of PACKAGED_IDS) t.equal(list.provider(id)?.id, id);
  t.equal(list.provider('gemini'), undefined, 'a name that stands for a provider is not its id');
  t.equal(list.providerLike('gemini')?.id, 'google');
  t.match(list.version, /^@pydantic\/genai-prices \d+\.\d+\.\d+$/);
});

test('a name finds the model that the package finds', async (t) => {
  const names = every.flatMap(({ provider, model }) => [
    [provider.id, model.id],
    [provider.id, `${model.id}-20261001`],
  ]);
  names.push(
    ['openai', 'GPT-4o'],
    ['azure', 'gpt-4o'],
    ['azure', 'claude-opus-5'],
    ['google', 'claude-haiku-4-5@20251001'],
  );
  names.push(
    ['anthropic', 'claude-haiku-4-5-20251001'],
    ['openai', 'gpt-4o-2024-08-06'],
    ['openai', 'nothing'],
  );
  const wrong = names.filter(([providerId = '', name = '']) => {
    const theirs = calcPrice({ input_tokens: 0 }, name, { providerId, timestamp: NOW });
    const provider = list.provider(providerId);
    const ours = provider && list.model(provider, name)?.id;
    return theirs
      ? ours !== theirs.model.id
      : ours !== undefined && ours.toLowerCase() !== name.toLowerCase();
  });
  t.ok(names.length > 3_000);
  t.same(wrong, []);
});

test('every model of the package has a price here, or a reason why not', async (t) => {
  const reasons = new Map<string, string[]>();
  let priced = 0;
  for (const { provider, model } of every) {
    const of = list.provider(provider.id);
    const found = of && listedModel(list, of, model.id, ASKED);
    if (!found) reasons.set('not found', [...(reasons.get('not found') ?? []), model.id]);
    else if ('why' in found.priced)
      reasons.set(found.priced.why, [...(reasons.get(found.priced.why) ?? []), `${provider.id}/${found.id}`]);
    else priced += Number(isPriced(found.priced.price));
  }
  const told = [...reasons].map(([why, models]) => `${why}: ${[...new Set(models)].length}`).sort();
  t.same(told, [
    'by its name it searches with every call, and the list has no price of a request; write the price with request: 5',
    'groq bills 10 seconds of each request at least, which a price per second cannot say: 2',
    'it has input_text_messages_kcount, which no unit of ours charges: 3',
    'it has input_video_mtok at another price than input, and answers do not tell them apart: 2',
    'it has output_reasoning_mtok at another price than output, and answers do not tell them apart: 2',
    'it has output_video_mtok at another price than output, and answers do not tell them apart: 1',
    'it names nothing that a call here can use at a price above 0: 169',
  ]);
  t.ok(priced > 1_400, `${priced} priced`);
});

test('prices are those that the package reckons with, for every model whose price has no time of day', async (t) => {
  const wrong: string[] = [];
  let compared = 0;
  for (const { provider, model } of every) {
    const of = list.provider(provider.id);
    const found = of && listedModel(list, of, model.id, ASKED);
    const theirs = calcPrice({ input_tokens: 0 }, model.id, { providerId: provider.id, timestamp: NOW });
    const byTime = JSON.stringify(model.prices).includes('time_of_date');
    if (!found || 'why' in found.priced || !theirs || byTime) continue;
    for (const [key, unit] of [
      ['input_mtok', 'input'],
      ['output_mtok', 'output'],
      ['cache_read_mtok', 'cachedInput'],
    ] as const) {
      const usd = theirs.model_price[key];
      if (usd === undefined) continue;
      compared += 1;
      const base = typeof usd === 'number' ? usd : usd.base;
      const ours = Number(priceInCredits(unit, found.priced.price.units[unit]));
      if (!(ours >= base - 1e-12 && ours < base + 1e-6))
        wrong.push(`${provider.id}/${model.id} ${key}: ${ours} for ${base}`);
    }
  }
  t.ok(compared > 3_000, `${compared} prices`);
  t.same(wrong, []);
});

test('a name that only begins like a model of the list is said to be a guess', async (t) => {
  const isGuess = (providerId: string, name: string) => {
    const provider = list.provider(providerId);
    return provider && listedModel(list, provider, name, ASKED)?.isGuess;
  };
  t.equal(isGuess('anthropic', 'claude-sonnet-5-5'), true);
  t.equal(isGuess('anthropic', 'claude-sonnet-5'), false);
  t.equal(isGuess('anthropic', 'claude-haiku-4-5-20251001'), false);
  t.equal(isGuess('anthropic', 'claude-sonnet-5@20260901'), false);
  t.equal(isGuess('openai', 'gpt-4o-2024-08-06'), false);
  t.equal(isGuess('openai', 'GPT-4o'), false);
});

test('by time of day the dearest price counts', async (t) => {
  const provider = list.provider('deepseek');
  const found = provider && listedModel(list, provider, 'deepseek-v4-pro', ASKED);
  t.match(found, {
    priced: { price: { units: { input: 1_320_000n, cachedInput: 44_000n, output: 3_960_000n } } },
  });
});

test('names that are alike', async (t) => {
  t.same(nearNames('antropic', list.ids), ['anthropic']);
  t.same(nearNames('open-ai', list.ids), ['openai']);
  t.same(nearNames('quite-different-thing', list.ids), []);
});
