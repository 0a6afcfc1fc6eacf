import type { Page } from 'playwright-core';
import t from 'tap';
import { until } from '../helper/check/until.ts';
import { apiOf } from '../helper/clients/api.ts';
import { openDashboard, signedIn } from '../helper/dashboard/dashboard.ts';
import { ADMIN_TOKEN, startOwnGateway } from '../helper/start/gateway-in-process.ts';

const world = await startOwnGateway(t);
const { key } = await world.account({ credits: 1_000 });
const api = apiOf(world, key);
for (let number = 1; number <= 120; number++) await api.post('/api/keys/', { name: `Job ${number}` });
for (let round = 0; round < 4; round++) {
  await Promise.all(Array.from({ length: 28 }, async () => (await world.chat(key)).text()));
}
await world.settled();

const scrolled = (page: Page) => page.evaluate('scrollY').then(Number);

t.test('M6: another page of the ledger begins at its top, with the focus there', async (t) => {
  const { page } = await signedIn(t, world, key, { at: ['billing', 'Billing'] });
  const table = page.getByRole('region', { name: 'Ledger entries' });
  for (const [button, number] of [
    ['Older', 2],
    ['Older', 3],
    ['Newer', 2],
  ] as const) {
    await page.getByRole('button', { name: button }).click();
    await page.getByText(`Page ${number}`).waitFor();
    await page.locator('.table-frame:focus').waitFor();
    const top = (await table.boundingBox())?.y ?? Number.NaN;
    // The last page is short, so it cannot scroll to the very top.
    t.ok(top >= 0 && top < 450, `page ${number}: the table begins at ${top}`);
  }
});

t.test('M7: Back from a key leads to the search and the place that were left', async (t) => {
  const { page } = await signedIn(t, world, key, { at: ['keys', 'Keys'] });
  await page.getByLabel('Search').fill('job');
  await page.getByText('120 of 121 keys').waitFor();
  await page.getByRole('link', { name: 'Job 35', exact: true }).scrollIntoViewIfNeeded();
  const left = await scrolled(page);
  t.ok(left > 1_000, 'far down');
  await page.getByRole('link', { name: 'Job 35', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: 'Job 35' }).waitFor();
  t.equal(await scrolled(page), 0, 'a new page begins at its top');
  await page.goBack();
  await page.locator('a:focus', { hasText: 'Job 35' }).waitFor();
  t.equal(await scrolled(page), left);
  t.equal(await page.getByLabel('Search').inputValue(), 'job');
});

t.test('M7: the link back to the keys leads to the search that was left', async (t) => {
  const { page } = await signedIn(t, world, key, { at: ['keys?search=job+7&status=active', 'Keys'] });
  await page.getByRole('link', { name: 'Job 77' }).click();
  await page.getByRole('link', { name: '← Keys' }).click();
  await page.getByText('11 of 121 keys').waitFor();
  t.equal(await page.getByLabel('Status').inputValue(), 'active');
});

t.test('M7: page and filters of the ledger outlast a reload, and are taken back by Back', async (t) => {
  const { page } = await signedIn(t, world, key, { at: ['billing', 'Billing'] });
  await page.getByLabel('Type').selectOption('charge');
  await page.getByRole('button', { name: 'Older' }).click();
  await page.getByRole('button', { name: 'Older' }).click();
  await page.getByText('Page 3').waitFor();
  await page.reload();
  await page.getByText('Page 3').waitFor();
  t.equal(await page.getByLabel('Type').inputValue(), 'charge');
  const rows = page.getByRole('region', { name: 'Ledger entries' }).locator('tbody tr');
  await rows.nth(11).waitFor();
  t.equal(await rows.count(), 12);
  await page.getByRole('button', { name: 'Newer' }).click();
  await page.getByText('Page 2').waitFor();
  await page.goBack();
  await page.getByText('Page 3').waitFor();
  await page.goBack();
  await page.goBack();
  await page.getByText('Page 1').waitFor();
  await page.goBack();
  await until('no type', async () => (await page.getByLabel('Type').inputValue()) === '');
});

t.test('M7: the choice of UTC stays on every page, and after a reload', async (t) => {
  const { page } = await signedIn(t, world, key);
  await page.getByRole('button', { name: 'Show UTC' }).click();
  await page.getByRole('link', { name: 'Billing' }).click();
  await page.getByRole('button', { name: 'Show local time' }).waitFor();
  await page.waitForURL(/#\/billing\?times=utc$/);
  await page.reload();
  await page.getByRole('button', { name: 'Show local time' }).waitFor();
  await page.getByRole('button', { name: 'Show local time' }).click();
  await page.goBack();
  await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
  t.notMatch(page.url(), /times/, 'the latest choice counts');
});

t.test('keys come in pages, which the address names', async (t) => {
  const { page } = await signedIn(t, world, key, { at: ['keys', 'Keys'] });
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByText('Page 2').waitFor();
  t.equal(await page.getByRole('region', { name: 'Keys' }).locator('tbody tr').count(), 21);
  await page.getByLabel('Search').fill('job 120');
  await page.getByRole('link', { name: 'Job 120' }).waitFor();
  t.equal(await page.getByText('Page 2').count(), 0, 'a search begins at its first page');
});

t.test('L20: an address that this session has no page for becomes that of the first page', async (t) => {
  const owner = await signedIn(t, world, key);
  await owner.open('accounts/1', 'Home');
  t.match(owner.page.url(), /#\/home$/);
  const operator = await openDashboard(t, world);
  await operator.page.goto(`${world.url}/dashboard/#/billing`);
  await operator.signIn(ADMIN_TOKEN);
  await operator.page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
  t.match(operator.page.url(), /#\/home$/);
});
