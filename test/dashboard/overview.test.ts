import t from 'tap';
import { apiOf } from '../helper/api.ts';
import { openDashboard } from '../helper/dashboard.ts';
import { startWorld } from '../helper/world.ts';

const world = await startWorld(t);

t.test('balance, spend and charts are those of the account', async (t) => {
  const owner = await world.account({ credits: 1_234.5, threshold: 10 });
  for (const model of ['flat', 'flat', 'renamed']) await (await world.chat(owner.key, { model })).text();
  await world.settled();
  const { page, signIn } = await openDashboard(t, world);
  await signIn(owner.key);
  await page.locator('.chart canvas').waitFor();
  const figures = (await page.locator('.figure').allTextContents()).join('\n');
  t.match(figures, /Balance1,231\.50credits of/);
  t.match(figures, /Held0\.00/);
  t.match(figures, /Spent in 30 days3\.00in 3 calls/);
  await page.getByRole('row', { name: 'test 3 3.000000' }).waitFor();
  await page.getByRole('row', { name: 'flat 2 2.000000' }).waitFor();
  await page.getByRole('row', { name: 'renamed 1 1.000000' }).waitFor();
  t.equal(await page.getByText('Low credits').count(), 0);
});

t.test('the chart has its numbers as a table, and in words under the pointer', async (t) => {
  const owner = await world.account();
  await (await world.chat(owner.key)).text();
  const { page, signIn } = await openDashboard(t, world);
  await signIn(owner.key);
  const plot = page.locator('.chart .u-over');
  const box = await plot.boundingBox();
  await plot.hover({ position: { x: (box?.width ?? 10) - 8, y: 50 } });
  await page.getByText(/: 1\.00 credits in 1 call$/).waitFor();
  await page.getByText('The same as a table').click();
  const days = page.getByRole('region', { name: 'Spend by day' }).getByRole('row');
  t.equal(await days.count(), 31, '30 days and a head');
});

t.test('the threshold is changed where it stands', async (t) => {
  const owner = await world.account({ credits: 50, threshold: 10 });
  const { page, signIn } = await openDashboard(t, world);
  await signIn(owner.key);
  await page.getByRole('button', { name: 'Change the alert threshold' }).click();
  await page.getByLabel('Alert threshold in credits').fill('75.5');
  await page.keyboard.press('Enter');
  await page.getByText('The alert threshold is changed.').waitFor();
  await page.getByText('The balance of 50.00 is below the alert threshold of 75.50.').waitFor();
  const { body } = await apiOf(world, owner.key).get<{ alert_threshold: number }>('/api/account/');
  t.equal(body.alert_threshold, 75.5);
});

t.test('a threshold that cannot be is refused where it is typed', async (t) => {
  const owner = await world.account({ threshold: 10 });
  const { page, signIn } = await openDashboard(t, world);
  await signIn(owner.key);
  await page.getByRole('button', { name: 'Change the alert threshold' }).click();
  const field = page.getByLabel('Alert threshold in credits');
  await field.fill('-1');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('The threshold must be').waitFor();
  t.equal(await field.getAttribute('aria-invalid'), 'true');
  await page.keyboard.press('Escape');
  t.equal(await field.count(), 0);
});

t.test('an account without credits and calls is told what that means', async (t) => {
  const owner = await world.account({ credits: 0, threshold: 10 });
  const { page, signIn } = await openDashboard(t, world);
  await signIn(owner.key);
  await page.getByText('No calls in the last 30 days').waitFor();
  const words = await page.getByRole('alert').textContent();
  t.match(words, /No credits.*insufficient_credits/);
});

t.test('a key that may not manage sees everything and is offered no change', async (t) => {
  const owner = await world.account();
  const { body } = await apiOf(world, owner.key).post<{ key: string; id: number }>('/api/keys/', {
    name: 'Reader',
    can_manage: false,
  });
  const { page, signIn, open } = await openDashboard(t, world);
  await signIn(body.key);
  await page.getByText('Alert threshold').waitFor();
  t.equal(await page.getByRole('button', { name: 'Change the alert threshold' }).count(), 0);
  await open('keys', 'Keys');
  await page.getByText('may not manage').waitFor();
  t.equal(await page.getByRole('link', { name: 'Create key' }).count(), 0);
  await open(`keys/${body.id}`, 'Reader');
  await page.getByText('may not manage').waitFor();
  t.ok(await page.getByLabel('Name', { exact: true }).isDisabled());
  t.equal(await page.getByRole('button', { name: 'Deactivate' }).count(), 0);
  await open('explain', 'Explain a call');
  await page.getByText('may not manage').waitFor();
  await open('alerts', 'Alerts');
  await page.getByText('may not manage').waitFor();
  t.equal(await page.getByRole('button', { name: 'Send test alert' }).count(), 0);
});
