import type { Page } from 'playwright-core';
import t from 'tap';
import { apiOf } from '../helper/clients/api.ts';
import { keysOf, makeKey, signedIn } from '../helper/dashboard/dashboard.ts';
import { ADMIN_TOKEN, startOwnGateway } from '../helper/start/gateway-in-process.ts';

const world = await startOwnGateway(t);
const owner = await world.account({ key: { name: 'First' }, email: 'owner@example.com' });
type Tap = Parameters<typeof signedIn>[0];

const question = (page: Page) => page.getByRole('dialog', { name: 'Leave this page?' });

/** Reloads; the browser itself asks, and the answer is to stay. */
async function isAskedOnReload(t: Tap, page: Page): Promise<void> {
  const asked = page.waitForEvent('dialog');
  // Not awaited: the reload returns only after the dialog has been answered.
  await page.evaluate('void setTimeout(() => location.reload())');
  const dialog = await asked;
  t.equal(dialog.type(), 'beforeunload');
  await dialog.dismiss();
}

/** Back, a link and sign-out each ask first, and stay on the page if told to. */
async function isAskedOnEveryWayOut(t: Tap, page: Page, lost: RegExp, link: string | undefined) {
  const address = page.url();
  const ways: [string, () => Promise<unknown>][] = [
    ['Back', () => page.evaluate('history.back()')],
    ['Back once more', () => page.evaluate('history.back()')],
  ];
  if (link !== undefined) {
    ways.push(
      ['a link', () => page.getByRole('link', { name: link }).first().click()],
      ['signing out', () => page.getByRole('button', { name: 'Sign out' }).click()],
    );
  }
  for (const [way, go] of ways) {
    await go();
    await question(page).getByText(lost).waitFor();
    await question(page).getByRole('button', { name: 'Stay on this page' }).click();
    await question(page).waitFor({ state: 'detached' });
    t.equal(page.url(), address, `${way}: the address is that of the page`);
  }
  await isAskedOnReload(t, page);
}

t.test('the value of a new key is not lost by Back or reload', async (t) => {
  const { page, open } = await signedIn(t, world, owner.key, { at: ['alerts', 'Alerts'] });
  await open('keys/new', 'Create key');
  await page.getByLabel('Name', { exact: true }).fill('Shown once');
  await page.getByRole('button', { name: 'Create key' }).click();
  const value = await page.getByLabel('Key value').inputValue();
  await isAskedOnEveryWayOut(t, page, /shown only once/, undefined);
  t.equal(await page.getByLabel('Key value').inputValue(), value, 'it is there still');
  await page.getByRole('button', { name: 'I have saved it' }).click();
  await page.getByRole('heading', { level: 1, name: 'Shown once' }).waitFor();
  t.equal(await page.getByRole('dialog').count(), 0, 'and then nothing is asked');
});

t.test('nor is the first key of an account that the operator makes', async (t) => {
  const { page, open } = await signedIn(t, world, ADMIN_TOKEN, { at: ['providers', 'Providers'] });
  await open('accounts/new', 'Create account');
  await page.getByLabel('Email address of the owner').fill('guarded@example.com');
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click();
  await page.getByLabel('Key value').waitFor();
  await isAskedOnEveryWayOut(t, page, /shown only once/, undefined);
  await page.getByRole('button', { name: 'I have saved it' }).click();
  await page.getByRole('heading', { level: 1, name: 'guarded@example.com' }).waitFor();
  t.equal(await page.getByRole('dialog').count(), 0);
});

