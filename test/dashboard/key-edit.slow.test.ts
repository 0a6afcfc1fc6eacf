import type { Page } from 'playwright-core';
import t from 'tap';
import { apiOf } from '../helper/clients/api.ts';
import { keysOf, makeKey, signedIn } from '../helper/dashboard/dashboard.ts';
import { accessibilityFaults } from '../helper/dashboard/dashboard-tour.ts';
import { startOwnGateway } from '../helper/start/gateway-in-process.ts';

const world = await startOwnGateway(t);
const owner = await world.account({ key: { name: 'First' } });
const api = apiOf(world, owner.key);
type Tap = Parameters<typeof signedIn>[0];

async function stored(id: number) {
  return (await keysOf(world, owner.key)).find((key) => key.id === id);
}

/** A part of a key's page. */
async function pageOf(t: Tap, id: number, name: string, part: string, session = owner.key, view = {}) {
  const dashboard = await signedIn(t, world, session, { ...view, at: [`keys/${id}?part=${part}`, name] });
  await dashboard.page.getByText('No changes.').waitFor();
  return dashboard.page;
}

const goTo = (page: Page, part: string) => page.getByRole('tab', { name: part }).click();
const save = (page: Page) => page.getByRole('button', { name: 'Save changes' }).click();
const saved = (page: Page) => page.getByText('Saved the key.').waitFor();

const listOf = (page: Page, name: string) => page.getByRole('combobox', { name, exact: true });

/** Types an item into a list, which takes it when the field is left. */
async function addItem(page: Page, label: string, text: string): Promise<void> {
  const field = listOf(page, label);
  await field.fill(text);
  await field.press('Tab');
}

t.test('the API returns every setting that a control changed, in one save', async (t) => {
  const { id } = await makeKey(world, owner.key, { name: 'Plain', can_manage: true });
  const page = await pageOf(t, id, 'Plain', 'settings');
  await page.getByLabel('Name', { exact: true }).fill('Everything');
  await page.getByLabel('Note').fill('Two\nlines');
  await page.getByLabel('Expires').fill('2031-02-03T04:05');
  await page.getByText('3 Feb 2031, 03:05 UTC.').waitFor();
  await page.getByLabel('Webhook URL').fill('https://example.com/hook');
  await page.getByRole('switch', { name: 'Can manage' }).click();
  await goTo(page, 'Limits');
  await page.getByRole('button', { name: 'Add limit' }).click();
  await page.getByLabel('Limit 1 in credits').fill('12.345678');
  await page.getByLabel('Period of limit 1').selectOption('weekly');
  await page.getByRole('button', { name: 'Add limit' }).click();
  await page.getByLabel('Limit 2 in credits').fill('100');
  await page.getByLabel('Period of limit 2').selectOption('total');
  await page.getByLabel('Requests per minute').fill('60');
  await page.getByLabel('Tokens per minute').fill(' 100000 ');
  await page.getByLabel('Concurrency').fill('1');
  await goTo(page, 'Access');
  await addItem(page, 'Models', 'flat');
  await page.getByText('Text', { exact: true }).click();
  await addItem(page, 'Allowed IP addresses', '203.0.113.77/24 2001:db8::1');
  await addItem(page, 'Allowed browser origins', 'https://App.Example.com/');
  await addItem(page, 'Blocked countries', 'Germany');
  await page.getByRole('switch', { name: 'Restrict to certain hours' }).click();
  await page.getByLabel('From (UTC)').fill('22:00');
  await page.getByLabel('Until (UTC)').fill('00:00');
  await save(page);
  await saved(page);
  t.match(await stored(id), {
    name: 'Everything',
    description: 'Two\nlines',
    // 04:05 in Berlin.
    expires_at: '2031-02-03T03:05:00.000Z',
    can_manage: false,
    spending_limit: 12.345678,
    spending_period: 'weekly',
    spending_limits: [{ period: 'total', credits: 100 }],
    rpm_limit: 60,
    tpm_limit: 100_000,
    max_parallel_requests: 1,
    allowed_categories: ['text'],
    allowed_models: ['flat'],
    allowed_ips: ['203.0.113.0/24', '2001:db8::1'],
    allowed_origins: ['https://app.example.com'],
    blocked_countries: ['DE'],
    active_hours: '22:00-24:00',
    webhook_url: 'https://example.com/hook',
  });
  await page.getByText('No changes.').waitFor();
});

