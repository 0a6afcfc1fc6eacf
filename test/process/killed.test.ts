import { test } from 'tap';
import { chargedThoughKilled } from './killed-gateway.ts';

test('a gateway killed in the instant after an answer ended has charged it, once', (t) =>
  chargedThoughKilled(t, { stream: false, rounds: 1 }));
