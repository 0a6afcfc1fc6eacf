import type { Locator, Page } from 'playwright-core';
import t from 'tap';
import { makeKey, type openDashboard, signedIn } from '../helper/dashboard/dashboard.ts';
import { ADMIN_TOKEN, startOwnGateway } from '../helper/start/gateway-in-process.ts';

const world = await startOwnGateway(t);
const owner = await world.account({ key: { name: 'First' }, email: 'owner@example.com' });

const REFUSAL = JSON.stringify({
  error: { message: 'The gateway is restarting.', type: 'x', param: null, code: 'service_unavailable' },
});
const SCREENS = [
  ['a desk', { width: 1_440, height: 900 }],
  ['a phone', { width: 390, height: 844 }],
] as const;

/** From now on every write is refused, and reads still work. */
async function refuseChanges(page: Page): Promise<void> {
  await page.route('**/api/**', async (route) => {
    if (route.request().method() === 'GET') return route.continue();
    await route.fulfill({ status: 503, contentType: 'application/json', body: REFUSAL });
  });
}

/** Checks that the message is on the screen, has the focus, and is not covered. */
async function isSeen(t: Parameters<typeof openDashboard>[0], words: Locator): Promise<void> {
  await words.waitFor();
  const box = await words.boundingBox();
  const height = words.page().viewportSize()?.height ?? 0;
  const { x, y } = box ? { x: box.x + box.width / 2, y: box.y + box.height / 2 } : { x: -1, y: -1 };
  t.ok(y > 0 && y < height, 'it is on the screen');
  const onTop = await words.page().evaluate(`document.elementFromPoint(${x}, ${y})?.textContent ?? ''`);
  t.match(onTop, await words.textContent(), 'nothing lies over it');
}

for (const [screen, view] of SCREENS) {
  t.test(`on ${screen}, a key that cannot be saved says so beside the button`, async (t) => {
    const { id } = await makeKey(world, owner.key, { name: 'To be saved' });
    const { page } = await signedIn(t, world, owner.key, {
      ...view,
      at: [`keys/${id}`, 'To be saved'],
    });
    await refuseChanges(page);
    await page.getByLabel('Note').fill('Changed');
    await page.getByRole('button', { name: 'Save changes' }).click();
    await isSeen(t, page.getByRole('alert').getByText('The gateway is restarting.'));
    await page.locator('[role=alert]:focus').waitFor();
    t.equal(
      await page.getByText('Changes apply at every gateway').count(),
      0,
      'the bar does not say otherwise',
    );
    await page.getByText('Not saved.').waitFor();
  });

  t.test(`on ${screen}, so does one that the form finds wrong`, async (t) => {
    const { page } = await signedIn(t, world, owner.key, { ...view, at: ['keys/new', 'Create key'] });
    await page.getByLabel('Webhook URL').fill('nonsense');
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.locator('input[name=name]:focus').waitFor();
    await isSeen(t, page.getByText('The name must be'));
  });

  t.test(`on ${screen}, a threshold that cannot be saved says so at its field`, async (t) => {
    const { page } = await signedIn(t, world, owner.key, { ...view, at: ['alerts', 'Alerts'] });
    await page.getByRole('button', { name: 'Change alert threshold' }).click();
    await refuseChanges(page);
    await page.getByLabel('Alert threshold in credits').fill('3');
    await page.getByRole('button', { name: 'Save' }).click();
    await isSeen(t, page.getByText('The gateway is restarting.'));
    await page.locator('input[name=alert_threshold]:focus').waitFor();
  });

  t.test(`on ${screen}, the operator's forms say so beside their buttons`, async (t) => {
    const { page } = await signedIn(t, world, ADMIN_TOKEN, {
      ...view,
      at: [`accounts/${owner.accountId}`, 'owner@example.com'],
    });
    await refuseChanges(page);
    await page.getByLabel('Alert threshold').fill('5');
    await page.getByRole('button', { name: 'Save' }).click();
    await isSeen(t, page.getByRole('alert').getByText('The gateway is restarting.'));
    await page.locator('[role=alert]:focus').waitFor();
  });
}