t.test('only changed fields are sent', async (t) => {
  const { id } = await makeKey(world, owner.key, {
    name: 'Restricted',
    allowed_ips: ['203.0.113.7', '203.0.113.8'],
    spending_limit: 5,
    spending_limits: [{ period: 'total', credits: 9 }],
    expires_at: '2031-02-03T04:05:06.789Z',
    rpm_limit: 60,
  });
  const page = await pageOf(t, id, 'Restricted', 'limits');
  await page.getByLabel('Remove limit 1').click();
  await page.getByLabel('Requests per minute').fill('');
  await goTo(page, 'Access');
  const field = listOf(page, 'Allowed IP addresses');
  await field.press('Backspace');
  const sent = page.waitForRequest((request) => request.method() === 'PATCH');
  await save(page);
  t.same((await sent).postDataJSON(), {
    spending_limit: null,
    rpm_limit: null,
    allowed_ips: ['203.0.113.7'],
  });
  await saved(page);
  t.match(await stored(id), {
    expires_at: '2031-02-03T04:05:06.789Z',
    spending_limits: [{ period: 'total', credits: 9 }],
  });
});

t.test('a restricted key goes on managing only if the form says so', async (t) => {
  const { id } = await makeKey(world, owner.key, { name: 'Managing', can_manage: true });
  const page = await pageOf(t, id, 'Managing', 'limits');
  await page.getByLabel('Requests per minute').fill('60');
  await page.getByText('A key that manages can lift its own restrictions.').waitFor();
  await save(page);
  await saved(page);
  t.match(await stored(id), { can_manage: true, rpm_limit: 60 });
});

t.test('faults are shown at their fields, named in the bar, and led to across parts', async (t) => {
  const { id } = await makeKey(world, owner.key, { name: 'Faulty' });
  const page = await pageOf(t, id, 'Faulty', 'access');
  await addItem(page, 'Allowed IP addresses', '10.0.0.0/33');
  await page.getByText('“10.0.0.0/33” is not an IPv4 or IPv6 address or CIDR range.').waitFor();
  await goTo(page, 'Limits');
  await page.getByLabel('Tokens per minute').fill('0');
  await page.getByRole('button', { name: 'Add limit' }).click();
  await page.getByLabel('Limit 1 in credits').fill('2,5');
  await goTo(page, 'Settings');
  await page.getByLabel('Webhook URL').fill('nonsense');
  await page.getByLabel('Webhook URL').press('Enter');
  await page.locator('[name=webhook_url]:focus').waitFor();
  const bar = page.locator('.save-bar');
  await bar.getByText('Not saved.').waitFor();
  await bar.getByRole('button', { name: 'Allowed IP addresses' }).click();
  await page.locator('input:focus[aria-invalid="true"]').waitFor();
  t.match(page.url(), /part=access/);
  await bar.getByRole('button', { name: 'Spending limits' }).click();
  await page.getByLabel('Limit 1 in credits').and(page.locator(':focus')).waitFor();
  await page.getByText('written with a decimal point and no thousands separator: 2.5').waitFor();
  await bar.getByRole('button', { name: 'Tokens per minute' }).click();
  await page.locator('[name=tpm_limit]:focus').waitFor();
  await page.getByText('The limit must be 1 or more.').waitFor();
  t.same(await accessibilityFaults(page), []);
  t.match(await stored(id), { webhook_url: '', tpm_limit: null, version: 1 });
});

t.test('text that is left in a list is taken, and a half date is not never', async (t) => {
  const { id } = await makeKey(world, owner.key, { name: 'Left' });
  const page = await pageOf(t, id, 'Left', 'access');
  await listOf(page, 'Blocked countries').fill('France');
  await listOf(page, 'Allowed IP addresses').fill('10.0.0.7/8, 2001:db8::1');
  await save(page);
  await saved(page);
  t.match(await stored(id), { blocked_countries: ['FR'], allowed_ips: ['10.0.0.0/8', '2001:db8::1'] });
  await goTo(page, 'Settings');
  await page.getByLabel('Expires').pressSequentially('03');
  await save(page);
  await page.locator('[name=expires_at]:focus').waitFor();
  await page.getByText('This is incomplete. Complete or clear it.').waitFor();
  t.match(await stored(id), { expires_at: null, version: 2 });
});

t.test('refusals of the gateway appear at their fields, and a failed save beside the button', async (t) => {
  const { id } = await makeKey(world, owner.key, { name: 'Refused' });
  for (const view of [
    { width: 1_440, height: 900 },
    { width: 390, height: 844 },
  ]) {
    const page = await pageOf(t, id, 'Refused', 'settings', owner.key, view);
    let error: object = {
      message: 'Another note, please.',
      param: 'description',
      code: 'invalid_field',
      type: 'x',
    };
    let status = 400;
    await page.route(`**/api/keys/${id}/`, async (route) => {
      if (route.request().method() === 'GET') return route.continue();
      await route.fulfill({ status, contentType: 'application/json', body: JSON.stringify({ error }) });
    });
    await page.getByLabel('Note').fill('Changed');
    await save(page);
    await page.locator('textarea[name=description]:focus').waitFor();
    await page.getByText('Another note, please.').waitFor();
    status = 503;
    error = { message: 'The gateway is restarting.', param: null, code: 'service_unavailable', type: 'x' };
    await save(page);
    const words = page.getByRole('alert').getByText('The gateway is restarting.');
    await words.waitFor();
    await page.locator('.save-bar [role=alert]:focus').waitFor();
    const box = await words.boundingBox();
    t.ok(box && box.y > 0 && box.y + box.height < view.height, 'it is on the screen');
    await page.getByText('Not saved.').waitFor();
  }
});

