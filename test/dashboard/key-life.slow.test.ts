import t from 'tap';
import type { KeyView } from '../../src/api/keys/key-view.ts';
import { VERSION } from '../../src/config/version.ts';
import { WIRE_NAMES } from '../../src/domain/key-settings.ts';
import { apiOf } from '../helper/clients/api.ts';
import { openDashboard, reads, signedIn } from '../helper/dashboard/dashboard.ts';
import { ADMIN_TOKEN, startOwnGateway } from '../helper/start/gateway-in-process.ts';

const world = await startOwnGateway(t);
const owner = await world.account();

async function keyNamed(name: string): Promise<KeyView> {
  const { body } = await apiOf(world, owner.key).get<{ keys: KeyView[] }>('/api/keys/');
  const key = body.keys.find((candidate) => candidate.name === name);
  if (!key) throw new Error(`there is no key ${name}`);
  return key;
}

t.test('the foot of a page names the version of the gateway', async (t) => {
  const { page } = await signedIn(t, world, owner.key);
  t.match(await page.locator('.side-foot').innerText(), `Tollgate ${VERSION}`);
});

t.test('the form has every field of a key', async (t) => {
  const { page } = await signedIn(t, world, owner.key, { at: ['keys/new', 'Create key'] });
  for (const tick of ['Limit the spending of this key', 'Restrict to certain hours'])
    await page.getByLabel(tick).check();
  // A key of the account has nothing to lock.
  const shown = WIRE_NAMES.filter((name) => name !== 'is_active' && name !== 'restrictions_locked');
  for (const name of shown) {
    const field = page.locator(`[name="${name}"], [id^="field-${name}"]`);
    await field.first().waitFor();
    t.ok((await field.count()) > 0, name);
  }
});

