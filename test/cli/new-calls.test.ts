import { test } from 'tap';
import type { OperatorCallView } from '../../src/api/calls/call-view.ts';
import { NewCalls } from '../../src/cli/calls-command.ts';

const PAGE = 200;

/** Reads of a list of `calls`, newest first, as `tollgate calls --follow` makes them. */
function reading(calls: readonly string[]) {
  const all = [...calls];
  const newCalls = new NewCalls(async (before = '0') => {
    const from = Number(before);
    const page = all.slice(from, from + PAGE).map((id) => ({ id }) as OperatorCallView);
    return { calls: page, next: from + PAGE < all.length ? String(from + PAGE) : null };
  });
  return {
    /** Adds a call at a place of the list: 0 is the newest. */
    ends: (id: string, place = 0) => void all.splice(place, 0, id),
    next: async () => (await newCalls.next()).map(({ id }) => id),
  };
}

test('calls from before the command are printed up to one page, oldest first', async (t) => {
  const history = Array.from({ length: 1_000 }, (_, index) => `old-${index}`);
  const { ends, next } = reading(history);
  t.same(await next(), history.slice(0, PAGE).reverse());
  t.same(await next(), []);
  ends('first');
  ends('second');
  t.same(await next(), ['first', 'second'], 'and no history at the first new call');
});

test('a call that lasted long is printed, though it arrived before others that ended', async (t) => {
  const { ends, next } = reading(Array.from({ length: 1_000 }, (_, index) => `old-${index}`));
  await next();
  ends('long', 900);
  const found: string[] = [];
  for (let reads = 0; reads < 10; reads++) found.push(...(await next()));
  t.same(found, ['long']);
});

test('an empty list has its first call later', async (t) => {
  const { ends, next } = reading([]);
  t.same(await next(), []);
  ends('first');
  t.same(await next(), ['first']);
});
