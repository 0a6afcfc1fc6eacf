import { readFileSync } from 'node:fs';
import t from 'tap';
import { sumOf } from '../../src/dashboard/page/home/pace.ts';
import { until } from '../helper/check/until.ts';
import { apiOf } from '../helper/clients/api.ts';
import { reads, signedIn } from '../helper/dashboard/dashboard.ts';
import { ADMIN_TOKEN, startOwnGateway } from '../helper/start/gateway-in-process.ts';

const world = await startOwnGateway(t);
const { key } = await world.account({ credits: 100 });
const { body: second } = await apiOf(world, key).post<{ id: number; key: string }>('/api/keys/', {
  name: 'Second',
});
await Promise.all(Array.from({ length: 52 }, async () => (await world.chat(key)).text()));
// A settle may arrive after its answer, and so after the settle of the next call.
await world.settled();
await (await world.chat(second.key, { model: 'renamed' })).text();
await world.settled();

const { page, open } = await signedIn(t, world, key, { at: ['billing?view=entries', 'Billing'] });
const rows = page.getByRole('region', { name: 'Ledger entries' }).locator('tbody tr');

/** Opens the ledger without filters. */
async function openLedger() {
  await open('billing?view=entries', 'Billing');
  await until('a full page', async () => (await rows.count()) === 50);
}

t.test('entries come in pages, newest first', async (t) => {
  await openLedger();
  t.equal(await rows.count(), 50);
  await reads(t, rows.first(), /Charge renamed−1\.0047\.00Second/);
  await page.getByRole('button', { name: 'Older' }).click();
  await page.getByText('Page 2').waitFor();
  await page.getByRole('cell', { name: 'Top-up' }).waitFor();
  t.equal(await rows.count(), 4);
  await reads(t, rows.last(), /Top-up\+100\.00100\.00/);
  await page.getByRole('button', { name: 'Newer' }).click();
  await page.getByText('Page 1').waitFor();
  t.ok(await page.getByRole('button', { name: 'Newer' }).isDisabled());
});

t.test('filters show the matching entries only', async (t) => {
  await openLedger();
  const keys = page.getByRole('combobox', { name: 'Key' });
  await keys.selectOption('Second');
  await until('one row', async () => (await rows.count()) === 1);
  await reads(t, rows.first(), /renamed/);
  await page.getByRole('combobox', { name: 'Type' }).selectOption('top_up');
  await page.getByText('No results').waitFor();
  await keys.selectOption('');
  await page.getByRole('cell', { name: 'Top-up' }).waitFor();
  await page.getByRole('combobox', { name: 'Type' }).selectOption('');
  await until('a full page', async () => (await rows.count()) === 50);
  await page.getByRole('combobox', { name: 'Model' }).selectOption('renamed');
  await until('one row', async () => (await rows.count()) === 1);
  await reads(t, rows.first(), /Second/);
});

t.test('a range of days is shown and exported', async (t) => {
  await openLedger();
  const today = new Date().toISOString().slice(0, 10);
  await page.getByLabel('From (UTC)').fill('2001-02-03');
  await page.getByLabel('To (UTC)').fill('2001-02-04');
  await page.getByText('No results').waitFor();
  t.match(page.url(), /from=2001-02-03&to=2001-02-04/);
  await page.getByLabel('To (UTC)').fill(today);
  await until('a full page', async () => (await rows.count()) === 50);
  await page.getByLabel('From (UTC)').fill('2001-02-04');
  await page.getByLabel('To (UTC)').fill('2001-02-04');
  await page.getByText('No results').waitFor();
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export' }).click();
  await page.getByRole('menuitem', { name: 'JSON lines' }).click();
  t.equal(readFileSync(await (await download).path(), 'utf8'), '', 'nothing of other days');
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await until('a full page', async () => (await rows.count()) === 50);
  t.equal(await page.getByLabel('From (UTC)').inputValue(), '');
});

t.test('D20: Billing was a row a call; a statement folds a month by day', async (t) => {
  const other = await world.account({ credits: 10 });
  await world.api('POST', `/api/admin/accounts/${other.accountId}/credits/`, ADMIN_TOKEN, {
    amount: -2.5,
    note: 'Correction',
  });
  for (const model of ['flat', 'tokens', 'flat']) await (await world.chat(other.key, { model })).text();
  await world.settled();
  const { page, faults } = await signedIn(t, world, other.key, { at: ['billing', 'Billing'] });
  const lines = page.getByRole('region', { name: /^Statement of / }).locator('tbody tr');
  await until('three lines', async () => (await lines.count()) === 3);
  await reads(t, lines.filter({ hasText: 'Charges' }), /^\d+ \w+Charges3−2\.04$/);
  await reads(t, lines.filter({ hasText: 'Adjustment' }), /Correction–−2\.50$/);
  await reads(t, lines.filter({ hasText: 'Top-up' }), /–\+10\.00$/);
  await reads(t, page.locator('.figure', { hasText: 'Change' }), /\+5\.46$/);
  await lines.getByRole('button', { name: /: charges$/ }).click();
  const day = page.getByRole('dialog', { name: /^Charges of / });
  await until('its charges', async () => (await day.locator('tbody tr').count()) === 3);
  await reads(t, day, /Sum −2\.04\./);
  await page.waitForURL(/day=\d{4}-\d\d-\d\d/);
  await day
    .getByRole('row', { name: /tokens/ })
    .getByRole('button')
    .click();
  const charge = page.getByRole('dialog', { name: 'Charge', exact: true });
  await charge.getByRole('button', { name: /← Charges of / }).click();
  await day.waitFor();
  await page.keyboard.press('Escape');
  await day.waitFor({ state: 'detached' });
  t.match(await page.evaluate('document.activeElement?.getAttribute("aria-label")'), /: charges$/);
  t.same(faults, []);
});

