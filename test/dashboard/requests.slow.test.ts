import type { Page } from 'playwright-core';
import t from 'tap';
import type { RefusedCall } from '../../src/domain/refused-call.ts';
import { dayThatLasts, until } from '../helper/check/until.ts';
import { apiOf } from '../helper/clients/api.ts';
import { reads, signedIn } from '../helper/dashboard/dashboard.ts';
import { accessibilityFaults } from '../helper/dashboard/dashboard-tour.ts';
import { refusedCall } from '../helper/fixtures/book-records.ts';
import { ADMIN_TOKEN, startOwnGateway } from '../helper/start/gateway-in-process.ts';

const DAY_MS = 86_400_000;
const WIDE = { width: 1_440 };

const world = await startOwnGateway(t);
await dayThatLasts();
const { key, accountId } = await world.account({ credits: 100, email: 'requests@example.com' });
const api = apiOf(world, key);
const { body: app } = await api.post<{ id: number; key: string }>('/api/keys/', {
  name: 'Berlin app',
  allowed_ips: ['198.51.100.7'],
});
await (await world.chat(key)).text();
const refused = await world.chat(app.key, {}, { 'x-forwarded-for': '203.0.113.9' });
const id = refused.headers.get('x-request-id') ?? '';
await until('both calls', async () => {
  const { body } = await api.get<{ calls: unknown[] }>('/api/account/calls/');
  return body.calls.length === 2;
});

/** Records refused calls, as the gateway does in batches. */
async function record(calls: readonly (Partial<RefusedCall> & { keyId: number; accountId: number })[]) {
  const made = calls.map((call) => ({ ...refusedCall(call.accountId, call.keyId), ...call }));
  await world.book.recordRefusals({ calls: made, repeated: [], counts: [] }, 20);
}

const rowsOf = (page: Page) =>
  page.getByRole('region', { name: 'Requests', exact: true }).locator('tbody tr');
const barsOf = (page: Page) => page.getByRole('slider', { name: /^Requests by result/ });
const facetOf = (page: Page, title: string) => page.getByRole('group', { name: new RegExp(`^${title}`) });

/** Waits until the summary has a number of calls. */
const totalOf = (page: Page, words: string) =>
  page.getByRole('region', { name: 'Summary' }).getByText(words, { exact: true }).waitFor();

/** Middle of a bar in the plot, by its place from the left. */
async function placeOf(page: Page, place: number) {
  const bars = barsOf(page);
  const [box, last] = [await bars.boundingBox(), Number(await bars.getAttribute('aria-valuemax'))];
  if (!box) throw new Error('the bars are not shown');
  const [left, right] = [44, 4];
  return { x: box.x + left + ((box.width - left - right) * (place + 0.5)) / (last + 1), y: box.y + 60, last };
}

t.test('an owner sees why a call was refused', async (t) => {
  const { page, faults } = await signedIn(t, world, key, { ...WIDE, at: ['requests', 'Requests'] });
  const rows = rowsOf(page);
  await until('two rows', async () => (await rows.count()) === 2);
  await reads(t, rows.first(), /Berlin app–.*403 ip_not_allowed00\.00/);
  await reads(t, rows.last(), /flat200/);
  await page.getByText(/^Duration: p50 [\d.,]+ m?s, p95 /).waitFor();
  await page.getByText(/^First byte: p50 /).waitFor();
  await facetOf(page, 'Result').getByRole('button', { name: 'Refused 1' }).click();
  await until('one row', async () => (await rows.count()) === 1);
  await rows.getByRole('button').click();
  const dialog = page.getByRole('dialog', { name: 'Request' });
  await reads(t, dialog, /Your IP address 203\.0\.113\.9 is not in the allowed_ips/);
  await page.waitForURL(new RegExp(`call=${id}`));
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  t.match(await page.evaluate('document.activeElement?.textContent'), /\d\d:\d\d:\d\d/, 'the focus is back');
  t.notMatch(page.url(), /call=/);
  await page.getByLabel('Find by request ID').fill(id);
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: 'Request' }).getByText('ip_not_allowed').first().waitFor();
  t.same(faults, []);
});

