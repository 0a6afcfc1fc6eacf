import { test } from 'tap';
import { memoized } from '../../src/domain/memoized.ts';

test('equal sources have one result, whoever made them', async (t) => {
  const setOf = memoized((list: readonly string[]) => new Set(list));
  t.equal(setOf(['a', 'b']), setOf(['a', 'b']));
  t.not(setOf(['a', 'b']), setOf(['b', 'a']));
});

const NEAR: readonly [a: readonly string[], b: readonly string[]][] = [
  [['a,b'], ['a', 'b']],
  [['a\nb'], ['a', 'b']],
  [['a","b'], ['a', 'b']],
  [[], ['']],
  [['a', ''], ['a']],
];

for (const [a, b] of NEAR) {
  test(`${JSON.stringify(a)} and ${JSON.stringify(b)} are two sources`, async (t) => {
    const lengthOf = memoized((list: readonly string[]) => ({ list }));
    t.strictSame([lengthOf(a).list, lengthOf(b).list], [a, b]);
  });
}

test('a source that cannot be read is refused each time, and not remembered', async (t) => {
  let tries = 0;
  const read = memoized((text: string) => {
    tries += 1;
    throw new RangeError(text);
  });
  t.throws(() => read('x'), RangeError);
  t.throws(() => read('x'), RangeError);
  t.equal(tries, 2);
});

test('the memory is bounded, and a forgotten source is read again', async (t) => {
  let compiled = 0;
  const read = memoized((text: string) => {
    compiled += 1;
    return { text };
  });
  const first = read('first');
  for (let n = 0; n < 30; n++) read(String(n).padEnd(100_000, '.'));
  t.not(read('first'), first);
  t.same(read('first'), { text: 'first' });
  t.equal(compiled, 32);
});
