/**
 * The dashboard in one Chromium, on one page: what each change must not break. The `*.slow.test.ts` files beside this
 * have the details. The tests share the page and its session, and each begins at an address of its own.
 */
import { readFileSync } from 'node:fs';
import type { Dialog } from 'playwright-core';
import t, { type Test } from 'tap';
import { until } from '../helper/check/until.ts';
import { apiOf } from '../helper/clients/api.ts';
import { keysOf, makeKey, openDashboard, reads } from '../helper/dashboard/dashboard.ts';
import { accessibilityFaults } from '../helper/dashboard/dashboard-tour.ts';
import { ADMIN_TOKEN, startGatewayInProcess } from '../helper/start/gateway-in-process.ts';

const world = await startGatewayInProcess(t);
const owner = await world.account({ credits: 100, email: 'owner@example.com', key: { name: 'First' } });
const api = apiOf(world, owner.key);
const { page, open, signIn, faults, requests } = await openDashboard(t, world);
const dialog = page.getByRole('dialog');

/** Adds a test that leaves no dialogs or edits if it fails, so that the next one fails for its own reasons only. */
function test(name: string, run: (t: Test) => Promise<void>): void {
  void t.test(name, async (t) => {
    t.teardown(async () => {
      if (t.passing()) return;
      console.error(`The page of the failed test, ${page.url()}:\n${await page.locator('body').innerText()}`);
      const accept = (question: Dialog) => void question.accept();
      page.on('dialog', accept);
      await page.reload();
      page.off('dialog', accept);
    });
    await run(t);
  });
}

async function statusOf(key: string): Promise<number> {
  const response = await world.chat(key);
  await response.text();
  return response.status;
}

async function settingsOf(id: number) {
  return (await keysOf(world, owner.key)).find((key) => key.id === id);
}

const button = (name: string) => page.getByRole('button', { name, exact: true });
const titled = (name: string) => page.getByRole('heading', { level: 1, name, exact: true }).waitFor();

test('an unknown key is refused at its field, and a known one signs in without being kept', async (t) => {
  await button('Use an API key or the admin token').click();
  const field = page.locator('input[name=key]');
  await field.fill('sk-tg-nonsense');
  await page.keyboard.press('Enter');
  await page.getByText('This is neither an API key nor the operator token.').waitFor();
  t.equal(await field.getAttribute('aria-invalid'), 'true');
  t.same(await accessibilityFaults(page), []);
  await field.fill(owner.key);
  await page.keyboard.press('Enter');
  await titled('Home');
  t.match(page.url(), `/dashboard/a/${owner.accountId}/home`);
  const kept = await page.evaluate('JSON.stringify([sessionStorage, localStorage]) + document.cookie');
  t.notMatch(kept, owner.key, 'scripts never see it again');
});

test('a key is created with what is typed, and its value is shown once', async (t) => {
  await open('keys/new', 'Create key');
  await page.getByLabel('Name', { exact: true }).fill('App');
  await page.getByText('More settings').click();
  await page.getByLabel('Requests per minute').fill('60');
  const addresses = page.getByRole('combobox', { name: 'Allowed IP addresses', exact: true });
  await addresses.fill('127.0.0.0/8 10.0.0.2');
  await addresses.press('Tab');
  await button('Create key').click();
  const value = await page.getByLabel('Key value').inputValue();
  await button('I have saved it').click();
  await titled('App');
  t.equal(await statusOf(value), 200);
  t.notOk((await page.content()).includes(value), 'the value is not shown again');
  const made = (await keysOf(world, owner.key)).find(({ name }) => name === 'App');
  t.match(made, { allowed_ips: ['127.0.0.0/8', '10.0.0.2'], rpm_limit: 60, can_manage: false });
});

test('of two editors the second sees what both changed, and overwrites nothing unasked', async (t) => {
  const { id } = await makeKey(world, owner.key, { name: 'Shared' });
  await open(`keys/${id}?part=settings`, 'Shared');
  await page.getByText('No changes.').waitFor();
  await page.getByLabel('Note').fill('Mine');
  await api.patch(`/api/keys/${id}/`, { description: 'Theirs', name: 'Renamed' });
  await button('Save changes').click();
  const conflict = page.getByRole('dialog', { name: 'This key was changed' });
  await conflict.waitFor();
  t.same((await conflict.getByRole('row').allTextContents()).slice(1), [
    'Namenot changed by youRenamed',
    'NoteMineTheirs',
  ]);
  t.same(await accessibilityFaults(page), []);
  t.match(await settingsOf(id), { description: 'Theirs' }, 'nothing is overwritten');
  await conflict.getByRole('button', { name: 'Save mine' }).click();
  await page.getByText('Saved the key.').waitFor();
  t.match(await settingsOf(id), { description: 'Mine', name: 'Renamed' });
});