t.test('a refused call is explained by the facts of its time, the check that refused it first', async (t) => {
  const { page, faults } = await signedIn(t, world, key, { at: [`requests?call=${id}`, 'Requests'] });
  const dialog = page.getByRole('dialog', { name: 'Request' });
  const explain = dialog.getByRole('button', { name: 'Explain' });
  await explain.click();
  await dialog.getByRole('heading', { name: 'Why the call was refused' }).waitFor();
  const checks = await dialog.locator('.check').allTextContents();
  t.match(checks[0], /IP address failedThis check refused the callChecked from 203\.0\.113\.9\./);
  t.equal(checks.filter((words) => words.includes('This check refused the call')).length, 1);
  t.equal(await dialog.getByText('your address').count(), 0);
  await dialog.getByText(/^\d passed/).click();
  await dialog
    .getByText(/^Checked at .*:\d\d:\d\d\.$/)
    .first()
    .waitFor();
  const { body } = await api.get<{ calls: { id: string }[] }>('/api/account/calls/?result=ok');
  await page.goto(page.url().replace(id, body.calls[0]?.id ?? ''));
  await dialog.getByText('Complete').waitFor();
  t.equal(await explain.count(), 0, 'a provider is not explained');
  t.same(faults, []);
});

t.test("a check does not take the reader's address for one that the record lacks", async (t) => {
  const owner = await world.account();
  const { body: limited } = await apiOf(world, owner.key).post<{ id: number }>('/api/keys/', {
    name: 'Limited',
    allowed_ips: ['198.51.100.7'],
  });
  const fields = { keyId: limited.id, accountId: owner.accountId, createdAt: Date.now(), model: 'flat' };
  await record([{ ...fields, code: 'model_not_allowed', status: 403 }]);
  const { page } = await signedIn(t, world, owner.key, { at: ['requests', 'Requests'] });
  await rowsOf(page).getByRole('button').click();
  const dialog = page.getByRole('dialog', { name: 'Request' });
  await dialog.getByRole('button', { name: 'Explain' }).click();
  await dialog.getByRole('heading', { name: 'The gateway would accept this call now' }).waitFor();
  await dialog.getByText(/passed, .* not checked/).click();
  await dialog.getByText('Not in the record: caller ip address.').waitFor();
});

t.test('a live list shows new calls as they end, and all cards follow', async (t) => {
  const owner = await world.account({ credits: 100 });
  await (await world.chat(owner.key)).text();
  await world.settled();
  const { page, faults } = await signedIn(t, world, owner.key, { ...WIDE, at: ['requests', 'Requests'] });
  await until('the call', async () => (await rowsOf(page).count()) === 1);
  const live = page.getByRole('button', { name: 'Live' });
  await live.click();
  await page.waitForURL(/live=on/);
  t.equal(await live.getAttribute('aria-pressed'), 'true');
  await (await world.chat(owner.key)).text();
  await until('the next one', async () => (await rowsOf(page).count()) === 2);
  await totalOf(page, '2 requests');
  await facetOf(page, 'Model').getByRole('button', { name: 'flat 2' }).waitFor();
  t.same(faults, []);
});

