import { readFileSync } from 'node:fs';
import t from 'tap';
import { apiOf } from '../helper/clients/api.ts';
import { reads, signedIn } from '../helper/dashboard/dashboard.ts';
import { startReceiver } from '../helper/stand-ins/receiver.ts';
import { ADMIN_TOKEN, startOwnGateway } from '../helper/start/gateway-in-process.ts';

const world = await startOwnGateway(t);

interface Account {
  readonly credits_balance: number;
  readonly is_active: boolean;
  readonly email: string;
  readonly alert_threshold: number;
  readonly overdraft: number;
}

async function accountOf(id: number): Promise<Account> {
  return (await apiOf(world, ADMIN_TOKEN).get<Account>(`/api/admin/accounts/${id}/`)).body;
}

t.test('an account is created, with a key that works', async (t) => {
  const { page } = await signedIn(t, world, ADMIN_TOKEN);
  await page.getByRole('link', { name: 'Create account' }).click();
  await page.getByLabel('Email address of the owner').fill('new@example.com');
  await page.getByLabel('Initial credits').fill('12.5');
  await page.getByText('The balance begins below this value').waitFor();
  await page.getByLabel('Overdraft').fill('2.5');
  await page.getByRole('button', { name: 'Create account' }).click();
  const question = page.getByRole('dialog', { name: 'Create an account for new@example.com?' });
  await question.getByText('It begins with 12.50 credits').waitFor();
  await question.getByRole('button', { name: 'Create' }).click();
  const value = await page.getByRole('dialog').getByLabel('Key value').inputValue();
  await page.getByRole('button', { name: 'I have saved it' }).click();
  await page.getByRole('heading', { level: 1, name: 'new@example.com' }).waitFor();
  const { body } = await apiOf(world, value).get<Account>('/api/account/');
  t.match(body, { credits_balance: 12.5, overdraft: 2.5 });
});

t.test('an e-mail address that is taken, or none, is refused at its field', async (t) => {
  await world.account({ email: 'taken@example.com' });
  const { page } = await signedIn(t, world, ADMIN_TOKEN, { at: ['accounts/new', 'Create account'] });
  const field = page.getByLabel('Email address of the owner');
  for (const [email, words] of [
    ['taken@example.com', /another account|taken|exists/i],
    ['nobody', /^email must be an email address/],
  ] as const) {
    await field.fill(email);
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click();
    await page.locator('#field-email-error').getByText(words).waitFor();
    t.equal(await field.getAttribute('aria-invalid'), 'true', email);
  }
});

t.test('M8: a balance is topped up and adjusted, each once and after a question that names it', async (t) => {
  const { accountId } = await world.account({ credits: 10, email: 'balance@example.com' });
  const { page } = await signedIn(t, world, ADMIN_TOKEN, {
    at: [`accounts/${accountId}`, 'balance@example.com'],
  });
  const dialog = page.getByRole('dialog');
  await page.getByLabel('Credits', { exact: true }).fill('5.25');
  await page.getByLabel('Note').fill('Invoice 7');
  await page.getByRole('button', { name: 'Top up' }).click();
  await dialog.getByRole('heading', { name: 'Add 5.25 credits to balance@example.com?' }).waitFor();
  await dialog.getByText('The balance goes from 10.00 to 15.25 credits').waitFor();
  await dialog.getByText('Note: Invoice 7').waitFor();
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  t.equal((await accountOf(accountId)).credits_balance, 10, 'nothing happened');
  await page.getByRole('button', { name: 'Top up' }).click();
  await dialog.getByRole('button', { name: 'Add the credits' }).click();
  await page.getByText('The balance is now 15.25 credits.').waitFor();
  await page.getByLabel('Credits', { exact: true }).fill('-1.35');
  await page.getByRole('button', { name: 'Adjust' }).click();
  await dialog.getByRole('heading', { name: 'Take 1.35 credits from balance@example.com?' }).waitFor();
  await dialog.getByText('The balance goes from 15.25 to 13.90 credits').waitFor();
  await dialog.getByRole('button', { name: 'Take the credits' }).click();
  await page.getByText('The balance is now 13.90 credits.').waitFor();
  t.equal((await accountOf(accountId)).credits_balance, 13.9);
  await page.getByLabel('Credits', { exact: true }).fill('0');
  await page.getByRole('button', { name: 'Top up' }).click();
  await page.getByText('The amount must not be 0.').waitFor();
  t.equal(await dialog.count(), 0, 'what cannot be is not asked about');
});

