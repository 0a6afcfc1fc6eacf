import { test } from 'tap';
import { modelNames } from '../../src/domain/allowed-models.ts';

const VERDICTS: readonly [names: readonly string[], slug: string, allowed: boolean][] = [
  [['gpt-5*'], 'gpt-5', true],
  [['gpt-5*'], 'gpt-5-mini', true],
  [['gpt-5*'], 'gpt-4', false],
  [['gpt-5*'], 'my-gpt-5', false],
  [['a', 'openai/*'], 'openai/gpt', true],
  [['a', 'openai/*'], 'a', true],
  [['a', 'openai/*'], 'ab', false],
  [['*'], 'anything', true],
  [['g*t'], 'gpt', false],
  [['g*t'], 'g*t', true],
];

for (const [names, slug, allowed] of VERDICTS) {
  test(`a key that allows ${names.join(', ')} ${allowed ? 'calls' : 'does not call'} ${slug}`, async (t) => {
    t.equal(modelNames(names).has(slug), allowed);
  });
}
