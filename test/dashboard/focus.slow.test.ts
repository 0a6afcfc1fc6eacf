import type { Locator, Page } from 'playwright-core';
import t from 'tap';
import { openDashboard, signedIn } from '../helper/dashboard/dashboard.ts';
import { startOwnGateway } from '../helper/start/gateway-in-process.ts';

const world = await startOwnGateway(t);
const owner = await world.account({ key: { name: 'First' } });

t.test('a dialog takes the focus and gives it back', async (t) => {
  const { page } = await signedIn(t, world, owner.key, { at: [`keys/${owner.keyId}`, 'First'] });
  const opener = page.getByRole('button', { name: 'Deactivate' });
  await opener.press('Enter');
  await page.locator('[role=dialog] :focus').waitFor();
  await page.keyboard.press('Escape');
  await page.locator('button:focus', { hasText: 'Deactivate' }).waitFor();
  t.equal(await page.getByRole('dialog').count(), 0);
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

t.test('an owner signs in, makes and uses a key, and signs out by keyboard alone', async (t) => {
  const { page } = await openDashboard(t, world);
  const enter = async (target: Locator, key?: 'Shift+Tab') => {
    await reach(page, target, key);
    await page.keyboard.press('Enter');
  };
  const titled = (name: string) => page.locator('h1:focus', { hasText: name }).waitFor();
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const dialog = page.getByRole('dialog');

  await enter(page.getByRole('button', { name: 'Use an API key or the admin token' }));
  await page.locator('input[name=key]:focus').waitFor();
  await page.keyboard.type(owner.key);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
  await enter(page.getByRole('link', { name: 'Keys', exact: true }));
  await titled('Keys');
  await enter(page.getByRole('link', { name: 'Create key' }));
  await titled('Create key');
  await reach(page, page.getByLabel('Name', { exact: true }));
  await page.keyboard.type('By hand');
  await enter(button('Create key'));

  await dialog.locator('input:focus').waitFor();
  const value = await page.getByLabel('Key value').inputValue();
  await (await world.chat(value)).text();
  await world.settled();
  await enter(button('I have saved it'));
  await titled('By hand');
  await enter(page.getByRole('link', { name: 'Requests', exact: true }), 'Shift+Tab');
  await titled('Requests');
  await enter(page.locator('tbody button').first());
  await dialog.waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await page.locator('tbody button:focus').waitFor();
  await enter(button('Sign out'), 'Shift+Tab');
  await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
  t.same(await page.context().cookies(), []);
});
