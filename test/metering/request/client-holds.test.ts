import { readFileSync } from 'node:fs';
import { test } from 'tap';
import { CLIENT_CALLS, heldBy, shippedCatalog } from '../../helper/fixtures/client-bodies.ts';

const page = readFileSync(new URL('../../../docs/charges.md', import.meta.url), 'utf8');
const [, section = ''] = page.split('\n## What clients hold\n');

test('the page tells what clients hold at the shipped prices', async (t) => {
  const told = section
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('| Call '))
    .map((line) => line.slice(2, -2).split(' | '));
  const catalog = shippedCatalog();
  const real = Object.entries(CLIENT_CALLS).map(([name, call]) => {
    const { hold, estimate } = heldBy(call, catalog);
    return [name, hold, estimate];
  });
  t.same(
    told.map(([name, hold, estimate]) => [name, hold, estimate]),
    real,
  );
});

test('an owner with 10 credits makes calls with Claude Code', async (t) => {
  const catalog = shippedCatalog();
  for (const [name, call] of Object.entries(CLIENT_CALLS)) {
    if (!name.startsWith('Claude Code') || name.includes('web_search')) continue;
    t.ok(Number(heldBy(call, catalog).hold) < 10, name);
  }
});