t.test('the operator sees the requests of all accounts by their e-mail addresses', async (t) => {
  const { page, open } = await signedIn(t, world, ADMIN_TOKEN, {
    width: 1_680,
    at: ['requests', 'Requests'],
  });
  const rows = rowsOf(page);
  await facetOf(page, 'Account')
    .getByRole('button', { name: /^requests@example\.com / })
    .click();
  await page.waitForURL(new RegExp(`account_id=${accountId}(&|$)`));
  await until('its calls alone', async () => (await rows.count()) === 2);
  await rows.filter({ hasText: 'Berlin app' }).getByText('requests@example.com').waitFor();
  for (const row of await rows.all()) {
    t.ok(Number((await row.boundingBox())?.height) <= 48, 'a call is one line');
  }
  await facetOf(page, 'Provider').getByRole('button', { name: 'test 1' }).click();
  await until('the call that reached it', async () => (await rows.count()) === 1);
  await rows.getByRole('button').click();
  const dialog = page.getByRole('dialog', { name: 'Request' });
  await reads(t, dialog, /Provider's costUnknown/);
  await dialog.getByRole('table', { name: 'Attempts' }).getByText('200').waitFor();
  await page.keyboard.press('Escape');
  await page.getByLabel('Find by request ID').fill(id);
  await page.keyboard.press('Enter');
  await dialog.getByRole('button', { name: 'Explain' }).click();
  await dialog.getByText('This check refused the call').waitFor();
  await open(`/operator/accounts/${accountId}/requests`, 'Requests');
  await until('both calls', async () => (await rows.count()) === 2);
  t.equal(await facetOf(page, 'Account').count(), 0);
});

t.test('the parts of a charge add up to it', async (t) => {
  const owner = await world.account({ credits: 100 });
  await (await world.chat(owner.key, { model: 'tokens', max_tokens: 1_000 })).text();
  await world.settled();
  const { page } = await signedIn(t, world, owner.key, { at: ['requests', 'Requests'] });
  await rowsOf(page).getByRole('button').click();
  const cells = page.getByRole('table', { name: 'Calculation' }).locator('td');
  await cells.first().waitFor();
  const amounts = (await cells.allTextContents()).map(Number);
  const sum = amounts.pop() ?? 0;
  t.ok(amounts.length > 1 && sum > 0);
  t.ok(Math.abs(amounts.reduce((one, other) => one + other, 0) - sum) < 1e-9, `${amounts} = ${sum}`);
});

t.test('arrows lead through the list, and equal errors are one click away', async (t) => {
  const owner = await world.account({ credits: 100 });
  for (const model of ['flat', 'nope', 'nope', 'nope']) await (await world.chat(owner.key, { model })).text();
  await until('the calls', async () => {
    const { body } = await apiOf(world, owner.key).get<{ calls: unknown[] }>('/api/account/calls/');
    return body.calls.length === 4;
  });
  const { page } = await signedIn(t, world, owner.key, { ...WIDE, at: ['requests', 'Requests'] });
  await until('four rows', async () => (await rowsOf(page).count()) === 4);
  await rowsOf(page).first().getByRole('button').click();
  const dialog = page.getByRole('dialog', { name: 'Request' });
  await dialog.getByText('model_not_found').first().waitFor();
  t.ok(await dialog.getByRole('button', { name: 'Previous' }).isDisabled());
  for (let press = 0; press < 3; press++) await page.keyboard.press('ArrowDown');
  await dialog.getByText('Complete').waitFor();
  t.ok(await dialog.getByRole('button', { name: 'Next' }).isDisabled());
  await page.keyboard.press('ArrowUp');
  await dialog.getByRole('button', { name: '2 more like this' }).click();
  await until('they alone', async () => (await rowsOf(page).count()) === 3);
  t.match(page.url(), /code=model_not_found&endpoint=%2Fv1%2Fchat%2Fcompletions&model=nope/);
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await page.getByText('Grouped errors').click();
  const groups = page.getByRole('region', { name: 'Grouped errors' }).locator('tbody tr');
  await reads(t, groups.first(), /model_not_found\/v1\/chat\/completionsnope3/);
  await groups.first().getByRole('button').click();
  await until('its calls', async () => (await rowsOf(page).count()) === 3);
});

t.test('D4: filters and range say what the address says, after Clear filters, Back and a link', async (t) => {
  const { page, open } = await signedIn(t, world, key, { ...WIDE, at: ['requests', 'Requests'] });
  const pressed = () => page.locator('.facet [aria-pressed="true"]').allTextContents();
  const rows = rowsOf(page);
  await until('two rows', async () => (await rows.count()) === 2);
  await facetOf(page, 'Model').getByRole('button', { name: 'flat 1' }).click();
  await until('one row', async () => (await rows.count()) === 1);
  t.same(await pressed(), ['flat 1']);
  await totalOf(page, '1 request');
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await until('all rows', async () => (await rows.count()) === 2);
  t.same(await pressed(), []);
  await page.goBack();
  await until('one row again', async () => (await rows.count()) === 1);
  t.same(await pressed(), ['flat 1']);
  await page.getByRole('button', { name: 'Remove filter Model: flat' }).click();
  await until('all rows again', async () => (await rows.count()) === 2);
  await page.getByText('30 days').click();
  await page.waitForURL(/range=30d/);
  await page.getByText('Custom').click();
  await page.getByLabel('From').waitFor();
  await page.goBack();
  await until('30 days', () => page.getByRole('radio', { name: '30 days' }).isChecked());
  t.equal(await page.getByLabel('From').count(), 0);
  await open('requests?model=nonesuch', 'Requests');
  await page.getByText('No results', { exact: true }).waitFor();
  t.same(await pressed(), ['nonesuch 0'], 'what is chosen is shown without any call');
});

t.test('a range is typed to the minute, in the zone of the reader', async (t) => {
  const { page, open } = await signedIn(t, world, key, { at: ['requests', 'Requests'] });
  await page.getByText('Custom').click();
  const from = page.getByLabel('From');
  await from.waitFor();
  const before = page.url();
  // The winter of Berlin is an hour ahead of UTC.
  await from.fill('2026-01-15T14:03');
  t.equal(page.url(), before, 'half of it does not act');
  await page.getByLabel('To', { exact: true }).fill('2026-01-15T14:00');
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.getByText('The end must be after the start.').waitFor();
  await page.getByLabel('To', { exact: true }).fill('2026-01-15T14:33');
  await page.keyboard.press('Enter');
  await page.waitForURL(/from=2026-01-15T13%3A03%3A00\.000Z&to=2026-01-15T13%3A33%3A00\.000Z/);
  await page.getByRole('button', { name: 'Zoom out' }).click();
  await page.waitForURL(/from=2026-01-15T12%3A33%3A00\.000Z&to=2026-01-15T14%3A03%3A00\.000Z/);
  t.equal(await from.inputValue(), '2026-01-15T13:33');
  await open('requests?times=utc&from=2026-01-15T13:03:00.000Z&to=2026-01-15T13:33:00.000Z', 'Requests');
  t.equal(await page.getByLabel('From (UTC)').inputValue(), '2026-01-15T13:03');
});

t.test('F4: a call that failed at 14:03 yesterday is three clicks away', async (t) => {
  const owner = await world.account();
  const keyId = owner.keyId;
  const midnight = Math.floor(Date.now() / DAY_MS) * DAY_MS;
  const at = midnight - DAY_MS + (14 * 60 + 3) * 60_000;
  const others = Array.from({ length: 120 }, (_, call) => midnight - DAY_MS + call * 600_000);
  const fields = { keyId, accountId: owner.accountId };
  await record([
    ...others.map((createdAt) => ({ ...fields, createdAt })),
    { ...fields, createdAt: at, code: 'rate_limit_exceeded', status: 429, message: 'That was one too many.' },
  ]);
  const { page, faults } = await signedIn(t, world, owner.key, {
    ...WIDE,
    at: ['requests?times=utc', 'Requests'],
  });
  await totalOf(page, '121 requests');
  const { last } = await placeOf(page, 0);
  const click = async (place: number) => {
    const { x, y } = await placeOf(page, place);
    await page.mouse.click(x, y);
  };
  await click(last - 1);
  await page.waitForURL(/from=/);
  await until('bars by hour', async () => (await barsOf(page).getAttribute('aria-valuemax')) === '23');
  await click(14);
  await until('bars by minute', async () => (await barsOf(page).getAttribute('aria-valuemax')) === '59');
  const span = new URL(page.url()).searchParams;
  t.equal(span.get('from'), new Date(midnight - DAY_MS + 14 * 3_600_000).toISOString());
  t.equal(span.get('to'), new Date(midnight - DAY_MS + 15 * 3_600_000).toISOString());
  // All cards are under the same range.
  await totalOf(page, '7 requests');
  await until('the rows of the hour', async () => (await rowsOf(page).count()) === 7);
  await facetOf(page, 'Error code').getByRole('button', { name: 'rate_limit_exceeded 1' }).waitFor();
  await rowsOf(page).filter({ hasText: '14:03' }).getByRole('button').click();
  await page.getByRole('dialog', { name: 'Request' }).getByText('That was one too many.').waitFor();
  t.same(faults, []);
});

t.test('a drag over bars and the keyboard zoom, too, and bars have their numbers as a table', async (t) => {
  const owner = await world.account();
  const fields = { keyId: owner.keyId, accountId: owner.accountId };
  const now = Date.now();
  await record(Array.from({ length: 60 }, (_, minute) => ({ ...fields, createdAt: now - minute * 60_000 })));
  const { page, faults } = await signedIn(t, world, owner.key, {
    ...WIDE,
    at: ['requests?range=1h', 'Requests'],
  });
  await until('bars by minute', async () => (await barsOf(page).getAttribute('aria-valuemax')) === '59');
  const [start, end] = [await placeOf(page, 10), await placeOf(page, 19)];
  await page.mouse.move(end.x, end.y);
  await page.mouse.down();
  await page.mouse.move(start.x, start.y, { steps: 4 });
  await page.mouse.up();
  await page.waitForURL(/from=/);
  await until('ten bars', async () => (await barsOf(page).getAttribute('aria-valuemax')) === '9');
  await totalOf(page, '10 requests');
  await until('their rows', async () => (await rowsOf(page).count()) === 10);
  await page.goBack();
  await until('all bars', async () => (await barsOf(page).getAttribute('aria-valuemax')) === '59');
  await barsOf(page).focus();
  await page.keyboard.press('End');
  await page.keyboard.press('ArrowLeft');
  t.equal(await barsOf(page).getAttribute('aria-valuenow'), '58');
  t.match(
    await barsOf(page).getAttribute('aria-valuetext'),
    /\d\d:\d\d–\d\d:\d\d: OK \d, Refused \d, Failed \d$/,
  );
  await page.keyboard.press('Enter');
  await until('one bar', async () => (await barsOf(page).getAttribute('aria-valuemax')) === '0');
  await page.goBack();
  await page.getByRole('button', { name: 'View as table' }).click();
  const table = page.getByRole('region', { name: 'Requests by result as a table' });
  t.equal(await table.locator('caption').textContent(), 'Requests by result');
  t.equal(await table.locator('tbody tr').count(), 60);
  t.same(faults, []);
});

t.test('on a phone the facets are behind a button, and long ones can be searched', async (t) => {
  const owner = await world.account();
  const fields = { keyId: owner.keyId, accountId: owner.accountId, createdAt: Date.now() - 60_000 };
  await record(Array.from({ length: 12 }, (_, number) => ({ ...fields, model: `model-${number}` })));
  const { page } = await signedIn(t, world, owner.key, {
    width: 360,
    height: 740,
    at: ['requests', 'Requests'],
  });
  await page.getByRole('button', { name: 'Filters' }).click();
  const filters = page.getByRole('dialog', { name: 'Filters' });
  await filters.getByLabel('Search model').fill('L-11');
  t.same(await facetOf(page, 'Model').getByRole('listitem').allTextContents(), ['model-11 1']);
  await facetOf(page, 'Model').getByRole('button', { name: 'model-11 1' }).click();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Filters (1)' }).waitFor();
  await until('its card', async () => (await rowsOf(page).count()) === 1);
});

t.test('the page and its panel are accessible, and fit, in both schemes and in forced colours', async (t) => {
  for (const [width, scheme] of [
    [1_440, 'light'],
    [1_440, 'dark'],
    [360, 'light'],
  ] as const) {
    const { page, faults } = await signedIn(t, world, key, { width, scheme, at: ['requests', 'Requests'] });
    await rowsOf(page).first().waitFor();
    t.same(await accessibilityFaults(page), [], `${width} ${scheme}: the list`);
    const tooWide = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
    t.ok(Number(tooWide) <= 0, `${width}: fits the screen`);
    await rowsOf(page).filter({ hasText: 'ip_not_allowed' }).getByRole('button').click();
    await page.getByRole('button', { name: 'Explain' }).click();
    await page.getByText('This check refused the call').waitFor();
    t.same(await accessibilityFaults(page), [], `${width} ${scheme}: the panel`);
    t.same(faults, []);
  }
  const { page } = await signedIn(t, world, key, { at: ['requests?view=grouped', 'Requests'] });
  await page.emulateMedia({ forcedColors: 'active' });
  const swatch = page.locator('.legend pattern').first();
  await swatch.waitFor({ state: 'attached' });
  const ground = await page.evaluate('getComputedStyle(document.body).backgroundColor');
  t.not(await swatch.evaluate('(one) => getComputedStyle(one).color'), ground, 'bars are seen');
});
