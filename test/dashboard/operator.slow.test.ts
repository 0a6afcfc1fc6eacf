import t from 'tap';
import { apiOf } from '../helper/clients/api.ts';
import { signedIn } from '../helper/dashboard/dashboard.ts';
import { ADMIN_TOKEN, startOwnGateway } from '../helper/start/gateway-in-process.ts';

const world = await startOwnGateway(t);

interface Account {
  readonly credits_balance: number;
  readonly name: string;
  readonly email: string;
  readonly alert_threshold: number;
  readonly overdraft: number;
}

async function accountOf(id: number): Promise<Account> {
  return (await apiOf(world, ADMIN_TOKEN).get<Account>(`/api/admin/accounts/${id}/`)).body;
}

/** Opens a page of an account as the operator sees it. */
async function operating(account: number, page: string, title: string) {
  return await signedIn(t, world, ADMIN_TOKEN, { at: [`accounts/${account}/${page}`, title] });
}

t.test('D2: the customer who is dead is on the list, and its page says so first', async () => {
  const dead = await world.account({ credits: 0.004, email: 'initech@example.com' });
  await world.chat(dead.key);
  await world.settled();
  const { page, faults } = await signedIn(t, world, ADMIN_TOKEN, { at: ['accounts', 'Accounts'] });
  const row = page.getByRole('row', { name: /^initech@example\.com No credits 1 refused in 24 h 0\.004 / });
  await row.getByRole('link').click();
  await page.getByRole('heading', { level: 1, name: 'initech@example.com' }).waitFor();
  await page.getByText('No credits: the balance is 0.004. 1 call was refused in the last 24 hours').waitFor();
  await page.getByText('0% OK, 100% refused, 0% failed').waitFor();
  t.same(faults, []);
});

t.test('accounts are searched and sorted by the gateway, in the address', async (t) => {
  for (const credits of [3, 7, 5]) await world.account({ credits, email: `sorted-${credits}@hay.example` });
  const { page } = await signedIn(t, world, ADMIN_TOKEN, { at: ['accounts', 'Accounts'] });
  const search = page.getByLabel('Email address');
  await search.fill('@HAY');
  await page.getByText('3 accounts found').waitFor();
  await page.getByRole('button', { name: 'Balance' }).click();
  await page.waitForURL(/[?&]sort=-balance/);
  const names = () => page.getByRole('rowheader').allTextContents();
  await page.getByRole('rowheader').first().getByText('sorted-7@hay.example').waitFor();
  t.same(await names(), ['sorted-7@hay.example', 'sorted-5@hay.example', 'sorted-3@hay.example']);
  await page.getByRole('link', { name: 'sorted-5@hay.example' }).click();
  await page.getByRole('heading', { level: 1, name: 'sorted-5@hay.example' }).waitFor();
  await page.goBack();
  await page.getByRole('rowheader').first().getByText('sorted-7@hay.example').waitFor();
  t.equal(await search.inputValue(), '@HAY');
  await search.fill('nobody@nowhere');
  await page.getByText('No results').waitFor();
});