/** A form with an unsaved address and note, while another tab saved another address and name. */
async function staleForm(t: Tap) {
  const { id } = await makeKey(world, owner.key, { name: 'Shared' });
  const page = await pageOf(t, id, 'Shared', 'access');
  await addItem(page, 'Allowed IP addresses', '10.2.0.0/16');
  await goTo(page, 'Settings');
  await page.getByLabel('Note').fill('Mine');
  await api.patch(`/api/keys/${id}/`, { allowed_ips: ['10.1.0.0/16'], name: 'Renamed', can_manage: true });
  await save(page);
  const conflict = page.getByRole('dialog', { name: 'This key was changed' });
  await conflict.waitFor();
  t.match(await stored(id), { allowed_ips: ['10.1.0.0/16'], description: '' }, 'nothing is overwritten');
  return { id, page, conflict };
}

t.test('a stale form shows the differences, and goes on if you go back to it', async (t) => {
  const { page, conflict, id } = await staleForm(t);
  const rows = await conflict.getByRole('row').allTextContents();
  t.same(rows.slice(1), [
    'Namenot changed by youRenamed',
    'NoteMinenone',
    'Allowed IP addresses10.2.0.0/1610.1.0.0/16',
  ]);
  t.same(await accessibilityFaults(page), []);
  for (const [width, height] of [
    [320, 640],
    [1_280, 500],
  ] as const) {
    await page.setViewportSize({ width, height });
    for (const button of await conflict.getByRole('button').all()) await button.click({ trial: true });
  }
  await conflict.getByRole('button', { name: 'Back to the form' }).click();
  t.equal(await page.getByLabel('Note').inputValue(), 'Mine', 'what is typed is there still');
  t.match(await stored(id), { description: '' });
});

t.test('theirs is kept if you choose it', async (t) => {
  const { page, conflict, id } = await staleForm(t);
  await conflict.getByRole('button', { name: 'Discard mine' }).click();
  await page.getByText('No changes.').waitFor();
  t.equal(await page.getByLabel('Name', { exact: true }).inputValue(), 'Renamed');
  t.match(await stored(id), { allowed_ips: ['10.1.0.0/16'], description: '' });
});

t.test('mine is saved if you choose it, and fields that I left alone stay theirs', async (t) => {
  const { page, conflict, id } = await staleForm(t);
  await conflict.getByRole('button', { name: 'Save mine' }).click();
  await saved(page);
  t.match(await stored(id), { allowed_ips: ['10.2.0.0/16'], description: 'Mine', name: 'Renamed' });
});

t.test('a change that the form does not show is no conflict', async (t) => {
  const { id } = await makeKey(world, owner.key, { name: 'Switched' });
  const page = await pageOf(t, id, 'Switched', 'settings');
  await page.getByLabel('Note').fill('Mine');
  await api.patch(`/api/keys/${id}/`, { is_active: false });
  await save(page);
  await saved(page);
  t.match(await stored(id), { description: 'Mine', is_active: false });
});

t.test('unsaved edits are not left without a question: links, Back, reload', async (t) => {
  const { id } = await makeKey(world, owner.key, { name: 'Edited' });
  const { page } = await signedIn(t, world, owner.key, { at: ['keys?search=Edited', 'Keys'] });
  await page.locator(`a[href$="/keys/${id}"]`).click();
  await goTo(page, 'Settings');
  await page.getByText('No changes.').waitFor();
  await page.getByLabel('Note').fill('Changed');
  await goTo(page, 'Limits');
  t.equal(await page.getByRole('dialog').count(), 0, 'another part of the page is no other page');
  const address = page.url();
  const question = page.getByRole('dialog', { name: 'Leave this page?' });
  for (const go of [
    () => page.getByRole('link', { name: 'Models' }).first().click(),
    () => page.evaluate('history.back()'),
  ]) {
    await go();
    await question.getByText('not saved').waitFor();
    await question.getByRole('button', { name: 'Stay on this page' }).click();
    await question.waitFor({ state: 'detached' });
    t.equal(page.url(), address);
  }
  const asked = page.waitForEvent('dialog');
  // Not awaited: the reload returns only after the dialog has been answered.
  await page.evaluate('void setTimeout(() => location.reload())');
  const dialog = await asked;
  t.equal(dialog.type(), 'beforeunload');
  await dialog.dismiss();
  await save(page);
  await saved(page);
  await page.getByRole('link', { name: 'Models' }).first().click();
  await page.getByRole('heading', { level: 1, name: 'Models' }).waitFor();
  t.equal(await page.getByRole('dialog').count(), 0);
});

