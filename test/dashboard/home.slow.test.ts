import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import t from 'tap';
import { dayThatLasts, until } from '../helper/check/until.ts';
import { apiOf } from '../helper/clients/api.ts';
import { makeKey, openDashboard, reads, signedIn } from '../helper/dashboard/dashboard.ts';
import { accessibilityFaults } from '../helper/dashboard/dashboard-tour.ts';
import { ADMIN_TOKEN, startOwnGateway } from '../helper/start/gateway-in-process.ts';
import { memberIn } from '../helper/start/people.ts';

const world = await startOwnGateway(t);
await dayThatLasts();

/** Waits until the usage of an account counts so many refused calls. */
async function refused(key: string, calls: number): Promise<void> {
  await until('the refusals in the sums', async () => {
    const { body } = await apiOf(world, key).get<{ total: { refused: number } }>(
      '/api/account/usage/?group_by=day',
    );
    return body.total.refused === calls;
  });
}

async function call(key: string, ...models: readonly string[]): Promise<void> {
  for (const model of models) await (await world.chat(key, { model })).text();
  await world.settled();
}

t.test('balance, how long it lasts, spend and requests are those of the account', async (t) => {
  const owner = await world.account({ credits: 1_234.5, threshold: 10 });
  await call(owner.key, 'flat', 'flat', 'renamed', 'unknown');
  await refused(owner.key, 1);
  const { page, faults } = await signedIn(t, world, owner.key);
  const figures = page.locator('.figure');
  await reads(t, figures, /Balance1,231\.50lasts about 410 days/);
  await reads(t, figures, /Spent today3\.000\.00 yesterday/);
  await reads(t, figures, /Spent in 7 days3\.00none in the 7 days before/);
  await reads(t, figures, /Spent in 30 days3\.00/);
  await reads(t, figures, /Requests in 30 days475% OK, 25% refused, 0% failed/, 'parts of the same whole');
  t.equal(await figures.locator('data').first().getAttribute('title'), '1,231.50 credits');
  const chart = page.locator('section.card', { hasText: 'Spend by model' });
  await chart.getByRole('button', { name: 'View as table' }).click();
  const rows = chart.getByRole('row');
  await until('30 days and a head', async () => (await rows.count()) === 31);
  await reads(t, rows.nth(1), /2\.001\.00$/, 'of flat and renamed');
  await chart.getByText('24 hours').click();
  await page.waitForURL(/range=24h/);
  await until('24 hours', async () => (await rows.count()) === 25);
  await page.goBack();
  await until('30 days again', async () => (await rows.count()) === 31);
  await page.getByRole('link', { name: 'model_not_found' }).click();
  await page.waitForURL(/requests\?code=model_not_found&range=24h&model=unknown/);
  t.same(faults, []);
});

t.test('a newcomer is led to a key for an app, and sends a test call with its value', async (t) => {
  const owner = await world.account({ credits: 10, threshold: 100 });
  const { page, faults, open } = await signedIn(t, world, owner.key);
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.getByRole('heading', { name: 'Make your first call' }).waitFor();
  await page.getByText('Nothing needs your attention').waitFor();
  t.equal(await page.getByText('Low credits').count(), 0, 'a threshold that nobody chose is no warning');
  await reads(t, page.getByRole('region', { name: 'Snippet for curl' }), /Bearer \$TOLLGATE_API_KEY/);
  t.equal(
    await page.getByRole('button', { name: 'Send a test call' }).count(),
    0,
    'a session calls no model',
  );
  await page.getByRole('link', { name: 'Create key' }).click();
  await page.getByLabel('Name').fill('Web app');
  await page.getByRole('button', { name: 'Create key' }).click();
  const dialog = page.getByRole('dialog', { name: /Web app/ });
  const value = await dialog.getByLabel('Key value').inputValue();
  await dialog.getByRole('button', { name: 'Copy curl snippet' }).click();
  await page.getByText('curl snippet copied.').waitFor();
  const command = String(await page.evaluate('navigator.clipboard.readText()'));
  const { stdout } = await promisify(execFile)('sh', ['-c', command]);
  t.match(stdout, /"object":"chat.completion"/, 'what Copy gives works alone');
  await dialog.getByLabel('Client').selectOption('Claude Code');
  t.equal(await dialog.getByLabel('Model').inputValue(), 'claude', 'the cheapest of this client');
  await dialog.getByLabel('Client').selectOption('Python');
  await reads(t, dialog.getByRole('region', { name: 'Snippet for Python' }), /model="tokens"/);
  await dialog.getByText('It costs at most 0.65 credits.').waitFor();
  const sent = page.waitForRequest('**/v1/chat/completions');
  await dialog.getByRole('button', { name: 'Send a test call' }).click();
  const request = await sent;
  t.equal(request.postDataJSON().model, 'tokens', 'the model of the snippet');
  t.ok(request.postDataJSON().max_completion_tokens, 'models that reason refuse max_tokens');
  t.equal(await request.headerValue('cookie'), null, 'the key alone');
  const id = await dialog.getByLabel('Request ID').inputValue();
  const { body } = await apiOf(world, value).get<{ charge: string }>(`/api/account/calls/${id}/`);
  t.equal(await dialog.locator('dd data').getAttribute('value'), body.charge);
  await dialog.getByRole('button', { name: 'I have saved it' }).click();
  await open('home', 'Home');
  await reads(t, page.locator('.figure', { hasText: 'Requests in 30 days' }), /30 days2100% OK/);
  t.same(faults, []);
});