t.test(
  'an account is created with its owner invited: link and key are shown once, without a test call',
  async (t) => {
    const { page } = await signedIn(t, world, ADMIN_TOKEN, { at: ['accounts/new', 'Create account'] });
    await page.getByLabel('Email address').fill('new@example.com');
    await page.getByLabel('Name', { exact: true }).fill('Example Inc.');
    await page.getByLabel('Initial credits').fill('12.5');
    await page.getByText('The balance begins below the alert threshold').waitFor();
    await page.getByLabel('Invite an owner').fill('ada@example.com');
    await page.getByText('More settings').click();
    await page.getByLabel('Overdraft').fill('2.5');
    await page.getByRole('button', { name: 'Create account' }).click();
    const dialog = page.getByRole('dialog', { name: 'The account Example Inc.' });
    t.match(await dialog.getByLabel('Invitation link').inputValue(), /\/dashboard\/invite#/);
    const value = await dialog.getByLabel('Key value').inputValue();
    t.equal(await dialog.getByRole('button', { name: /test call/i }).count(), 0, 'D19');
    await page.keyboard.press('Escape');
    await dialog.getByRole('button', { name: 'I have saved them' }).click();
    await page.getByRole('heading', { level: 1, name: 'Example Inc.' }).waitFor();
    const { body } = await apiOf(world, value).get<Account>('/api/account/');
    t.match(body, { credits_balance: 12.5, overdraft: 2.5, name: 'Example Inc.' });
  },
);

t.test('an e-mail address that is taken, or none, is refused at its field', async (t) => {
  await world.account({ email: 'taken@example.com' });
  const { page } = await signedIn(t, world, ADMIN_TOKEN, { at: ['accounts/new', 'Create account'] });
  const field = page.getByLabel('Email address');
  for (const [email, words] of [
    ['taken@example.com', /Another account already has this email address/],
    ['nobody', /must be an email address/],
  ] as const) {
    await field.fill(email);
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.getByText(words).waitFor();
    t.equal(await field.getAttribute('aria-invalid'), 'true', email);
  }
});

t.test('M8: a balance is topped up and adjusted, each once and after a question that names it', async (t) => {
  const { accountId } = await world.account({ credits: 10, email: 'balance@example.com' });
  const { page } = await operating(accountId, 'home', 'balance@example.com');
  const dialog = page.getByRole('dialog');
  const amount = page.getByLabel('Credits', { exact: true });
  await amount.fill('5.25');
  await page.getByLabel('Note').fill('Invoice 7');
  await page.getByRole('button', { name: 'Add credits' }).click();
  await dialog.getByRole('heading', { name: 'Add 5.25 credits to balance@example.com?' }).waitFor();
  await dialog.getByText('The balance goes from 10.00 to 15.25 credits').waitFor();
  await dialog.getByText('Note: Invoice 7').waitFor();
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  t.equal((await accountOf(accountId)).credits_balance, 10, 'nothing happened');
  await page.getByRole('button', { name: 'Add credits' }).click();
  await dialog.getByRole('button', { name: 'Add the credits' }).click();
  await page.getByText('The balance is now 15.25 credits.').waitFor();
  await amount.fill('-1.35');
  await page.getByRole('button', { name: 'Deduct credits' }).click();
  await dialog.getByRole('heading', { name: 'Take 1.35 credits from balance@example.com?' }).waitFor();
  await dialog.getByText('The balance goes from 15.25 to 13.90 credits').waitFor();
  await dialog.getByRole('button', { name: 'Take the credits' }).click();
  await page.getByText('The balance is now 13.90 credits.').waitFor();
  t.equal((await accountOf(accountId)).credits_balance, 13.9);
  await amount.fill('0');
  await page.getByRole('button', { name: 'Add credits' }).click();
  await page.getByText('The amount must not be 0.').waitFor();
  t.equal(await dialog.count(), 0, 'what cannot be is not asked about');
});

t.test('a repeat after an answer that was lost changes nothing twice', async (t) => {
  const { accountId } = await world.account({ credits: 10, email: 'repeat@example.com' });
  const { page } = await operating(accountId, 'home', 'repeat@example.com');
  let isLost = true;
  await page.route('**/credits/', async (route) => {
    // The gateway gets the request, but the page does not get the answer.
    if (isLost) await route.fetch();
    await (isLost ? route.abort() : route.continue());
    isLost = false;
  });
  await page.getByLabel('Credits', { exact: true }).fill('5');
  await page.getByRole('button', { name: 'Add credits' }).click();
  const add = page.getByRole('dialog').getByRole('button', { name: 'Add the credits' });
  for (const words of ['The gateway did not confirm the change.', 'The balance is now 15.00 credits.']) {
    await add.click();
    await page.getByText(words).waitFor();
  }
  t.equal((await accountOf(accountId)).credits_balance, 15);
});

t.test('settings are saved, and a fault is led to', async (t) => {
  const { accountId } = await world.account({ email: 'before@example.com' });
  const { page } = await operating(accountId, 'settings', 'Settings');
  await page.getByLabel('Name', { exact: true }).fill('After Inc.');
  await page.getByLabel('Alert threshold').fill('7.5');
  await page.getByLabel('Overdraft').fill('-1');
  const save = page.getByRole('button', { name: 'Save changes' });
  await save.click();
  await page.getByText('The overdraft must be 0 or more.').waitFor();
  await page.getByLabel('Overdraft').fill('2.5');
  await page.getByRole('button', { name: 'Add limit' }).click();
  await page.getByLabel('Limit 1 in credits').fill('40');
  await save.click();
  await page.getByText('Saved the account.').waitFor();
  t.match(await accountOf(accountId), {
    name: 'After Inc.',
    alert_threshold: 7.5,
    overdraft: 2.5,
    spending_limits: [{ period: 'monthly', credits: 40 }],
  });
});

t.test('what another operator changed meanwhile is asked about, and not overwritten', async (t) => {
  const { accountId } = await world.account({ email: 'stale@example.com', credits: 10 });
  const elsewhere = (body: object) =>
    apiOf(world, ADMIN_TOKEN).patch(`/api/admin/accounts/${accountId}/`, body);
  const { page } = await operating(accountId, 'settings', 'Settings');
  const save = page.getByRole('button', { name: 'Save changes' });
  const conflict = page.getByRole('dialog', { name: 'This account was changed' });
  await page.getByLabel('Requests per minute').fill('7');
  await elsewhere({ rpm_limit: 500, overdraft: 5 });
  await save.click();
  await conflict.waitFor();
  const rows = await conflict.getByRole('row').allTextContents();
  t.same(rows.slice(1), ['Overdraftnot changed by you5.00', 'Requests per minute7500']);
  t.match(await accountOf(accountId), { rpm_limit: 500 }, 'nothing is overwritten');
  await conflict.getByRole('button', { name: 'Back to the form' }).click();
  t.equal(await page.getByLabel('Requests per minute').inputValue(), '7', 'what is typed is there still');
  await save.click();
  await conflict.getByRole('button', { name: 'Save mine' }).click();
  await conflict.waitFor({ state: 'detached' });
  t.match(await accountOf(accountId), { rpm_limit: 7, overdraft: 5 });
});

t.test('an account is deactivated and reactivated, each after a question', async (t) => {
  const { accountId, key } = await world.account({ email: 'switch@example.com' });
  const { page } = await operating(accountId, 'home', 'switch@example.com');
  const dialog = page.getByRole('dialog');
  await page.getByRole('button', { name: 'Deactivate' }).click();
  await dialog.getByText('Every gateway refuses all keys').waitFor();
  await dialog.getByRole('button', { name: 'Deactivate' }).click();
  await page.getByText('Account deactivated.').waitFor();
  await page.getByText('This account is inactive').waitFor();
  t.equal((await world.chat(key)).status, 403);
  await page.getByRole('button', { name: 'Reactivate' }).click();
  await dialog.getByRole('button', { name: 'Reactivate' }).click();
  await page.getByText('Account reactivated.').waitFor();
  t.equal((await world.chat(key)).status, 200);
});

t.test('the health of the gateway is shown in words', async (t) => {
  const { page, faults } = await signedIn(t, world, ADMIN_TOKEN, { at: ['health', 'Health'] });
  await page.getByRole('row', { name: /^Database OK Answers and takes writes\. Nothing$/ }).waitFor();
  t.equal(await page.getByRole('rowheader').count(), 8);
  t.same(faults, []);
});
