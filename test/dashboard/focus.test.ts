import t from 'tap';
import { apiOf } from '../helper/clients/api.ts';
import { openDashboard } from '../helper/dashboard/dashboard.ts';
import { startGatewayInProcess } from '../helper/start/gateway-in-process.ts';

const world = await startGatewayInProcess(t);
const owner = await world.account({ key: { name: 'First' } });

t.test('a dialog takes the focus and gives it back', async (t) => {
  const { page, signIn, open } = await openDashboard(t, world);
  await signIn(owner.key);
  await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
  await open(`keys/${owner.keyId}`, 'First');
  await page.getByRole('button', { name: 'Deactivate' }).press('Enter');
  await page.locator('dialog[open] button:focus').waitFor();
  await page.keyboard.press('Escape');
  await page.locator('.page-head button:focus', { hasText: 'Deactivate' }).waitFor();
  t.equal(await page.getByRole('dialog').count(), 0);
});

t.test('what vanishes with the focus leaves it to the title of the page', async (t) => {
  const { page, signIn, open } = await openDashboard(t, world);
  await signIn(owner.key);
  await page.locator('h1:focus', { hasText: 'Home' }).waitFor();
  const api = apiOf(world, owner.key);
  const { body } = await api.post<{ id: number }>('/api/keys/', { name: 'Rotated' });
  await api.post(`/api/keys/${body.id}/rotate/`, { grace_seconds: 3_600 });
  await open(`keys/${body.id}`, 'Rotated');
  await page.getByRole('button', { name: 'End now' }).press('Enter');
  await page.getByRole('button', { name: 'End it now' }).press('Enter');
  await page.getByText('is no longer valid').waitFor();
  await page.locator('h1:focus', { hasText: 'Rotated' }).waitFor();
});

t.test('a page that is gone to has its title focused, to be read out', async (t) => {
  const { page, signIn } = await openDashboard(t, world);
  await signIn(owner.key);
  await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
  await page.getByRole('link', { name: 'Billing' }).press('Enter');
  await page.locator('h1:focus', { hasText: 'Billing' }).waitFor();
  t.equal(await page.title(), 'Billing · Tollgate');
});