t.test('a key is created, its value is shown once and works', async (t) => {
  const { page, open } = await signedIn(t, world, owner.key);
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await open('keys', 'Keys');
  await page.getByRole('link', { name: 'Create key' }).click();
  await page.getByLabel('Name', { exact: true }).fill('From the page');
  await page.setViewportSize({ width: 375, height: 740 });
  await page.getByRole('button', { name: 'Create key' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('Save this key now').waitFor();
  const field = dialog.getByLabel('Key value');
  const value = await field.inputValue();
  await dialog.locator('input:focus').waitFor();
  const shown = await field.evaluate((element) => {
    const input = element as unknown as Record<'scrollWidth' | 'clientWidth' | 'scrollLeft', number>;
    return [input.scrollWidth > input.clientWidth, input.scrollLeft];
  });
  t.same(shown, [true, 0], 'a value that is longer than its field begins at its beginning');

  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  t.ok(await dialog.isVisible(), 'a slip does not close it');
  const snippet = dialog.getByRole('region', { name: 'Snippet for curl' });
  t.match(await snippet.textContent(), value, 'how to use it');
  await dialog.getByRole('button', { name: 'Copy' }).first().click();
  await page.getByText('Key value copied.').waitFor();
  t.equal(await page.evaluate('navigator.clipboard.readText()'), value);

  await dialog.getByRole('button', { name: 'I have saved it' }).click();
  await page.getByRole('heading', { level: 1, name: 'From the page' }).waitFor();
  t.notOk((await page.content()).includes(value), 'it is not shown again');
  t.equal((await world.chat(value)).status, 200);
});

t.test('the API returns every setting that a control changed', async (t) => {
  const { body: created } = await apiOf(world, owner.key).post<{ id: number }>('/api/keys/', {
    name: 'Plain',
  });
  const { page } = await signedIn(t, world, owner.key, { at: [`keys/${created.id}`, 'Plain'] });
  await page.getByText('No changes.').waitFor();

  await page.getByLabel('Name', { exact: true }).fill('Everything');
  await page.getByLabel('Note').fill('Two\nlines');
  await page.getByLabel('Expires').fill('2031-02-03T04:05');
  await page.getByText('3 Feb 2031, 03:05 UTC.').waitFor();
  await page.getByLabel('Limit the spending of this key').check();
  await page.getByLabel('Limit in credits').fill('12.345678');
  await page.getByLabel('Period').selectOption('weekly');
  await page.getByLabel('Text', { exact: true }).check();
  await page.getByLabel('flat text', { exact: true }).check();
  await page.getByLabel('Allowed IP addresses', { exact: true }).fill('203.0.113.77/24 2001:db8::1');
  await page.getByText('✓ 203.0.113.0/24, 2001:db8::1').waitFor();
  await page.getByLabel('Allowed IP addresses', { exact: true }).press('Enter');
  await page.getByLabel('Allowed browser origins', { exact: true }).fill('https://App.Example.com/');
  await page.getByLabel('Allowed browser origins', { exact: true }).press('Enter');
  await page.getByLabel('Blocked countries', { exact: true }).fill('Germany');
  await page.getByLabel('Blocked countries', { exact: true }).press('Enter');
  await page.getByText('Germany (DE)').waitFor();
  await page.getByLabel('Restrict to certain hours').check();
  await page.getByLabel('From (UTC)').fill('22:00');
  await page.getByLabel('Until (UTC)').fill('00:00');
  await page.getByLabel('Webhook URL').fill('https://example.com/hook');
  await page.getByText("A restricted key can't manage").waitFor();
  await page.getByRole('button', { name: 'Save changes' }).click();
  await page.getByText('Key “Everything” saved.').waitFor();

  t.match(await keyNamed('Everything'), {
    description: 'Two\nlines',
    // 04:05 in Berlin.
    expires_at: '2031-02-03T03:05:00.000Z',
    can_manage: false,
    spending_limit: 12.345678,
    spending_period: 'weekly',
    allowed_categories: ['text'],
    allowed_models: ['flat'],
    allowed_ips: ['203.0.113.0/24', '2001:db8::1'],
    allowed_origins: ['https://app.example.com'],
    blocked_countries: ['DE'],
    active_hours: '22:00-24:00',
    webhook_url: 'https://example.com/hook',
  });
  await page.getByText('No changes.').waitFor();
  t.equal(await page.getByLabel('Can manage keys').isChecked(), false);
});

t.test('removing settings sends these fields only', async (t) => {
  const { body: created } = await apiOf(world, owner.key).post<{ id: number }>('/api/keys/', {
    name: 'Restricted',
    allowed_ips: ['203.0.113.7', '203.0.113.8'],
    active_hours: '08:00-24:00',
    spending_limit: 5,
    expires_at: '2031-02-03T04:05:06.789Z',
  });
  const { page } = await signedIn(t, world, owner.key, { at: [`keys/${created.id}`, 'Restricted'] });
  await page.getByRole('button', { name: 'Remove 203.0.113.8' }).click();
  await page.getByLabel('Limit the spending of this key').uncheck();
  const sent = page.waitForRequest((request) => request.method() === 'PATCH');
  await page.getByRole('button', { name: 'Save changes' }).click();
  t.same((await sent).postDataJSON(), { allowed_ips: ['203.0.113.7'], spending_limit: null });
  await page.getByText('Key “Restricted” saved.').waitFor();
  t.match(await keyNamed('Restricted'), {
    active_hours: '08:00-24:00',
    expires_at: '2031-02-03T04:05:06.789Z',
    spending_limit: null,
  });
});

t.test('hours that wrap are explained, in local time too', async (t) => {
  const { page } = await signedIn(t, world, owner.key, { at: ['keys/new', 'Create key'] });
  await page.getByLabel('Restrict to certain hours').check();
  await page.getByLabel('From (UTC)').fill('22:30');
  await page.getByLabel('Until (UTC)').fill('06:00');
  const words = await page.getByText('Every day from 22:30 until 06:00 on the next day, UTC.').textContent();
  t.match(words, /In Europe\/Berlin, with today's offset: (23:30 until 07:00|00:30 until 08:00)\./);
});

t.test('a key is deactivated and reactivated, each after a question', async (t) => {
  const { body: created } = await apiOf(world, owner.key).post<{ id: number; key: string }>('/api/keys/', {
    name: 'On and off',
  });
  const { page, open } = await signedIn(t, world, owner.key, { at: [`keys/${created.id}`, 'On and off'] });
  await page.getByRole('button', { name: 'Deactivate' }).click();
  const dialog = page.getByRole('dialog', { name: 'Deactivate “On and off”?' });
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  t.equal((await world.chat(created.key)).status, 200, 'nothing happened');

  await page.getByRole('button', { name: 'Deactivate' }).click();
  await dialog.getByRole('button', { name: 'Deactivate' }).click();
  const toast = page.getByText('Key “On and off”');
  await toast.waitFor();
  await reads(t, toast, /deactivated\.$/);
  t.equal((await world.chat(created.key)).status, 401);

  await page.getByRole('button', { name: 'Reactivate' }).click();
  await page.getByRole('dialog').waitFor();
  t.equal(await toast.count(), 0, 'a dialog begins without what was said before');
  await page.getByRole('dialog').getByRole('button', { name: 'Reactivate' }).click();
  await page.getByText('Key “On and off” reactivated.').waitFor();
  await open('keys', 'Keys');
  t.equal(await toast.count(), 0, 'and so does another page');
  t.equal((await world.chat(created.key)).status, 200);
});

t.test('keys are searched, and shown by status', async (t) => {
  const api = apiOf(world, owner.key);
  const { body } = await api.post<{ id: number }>('/api/keys/', {
    name: 'Needle',
    description: 'in the hay',
  });
  await api.delete(`/api/keys/${body.id}/`);
  const { page } = await signedIn(t, world, owner.key, { at: ['keys', 'Keys'] });
  await page.getByLabel('Search').fill('HAY');
  await page.getByText(/^1 of \d+ keys$/).waitFor();
  t.equal(await page.getByRole('rowheader', { name: 'Needle' }).count(), 1);
  await page.getByLabel('Status').selectOption('active');
  await page.getByText('No results').waitFor();
  await page.getByLabel('Status').selectOption('inactive');
  await page.getByRole('row', { name: /Needle.*Inactive/ }).waitFor();
});

t.test('keys that are not in use are marked, and found by a filter that the address keeps', async (t) => {
  const { accountId, key } = await world.account({ key: { name: 'In use' } });
  await world.api('POST', '/api/keys/', key, { name: 'Never called' });
  await (await world.chat(key)).text();
  await world.settled();
  const { page, signIn, open } = await openDashboard(t, world);
  await signIn(key);
  await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
  await open('keys', 'Keys');
  const fresh = page.getByRole('row', { name: /Never called / }).getByText('Never used');
  t.match(await fresh.getAttribute('class'), /badge-plain/, 'a new key is no reason to warn');
  const used = page.getByRole('row', { name: /In use .*(just now|minutes? ago)/ });
  await used.waitFor();
  t.equal(await used.getByText('Unused').count(), 0);
  t.match(await used.locator('.last-used time').getAttribute('title'), /^\d+ \w+ \d{4}, \d\d:\d\d:\d\d$/);
  await page.getByLabel('Used').selectOption('no');
  await page.getByText('1 of 2 keys').waitFor();
  t.match(page.url(), /#\/keys\?use=no$/);

  // Thirty-one days later, by the browser's clock.
  await page.clock.setFixedTime(Date.now() + 31 * 86_400_000);
  await page.reload();
  await page.getByText('2 of 2 keys').waitFor();
  await page.getByRole('row', { name: /In use .*last month Unused/ }).waitFor();
  t.match(await fresh.getAttribute('class'), /badge-warning/, 'one that is old by now is');
  await page.getByLabel('Used').selectOption('yes');
  await page.getByText('No results').waitFor();
  await page.goBack();
  await page.getByRole('link', { name: 'Never called' }).click();
  await page.getByText('Never used').waitFor();

  const desk = await openDashboard(t, world);
  await desk.signIn(ADMIN_TOKEN);
  await desk.page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
  await desk.open(`accounts/${accountId}/keys?use=no`, /@example\.com/);
  await desk.page.getByText('1 of 2 keys').waitFor();
});
