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

test('an unknown key is refused at its field, and a known one signs in for this tab only', async (t) => {
  await signIn('sk-tg-nonsense');
  await page.getByText('This API key does not exist.').waitFor();
  t.equal(await page.getByLabel('API key').getAttribute('aria-invalid'), 'true');
  t.same(await accessibilityFaults(page), []);
  await signIn(owner.key);
  await page.locator('h1:focus', { hasText: 'Home' }).waitFor();
  t.match(await page.evaluate('JSON.stringify(sessionStorage)'), owner.key);
  t.equal(await page.evaluate('JSON.stringify(localStorage) + document.cookie'), '{}');
});

test('a key is created with what is typed, and its value is shown once', async (t) => {
  await open('keys/new', 'Create key');
  await page.getByLabel('Name', { exact: true }).fill('App');
  await page.getByLabel('Requests per minute').fill('60');
  const addresses = page.getByLabel('Allowed IP addresses', { exact: true });
  await addresses.fill('127.0.0.0/8 10.0.0.256');
  await button('Create key').click();
  await page.getByText('“10.0.0.256” is not an IPv4').waitFor();
  await page.locator('input[name=allowed_ips]:focus').waitFor();
  t.equal(await addresses.inputValue(), '10.0.0.256', 'the wrong address stays');
  t.equal((await keysOf(world, owner.key)).length, 1, 'nothing is created without it');
  await addresses.fill('10.0.0.2');
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
  await open(`keys/${id}`, 'Shared');
  await page.getByLabel('Allowed IP addresses', { exact: true }).fill('10.2.0.0/16');
  await page.getByLabel('Note').fill('Mine');
  await api.patch(`/api/keys/${id}/`, { allowed_ips: ['10.1.0.0/16'], name: 'Renamed' });
  await button('Save changes').click();
  const conflict = page.getByRole('dialog', { name: 'This key was changed' });
  await conflict.waitFor();
  t.same((await conflict.getByRole('row').allTextContents()).slice(1), [
    'Namenot changed by youRenamed',
    'NoteMinenone',
    'Can managenot changed by youno',
    'Allowed IP addresses10.2.0.0/1610.1.0.0/16',
  ]);
  t.same(await accessibilityFaults(page), []);
  t.match(await settingsOf(id), { allowed_ips: ['10.1.0.0/16'], description: '' }, 'nothing is overwritten');
  await conflict.getByRole('button', { name: 'Save mine' }).click();
  await page.getByText('Key “Renamed” saved.').waitFor();
  t.match(await settingsOf(id), { allowed_ips: ['10.2.0.0/16'], description: 'Mine', name: 'Renamed' });
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
    await page.locator('dialog[open] button:focus').waitFor();
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
  const { id } = await makeKey(world, owner.key, { name: 'Edited' });
  await open('alerts', 'Alerts');
  await open(`keys/${id}`, 'Edited');
  await page.getByLabel('Note').fill('Changed');
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
    t.equal(await page.getByLabel('Note').inputValue(), 'Changed');
  }
  const asked = page.waitForEvent('dialog');
  // Not awaited: the reload returns only after the dialog has been answered.
  await page.evaluate('void setTimeout(() => location.reload())');
  const ofBrowser = await asked;
  t.equal(ofBrowser.type(), 'beforeunload');
  await ofBrowser.dismiss();
  await page.evaluate('history.back()');
  await question.getByRole('button', { name: 'Leave' }).click();
  await titled('Alerts');
  t.equal(await dialog.count(), 0);
});

test('a refused request is found, and explained as it was made', async (t) => {
  const app = await makeKey(world, owner.key, { name: 'Berlin app', allowed_ips: ['198.51.100.7'] });
  const refused = await world.chat(app.key, {}, { 'x-forwarded-for': '203.0.113.9' });
  const id = refused.headers.get('x-request-id') ?? '';
  const made = async () => (await api.get<{ calls: { id: string }[] }>('/api/account/calls/')).body.calls;
  await until('the call', async () => (await made()).some((call) => call.id === id));
  await open('requests', 'Requests');
  await page.getByRole('combobox', { name: 'Result' }).selectOption('refused');
  const row = page.getByRole('row', { name: /Berlin app .*403 ip_not_allowed/ });
  await row.getByRole('button').click();
  const detail = page.getByRole('dialog', { name: 'Request' });
  await reads(t, detail, /Your IP address 203\.0\.113\.9 is not in the allowed_ips/);
  await detail.getByRole('link', { name: 'Explain' }).click();
  await titled('Explain a call');
  t.match(await page.getByRole('combobox', { name: 'Key' }).inputValue(), /^Berlin app/);
  t.equal(await page.getByRole('combobox', { name: 'Endpoint' }).inputValue(), '/v1/chat/completions');
  await page.getByLabel('Caller IP address').fill('203.0.113.9');
  await button('Explain').click();
  await page.getByRole('heading', { name: 'The call would be refused: ip_not_allowed' }).waitFor();
  await page.getByText('Checked from 203.0.113.9.').waitFor();
});

