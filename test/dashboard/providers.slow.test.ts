import t from 'tap';
import { reads, signedIn } from '../helper/dashboard/dashboard.ts';
import { accessibilityFaults } from '../helper/dashboard/dashboard-tour.ts';
import { ADMIN_TOKEN } from '../helper/start/gateway-in-process.ts';
import { startTargetsGateway } from '../helper/start/targets-gateway.ts';

t.test('D1: the provider that fails comes first, with its error in full', async (t) => {
  const world = await startTargetsGateway(t);
  const { key } = await world.account();
  const message = `busy: ${'no capacity is left in this region. '.repeat(6)}`.trim();
  world.behave('b', { status: 503, headers: { 'retry-after': '60' }, body: { error: { message } } });
  world.behave('a', { status: 503, headers: { 'retry-after': '60' }, body: { error: { message } } });
  for (let calls = 0; calls < 4; calls++) await (await world.chat(key, { model: 'ranked' })).text();
  world.behave('a');
  await world.settled();

  const { page, faults } = await signedIn(t, world, ADMIN_TOKEN, {
    at: ['providers', 'Providers'],
  });
  const titles = page.getByRole('heading', { level: 2 });
  await titles.first().waitFor();
  const names = await titles.allTextContents();
  t.same(new Set(names.slice(0, 2)), new Set(['a', 'b']), 'the busy and healthy one comes after them');
  const row = page
    .getByRole('region', { name: 'Models at b', exact: true })
    .getByRole('row', { name: /^ranked/ });
  await reads(t, row, /Paused until .+3 of 3 \(100%\)3 of 3 \(100%\)/);
  await row.getByRole('button', { name: /^ranked/ }).click();
  const panel = page.getByRole('dialog', { name: /^ranked\S* at b$/ });
  await panel.getByText(`HTTP 503: ${message}`).waitFor();
  await panel.getByText('3 of 3 attempts failed (100%)').first().waitFor();
  t.match(page.url(), /[?&]target=b(\+|%20)ranked/);
  t.same(await accessibilityFaults(page), [], 'the keyboard scrolls the error');
  await page.keyboard.press('Escape');
  await panel.waitFor({ state: 'detached' });
  t.same(faults, []);
});

t.test('D1: a refused credential is named with its time, and no model of it counts as up', async (t) => {
  const world = await startTargetsGateway(t);
  const { key } = await world.account();
  world.behave('a', { status: 401, body: { error: { message: 'invalid key' } } });
  await (await world.chat(key, { model: 'ranked' })).text();
  await world.settled();
  const { page } = await signedIn(t, world, ADMIN_TOKEN, { at: ['providers', 'Providers'] });
  await page.getByText(/a refuses the credential of this gateway since .+\. Set a valid one/).waitFor();
  t.equal(await page.getByRole('heading', { level: 2 }).first().textContent(), 'a');
  const table = page.getByRole('region', { name: 'Models at a', exact: true });
  await table.getByRole('row', { name: /^ranked\S* Credential refused/ }).waitFor();
  t.equal(await table.getByText('Up', { exact: true }).count(), 0);
});