t.test('a repeat after an answer that was lost changes nothing twice', async (t) => {
  const { accountId } = await world.account({ credits: 10, email: 'repeat@example.com' });
  const { page } = await signedIn(t, world, ADMIN_TOKEN, {
    at: [`accounts/${accountId}`, 'repeat@example.com'],
  });
  let isLost = true;
  await page.route('**/credits/', async (route) => {
    // The gateway gets the request, but the page does not get the answer.
    if (isLost) await route.fetch();
    await (isLost ? route.abort() : route.continue());
    isLost = false;
  });
  await page.getByLabel('Credits', { exact: true }).fill('5');
  for (const words of ["The gateway can't be reached.", 'The balance is now 15.00 credits.']) {
    await page.getByRole('button', { name: 'Top up' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Add the credits' }).click();
    await page.getByText(words).waitFor();
  }
  t.equal((await accountOf(accountId)).credits_balance, 15);
});

t.test('settings are saved', async (t) => {
  const { accountId } = await world.account({ email: 'before@example.com' });
  const { page } = await signedIn(t, world, ADMIN_TOKEN, {
    at: [`accounts/${accountId}`, 'before@example.com'],
  });
  await page.getByLabel('Email address').fill('after@example.com');
  await page.getByLabel('Alert threshold').fill('7.5');
  await page.getByLabel('Overdraft').fill('-1');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('The overdraft must be 0 or more.').waitFor();
  await page.getByLabel('Overdraft').fill('2.5');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { level: 1, name: 'after@example.com' }).waitFor();
  t.match(await accountOf(accountId), { email: 'after@example.com', alert_threshold: 7.5, overdraft: 2.5 });
});

t.test('a field that another operator changed meanwhile is asked about, and no other is', async (t) => {
  const { accountId } = await world.account({ email: 'stale@example.com', credits: 10 });
  const { page, open } = await signedIn(t, world, ADMIN_TOKEN);
  const api = apiOf(world, ADMIN_TOKEN);
  const elsewhere = (body: object) => api.patch(`/api/admin/accounts/${accountId}/`, body);
  await open(`accounts/${accountId}`, 'stale@example.com');
  const save = page.getByRole('button', { name: 'Save', exact: true });
  const conflict = page.getByRole('dialog', { name: 'This account was changed' });
  await elsewhere({ alert_threshold: 4 });
  await page.getByLabel('Overdraft').fill('3');
  await save.click();
  await page.getByText('Account saved.').waitFor();
  t.match(
    await accountOf(accountId),
    { alert_threshold: 4, overdraft: 3 },
    'what was not touched is not sent',
  );
  t.equal(await page.getByLabel('Alert threshold').inputValue(), '4');

  await elsewhere({ rpm_limit: 500, overdraft: 5 });
  await page.getByLabel('Requests per minute').fill('7');
  await save.click();
  await conflict.waitFor();
  const rows = await conflict.getByRole('row').allTextContents();
  t.same(rows.slice(1), ['Overdraftnot changed by you5.00', 'Requests per minute7500']);
  t.match(await accountOf(accountId), { rpm_limit: 500 }, 'nothing is overwritten');
  await elsewhere({ rpm_limit: 600 });
  await conflict.getByRole('button', { name: 'Save mine' }).click();
  await conflict.getByRole('cell', { name: '600' }).waitFor();
  await conflict.getByRole('button', { name: 'Back to the form' }).click();
  t.equal(await page.getByLabel('Requests per minute').inputValue(), '7', 'what is typed is there still');
  await save.click();
  await conflict.getByRole('button', { name: 'Save mine' }).click();
  await conflict.waitFor({ state: 'detached' });
  t.match(await accountOf(accountId), { rpm_limit: 7, overdraft: 5 });

  await elsewhere({ rpm_limit: 8 });
  await page.getByLabel('Requests per minute').fill('9');
  await save.click();
  await conflict.getByRole('button', { name: 'Discard mine' }).click();
  t.equal(await page.getByLabel('Requests per minute').inputValue(), '8');
  t.match(await accountOf(accountId), { rpm_limit: 8 });
});

t.test('an account is deactivated and reactivated, each after a question', async (t) => {
  const { accountId, key } = await world.account({ email: 'switch@example.com' });
  const { page } = await signedIn(t, world, ADMIN_TOKEN, {
    at: [`accounts/${accountId}`, 'switch@example.com'],
  });
  await page.getByRole('button', { name: 'Deactivate' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Deactivate' }).click();
  await page.getByText('Account deactivated.').waitFor();
  t.equal((await world.chat(key)).status, 403);
  await page.getByRole('button', { name: 'Reactivate' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Reactivate' }).click();
  await page.getByText('Account reactivated.').waitFor();
  t.equal((await world.chat(key)).status, 200);
});

t.test('M8: an owner who lost theirs gets a key, that is named and asked about', async (t) => {
  const { accountId, key } = await world.account({ email: 'lost@example.com' });
  const { page } = await signedIn(t, world, ADMIN_TOKEN, {
    at: [`accounts/${accountId}/keys`, 'lost@example.com'],
  });
  const dialog = page.getByRole('dialog');
  await page.getByRole('button', { name: 'Create key for the owner' }).click();
  await page.getByText('Enter a name that').waitFor();
  t.equal(await dialog.count(), 0, 'a key without a name is not asked about');
  await page.getByLabel('Name of the key').fill('For the laptop');
  await page.getByRole('button', { name: 'Create key for the owner' }).click();
  await dialog
    .getByRole('heading', { name: 'Create the key “For the laptop” for lost@example.com?' })
    .waitFor();
  const { body } = await apiOf(world, key).get<{ keys: object[] }>('/api/keys/');
  t.equal(body.keys.length, 1, 'nothing is made before');
  await dialog.getByRole('button', { name: 'Create key' }).click();
  const value = await dialog.getByLabel('Key value').inputValue();
  t.equal((await world.chat(value)).status, 200);
  await dialog.getByRole('button', { name: 'I have saved it' }).click();
  await page.getByRole('rowheader', { name: 'For the laptop' }).waitFor();
});

t.test('M8: a key of an account is seen, deactivated and reactivated, each after a question', async (t) => {
  const { accountId, key } = await world.account({ email: 'keys@example.com', key: { name: 'Leaked' } });
  await world.api('POST', '/api/keys/', key, { name: 'Other' });
  const { page } = await signedIn(t, world, ADMIN_TOKEN, {
    at: [`accounts/${accountId}`, 'keys@example.com'],
  });
  await page.getByRole('link', { name: 'Keys' }).click();
  const dialog = page.getByRole('dialog');
  await page.getByRole('button', { name: 'Deactivate Leaked' }).click();
  await dialog.getByRole('heading', { name: 'Deactivate “Leaked” of keys@example.com?' }).waitFor();
  t.equal((await world.chat(key)).status, 200, 'nothing happened yet');
  await dialog.getByRole('button', { name: 'Deactivate' }).click();
  await page.getByRole('row', { name: /Leaked.*Inactive/ }).waitFor();
  t.equal((await world.chat(key)).status, 401);
  await page.getByRole('button', { name: 'Reactivate Leaked' }).click();
  await dialog.getByRole('button', { name: 'Reactivate' }).click();
  await page.getByText('Key “Leaked” reactivated.').waitFor();
  t.equal((await world.chat(key)).status, 200);
  await page.getByLabel('Search').fill('oth');
  await page.getByText('1 of 2 keys').waitFor();
});

t.test('M8: ledger, usage and alerts of an account are seen', async (t) => {
  const receiver = await startReceiver();
  t.teardown(() => receiver.close());
  const { accountId, key } = await world.account({
    credits: 10,
    threshold: 10,
    email: 'seen@example.com',
    key: { name: 'Watched', webhookUrl: receiver.url },
  });
  await (await world.chat(key)).text();
  await receiver.next();
  await world.settled();
  const { page, faults } = await signedIn(t, world, ADMIN_TOKEN, {
    at: [`accounts/${accountId}`, 'seen@example.com'],
  });
  const parts = page.getByRole('navigation', { name: 'Pages of the account' });
  await parts.getByRole('link', { name: 'Billing' }).click();
  await page.getByRole('row', { name: /Charge flat −1\.00 9\.00 Watched/ }).waitFor();
  t.equal(await page.title(), 'Billing · seen@example.com · Tollgate');
  await page.getByRole('combobox', { name: 'Type' }).selectOption('top_up');
  await page.getByRole('cell', { name: 'Top-up' }).waitFor();
  await parts.getByRole('link', { name: 'Usage' }).click();
  await page.getByRole('combobox', { name: 'By' }).selectOption('key');
  await page.getByRole('row', { name: /^Watched 1 0 0 \d+ 1\.00$/ }).waitFor();
  await page.getByRole('link', { name: 'Watched' }).click();
  await page.getByRole('combobox', { name: 'Key' }).waitFor();
  t.match(page.url(), new RegExp(`#/accounts/${accountId}/requests\\?range=30d&key_id=`));
  await parts.getByRole('link', { name: 'Alerts' }).click();
  await page.getByRole('row', { name: /Watched Delivered/ }).waitFor();
  t.equal(await page.getByRole('button', { name: 'Send test alert' }).count(), 0);
  t.same(faults, []);
});

t.test('the usage of all accounts is seen by group and by day, and exported', async (t) => {
  const { key } = await world.account({ credits: 10, email: 'used@example.com' });
  await (await world.chat(key, { model: 'renamed' })).text();
  await world.settled();
  const { page, faults } = await signedIn(t, world, ADMIN_TOKEN);
  await page.getByRole('link', { name: 'Usage' }).click();
  await page.getByRole('heading', { level: 1, name: 'Usage' }).waitFor();
  await page.getByRole('row', { name: /^used@example\.com 1 1\.00 – – 0% \d+$/ }).waitFor();
  await page.getByRole('row', { name: /^All \d+ / }).waitFor();
  await page.getByLabel('Group by').selectOption('model');
  await page.getByRole('row', { name: /^renamed 1 1\.00 / }).waitFor();
  t.match(page.url(), /#\/usage\?group_by=model/);
  await page.getByText('24 hours').click();
  await page.getByText('The last 24 hours.').waitFor();
  await page.getByRole('row', { name: /^renamed 1 1\.00 / }).waitFor();
  await page.getByLabel('Show').selectOption('calls');
  await page.getByRole('heading', { name: 'Calls by model' }).waitFor();
  await page.getByText('30 days').click();
  await page.getByText(/^\d+ total, 0 in the previous period$/).waitFor();
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export CSV' }).click();
  const file = await download;
  t.equal(file.suggestedFilename(), 'usage.csv');
  t.match(
    readFileSync(await file.path(), 'utf8'),
    /^model,calls,charged,.*\r\n(.*\r\n)*renamed,1,1\.000000,0\.000000,,,/,
  );
  await page.getByText('Custom').click();
  await page.getByLabel('From (UTC)').fill('2001-01-06');
  await page.getByLabel('To (UTC)').fill('2001-02-04');
  await page.getByText('No calls in this range').waitFor();
  t.same(faults, []);
});

t.test('accounts are searched by e-mail address', async (t) => {
  await world.account({ email: 'needle@hay.example' });
  const { page } = await signedIn(t, world, ADMIN_TOKEN, { at: ['accounts', 'Accounts'] });
  await page.getByLabel('Search').fill('LE@HAY');
  await page.getByRole('link', { name: 'needle@hay.example' }).click();
  await page.getByRole('heading', { level: 1, name: 'needle@hay.example' }).waitFor();
  await page.goBack();
  t.equal(await page.getByLabel('Search').inputValue(), 'LE@HAY');
  await page.getByLabel('Search').fill('nobody@nowhere');
  await page.getByText('No results').waitFor();
});

t.test('providers are seen with the health of their targets, which is read again by itself', async (t) => {
  const { key } = await world.account({ email: 'caller@example.com' });
  const { page } = await signedIn(t, world, ADMIN_TOKEN, { at: ['providers', 'Providers'] });
  const table = page.getByRole('region', { name: 'Targets at test', exact: true });
  const row = table.getByRole('row', { name: /^flat/ });
  await row.getByText('Up').waitFor();
  await reads(t, row, /–$/, 'no error');
  await (await world.chat(key)).text();
  await row.getByText('100%').waitFor();
  t.equal(await page.getByRole('region', { name: 'Targets at test-anthropic' }).count(), 1);
});
