import t from 'tap';
import { until } from '../helper/check/until.ts';
import { makeKey, openDashboard, reads } from '../helper/dashboard/dashboard.ts';
import { ADMIN_TOKEN, startOwnGateway } from '../helper/start/gateway-in-process.ts';

const world = await startOwnGateway(t);

t.test('every model is shown with its prices, and whether the chosen key may call it', async (t) => {
  const owner = await world.account();
  const limited = await makeKey(world, owner.key, { name: 'Limited', allowed_models: ['flat'] });
  const { page, signIn, faults } = await openDashboard(t, world);
  await signIn(owner.key);
  await page.getByRole('link', { name: 'Models' }).click();
  const rows = page.getByRole('region', { name: 'Models' }).locator('tbody tr');
  await rows.first().waitFor();
  t.match(
    (await page.getByRole('region', { name: 'Models' }).getByRole('columnheader').allTextContents()).join(),
    /Input,Cached,Output,Other prices,Context,This key$/,
  );
  const all = await rows.count();
  t.equal(await rows.filter({ hasText: 'May call' }).count(), all);
  await page.getByRole('combobox', { name: 'Key' }).fill(`Limited (${limited.prefix}…, no. ${limited.id})`);
  await page.waitForURL(new RegExp(`key_id=${limited.id}`));
  await until('one may be called', async () => (await rows.filter({ hasText: 'May call' }).count()) === 1);
  t.equal(await rows.filter({ hasText: 'Model not allowed' }).count(), all - 1);
  await page.getByLabel('Search').fill('FLAT');
  await until('others are gone', async () => (await rows.count()) < all);
  await page.getByRole('button', { name: 'flat', exact: true }).click();
  const detail = page.getByRole('dialog', { name: 'flat' });
  await detail.getByText('/v1/chat/completions').waitFor();
  await detail.getByText('per request').waitFor();
  await page.keyboard.press('Escape');
  await detail.waitFor({ state: 'detached' });
  t.same(faults, []);
});

t.test('the operator sees where prices are from', async (t) => {
  const { page, signIn, faults } = await openDashboard(t, world);
  await signIn(ADMIN_TOKEN);
  await page.getByRole('link', { name: 'Models' }).click();
  const row = page.getByRole('region', { name: 'Models' }).locator('tbody tr', { hasText: 'flat' }).first();
  await reads(t, row, /Config/);
  t.same(faults, []);
});
