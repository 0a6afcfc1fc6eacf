import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import t from 'tap';
import { dayThatLasts, until } from '../helper/check/until.ts';
import { apiOf } from '../helper/clients/api.ts';
import { openDashboard, reads, signedIn } from '../helper/dashboard/dashboard.ts';
import { startOwnGateway } from '../helper/start/gateway-in-process.ts';

const world = await startOwnGateway(t);
await dayThatLasts();

t.test('balance, how long it lasts, spend and calls are those of the account', async (t) => {
  const owner = await world.account({ credits: 1_234.5, threshold: 10, key: { name: 'App' } });
  for (const model of ['flat', 'flat', 'renamed']) await (await world.chat(owner.key, { model })).text();
  for (const model of ['unknown', 'unknown']) await (await world.chat(owner.key, { model })).text();
  await world.settled();
  await until('the refusals in the sums', async () => {
    const { body } = await apiOf(world, owner.key).get<{ total: { refused: number } }>(
      '/api/account/usage/?group_by=day',
    );
    return body.total.refused === 2;
  });
  const { page, signIn, faults } = await openDashboard(t, world);
  await signIn(owner.key);
  await page.locator('.stacked svg').first().waitFor();
  const figures = page.locator('.figure');
  await reads(t, figures, /Balance1,231\.50lasts about 410 days/);
  await reads(t, figures, /Spent today3\.00/);
  await reads(t, figures, /Spent in 7 days3\.00none in prior 7 days/);
  await reads(t, figures, /Spent in 30 days3\.00/);
  await reads(t, figures, /Calls in 30 days340% refused, 0% failed/);
  t.equal(await page.locator('.figure data').first().getAttribute('title'), '1,231.50 credits');
  await page.getByText('View as table').click();
  const days = page.getByRole('region', { name: 'Spend by model' }).getByRole('row');
  await until('30 days and a head', async () => (await days.count()) === 31);
  await reads(t, days.nth(1), /2\.001\.00$/, 'of flat and renamed');
  await page.getByText('24 hours').click();
  await page.waitForURL(/range=24h/);
  await until('24 hours', async () => (await days.count()) === 25);
  await page.goBack();
  await until('30 days again', async () => (await days.count()) === 31);
  t.equal(await page.getByText('Low credits').count(), 0);
  await page.getByRole('link', { name: '404 model_not_found × 2' }).click();
  await page.getByRole('dialog', { name: 'Request' }).getByText('does not exist').waitFor();
  t.same(faults, []);
});

t.test('a fresh account is shown how to use its key, and sends a test call', async (t) => {
  const owner = await world.account({ credits: 10, threshold: 1 });
  const { page, signIn, faults } = await openDashboard(t, world);
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  // A moderation model is free, but it is not a model to start with.
  await page.route('**/v1/models', async (route) => {
    const response = await route.fetch();
    const list = (await response.json()) as { data: Record<string, unknown>[] };
    list.data.unshift({ ...list.data[0], id: 'omni-moderation-latest', price: {}, pricing: {} });
    await route.fulfill({ response, json: list });
  });
  await signIn(owner.key);
  await page.getByRole('heading', { name: 'Use this key' }).waitFor();
  await page.getByRole('button', { name: 'Copy curl snippet' }).click();
  await page.getByText('curl snippet copied.').waitFor();
  const command = String(await page.evaluate('navigator.clipboard.readText()'));
  const { stdout } = await promisify(execFile)('sh', ['-c', command]);
  t.match(stdout, /"object":"chat.completion"/, 'what Copy gives works alone');
  await page.getByLabel('Client').selectOption('Claude Code');
  t.match(await page.getByRole('region', { name: 'Snippet for Claude Code' }).textContent(), owner.key);
  const model = page.getByLabel('Model of the test call');
  t.equal(await model.inputValue(), 'claude', 'the cheapest');
  await model.selectOption('tokens');
  await page.getByText('It costs at most 0.65 credits.').waitFor();
  const sent = page.waitForRequest('**/v1/chat/completions');
  await page.getByRole('button', { name: 'Send a test call' }).click();
  const asked = (await sent).postDataJSON();
  t.ok(asked.max_completion_tokens, 'models that reason refuse max_tokens');
  const id = await page.getByLabel('Request ID').inputValue();
  await page.getByText('Charge').waitFor();
  const { body } = await apiOf(world, owner.key).get<{ charge: string }>(`/api/account/calls/${id}/`);
  const charged = await page.locator('.test-call dd data').getAttribute('value');
  t.equal(charged, body.charge, 'the charge of the call');
  t.same(faults, []);
});

t.test('an account with an overdraft sees it', async (t) => {
  for (const [overdraft, shown] of [
    [0, 0],
    [2.5, 1],
  ] as const) {
    const owner = await world.account({ credits: 5, overdraft });
    const { page, signIn } = await openDashboard(t, world);
    await signIn(owner.key);
    await page.locator('.figure').getByText('Balance').waitFor();
    t.equal(await page.getByText('Overdraft 2.50').count(), shown);
  }
});

t.test('an account without credits and calls sees an explanation', async (t) => {
  const owner = await world.account({ credits: 0, threshold: 10 });
  const { page, signIn } = await openDashboard(t, world);
  await signIn(owner.key);
  await page.getByText('No calls in this range').waitFor();
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
  await page.getByRole('alert').getByText('The book is out of reach.').first().waitFor();
  const figure = page.locator('.figure', { hasText: 'Spent in 30 days' });
  await reads(t, figure, /–could not be read/);
  t.equal(await page.getByText('loading').count(), 0);
});

t.test('L9: a key without spend has an empty bar', async (t) => {
  const owner = await world.account();
  await apiOf(world, owner.key).post('/api/keys/', { name: 'Unused', spending_limit: 5 });
  const { page } = await signedIn(t, world, owner.key, { at: ['keys', 'Keys'] });
  await page.getByRole('link', { name: 'Unused' }).waitFor();
  t.equal(await page.locator('.bar').count(), 1);
  t.equal(await page.locator('.bar > span').count(), 0);
});
