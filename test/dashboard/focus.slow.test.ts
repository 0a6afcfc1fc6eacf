import type { Locator, Page } from 'playwright-core';
import t from 'tap';
import { apiOf } from '../helper/clients/api.ts';
import { openDashboard, signedIn } from '../helper/dashboard/dashboard.ts';
import { startOwnGateway } from '../helper/start/gateway-in-process.ts';

const world = await startOwnGateway(t);
const owner = await world.account({ key: { name: 'First' } });

t.test('a dialog takes the focus and gives it back', async (t) => {
  const { page } = await signedIn(t, world, owner.key, { at: [`keys/${owner.keyId}`, 'First'] });
  await page.getByRole('button', { name: 'Deactivate' }).press('Enter');
  await page.locator('dialog[open] button:focus').waitFor();
  await page.keyboard.press('Escape');
  await page.locator('.page-head button:focus', { hasText: 'Deactivate' }).waitFor();
  t.equal(await page.getByRole('dialog').count(), 0);
});

t.test('a focused element that disappears leaves the focus to the title of the page', async (t) => {
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
  const { page } = await signedIn(t, world, owner.key);
  await page.getByRole('link', { name: 'Billing' }).press('Enter');
  await page.locator('h1:focus', { hasText: 'Billing' }).waitFor();
  t.equal(await page.title(), 'Billing · Tollgate');
});

/** Tabs to the element, as somebody without a mouse does, in the shorter direction. Its focus must be visible. */
async function reach(page: Page, target: Locator, key: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<void> {
  await target.waitFor();
  const isFocused = () =>
    target.evaluate((element) =>
      (element as { matches(selector: string): boolean }).matches(':focus-visible'),
    );
  for (let steps = 0; !(await isFocused()); steps++) {
    if (steps === 150) throw new Error(`the keyboard does not reach ${target}`);
    await page.keyboard.press(key);
  }
}

t.test('an owner signs in, makes, uses, changes, rotates and ends a key by keyboard alone', async (t) => {
  const { page } = await openDashboard(t, world);
  const enter = async (target: Locator, key?: 'Shift+Tab') => {
    await reach(page, target, key);
    await page.keyboard.press('Enter');
  };
  const titled = (name: string) => page.locator('h1:focus', { hasText: name }).waitFor();
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const dialog = page.getByRole('dialog');

  await enter(page.getByRole('button', { name: 'Use an API key or the admin token' }));
  await reach(page, page.getByLabel('API key'));
  await page.keyboard.type(owner.key);
  await page.keyboard.press('Enter');
  await titled('Home');
  await enter(page.getByRole('link', { name: 'Keys', exact: true }));
  await titled('Keys');
  await enter(page.getByRole('link', { name: 'Create key' }));
  await titled('Create key');
  await reach(page, page.getByLabel('Name', { exact: true }));
  await page.keyboard.type('By hand');
  await reach(page, page.getByLabel('flat text', { exact: true }));
  await page.keyboard.press('Space');
  await reach(page, page.getByLabel('Requests per minute'));
  await page.keyboard.type('90');
  await enter(button('Create key'));

  await dialog.locator('input:focus').waitFor();
  const value = await page.getByLabel('Key value').inputValue();
  await (await world.chat(value)).text();
  await world.settled();
  await enter(button('I have saved it'));
  await titled('By hand');
  await enter(page.getByRole('link', { name: 'Requests', exact: true }));
  await titled('Requests');
  const request = page.getByRole('button', { name: / Request / }).first();
  await enter(request);
  await dialog.getByText('Computed').waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await page.locator('tbody button:focus').waitFor();

  await enter(page.getByRole('link', { name: 'Keys', exact: true }), 'Shift+Tab');
  await titled('Keys');
  await enter(page.getByRole('link', { name: 'By hand' }));
  await titled('By hand');
  await reach(page, page.getByLabel('Note'));
  await page.keyboard.type('Mine');
  await enter(button('Save changes'));
  await page.getByText('Key “By hand” saved.').waitFor();

  await enter(button('Rotate'), 'Shift+Tab');
  await page.locator('select[name=grace]:focus').waitFor();
  await page.keyboard.press('ArrowDown');
  t.equal(await page.getByLabel('Grace period for the current value').inputValue(), '604800');
  await enter(dialog.getByRole('button', { name: 'Rotate' }));
  await dialog.locator('input:focus').waitFor();
  const rotated = await page.getByLabel('Key value').inputValue();
  await enter(button('I have saved it'));
  await page.locator('button:focus', { hasText: 'Rotate' }).waitFor();
  t.same([(await world.chat(value)).status, (await world.chat(rotated)).status], [200, 200]);

  await enter(button('Deactivate'));
  await enter(dialog.getByRole('button', { name: 'Deactivate' }));
  await page.getByText('Key “By hand” deactivated.').waitFor();
  t.equal((await world.chat(rotated)).status, 401);
  await enter(button('Sign out'), 'Shift+Tab');
  await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
});
