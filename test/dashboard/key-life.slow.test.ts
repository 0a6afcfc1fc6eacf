import type { Page } from 'playwright-core';
import t from 'tap';
import type { KeyView } from '../../src/api/keys/key-view.ts';
import { WIRE_NAMES } from '../../src/domain/key-settings.ts';
import { keysOf, makeKey, reads, signedIn } from '../helper/dashboard/dashboard.ts';
import { accessibilityFaults } from '../helper/dashboard/dashboard-tour.ts';
import { startOwnGateway } from '../helper/start/gateway-in-process.ts';

const world = await startOwnGateway(t);
const owner = await world.account({ key: { name: 'First' } });
type Tap = Parameters<typeof signedIn>[0];

async function namedBy(name: string): Promise<readonly KeyView[]> {
  return (await keysOf(world, owner.key)).filter((key) => key.name === name);
}

async function formOf(t: Tap, name: string) {
  const { page } = await signedIn(t, world, owner.key, { at: ['keys/new', 'Create key'] });
  await page.getByLabel('Name', { exact: true }).fill(name);
  return page;
}

const create = (page: Page) => page.getByRole('button', { name: 'Create key' }).click();

t.test('a key is created in three fields, its value is shown once and works', async (t) => {
  const { page } = await signedIn(t, world, owner.key, { at: ['keys', 'Keys'] });
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.getByRole('link', { name: 'Create key' }).click();
  await page.getByLabel('Name', { exact: true }).fill('From the page');
  await page.getByLabel('Limit 1 in credits').fill('20');
  await page.getByLabel('Period of limit 1').selectOption('weekly');
  await create(page);
  const dialog = page.getByRole('dialog', { name: 'The key “From the page”' });
  await dialog.getByText('Save this key now').waitFor();
  const value = await dialog.getByLabel('Key value').inputValue();
  t.same(await accessibilityFaults(page), []);
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  t.ok(await dialog.isVisible(), 'a slip does not close it');
  const snippet = dialog.getByRole('region', { name: 'Snippet for curl' });
  t.match(await snippet.textContent(), value, 'how to use it');
  await dialog.getByRole('button', { name: 'Copy', exact: true }).first().click();
  await page.getByText('Key value copied.').waitFor();
  t.equal(await page.evaluate('navigator.clipboard.readText()'), value);
  await dialog.getByRole('button', { name: 'Copy for somebody else' }).click();
  await page.getByText('message for somebody else copied').waitFor();
  const message = String(await page.evaluate('navigator.clipboard.readText()'));
  t.match(message, value);
  t.match(message, `Base URL: ${world.url}/v1`);
  t.match(message, 'It can spend 20.00 credits a week');
  await dialog.getByRole('button', { name: 'I have saved it' }).click();
  await page.getByRole('heading', { level: 1, name: 'From the page' }).waitFor();
  t.notOk((await page.content()).includes(value), 'it is not shown again');
  t.match(await namedBy('From the page'), [
    { spending_limit: 20, spending_period: 'weekly', can_manage: false },
  ]);
  t.equal((await world.chat(value)).status, 200);
});

t.test('the folded settings hold every other field of a key, and open at a fault', async (t) => {
  const page = await formOf(t, 'Everything');
  await page.getByText('More settings').click();
  await page.getByRole('switch', { name: 'Restrict to certain hours' }).click();
  // A new key is active, its period is that of the limit, and only a person's key is locked.
  const elsewhere = ['is_active', 'restrictions_locked', 'spending_limit', 'spending_period'];
  for (const name of WIRE_NAMES.filter((one) => !elsewhere.includes(one))) {
    t.ok((await page.locator(`form [name="${name}"], form [data-path="${name}"]`).count()) > 0, name);
  }
  await page.getByLabel('Requests per minute').fill('0');
  await page.getByText('More settings').click();
  await create(page);
  await page.locator('[name=rpm_limit]:focus').waitFor();
  t.equal((await namedBy('Everything')).length, 0);
  t.same(await accessibilityFaults(page), []);
});

t.test('a key without a name is not created, and the fault has the focus', async (t) => {
  const page = await formOf(t, ' ');
  await create(page);
  await page.locator('[name=name]:focus').waitFor();
  await page.getByText('The name must be one line of 1 to 100 characters.').waitFor();
  await page.locator('.save-bar').getByRole('button', { name: 'Name' }).waitFor();
  t.same(await namedBy(''), []);
});

t.test('the value of a new key is not lost by Back or reload', async (t) => {
  const { page } = await signedIn(t, world, owner.key, { at: ['keys', 'Keys'] });
  await page.getByRole('link', { name: 'Create key' }).click();
  await page.getByLabel('Name', { exact: true }).fill('Shown once');
  await create(page);
  const value = await page.getByLabel('Key value').inputValue();
  const address = page.url();
  const question = page.getByRole('dialog', { name: 'Leave this page?' });
  for (const way of ['Back', 'Back once more']) {
    await page.evaluate('history.back()');
    await question.getByText('shown only once').waitFor();
    await question.getByRole('button', { name: 'Stay on this page' }).click();
    await question.waitFor({ state: 'detached' });
    t.equal(page.url(), address, way);
  }
  const asked = page.waitForEvent('dialog');
  await page.evaluate('void setTimeout(() => location.reload())');
  await (await asked).dismiss();
  t.equal(await page.getByLabel('Key value').inputValue(), value, 'it is there still');
  await page.getByRole('button', { name: 'I have saved it' }).click();
  await page.getByRole('heading', { level: 1, name: 'Shown once' }).waitFor();
  t.equal(await page.getByRole('dialog').count(), 0, 'and then nothing is asked');
});