t.test('H5: the note of a top-up is shown', async (t) => {
  const other = await world.account({ credits: 1 });
  await world.api('POST', `/api/admin/accounts/${other.accountId}/credits/`, ADMIN_TOKEN, {
    amount: 5,
    note: 'Invoice 1001',
  });
  await world.settled();
  const { page } = await signedIn(t, world, other.key, { at: ['billing?view=entries', 'Billing'] });
  await page
    .getByRole('row', { name: /Top-up Invoice 1001/ })
    .getByRole('button')
    .click();
  await page.getByRole('dialog', { name: 'Top-up' }).getByText('Invoice 1001').waitFor();
});

t.test('the parts of a charge add up to it', async (t) => {
  const other = await world.account({ credits: 10 });
  await (await world.chat(other.key, { model: 'tokens', stream: true })).text();
  await world.settled();
  const { page } = await signedIn(t, world, other.key, { at: ['billing?view=entries', 'Billing'] });
  const line = page.getByRole('row', { name: /Charge tokens/ });
  t.ok(Number((await line.boundingBox())?.height) <= 48, 'an entry is one line');
  await line.getByRole('button').click();
  const detail = page.getByRole('dialog', { name: 'Charge' });
  await detail.getByText(/^\d+ output tokens × 2,000\.00 per 1,000,000$/).waitFor();
  const parts = await detail.getByRole('table', { name: 'Calculation' }).locator('td').allTextContents();
  const sum = parts.pop();
  t.ok(parts.length >= 2);
  t.equal(sumOf(parts), sum);
  await reads(t, detail, /Duration[\d.,]+ m?sStreamedYesProvidertest/);
  await page.waitForURL(/entry=req_/);
  await page.keyboard.press('Escape');
  await detail.waitFor({ state: 'detached' });
  t.match(
    await page.evaluate('document.activeElement?.closest("tr")?.textContent'),
    /Charge tokens/,
    'the focus is back at the row',
  );
});

t.test('L1: a free call is not shown as a gain', async (t) => {
  const failing = await startOwnGateway(t, {
    behave: () => ({ status: 500, body: { error: { message: 'no' } } }),
  });
  const other = await failing.account({ credits: 10 });
  await (await failing.chat(other.key)).text();
  await failing.settled();
  const { page } = await signedIn(t, failing, other.key, { at: ['billing?view=entries', 'Billing'] });
  const cell = page.getByRole('row', { name: /Charge/ }).getByRole('cell', { name: '0.00', exact: true });
  t.equal(await cell.textContent(), '0.00');
  t.notMatch(await cell.getAttribute('class'), /gain/);
});

t.test('L9: where one page is all there is no way to others', async (t) => {
  const other = await world.account({ credits: 0 });
  const { page } = await signedIn(t, world, other.key, { at: ['billing?view=entries', 'Billing'] });
  await page.getByText('The ledger is empty').waitFor();
  t.equal(await page.getByRole('button', { name: 'Older' }).count(), 0);
});

t.test('the ledger is exported as it is filtered', async (t) => {
  await openLedger();
  await page.getByRole('combobox', { name: 'Model' }).selectOption('renamed');
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export' }).click();
  await page.getByRole('menuitem', { name: 'CSV' }).click();
  const file = await download;
  t.equal(file.suggestedFilename(), 'ledger.csv');
  const lines = readFileSync(await file.path(), 'utf8')
    .trim()
    .split('\n');
  t.equal(lines.length, 2, 'a head and the one entry');
  t.match(lines[1], /renamed/);
});

t.test('times are local, and UTC on demand', async (t) => {
  await openLedger();
  const time = rows.first().locator('time');
  const [local, utc] = [await time.textContent(), await time.getAttribute('title')];
  t.match(utc, / UTC$/);
  await page.getByRole('button', { name: 'Show UTC' }).click();
  t.equal(await time.textContent(), utc?.replace(/ 20\d\d(?=,)/, ''));
  t.not(local, utc);
});
