import { test } from 'tap';
import { endOfValue, parseRotation } from '../../src/domain/rotation.ts';
import { keyRecord } from './key-record.ts';

const [NEWEST, BEFORE, OTHER] = ['a1', 'b2', 'c3'].map((two) => two.repeat(32)) as [string, string, string];

test('a value of a key ends never, at the end of its grace, or has ended', async (t) => {
  const rotated = keyRecord({ hash: NEWEST, previousHash: BEFORE, previousValidUntil: 5_000 });
  t.equal(endOfValue(rotated, NEWEST), Infinity);
  t.equal(endOfValue(rotated, BEFORE), 5_000);
  t.equal(endOfValue(rotated, OTHER), 0);
  const plain = keyRecord({ hash: NEWEST });
  t.equal(endOfValue(plain, NEWEST), Infinity);
  t.equal(endOfValue(plain, BEFORE), 0);
});

test('a request to rotate is read', async (t) => {
  t.same(parseRotation({}), {});
  t.same(parseRotation({ grace_seconds: 2_592_000 }), { graceSeconds: 2_592_000 });
  t.same(parseRotation({ end_grace: true }), { endGrace: true });
});