t.test('who signs out, or shows another time zone, is asked before unsaved edits are lost', async (t) => {
  const { id } = await makeKey(world, owner.key, { name: 'Kept' });
  const page = await pageOf(t, id, 'Kept', 'settings');
  const note = page.getByLabel('Note');
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  await note.fill('Mine');
  for (const [leave, title] of [
    ['Sign out', 'Leave this page?'],
    ['Show UTC', 'Discard your changes?'],
  ] as const) {
    await page.getByRole('button', { name: leave }).click();
    const question = page.getByRole('dialog', { name: title });
    await question.getByRole('button', { name: 'Stay on this page' }).click();
    await question.waitFor({ state: 'detached' });
    t.equal(await note.inputValue(), 'Mine');
  }
  await save(page);
  await saved(page);
  t.match(await stored(id), { description: 'Mine' }, 'the session lives on');
  await note.fill('Lost');
  await page.getByRole('button', { name: 'Show UTC' }).click();
  await button('Discard').click();
  await page.getByRole('button', { name: 'Show local time' }).waitFor();
  t.equal(await note.inputValue(), 'Mine');
  await note.fill('Lost');
  await button('Sign out').click();
  await button('Leave').click();
  await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
  t.same(await page.context().cookies(), []);
});

const RESTRICTIONS: readonly [what: string, set: (page: Page) => Promise<void>, reason: RegExp][] = [
  [
    'addresses without its own',
    (page) => addItem(page, 'Allowed IP addresses', '203.0.113.0/24'),
    /Your own IP address 127\.0\.0\.1 is not in the allowed IP addresses/,
  ],
  [
    'its own country',
    async (page) => {
      await page.setExtraHTTPHeaders({ 'x-forwarded-for': '8.8.8.8' });
      await addItem(page, 'Blocked countries', 'United States');
    },
    /is in United States, which is blocked/,
  ],
];

for (const [what, set, reason] of RESTRICTIONS) {
  t.test(`giving your own key ${what} asks first`, async (t) => {
    const own = await makeKey(world, owner.key, { name: 'Own' });
    const page = await pageOf(t, own.id, 'Own', 'access', own.key);
    await set(page);
    await save(page);
    const question = page.getByRole('dialog', { name: 'Lock yourself out?' });
    await question.getByText(reason).waitFor();
    t.match(await stored(own.id), { version: 1 }, 'nothing is saved before the answer');
    await question.getByRole('button', { name: 'Cancel' }).click();
    await save(page);
    const answered = page.waitForResponse((response) => response.request().method() === 'PATCH');
    await question.getByRole('button', { name: 'Save anyway' }).click();
    t.equal((await answered).status(), 200);
    t.match(await stored(own.id), { version: 2 }, 'and then it is');
  });
}

t.test('nothing is asked where nobody is locked out, nor about another key', async (t) => {
  const own = await makeKey(world, owner.key, { name: 'Open' });
  const page = await pageOf(t, own.id, 'Open', 'access', own.key);
  await addItem(page, 'Allowed IP addresses', '127.0.0.0/8');
  await addItem(page, 'Allowed browser origins', world.url);
  await save(page);
  await saved(page);
  const other = await makeKey(world, owner.key, { name: 'Other' });
  const second = await pageOf(t, other.id, 'Other', 'access');
  await addItem(second, 'Allowed IP addresses', '203.0.113.0/24');
  await save(second);
  await saved(second);
  t.equal(await second.getByRole('dialog').count(), 0);
});

t.test('a model that there is not is warned of', async (t) => {
  const { id } = await makeKey(world, owner.key, { name: 'Misspelt', allowed_models: ['flatt'] });
  const page = await pageOf(t, id, 'Misspelt', 'access');
  await page.getByText('The catalog does not have “flatt”').waitFor();
  await page.getByText('the key can call no model').waitFor();
  await addItem(page, 'Models', 'flat');
  await page.getByText('the key can call no model').waitFor({ state: 'detached' });
  t.pass('and no longer, once one is right');
});

t.test('hours that wrap are explained, in local time too', async (t) => {
  const { id } = await makeKey(world, owner.key, { name: 'Nightly', active_hours: '22:30-06:00' });
  const page = await pageOf(t, id, 'Nightly', 'access');
  const words = await page.getByText('Every day from 22:30 until 06:00 on the next day, UTC.').textContent();
  t.match(words, /In Europe\/Berlin, with today's offset: (23:30 until 07:00|00:30 until 08:00)\./);
});
