import t from 'tap';
import { makeKey, signedIn } from '../helper/dashboard/dashboard.ts';
import { accessibilityFaults } from '../helper/dashboard/dashboard-tour.ts';
import { ADMIN_TOKEN, startOwnGateway } from '../helper/start/gateway-in-process.ts';

const world = await startOwnGateway(t);

t.test('⌘K finds pages, keys and requests by their ids, which the gateway searches', async (t) => {
  const owner = await world.account();
  const key = await makeKey(world, owner.key, { name: 'Nightly jobs' });
  const { page, requests, faults } = await signedIn(t, world, owner.key);
  const results = page.getByRole('listbox', { name: 'Results' });
  const search = page.getByRole('combobox', { name: 'Search' });
  for (const [text, result, address] of [
    ['bill', 'Billing', /\/billing$/],
    ['nightly', 'Nightly jobs', new RegExp(`/keys/${key.id}$`)],
    ['req_0123456789', 'req_0123456789', /\/requests\?call=req_0123456789$/],
  ] as const) {
    await page.keyboard.press('Control+k');
    await search.fill(text);
    await results.getByRole('option', { name: result }).first().waitFor();
    await search.press('Enter');
    await page.waitForURL(address);
    await search.waitFor({ state: 'detached' });
  }
  t.ok(requests.some((asked) => asked.endsWith('/api/keys/?search=nightly&limit=6')));
  await page.getByRole('dialog').getByText('no call').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });

  await page.getByRole('button', { name: 'Search' }).click();
  await page.locator('input[aria-label=Search]:focus').waitFor();
  await search.fill('s');
  await results.getByRole('option', { name: 'Usage' }).waitFor();
  t.same(await accessibilityFaults(page), [], 'it is accessible');
  await search.press('Escape');
  await page.locator('button:focus', { hasText: 'Search' }).waitFor();
  t.same(faults, []);
});

t.test('the operator finds accounts, by the gateway’s search', async (t) => {
  const { accountId } = await world.account({ email: 'find.me@example.com' });
  const { page, faults } = await signedIn(t, world, ADMIN_TOKEN);
  await page.keyboard.press('Control+k');
  const search = page.getByRole('combobox', { name: 'Search' });
  await search.fill('find.me');
  await page.getByRole('option', { name: /find\.me@example\.com/ }).waitFor();
  await search.press('Enter');
  await page.waitForURL(`**/dashboard/operator/accounts/${accountId}/home`);
  t.same(faults, []);
});

t.test('what is not there is not found', async (t) => {
  const owner = await world.account();
  const { page } = await signedIn(t, world, owner.key);
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Search' }).fill('nobody of this name');
  const results = page.getByRole('listbox', { name: 'Results' });
  await results.getByText('No results').waitFor();
  t.equal(await results.getByRole('option').count(), 0);
});
