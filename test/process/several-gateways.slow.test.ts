import { test } from 'tap';
import { testSeveralGateways } from './several-gateways.ts';

test('several gateways on one Redis and one book, many rounds of each promise', (t) =>
  testSeveralGateways(t, { calls: 600, deletions: 100, changes: 120, rotations: 50, crossings: 8 }));
