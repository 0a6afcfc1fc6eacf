import t from 'tap';
import { makeKey, signedIn } from '../helper/dashboard/dashboard.ts';
import { accessibilityFaults } from '../helper/dashboard/dashboard-tour.ts';
import { ADMIN_TOKEN, startOwnGateway } from '../helper/start/gateway-in-process.ts';

const world = await startOwnGateway(t);

t.test('⌘K finds pages, keys, models and request ids', async (t) => {
  const owner = await world.account();
  const key = await makeKey(world, owner.key, { name: 'Nightly jobs' });
  const { page, faults } = await signedIn(t, world, owner.key);
  const search = page.getByRole('textbox', { name: 'Search' });
  for (const [text, result, address, panel] of [
    ['nightly', 'Nightly jobs', new RegExp(`#/keys/${key.id}$`), ''],
    ['renamed', 'renamed', /#\/models\?model=renamed/, 'renamed'],
    ['bill', 'Billing', /#\/billing/, ''],
    ['req_0123456789', 'Request req_0123456789', /#\/requests\?request=req_0123456789/, 'Request'],
  ] as const) {
    await page.keyboard.press('Control+k');
    await search.fill(text);
    await page.locator('.mantine-Spotlight-action', { hasText: result }).first().waitFor();
    await search.press('Enter');
    await page.waitForURL(address);
    await search.waitFor({ state: 'detached' });
    if (panel === '') continue;
    const opened = page.getByRole('dialog', { name: panel });
    await opened.waitFor();
    await page.keyboard.press('Escape');
    await opened.waitFor({ state: 'detached' });
  }
  await page.getByRole('button', { name: 'Search' }).click();
  await search.waitFor();
  t.same(await accessibilityFaults(page), [], 'it is accessible');
  t.same(faults, []);
});

t.test('the operator finds accounts', async (t) => {
  const { accountId } = await world.account({ email: 'find.me@example.com' });
  const { page, faults } = await signedIn(t, world, ADMIN_TOKEN);
  await page.keyboard.press('Control+k');
  const search = page.getByRole('textbox', { name: 'Search' });
  await search.fill('find.me');
  await page.getByText('find.me@example.com').last().waitFor();
  await search.press('Enter');
  await page.waitForURL(new RegExp(`#/accounts/${accountId}$`));
  t.same(faults, []);
});
