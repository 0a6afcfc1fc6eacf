import t from 'tap';
import type { OperatorAccountView } from '../../src/api/account/account-view.ts';
import { apiOf } from '../helper/clients/api.ts';
import { keysOf, makeKey, openDashboard, reads, signedIn } from '../helper/dashboard/dashboard.ts';
import { ADMIN_TOKEN, startOwnGateway } from '../helper/start/gateway-in-process.ts';

const world = await startOwnGateway(t);
const owner = await world.account({ key: { name: 'First' } });

async function keyNamed(name: string) {
  return (await keysOf(world, owner.key)).find((key) => key.name === name);
}

async function accountOf(id: number): Promise<OperatorAccountView> {
  return (await apiOf(world, ADMIN_TOKEN).get<OperatorAccountView>(`/api/admin/accounts/${id}/`)).body;
}

t.test(
  'a key is created with limits of calls, does not manage then, and shows them in the list',
  async (t) => {
    // The list shows restrictions from this width on.
    const { page, open } = await signedIn(t, world, owner.key, {
      width: 1_440,
      at: ['keys/new', 'Create key'],
    });
    await page.getByLabel('Name', { exact: true }).fill('Limited');
    await page.getByLabel('Requests per minute').fill('60');
    await page.getByLabel('Tokens per minute').fill(' 100000 ');
    await page.getByLabel('Concurrency').fill('1');
    await page.getByText('Off for new keys').waitFor();
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByRole('button', { name: 'I have saved it' }).click();
    await page.getByRole('heading', { level: 1, name: 'Limited' }).waitFor();
    t.match(await keyNamed('Limited'), {
      rpm_limit: 60,
      tpm_limit: 100_000,
      max_parallel_requests: 1,
      can_manage: false,
    });
    await open('keys', 'Keys');
    await page
      .getByRole('row', { name: /Limited .*60 requests a minute, 100,000 tokens a minute, 1 call at once/ })
      .waitFor();
  },
);

t.test('limits are changed and taken away, and nothing else is sent', async (t) => {
  const { id } = await makeKey(world, owner.key, { name: 'Changing', rpm_limit: 60, tpm_limit: 1_000 });
  const { page } = await signedIn(t, world, owner.key, { at: [`keys/${id}`, 'Changing'] });
  t.equal(await page.getByLabel('Requests per minute').inputValue(), '60');
  await page.getByLabel('Requests per minute').fill('');
  await page.getByLabel('Tokens per minute').fill('2000');
  const sent = page.waitForRequest((request) => request.method() === 'PATCH');
  await page.getByRole('button', { name: 'Save changes' }).click();
  t.same((await sent).postDataJSON(), { rpm_limit: null, tpm_limit: 2_000 });
  await page.getByText('Key “Changing” saved.').waitFor();
  t.match(await keyNamed('Changing'), { rpm_limit: null, tpm_limit: 2_000, max_parallel_requests: null });
});

t.test('an invalid limit shows an error at its field, and nothing is saved', async (t) => {
  const { id } = await makeKey(world, owner.key, { name: 'Wrong', rpm_limit: 60 });
  const { page } = await signedIn(t, world, owner.key, { at: [`keys/${id}`, 'Wrong'] });
  const field = page.getByLabel('Requests per minute');
  await field.fill('0');
  await page.getByRole('button', { name: 'Save changes' }).click();
  await page.locator('#field-rpm_limit-error').getByText('The limit must be 1 or more.').waitFor();
  await page.locator('input[name=rpm_limit]:focus').waitFor();
  t.equal(await field.getAttribute('aria-invalid'), 'true');
  t.match(await keyNamed('Wrong'), { rpm_limit: 60 });
});

t.test('the operator limits an account, and its owner sees that', async (t) => {
  const { accountId, key } = await world.account({ email: 'limits@example.com' });
  const { page } = await signedIn(t, world, ADMIN_TOKEN, {
    at: [`accounts/${accountId}`, 'limits@example.com'],
  });
  await page.getByLabel('Requests per minute').fill('0');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.locator('#field-rpm_limit-error').getByText('must be 1 or more').waitFor();
  await page.getByLabel('Requests per minute').fill('600');
  await page.getByLabel('Concurrency').fill('20');
  // The announcement of one save may still show during the next save, so it does not tell when that one is done.
  const save = async () => {
    const answered = page.waitForResponse((response) => response.request().method() === 'PATCH');
    await page.getByRole('button', { name: 'Save' }).click();
    return (await answered).request().postDataJSON();
  };
  const sent = await save();
  t.same(sent, { rpm_limit: 600, max_parallel_requests: 20 }, 'a limit that was not touched is not sent');
  t.match(await accountOf(accountId), { rpm_limit: 600, tpm_limit: null, max_parallel_requests: 20 });

  const { page: own } = await signedIn(t, world, key);
  await own.getByText('Limits of all keys together: 600 requests a minute, 20 calls in flight.').waitFor();

  await page.getByLabel('Requests per minute').fill('');
  await page.getByLabel('Concurrency').fill('');
  t.same(await save(), { rpm_limit: null, max_parallel_requests: null });
  await page.getByText('Account saved.').waitFor();
  t.match(await accountOf(accountId), { rpm_limit: null, max_parallel_requests: null });
  await own.reload();
  await own.locator('.figure', { hasText: 'Balance' }).waitFor();
  t.equal(await own.getByText('Limits of all keys together').count(), 0);
});

t.test('limits that the operator typed are not left without a question', async (t) => {
  const { accountId } = await world.account({ email: 'asked@example.com' });
  const { page } = await signedIn(t, world, ADMIN_TOKEN, {
    at: [`accounts/${accountId}`, 'asked@example.com'],
  });
  await page.getByLabel('Tokens per minute').fill('5');
  await page.getByRole('link', { name: 'Usage', exact: true }).first().click();
  await page.getByRole('dialog', { name: 'Leave this page?' }).waitFor();
  t.equal(await page.getByLabel('Tokens per minute').inputValue(), '5');
});

t.test('an account begins with the limits that the operator names', async (t) => {
  const { page } = await signedIn(t, world, ADMIN_TOKEN, { at: ['accounts/new', 'Create account'] });
  await page.getByLabel('Email address of the owner').fill('new-limits@example.com');
  await page.getByLabel('Tokens per minute').fill('x');
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.locator('#field-tpm_limit-error').getByText('empty for the configured default').waitFor();
  await page.getByLabel('Tokens per minute').fill('5000');
  const sent = page.waitForRequest((request) => request.method() === 'POST');
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click();
  const body = (await sent).postDataJSON();
  t.notOk('rpm_limit' in body, 'an empty field leaves the limit to the configuration');
  await page.getByRole('button', { name: 'I have saved it' }).click();
  await page.getByRole('heading', { level: 1, name: 'new-limits@example.com' }).waitFor();
  t.equal(await page.getByLabel('Tokens per minute').inputValue(), '5000');
});

t.test('a key that may not manage sees its own limits', async (t) => {
  const reader = await makeKey(world, owner.key, { name: 'Reader', can_manage: false, rpm_limit: 5 });
  const { page, signIn } = await openDashboard(t, world);
  await signIn(reader.key);
  await page.getByText('Limits of this key: 5 requests a minute.').waitFor();
  await page.getByRole('link', { name: 'Settings' }).click();
  await reads(t, page.locator('.settings'), /Requests per minute5Tokens per minutenone/);
  t.equal(await page.getByRole('button', { name: 'Rotate' }).count(), 0);
});