t.test('nor is the new value of a key that was rotated', async (t) => {
  const { id } = await makeKey(world, owner.key, { name: 'Rotated' });
  const { page, open } = await signedIn(t, world, owner.key, { at: ['alerts', 'Alerts'] });
  await open(`keys/${id}`, 'Rotated');
  await page.getByRole('button', { name: 'Rotate', exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click();
  const value = await page.getByLabel('Key value').inputValue();
  await isAskedOnEveryWayOut(t, page, /have to rotate the key again/, undefined);
  t.equal(await page.getByLabel('Key value').inputValue(), value, 'it is there still');
  await page.getByRole('button', { name: 'I have saved it' }).click();
  await page.getByRole('link', { name: 'Billing' }).click();
  await page.getByRole('heading', { level: 1, name: 'Billing' }).waitFor();
});

t.test('edits of a key are not left without a question, and not asked about once saved', async (t) => {
  const { id } = await makeKey(world, owner.key, { name: 'Edited' });
  const { page, open } = await signedIn(t, world, owner.key, { at: ['keys', 'Keys'] });
  await open(`keys/${id}`, 'Edited');
  await page.getByText('No changes.').waitFor();
  await page.getByLabel('Note').fill('Changed');
  await isAskedOnEveryWayOut(t, page, /not saved/, 'Billing');
  t.equal(await page.getByLabel('Note').inputValue(), 'Changed');
  await page.getByRole('button', { name: 'Save changes' }).click();
  await page.getByText('Key “Edited” saved.').waitFor();
  await page.getByRole('link', { name: 'Billing' }).click();
  await page.getByRole('heading', { level: 1, name: 'Billing' }).waitFor();
  t.equal(await page.getByRole('dialog').count(), 0);
});

t.test('who wants to leave does, where they wanted to', async (t) => {
  const { page, open } = await signedIn(t, world, owner.key, { at: ['billing', 'Billing'] });
  await open('keys/new', 'Create key');
  await page.getByLabel('Allowed IP addresses', { exact: true }).fill('10.');
  await page.evaluate('history.back()');
  await question(page).getByRole('button', { name: 'Leave' }).click();
  await page.getByRole('heading', { level: 1, name: 'Billing' }).waitFor();
  await open('keys/new', 'Create key');
  await page.getByLabel('Note').fill('x');
  await page.getByRole('navigation').getByRole('link', { name: 'Alerts' }).click();
  await question(page).getByRole('button', { name: 'Leave' }).click();
  await page.getByRole('heading', { level: 1, name: 'Alerts' }).waitFor();
  t.equal(await page.getByRole('dialog').count(), 0);
});

t.test('the threshold and the operator’s forms are not left without a question either', async (t) => {
  const { page, open: openOwn } = await signedIn(t, world, owner.key);
  await openOwn('alerts', 'Alerts');
  await page.getByRole('button', { name: 'Change alert threshold' }).click();
  await page.getByLabel('Alert threshold in credits').fill('77');
  await isAskedOnReload(t, page);
  const { page: desk, open } = await signedIn(t, world, ADMIN_TOKEN);
  for (const [route, title, label] of [
    [`accounts/${owner.accountId}`, 'owner@example.com', 'Note'],
    [`accounts/${owner.accountId}`, 'owner@example.com', 'Email address'],
    ['accounts/new', 'Create account', 'Initial credits'],
  ] as const) {
    await open('accounts', 'Accounts');
    await open(route, title);
    await desk.getByLabel(label).fill('12');
    await desk.getByRole('link', { name: 'Accounts' }).first().click();
    await question(desk).getByRole('button', { name: 'Leave' }).click();
    await desk.getByRole('heading', { level: 1, name: 'Accounts' }).waitFor();
  }
});

t.test('the end of the session does not take edits away', async (t) => {
  const session = await makeKey(world, owner.key, { name: 'Session' });
  const { id } = await makeKey(world, owner.key, { name: 'Edited until the end' });
  const { page } = await signedIn(t, world, session.key, { at: [`keys/${id}`, 'Edited until the end'] });
  await page.getByLabel('Note').fill('A long note');
  await apiOf(world, owner.key).delete(`/api/keys/${session.id}/`);
  await page.getByRole('button', { name: 'Save changes' }).click();
  const ended = page.getByRole('dialog', { name: 'You have been signed out' });
  await ended.getByText('This API key is deactivated').waitFor();
  await ended.getByRole('button', { name: 'Stay on this page' }).click();
  t.equal(await page.getByLabel('Note').inputValue(), 'A long note', 'it can be copied');
  await page.getByRole('button', { name: 'Save changes' }).click();
  await ended.getByRole('button', { name: 'Leave and sign in' }).click();
  await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
});

t.test('deactivating your own key signs you out with a message', async (t) => {
  const session = await makeKey(world, owner.key, { name: 'Own' });
  const { page } = await signedIn(t, world, session.key, { at: [`keys/${session.id}`, 'Own'] });
  await page.getByRole('button', { name: 'Deactivate' }).click();
  await page.getByRole('dialog').getByText('you will be signed out').waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Deactivate' }).click();
  await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
  await page.getByText('You deactivated the key you were signed in with.').waitFor();
  t.equal((await keysOf(world, owner.key)).find(({ id }) => id === session.id)?.is_active, false);
});

t.test('messages appear in front of an open dialog', async (t) => {
  const { page } = await signedIn(t, world, owner.key, { at: ['keys/new', 'Create key'] });
  await page.getByLabel('Name', { exact: true }).fill('Copied');
  await page.getByRole('button', { name: 'Create key' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Copy' }).first().click();
  const words = page
    .getByRole('dialog')
    .getByRole('status')
    .getByText(/Key value copied\.|to copy\./);
  const box = await words.boundingBox();
  const viewport = page.viewportSize();
  t.ok(box && viewport && box.y > 0 && box.y + box.height < viewport.height, 'on the screen');
  await page.getByRole('button', { name: 'I have saved it' }).click();
  await page.getByRole('heading', { level: 1, name: 'Copied' }).waitFor();
});
