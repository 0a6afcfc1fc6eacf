import t from 'tap';
import { until } from '../helper/check/until.ts';
import { makeKey, openDashboard, reads } from '../helper/dashboard/dashboard.ts';
import { ADMIN_TOKEN, startOwnGateway } from '../helper/start/gateway-in-process.ts';

const world = await startOwnGateway(t);

t.test('every model is shown with its prices, and filters say what they found', async (t) => {
  const owner = await world.account();
  const { page, signIn, faults } = await openDashboard(t, world);
  await signIn(owner.key);
  await page.getByRole('link', { name: 'Models' }).click();
  const models = page.getByRole('region', { name: 'Models' });
  const rows = models.locator('tbody tr');
  await rows.first().waitFor();
  const all = await rows.count();
  await page.getByLabel('Search').fill('FLAT');
  await page.waitForURL(/search=FLAT/);
  await until('others are gone', async () => (await rows.count()) < all);
  await reads(t, page.getByRole('status').first(), new RegExp(`${await rows.count()} of ${all} models`));
  await page.getByRole('button', { name: 'flat', exact: true }).click();
  const detail = page.getByRole('dialog', { name: 'flat' });
  await detail.getByText('/v1/chat/completions').waitFor();
  await detail.getByText('1.00 per request').waitFor();
  await page.waitForURL(/model=flat/);
  await page.keyboard.press('Escape');
  await detail.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await until('all are back', async () => (await rows.count()) === all);
  t.same(faults, []);
});

t.test('a key sees the models that it may call', async (t) => {
  const owner = await world.account();
  const limited = await makeKey(world, owner.key, { name: 'Limited', allowed_models: ['flat'] });
  const { page, signIn, open, faults } = await openDashboard(t, world);
  await signIn(limited.key);
  await open('models', 'Models');
  await page.getByText('These are the models that the key “Limited” may call.').waitFor();
  t.equal(await page.getByRole('region', { name: 'Models' }).locator('tbody tr').count(), 1);
  await page.getByRole('button', { name: 'flat', exact: true }).click();
  await page.getByRole('dialog', { name: 'flat' }).getByText('Allowed').waitFor();
  t.same(faults, []);
});

t.test('the operator sees list prices and targets', async (t) => {
  const { page, signIn, faults } = await openDashboard(t, world, { width: 1_440 });
  await signIn(ADMIN_TOKEN);
  await page.getByRole('link', { name: 'Models' }).click();
  const row = page.getByRole('region', { name: 'Models' }).locator('tbody tr', { hasText: 'flat' }).first();
  await reads(t, row, /Configuration.*test/);
  t.same(faults, []);
});

t.test('a paused credential says until when', async (t) => {
  const { page, signIn, open } = await openDashboard(t, world);
  await signIn(ADMIN_TOKEN);
  await page.route('**/api/admin/providers/', async (route) => {
    const response = await route.fetch();
    const body = (await response.json()) as { providers: { targets: Record<string, unknown>[] }[] };
    for (const { targets } of body.providers) {
      for (const target of targets) {
        Object.assign(target, { state: 'out', cause: 'credential', out_until: '2026-11-21T10:51:00.000Z' });
      }
    }
    await route.fulfill({ response, json: body });
  });
  await open('models', 'Models');
  await page
    .getByText(/^Paused until 21 Nov.*11:51$/)
    .first()
    .waitFor();
  t.ok(await page.getByText(/^Paused until/).count());
});