test('a key is rotated with a grace period, which is ended', async (t) => {
  const { id, key } = await makeKey(world, owner.key, { name: 'Rotated' });
  await open(`keys/${id}`, 'Rotated');
  await button('Rotate').click();
  await page
    .getByRole('dialog', { name: 'Rotate “Rotated”?' })
    .getByRole('button', { name: 'Rotate' })
    .click();
  const value = await page.getByLabel('Key value').inputValue();
  await button('I have saved it').click();
  t.same([await statusOf(key), await statusOf(value)], [200, 200]);
  await page.getByRole('button', { name: 'End now' }).click();
  await button('End it now').click();
  await page.getByText('The previous value of key “Rotated” is no longer valid.').waitFor();
  t.same([await statusOf(key), await statusOf(value)], [401, 200]);
});

test('a key is deactivated after a dialog, which has a name and gives the focus back', async (t) => {
  const { id, key } = await makeKey(world, owner.key, { name: 'Off' });
  await open(`keys/${id}`, 'Off');
  const question = page.getByRole('dialog', { name: 'Deactivate “Off”?' });
  const opener = page.locator('.page-head button:focus', { hasText: 'Deactivate' });
  for (const close of ['Escape', 'Cancel']) {
    await button('Deactivate').press('Enter');
    await question.waitFor();
    await page.locator('[role=dialog] button:focus').waitFor();
    if (close === 'Escape') await page.keyboard.press('Escape');
    else await button('Cancel').press('Enter');
    await opener.waitFor();
    t.equal(await dialog.count(), 0);
  }
  t.equal(await statusOf(key), 200, 'nothing happened');
  await button('Deactivate').press('Enter');
  await question.getByRole('button', { name: 'Deactivate' }).press('Enter');
  await page.getByText('Key “Off” deactivated.').waitFor();
  t.equal(await statusOf(key), 401);
});

test('unsaved work is not left without a question: by a link, Back or reload', async (t) => {
  await open('keys', 'Keys');
  await page.getByRole('link', { name: 'Create key' }).click();
  const name = page.getByLabel('Name', { exact: true });
  await name.fill('Typed');
  const address = page.url();
  const question = page.getByRole('dialog', { name: 'Leave this page?' });
  for (const leave of [
    () => page.getByRole('link', { name: 'Billing' }).first().click(),
    () => page.evaluate('history.back()'),
  ]) {
    await leave();
    await question.getByRole('button', { name: 'Stay on this page' }).click();
    await question.waitFor({ state: 'detached' });
    t.equal(page.url(), address);
    t.equal(await name.inputValue(), 'Typed');
  }
  const asked = page.waitForEvent('dialog');
  // Not awaited: the reload returns only after the dialog has been answered.
  await page.evaluate('void setTimeout(() => location.reload())');
  const ofBrowser = await asked;
  t.equal(ofBrowser.type(), 'beforeunload');
  await ofBrowser.dismiss();
  await page.evaluate('history.back()');
  await question.getByRole('button', { name: 'Leave' }).click();
  await titled('Keys');
  t.equal(await dialog.count(), 0);
});

test('a refused request is found by its filters, and explained as it was made', async (t) => {
  const app = await makeKey(world, owner.key, { name: 'Berlin app', allowed_ips: ['198.51.100.7'] });
  const refused = await world.chat(app.key, {}, { 'x-forwarded-for': '203.0.113.9' });
  const id = refused.headers.get('x-request-id') ?? '';
  const made = async () => (await api.get<{ calls: { id: string }[] }>('/api/account/calls/')).body.calls;
  await until('the call', async () => (await made()).some((call) => call.id === id));
  await open('requests?range=1h&result=refused&code=ip_not_allowed', 'Requests');
  const rows = page.getByRole('region', { name: 'Requests', exact: true }).locator('tbody tr');
  await until('one row', async () => (await rows.count()) === 1);
  await rows.getByRole('button').click();
  const detail = page.getByRole('dialog', { name: 'Request' });
  await reads(t, detail, /Your IP address 203\.0\.113\.9 is not in the allowed_ips/);
  await detail.getByRole('button', { name: 'Explain' }).click();
  await reads(t, detail, /This check refused the call/);
});

