import { test } from 'tap';
import { testSeveralGateways } from './several-gateways.ts';

test('several gateways on one Redis and one book, one short round of each promise', (t) =>
  testSeveralGateways(t, { calls: 120, deletions: 3, changes: 6, rotations: 6, crossings: 1 }));