test('the ledger is filtered, and exported as it is filtered', async (t) => {
  await (await world.chat(owner.key, { model: 'renamed' })).text();
  await world.settled();
  await open('billing', 'Billing');
  const rows = page.getByRole('region', { name: 'Ledger entries' }).locator('tbody tr');
  await page.getByRole('cell', { name: 'Top-up' }).waitFor();
  t.ok((await rows.count()) > 2);
  await page.getByRole('combobox', { name: 'Model' }).selectOption('renamed');
  await until('one row', async () => (await rows.count()) === 1);
  await reads(t, rows.first(), /Charge renamed−1\.00/);
  const download = page.waitForEvent('download');
  await button('Export CSV').click();
  const file = await download;
  t.equal(file.suggestedFilename(), 'ledger.csv');
  const lines = readFileSync(await file.path(), 'utf8')
    .trim()
    .split('\n');
  t.equal(lines.length, 2, 'a head and the one entry');
  t.match(lines[1], /renamed/);
});

const PAGES = [
  ['home', 'Home', page.locator('.stacked svg').first()],
  ['requests', 'Requests', page.getByRole('button', { name: / Request / }).first()],
  ['keys', 'Keys', page.getByRole('link', { name: 'Berlin app' })],
  [`keys/${owner.keyId}`, 'First', page.getByText('No changes.')],
  ['billing', 'Billing', page.getByRole('cell', { name: 'Top-up' })],
  ['alerts', 'Alerts', page.getByText('No alerts yet')],
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

// Near the end: if it fails, the session's key is locked out.
test('restricting your own key so that it locks you out asks first', async (t) => {
  await open(`keys/${owner.keyId}`, 'First');
  await page.getByLabel('Can manage keys').uncheck();
  await page.getByLabel('Allowed IP addresses', { exact: true }).fill('203.0.113.0/24');
  await page.getByLabel('Allowed browser origins', { exact: true }).fill('https://app.example.com');
  await button('Save changes').click();
  const question = page.getByRole('dialog', { name: 'Lock yourself out?' });
  await question.waitFor();
  t.same(await question.getByRole('listitem').allTextContents(), [
    'It can no longer manage keys or change anything.',
    'Your own IP address 127.0.0.1 is not in the allowed IP addresses.',
    `The origin of this page, ${world.url}, is not in the allowed origins.`,
  ]);
  await question.getByRole('button', { name: 'Cancel' }).click();
  t.match(await settingsOf(owner.keyId), { version: 1, can_manage: true }, 'nothing is saved before');
  for (const item of ['203.0.113.0/24', 'https://app.example.com']) await button(`Remove ${item}`).click();
  await page.getByLabel('Can manage keys').check();
  await page.getByText('No changes.').waitFor();
});

test('who signs out leaves nothing behind, and an operator tops up exactly once', async (t) => {
  await button('Sign out').click();
  await titled('Sign in');
  t.equal(await page.evaluate('sessionStorage.length'), 0);
  const { accountId } = await world.account({ credits: 10, email: 'topped@example.com' });
  await open(`accounts/${accountId}`, 'Sign in');
  await signIn(ADMIN_TOKEN);
  await titled('topped@example.com');
  let isLost = true;
  await page.route('**/credits/', async (route) => {
    // The gateway gets the request, but the page does not get the answer.
    if (isLost) await route.fetch();
    await (isLost ? route.fulfill({ status: 502, body: 'Bad gateway' }) : route.continue());
    isLost = false;
  });
  await page.getByLabel('Credits', { exact: true }).fill('5.25');
  for (const words of ['did not come from the gateway', 'The balance is now 15.25 credits.']) {
    await button('Top up').click();
    await dialog.getByRole('heading', { name: 'Add 5.25 credits to topped@example.com?' }).waitFor();
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
