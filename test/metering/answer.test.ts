import t from 'tap';
import { errorIn, parseAnswer, saysFailed } from '../../src/metering/answer.ts';

const DEPTH = 100_000;

t.test('an answer of any depth is decided on', async (t) => {
  const lists = parseAnswer('['.repeat(DEPTH) + ']'.repeat(DEPTH));
  t.equal(saysFailed(lists), false);
  const errors = parseAnswer(`${'{"message":"x","error":'.repeat(DEPTH)}1${'}'.repeat(DEPTH)}`);
  t.equal(saysFailed(errors), true);
  t.same(errorIn(errors)?.message, 'x');
});
