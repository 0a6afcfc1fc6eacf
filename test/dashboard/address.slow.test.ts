import type { Page } from 'playwright-core';
import t from 'tap';
import { until } from '../helper/check/until.ts';
import { apiOf } from '../helper/clients/api.ts';
import { signedIn } from '../helper/dashboard/dashboard.ts';
import { startOwnGateway } from '../helper/start/gateway-in-process.ts';

const world = await startOwnGateway(t);
const { key } = await world.account({ credits: 1_000 });
const api = apiOf(world, key);
for (let number = 1; number <= 120; number++) await api.post('/api/keys/', { name: `Job ${number}` });
for (let round = 0; round < 4; round++) {
  await Promise.all(Array.from({ length: 28 }, async () => (await world.chat(key)).text()));
}
await world.settled();

const scrolled = (page: Page) => page.evaluate('scrollY').then(Number);

const WIDE = { width: 1_440 };
const tableOf = (page: Page) => page.getByRole('region', { name: 'Requests', exact: true });
const model = (page: Page) => page.getByRole('button', { name: 'flat 112' });

t.test('M6: another page of a list begins at its top, with the focus there', async (t) => {
  const { page } = await signedIn(t, world, key, { ...WIDE, at: ['requests', 'Requests'] });
  for (const [button, number] of [
    ['Older', 2],
    ['Older', 3],
    ['Newer', 2],
  ] as const) {
    await page.getByRole('button', { name: button }).click();
    await page.getByText(`Page ${number}`).waitFor();
    await page.locator('.table-frame:focus').waitFor();
    const top = (await tableOf(page).boundingBox())?.y ?? Number.NaN;
    // The last page is short, so it cannot scroll to the very top.
    t.ok(top >= 0 && top < 450, `page ${number}: the table begins at ${top}`);
  }
});

t.test('M7: Back from a key leads to the search and the place that were left', async (t) => {
  const { page } = await signedIn(t, world, key, { at: ['keys', 'Keys'] });
  const own = page.getByRole('link', { name: 'test', exact: true });
  await own.waitFor();
  await page.getByLabel('Search').fill('job');
  await own.waitFor({ state: 'detached' });
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

t.test('M7: page and filters of a list outlast a reload, and are taken back by Back', async (t) => {
  const { page } = await signedIn(t, world, key, { ...WIDE, at: ['requests', 'Requests'] });
  const isChosen = async () => (await model(page).getAttribute('aria-pressed')) === 'true';
  await model(page).click();
  await until('the filter', isChosen);
  await page.getByRole('button', { name: 'Older' }).click();
  await page.getByText('Page 2').waitFor();
  await page.getByRole('button', { name: 'Older' }).click();
  await page.getByText('Page 3').waitFor();
  await page.reload();
  await page.getByText('Page 3').waitFor();
  await until('the filter still', isChosen);
  const rows = tableOf(page).locator('tbody tr');
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
  await until('no filter', async () => !(await isChosen()));
});

t.test('M7: the choice of UTC stays on every page, and after a reload', async (t) => {
  const { page } = await signedIn(t, world, key);
  await page.getByRole('button', { name: 'Show UTC' }).click();
  await page.getByRole('link', { name: 'Requests', exact: true }).click();
  await page.getByRole('button', { name: 'Show local time' }).waitFor();
  await page.waitForURL(/\/requests\?times=utc$/);
  await page.reload();
  await page.getByRole('button', { name: 'Show local time' }).click();
  const again = page.getByRole('button', { name: 'Show UTC' });
  await again.waitFor();
  await page.waitForURL(/times=local/);
  await page.reload();
  await again.waitFor();
  t.ok(await again.isVisible());
});

t.test(
  'L20: an address that this session has no page for says so, and leads to the first page',
  async (t) => {
    const owner = await signedIn(t, world, key);
    await owner.open('/operator/accounts', 'Page not found');
    await owner.page.getByRole('link', { name: 'Go to the first page' }).click();
    await owner.page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
    t.match(owner.page.url(), /\/a\/\d+\/home$/);
  },
);

t.test('L20: an address from before the pages had paths leads to its page', async (t) => {
  const { page } = await signedIn(t, world, key);
  await page.goto(`${world.url}/dashboard/#/requests?range=30d`);
  await page.getByRole('heading', { level: 1, name: 'Requests' }).waitFor();
  t.match(page.url(), /\/a\/\d+\/requests\?range=30d$/);
});