t.test('no value of a key is in the page after a sign-in with it', async (t) => {
  const owner = await world.account();
  const { page, open } = await signedIn(t, world, owner.key);
  for (const [place, title] of [
    ['home', 'Home'],
    ['limits', 'Limits'],
  ] as const) {
    await open(place, title);
    await page.waitForLoadState('networkidle');
    t.notMatch(await page.content(), owner.key);
  }
  const kept = await page.evaluate(
    'JSON.stringify({ ...localStorage, ...sessionStorage }) + document.cookie',
  );
  t.notMatch(String(kept), owner.key);
});

t.test('an account with an overdraft sees it', async (t) => {
  for (const [overdraft, shown] of [
    [0, 0],
    [2.5, 1],
  ] as const) {
    const owner = await world.account({ credits: 5, overdraft });
    await call(owner.key, 'flat');
    const { page } = await signedIn(t, world, owner.key);
    await page.locator('.figure').getByText('Balance').waitFor();
    t.equal(await page.getByText('Overdraft 2.50').count(), shown);
  }
});

t.test('an account without credits sees an explanation', async (t) => {
  const owner = await world.account({ credits: 0, threshold: 10 });
  const { page } = await signedIn(t, world, owner.key);
  await reads(t, page.getByRole('alert'), /No credits.*insufficient_credits/);
});

t.test('a card that cannot be read says so, and the others stay', async (t) => {
  const owner = await world.account({ credits: 7 });
  await call(owner.key, 'flat');
  const { page, signIn } = await openDashboard(t, world);
  const failure = {
    error: { message: 'The book is out of reach.', code: 'service_unavailable', param: null },
  };
  await page.route('**/api/account/usage/**', (route) => route.fulfill({ status: 503, json: failure }));
  await signIn(owner.key);
  await page.getByRole('alert').getByText('The book is out of reach.').first().waitFor();
  await reads(t, page.locator('.figure', { hasText: 'Spent in 30 days' }), /–could not be read/);
  await reads(t, page.locator('.figure', { hasText: 'Balance' }), /6\.00/);
  await page.getByText('No refused or failed calls.').waitFor();
  t.equal(await page.getByText('loading').count(), 0);
  await page.unroute('**/api/account/usage/**');
  await page.getByRole('button', { name: 'Try again' }).first().click();
  await reads(t, page.locator('.figure', { hasText: 'Spent in 30 days' }), /1\.00/);
});