t.test('a key whose answer is lost may have been made, and is found', async (t) => {
  const page = await formOf(t, 'Made unseen');
  await page.route('**/api/keys/', async (route) => {
    // The gateway gets the request, but the page does not get the answer.
    await route.fetch();
    await route.abort();
  });
  await create(page);
  const note = page.locator('.save-bar [role=alert]');
  await note.getByText('whether the key was created. Look for it').waitFor();
  await page.locator('.save-bar [role=alert]:focus').waitFor();
  await note.getByRole('button', { name: 'Look for it' }).click();
  await note.getByText('There is a key of this name.').waitFor();
  const [made] = await namedBy('Made unseen');
  t.match(await note.getByRole('link').getAttribute('href'), new RegExp(`/keys/${made?.id}$`));
});

t.test('one that was not made is not found, and can be created then', async (t) => {
  const page = await formOf(t, 'Not made');
  let isDown = true;
  await page.route('**/api/keys/', (route) =>
    isDown
      ? route.fulfill({ status: 502, contentType: 'text/html', body: '<h1>Bad gateway</h1>' })
      : route.continue(),
  );
  await create(page);
  await page.getByRole('button', { name: 'Look for it' }).click();
  await page.getByText('it was not created').waitFor();
  isDown = false;
  await create(page);
  await page.getByLabel('Key value').waitFor();
  t.equal((await namedBy('Not made')).length, 1);
});

t.test('an answer that never comes counts as lost', async (t) => {
  const page = await formOf(t, 'No answer');
  await page.clock.install();
  const isAsked = page.waitForRequest((request) => request.method() === 'POST');
  await page.route('**/api/keys/', () => undefined);
  await create(page);
  await isAsked;
  await page.clock.fastForward(61_000);
  await page.getByText('whether the key was created').waitFor();
  t.pass('it is told');
});

t.test('a key is deactivated and reactivated, each after a question', async (t) => {
  const { id, key } = await makeKey(world, owner.key, { name: 'On and off' });
  const { page } = await signedIn(t, world, owner.key, { at: [`keys/${id}`, 'On and off'] });
  await page.getByRole('button', { name: 'Deactivate' }).click();
  const dialog = page.getByRole('dialog', { name: 'Deactivate “On and off”?' });
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  t.equal((await world.chat(key)).status, 200, 'nothing happened');
  await page.getByRole('button', { name: 'Deactivate' }).click();
  await dialog.getByRole('button', { name: 'Deactivate' }).click();
  await page.getByText('Key “On and off” deactivated.').waitFor();
  t.equal((await world.chat(key)).status, 401);
  await page.getByText('Inactive', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Reactivate' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Reactivate' }).click();
  await page.getByText('Key “On and off” reactivated.').waitFor();
  t.equal((await world.chat(key)).status, 200);
});

t.test('deactivating your own key signs you out with a message', async (t) => {
  const session = await makeKey(world, owner.key, { name: 'Own' });
  const { page } = await signedIn(t, world, session.key, { at: [`keys/${session.id}`, 'Own'] });
  await page.getByRole('button', { name: 'Deactivate' }).click();
  await page.getByRole('dialog').getByText('you will be signed out').waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Deactivate' }).click();
  await page.waitForURL(/\/sign-in/);
  t.match(await namedBy('Own'), [{ is_active: false }]);
});

t.test('the page of a key says what is left, what it spent, and how its last calls ended', async (t) => {
  const key = await makeKey(world, owner.key, {
    name: 'Busy',
    spending_limits: [{ period: 'total', credits: 1 }],
  });
  for (let calls = 0; calls < 2; calls++) await (await world.chat(key.key)).text();
  await world.settled();
  const { page } = await signedIn(t, world, owner.key, { at: [`keys/${key.id}`, 'Busy'] });
  await reads(t, page.locator('.figures'), /Spent in 30 days1\.00credits/);
  await page.getByText('Limit reached', { exact: true }).waitFor();
  await page.getByText(/0\.00 of 1\.00 left, never resets/).waitFor();
  await page.getByRole('row', { name: /flat 200 1\.00/ }).waitFor();
  await page.getByRole('row', { name: /spending_limit_exceeded/ }).waitFor();
  t.match(await page.getByRole('link', { name: 'All requests' }).getAttribute('href'), `key_id=${key.id}`);
  t.same(await accessibilityFaults(page), []);
  await page.getByRole('button', { name: 'Use key' }).click();
  const dialog = page.getByRole('dialog', { name: 'Use “Busy”' });
  await dialog.getByRole('region', { name: 'Snippet for curl' }).waitFor();
  t.notMatch(await page.content(), key.key, 'the value is nowhere');
});
