import { readFileSync } from 'node:fs';
import { test } from 'tap';
import { CLIENT_CALLS, heldBy, shippedCatalog } from '../../helper/fixtures/client-bodies.ts';

const page = readFileSync(new URL('../../../docs/clients.md', import.meta.url), 'utf8');

test('the page has the holds of clients at the shipped prices', async (t) => {
  const told = page
    .split('\n')
    .filter((line) => /^\| .* \| [\d.]+ \| [\d.]+ \|$/.test(line))
    .map((line) => line.slice(2, -2).split(' | '));
  const catalog = shippedCatalog();
  const real = Object.entries(CLIENT_CALLS).map(([name, call]) => {
    const { hold, estimate } = heldBy(call, catalog);
    return [name, hold, estimate];
  });
  t.same(told.map(([name, hold, estimate]) => [name, hold, estimate]).sort(), real.sort());
});

test('an owner with 10 credits makes calls with Claude Code', async (t) => {
  const catalog = shippedCatalog();
  for (const [name, call] of Object.entries(CLIENT_CALLS)) {
    if (!name.startsWith('Claude Code') || name.includes('web_search')) continue;
    t.ok(Number(heldBy(call, catalog).hold) < 10, name);
  }
});
