import t from 'tap';
import { dayThatLasts } from '../helper/check/until.ts';
import { apiOf } from '../helper/clients/api.ts';
import { openDashboard } from '../helper/dashboard/dashboard.ts';
import { startGatewayInProcess } from '../helper/start/gateway-in-process.ts';

const world = await startGatewayInProcess(t);

t.test('balance, spend and charts are those of the account', async (t) => {
  const owner = await world.account({ credits: 1_234.5, threshold: 10 });
  for (const model of ['flat', 'flat', 'renamed']) await (await world.chat(owner.key, { model })).text();
  await world.settled();
  const { page, signIn } = await openDashboard(t, world);
  await signIn(owner.key);
  await page.locator('.stacked svg').first().waitFor();
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
  await world.settled();
  const { page, signIn } = await openDashboard(t, world);
  await signIn(owner.key);
  const plot = page.locator('.chart .u-over');
  const box = await plot.boundingBox();
  await plot.hover({ position: { x: (box?.width ?? 10) - 8, y: 50 } });
  await page.getByText(/: 1\.00 credits in 1 call$/).waitFor();
  await page.getByText('View as table').click();
  const days = page.getByRole('region', { name: 'Spend by day' }).getByRole('row');
  t.equal(await days.count(), 31, '30 days and a head');
});

t.test('an overdraft is among the figures where there is one', async (t) => {
  for (const [overdraft, shown] of [
    [0, 0],
    [2.5, 1],
  ] as const) {
    const owner = await world.account({ credits: 5, overdraft });
    const { page, signIn } = await openDashboard(t, world);
    await signIn(owner.key);
    await page.locator('.figure').getByText('Balance').waitFor();
    const figures = page.locator('.figure').filter({ hasText: 'Overdraft' });
    t.equal(await figures.count(), shown);
    if (shown > 0) t.match(await figures.textContent(), /Overdraft2\.50/);
  }
});

t.test('the threshold is changed where it stands', async (t) => {
  const owner = await world.account({ credits: 50, threshold: 10 });
  const { page, signIn } = await openDashboard(t, world);
  await signIn(owner.key);
  await page.getByRole('button', { name: 'Change alert threshold' }).click();
  await page.getByLabel('Alert threshold in credits').fill('75.5');
  await page.keyboard.press('Enter');
  await page.getByText('Alert threshold changed.').waitFor();
  await page.getByText('The balance of 50.00 is below the alert threshold of 75.50.').waitFor();
  const { body } = await apiOf(world, owner.key).get<{ alert_threshold: number }>('/api/account/');
  t.equal(body.alert_threshold, 75.5);
});

t.test('a threshold that cannot be is refused where it is typed', async (t) => {
  const owner = await world.account({ threshold: 10 });
  const { page, signIn } = await openDashboard(t, world);
  await signIn(owner.key);
  await page.getByRole('button', { name: 'Change alert threshold' }).click();
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

t.test('L4: a spend that cannot be read is said to be that, and not to be loading', async (t) => {
  const owner = await world.account();
  const { page, signIn } = await openDashboard(t, world);
  const failure = {
    error: { message: 'The book is out of reach.', code: 'service_unavailable', param: null },
  };
  await page.route('**/api/account/usage/**', (route) => route.fulfill({ status: 503, json: failure }));
  await signIn(owner.key);
  await page.getByRole('alert').getByText('The book is out of reach.').waitFor();
  const figure = page.locator('.figure', { hasText: 'Spent in 30 days' });
  t.match(await figure.textContent(), /–could not be read/);
  t.equal(await page.getByText('loading').count(), 0);
});

t.test('L10: the bar whose numbers are told is the one that is marked', async (t) => {
  await dayThatLasts();
  const owner = await world.account();
  await (await world.chat(owner.key)).text();
  await world.settled();
  const { page, signIn } = await openDashboard(t, world);
  await signIn(owner.key);
  const plot = page.locator('.chart .u-over');
  const box = await plot.boundingBox();
  const width = (box?.width ?? 0) / 30;
  for (const place of [3, 17]) {
    // Between the middle of the bar and its edge.
    await plot.hover({ position: { x: (place + 0.8) * width, y: 50 } });
    const day = new Date(Date.now() - (29 - place) * 86_400_000);
    const name = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' }).format(
      day,
    );
    await page.locator('figcaption', { hasText: `${name}: ` }).waitFor();
    const stripe = await page.locator('.chart-pointed').boundingBox();
    t.ok(
      Math.abs((stripe?.x ?? 0) - (box?.x ?? 0) - place * width) < 2,
      `stripe ${place} begins with its day`,
    );
    t.ok(Math.abs((stripe?.width ?? 0) - width) < 2, 'and ends with it');
  }
  await page.getByText('Days are UTC days: here (Europe/Berlin) one begins at').waitFor();
});

t.test('L11: of many keys the rest is shown when it is asked for', async (t) => {
  const owner = await world.account({ credits: 20 });
  for (let number = 1; number <= 9; number++) {
    const { body } = await apiOf(world, owner.key).post<{ key: string }>('/api/keys/', {
      name: `Key ${number}`,
    });
    await (await world.chat(body.key)).text();
  }
  await world.settled();
  const { page, signIn } = await openDashboard(t, world);
  await signIn(owner.key);
  const rows = page.getByRole('region', { name: 'Spend by key' }).locator('tbody tr');
  await page.getByText('the first 8 of 9').waitFor();
  t.equal(await rows.count(), 8);
  await page.getByRole('button', { name: 'Show all 9: Spend by key' }).click();
  t.equal(await rows.count(), 9);
  t.equal(await page.getByText('the first 8 of 9').count(), 0);
});

t.test('L9: the bar of a key that spent nothing is empty', async (t) => {
  const owner = await world.account();
  await apiOf(world, owner.key).post('/api/keys/', { name: 'Unused', spending_limit: 5 });
  const { page, signIn, open } = await openDashboard(t, world);
  await signIn(owner.key);
  await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
  await open('keys', 'Keys');
  await page.getByRole('link', { name: 'Unused' }).waitFor();
  t.equal(await page.locator('.bar').count(), 1);
  t.equal(await page.locator('.bar > span').count(), 0);
});