t.test('attention says what is wrong and leads to where it is mended', async (t) => {
  const owner = await world.account({ credits: 20 });
  const intern = await makeKey(world, owner.key, {
    name: 'Intern',
    spending_limit: 1,
    spending_period: 'daily',
  });
  const app = await makeKey(world, owner.key, { name: 'App', allowed_models: ['flat'] });
  await call(intern.key, 'flat');
  await call(app.key, ...Array.from({ length: 5 }, () => 'renamed'));
  await refused(owner.key, 5);
  const { page, faults } = await signedIn(t, world, owner.key);
  const list = page.getByRole('region', { name: 'Needs attention' });
  await reads(
    t,
    list,
    /limit of key “Intern” \(1 credits\) is spent until \d+ \w+, 0[12]:00\./,
    'in the zone of the reader',
  );
  t.equal(
    await list.getByRole('link', { name: 'Raise' }).getAttribute('href'),
    `/dashboard/a/${owner.accountId}/keys/${intern.id}`,
  );
  await list
    .getByRole('listitem')
    .filter({ hasText: '“App”' })
    .getByRole('link', { name: 'Open requests' })
    .click();
  await page.waitForURL(
    new RegExp(`requests\\?result=refused&key_id=${app.id}&code=model_not_allowed&from=`),
  );
  t.same(faults, []);
});

t.test('a member sees what is left of the own limit, the own keys and errors, and no balance', async (t) => {
  const owner = await world.account({ credits: 500 });
  const spending_limits = [{ period: 'weekly', credits: 5 }];
  const dana = await memberIn(world, owner.accountId, { role: 'member', spending_limits }, { name: 'Dana' });
  const laptop = await makeKey(world, owner.key, { name: 'Laptop', person_id: dana.id });
  await makeKey(world, owner.key, { name: 'Server' });
  await call(owner.key, 'flat', 'flat');
  await call(laptop.key, 'flat', 'unknown');
  await refused(owner.key, 1);
  const { page, faults } = await signedIn(t, world, dana);
  await reads(t, page.locator('.limits-left'), /^Your weekly limit4\.00 of 5\.00 left, resets /);
  await page.getByRole('region', { name: 'My keys' }).getByRole('link', { name: 'Laptop' }).waitFor();
  await reads(t, page.getByRole('region', { name: 'My errors' }), /model_not_found/);
  await reads(t, page.locator('.figure', { hasText: 'Spent today' }), /1\.00/);
  await page.getByRole('heading', { name: 'Use a key' }).waitFor();
  const text = await page.locator('main').innerText();
  t.notMatch(text, /Balance|Server/);
  t.same(await accessibilityFaults(page), []);
  t.same(faults, []);
});

t.test('who has the money of an account sees its balance and who spends it, and no key of it', async (t) => {
  const owner = await world.account({ credits: 50 });
  await makeKey(world, owner.key, { name: 'Unused' });
  await call(owner.key, 'flat');
  const payer = await memberIn(world, owner.accountId, { role: 'billing' });
  const { page, faults } = await signedIn(t, world, payer);
  await reads(t, page.locator('.figure', { hasText: 'Balance' }), /49\.00/);
  await reads(t, page.getByRole('region', { name: 'Spend by key' }), /1\.00/);
  await page.getByRole('link', { name: 'Open Billing' }).click();
  await page.waitForURL(/\/billing/);
  t.same(faults, []);
});

t.test('a key whose limit is spent is told that its calls are refused now', async (t) => {
  const owner = await world.account();
  const spending_limits = [
    { period: 'daily', credits: 1 },
    { period: 'total', credits: 9 },
  ];
  const reader = await makeKey(world, owner.key, { name: 'Reader', spending_limits });
  const weekly = [{ period: 'weekly', credits: 7 }];
  await apiOf(world, ADMIN_TOKEN).patch(`/api/admin/accounts/${owner.accountId}/`, {
    spending_limits: weekly,
  });
  const { page, open, faults } = await signedIn(t, world, reader.key);
  const left = page.locator('.limits-left > li');
  await reads(t, left, /^Daily limit of the key1\.00 of 1\.00 left, resets in .*$/m);
  await reads(t, left, /^Weekly limit of the account7\.00 credits, resets .*$/m, 'without its spend');
  t.equal(await page.getByRole('alert').count(), 0);
  await call(reader.key, 'flat');
  await open('home', 'Home');
  await reads(
    t,
    page.getByRole('alert'),
    /Calls with this key are refused now\. A spending limit is reached\./,
  );
  await reads(t, left, /^Daily limit of the keyLimit reached: 0\.00 of 1\.00 left, resets in .*$/m);
  await reads(t, left, /^Total limit of the key8\.00 of 9\.00 left, never resets$/m);
  t.same(await accessibilityFaults(page), []);
  t.same(faults, []);
});