test('a month of the ledger is folded by day, and a charge opens', async (t) => {
  await (await world.chat(owner.key, { model: 'renamed' })).text();
  await world.settled();
  await open('billing', 'Billing');
  const lines = page.getByRole('region', { name: /^Statement of / }).locator('tbody tr');
  await reads(t, lines.filter({ hasText: 'Top-up' }), /\+100\.00/);
  await open('billing?view=entries&model=renamed', 'Billing');
  const entries = page.getByRole('region', { name: 'Ledger entries' }).locator('tbody tr');
  await until('one row', async () => (await entries.count()) === 1);
  const download = page.waitForEvent('download');
  await button('Export').click();
  await page.getByRole('menuitem', { name: 'CSV' }).click();
  const lastLines = readFileSync(await (await download).path(), 'utf8')
    .trim()
    .split('\n');
  t.equal(lastLines.length, 2, 'a head and the one entry');
  t.match(lastLines[1], /renamed/);
});

const PAGES = [
  ['home', 'Home', page.getByRole('heading', { name: 'Spend by model' })],
  ['requests', 'Requests', page.getByRole('region', { name: 'Requests', exact: true })],
  ['keys', 'Keys', page.getByRole('link', { name: 'Berlin app' })],
  [`keys/${owner.keyId}`, 'First', page.getByRole('heading', { name: 'Last calls' })],
  ['billing', 'Billing', page.getByRole('region', { name: /^Statement of / })],
  ['alerts', 'Alerts', page.getByText('No alerts yet')],
  ['members', 'Members', page.getByRole('button', { name: 'Invite' })],
  ['limits', 'Limits', page.getByRole('heading', { name: 'Limits' })],
] as const;

for (const [route, title, sight] of PAGES) {
  test(`${title} is accessible`, async (t) => {
    await open(route, title);
    await sight.waitFor();
    t.same(await accessibilityFaults(page), []);
  });
}

test('a phone shows pages without scrolling sideways', async (t) => {
  await page.setViewportSize({ width: 360, height: 740 });
  for (const [route, title, sight] of PAGES.slice(1, 4)) {
    await open(route, title);
    await sight.waitFor();
    t.ok(Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth')) <= 0, title);
  }
  await page.setViewportSize({ width: 1_280, height: 900 });
});

test('who signs out leaves nothing behind, and an operator tops up exactly once', async (t) => {
  await button('Sign out').click();
  await titled('Sign in');
  t.same(await page.context().cookies(), []);
  const { accountId } = await world.account({ credits: 10, email: 'topped@example.com' });
  await signIn(ADMIN_TOKEN);
  await open(`accounts/${accountId}`, 'topped@example.com');
  let isLost = true;
  await page.route('**/credits/', async (route) => {
    // The gateway gets the request, but the page does not get the answer.
    if (isLost) await route.fetch();
    await (isLost ? route.fulfill({ status: 502, body: 'Bad gateway' }) : route.continue());
    isLost = false;
  });
  await page.getByLabel('Credits', { exact: true }).fill('5.25');
  await button('Add credits').click();
  await dialog.getByRole('heading', { name: 'Add 5.25 credits to topped@example.com?' }).waitFor();
  for (const words of ['The gateway did not confirm the change.', 'The balance is now 15.25 credits.']) {
    await dialog.getByRole('button', { name: 'Add the credits' }).click();
    await page.getByText(words).waitFor();
  }
  const { body } = await apiOf(world, ADMIN_TOKEN).get<{ credits_balance: number }>(
    `/api/admin/accounts/${accountId}/`,
  );
  t.equal(body.credits_balance, 15.25);
});

test('nothing went wrong in the page, and nothing was asked from elsewhere', async (t) => {
  t.same(faults, []);
  t.same(
    requests.filter((address) => !address.replace(/^blob:/, '').startsWith(`${world.url}/`)),
    [],
  );
});
