import t from 'tap';
import { apiOf } from '../helper/api.ts';
import { openDashboard } from '../helper/dashboard.ts';
import { ADMIN_TOKEN, startWorld } from '../helper/world.ts';

const world = await startWorld(t);

interface Account {
  readonly credits_balance: number;
  readonly is_active: boolean;
  readonly email: string;
  readonly alert_threshold: number;
}

async function operator(t: Parameters<typeof openDashboard>[0]) {
  const dashboard = await openDashboard(t, world);
  await dashboard.signIn(ADMIN_TOKEN);
  await dashboard.page.getByRole('heading', { level: 1, name: 'Accounts' }).waitFor();
  return dashboard;
}

async function accountOf(id: number): Promise<Account> {
  return (await apiOf(world, ADMIN_TOKEN).get<Account>(`/api/admin/accounts/${id}/`)).body;
}

t.test('an account is created, with a key that works', async (t) => {
  const { page } = await operator(t);
  await page.getByRole('link', { name: 'Create account' }).click();
  await page.getByLabel('E-mail address of the owner').fill('new@example.com');
  await page.getByLabel('Credits to begin with').fill('12.5');
  await page.getByRole('button', { name: 'Create account' }).click();
  const value = await page.getByRole('dialog').getByLabel('Key value').inputValue();
  await page.getByRole('button', { name: 'I have saved it' }).click();
  await page.getByRole('heading', { level: 1, name: 'new@example.com' }).waitFor();
  const { body } = await apiOf(world, value).get<Account>('/api/account/');
  t.equal(body.credits_balance, 12.5);
});

t.test('an e-mail address that is taken, or none, is refused at its field', async (t) => {
  await world.account({ email: 'taken@example.com' });
  const { page, open } = await operator(t);
  await open('accounts/new', 'Create account');
  const field = page.getByLabel('E-mail address of the owner');
  for (const [email, words] of [
    ['taken@example.com', /another account|taken|exists/i],
    ['nobody', /^This must be an address such as/],
  ] as const) {
    await field.fill(email);
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.locator('#field-email-error').getByText(words).waitFor();
    t.equal(await field.getAttribute('aria-invalid'), 'true', email);
  }
});

t.test('a balance is topped up and adjusted, each once', async (t) => {
  const { accountId } = await world.account({ credits: 10, email: 'balance@example.com' });
  const { page, open } = await operator(t);
  await open(`accounts/${accountId}`, 'balance@example.com');
  await page.getByLabel('Credits', { exact: true }).fill('5.25');
  await page.getByLabel('Note').fill('Invoice 7');
  await page.getByRole('button', { name: 'Top up' }).click();
  await page.getByText('The balance is 15.25 credits now.').waitFor();
  await page.getByLabel('Credits', { exact: true }).fill('-1.25');
  await page.getByRole('button', { name: 'Adjust' }).click();
  await page.getByText('The balance is 14.00 credits now.').waitFor();
  t.equal((await accountOf(accountId)).credits_balance, 14);
  await page.getByLabel('Credits', { exact: true }).fill('0');
  await page.getByRole('button', { name: 'Top up' }).click();
  await page.getByText('This must not be 0.').waitFor();
});

t.test('a repeat after an answer that was lost changes nothing twice', async (t) => {
  const { accountId } = await world.account({ credits: 10, email: 'repeat@example.com' });
  const { page, open } = await operator(t);
  await open(`accounts/${accountId}`, 'repeat@example.com');
  let isLost = true;
  await page.route('**/credits/', async (route) => {
    // The gateway gets it, the page does not get the answer.
    if (isLost) await route.fetch();
    await (isLost ? route.abort() : route.continue());
    isLost = false;
  });
  await page.getByLabel('Credits', { exact: true }).fill('5');
  await page.getByRole('button', { name: 'Top up' }).click();
  await page.getByText('The gateway cannot be reached.').waitFor();
  await page.getByRole('button', { name: 'Top up' }).click();
  await page.getByText('The balance is 15.00 credits now.').waitFor();
  t.equal((await accountOf(accountId)).credits_balance, 15);
});

t.test('settings are saved', async (t) => {
  const { accountId } = await world.account({ email: 'before@example.com' });
  const { page, open } = await operator(t);
  await open(`accounts/${accountId}`, 'before@example.com');
  await page.getByLabel('E-mail address').fill('after@example.com');
  await page.getByLabel('Alert threshold').fill('7.5');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { level: 1, name: 'after@example.com' }).waitFor();
  t.match(await accountOf(accountId), { email: 'after@example.com', alert_threshold: 7.5 });
});

t.test('an account is deactivated and reactivated, each after a question', async (t) => {
  const { accountId, key } = await world.account({ email: 'switch@example.com' });
  const { page, open } = await operator(t);
  await open(`accounts/${accountId}`, 'switch@example.com');
  await page.getByRole('button', { name: 'Deactivate' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Deactivate' }).click();
  await page.getByText('The account is deactivated.').waitFor();
  t.equal((await world.chat(key)).status, 403);
  await page.getByRole('button', { name: 'Reactivate' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Reactivate' }).click();
  await page.getByText('The account is active again.').waitFor();
  t.equal((await world.chat(key)).status, 200);
});

t.test('an owner who lost theirs gets a key', async (t) => {
  const { accountId } = await world.account({ email: 'lost@example.com' });
  const { page, open } = await operator(t);
  await open(`accounts/${accountId}`, 'lost@example.com');
  await page.getByRole('button', { name: 'Create key for the owner' }).click();
  const value = await page.getByRole('dialog').getByLabel('Key value').inputValue();
  t.equal((await world.chat(value)).status, 200);
});
