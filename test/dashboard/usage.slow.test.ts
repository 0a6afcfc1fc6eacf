import { readFileSync } from 'node:fs';
import t from 'tap';
import { dayThatLasts, until } from '../helper/check/until.ts';
import { apiOf } from '../helper/clients/api.ts';
import { makeKey, reads, signedIn } from '../helper/dashboard/dashboard.ts';
import { ADMIN_TOKEN, startOwnGateway } from '../helper/start/gateway-in-process.ts';

const world = await startOwnGateway(t);
await dayThatLasts();
const owner = await world.account({ key: { name: 'First' }, email: 'one@example.com' });
const second = await makeKey(world, owner.key, { name: 'Second, v1.5 of "two"' });
const twin = await makeKey(world, owner.key, { name: 'First' });
const formula = await makeKey(world, owner.key, { name: '＝1+1' });
const other = await world.account({ key: { name: 'First' }, email: 'two@example.com' });
const callers = [owner.key, second.key, second.key, twin.key, formula.key, other.key, other.key];
for (const key of callers) await (await world.chat(key)).text();
await (await world.chat(second.key, { model: 'unknown' })).text();
await world.settled();
await until('the refusal in the sums', async () => {
  const { body } = await apiOf(world, owner.key).get<{ total: { refused: number } }>(
    '/api/account/usage/?group_by=day',
  );
  return body.total.refused === 1;
});

t.test('credits, requests and tokens are shown by model, key or day, as chart, table and file', async (t) => {
  const { page, faults } = await signedIn(t, world, owner.key, { at: ['usage', 'Usage'] });
  const models = page.getByRole('region', { name: 'Usage by model' });
  await models.getByRole('row', { name: /^flat 5 0 0 / }).waitFor();
  await models.getByRole('row', { name: /^Total 6 1 0 \d+ 5\.00$/ }).waitFor();
  await page.getByText('5.00 in all').waitFor();
  await page.getByRole('combobox', { name: 'Group by' }).selectOption('key');
  const keys = page.getByRole('region', { name: 'Usage by key' });
  await keys.getByRole('row', { name: /^Second, v1\.5 of "two" 3 1 0 \d+ 2\.00$/ }).waitFor();
  await page.getByText('24 hours').click();
  await page.waitForURL(/range=24h/);
  await keys.getByRole('row', { name: /^Second, v1\.5 of "two" 3 1 0 \d+ 2\.00$/ }).waitFor();
  await page.goBack();
  await page.getByRole('radiogroup', { name: 'Measure' }).getByText('Requests').click();
  await page.getByRole('heading', { name: 'Requests by key' }).waitFor();
  await page.getByText('6 in all').waitFor();
  t.match(page.url(), /group_by=key&measure=requests/);
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export CSV' }).click();
  const text = readFileSync(await (await download).path(), 'utf8');
  t.match(text, /^key,requests,refused,failed,tokens,credits,key_id,/);
  t.match(text, /\n"Second, v1\.5 of ""two""",3,1,0,\d+,2\.000000,\d+,/);
  t.match(text, /\n'＝1\+1,/, 'a formula is a text');
  await page.getByRole('combobox', { name: 'Group by' }).selectOption('time');
  const days = page.getByRole('region', { name: 'Usage by day' });
  await days.getByRole('row', { name: /^\d+ \w+ 6 1 0 \d+ 5\.00$/ }).waitFor();
  await page.getByRole('combobox', { name: 'Group by' }).selectOption('');
  await models.getByRole('link', { name: 'flat' }).click();
  await page.getByRole('heading', { level: 1, name: 'Requests' }).waitFor();
  const rows = page.getByRole('region', { name: 'Requests', exact: true }).locator('tbody tr');
  await until('the five of the model', async () => (await rows.count()) === 5);
  t.same(faults, []);
});

t.test('D3: two keys of one name were one series and one row', async (t) => {
  const { page, faults } = await signedIn(t, world, owner.key, { at: ['usage?group_by=key', 'Usage'] });
  const keys = page.getByRole('region', { name: 'Usage by key' });
  await keys.locator('tbody tr').first().waitFor();
  t.equal(await keys.getByRole('link', { name: 'First', exact: true }).count(), 2);
  await keys.getByRole('row', { name: new RegExp(`^First No\\. ${twin.id} 1 0 0 \\d+ 1\\.00$`) }).waitFor();
  const legend = page.getByRole('list', { name: 'Legend of Credits by key' });
  t.equal(
    await legend
      .getByRole('listitem')
      .filter({ hasText: /First \(no\. \d+\)/ })
      .count(),
    2,
    'two series',
  );
  await keys.getByRole('button', { name: 'Key' }).click();
  await reads(t, keys.locator('tbody tr').last(), /^Second/);
  t.same(faults, []);
});

t.test('D3: the operator tells keys of several accounts apart by e-mail, in the file too', async (t) => {
  const { page, faults } = await signedIn(t, world, ADMIN_TOKEN, { at: ['usage?group_by=key', 'Usage'] });
  const keys = page.getByRole('region', { name: 'Usage by key' });
  await keys.getByRole('row', { name: /^First two@example\.com 2 0 0 \d+ 2\.00 / }).waitFor();
  await page
    .getByRole('list', { name: 'Legend of Credits by key' })
    .getByText('First · two@example.com')
    .waitFor();
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export CSV' }).click();
  const text = readFileSync(await (await download).path(), 'utf8');
  t.match(
    text,
    /^key,account,requests,refused,failed,tokens,credits,cost,margin,charged_with_cost,key_id,account_id,/,
  );
  t.match(text, /\nFirst,two@example\.com,2,0,0,\d+,2\.000000,/);
  await page.getByRole('radiogroup', { name: 'Measure' }).getByText('Margin').click();
  await page.getByText('Cost is what providers charge').waitFor();
  await keys.getByRole('link', { name: 'two@example.com' }).click();
  await page.waitForURL(new RegExp(`/operator/accounts/${other.accountId}/usage`));
  await page
    .getByRole('region', { name: 'Usage by model' })
    .getByRole('row', { name: /^flat 2 / })
    .waitFor();
  t.same(faults, []);
});

t.test('a report of too many rows has a chart of the sum, and says so', async (t) => {
  const { page } = await signedIn(t, world, owner.key, { at: ['usage', 'Usage'] });
  await page.route(/group_by=day%2Ckey/, (route) =>
    route.fulfill({ status: 400, json: { error: { message: 'Too many rows.', code: 'invalid_field' } } }),
  );
  await page.getByRole('combobox', { name: 'Group by' }).selectOption('key');
  await page.getByText('There are too many keys to draw each one').waitFor();
  await page
    .getByRole('region', { name: 'Usage by key' })
    .getByRole('row', { name: /^Second, v1\.5 of "two" 3 1 0 / })
    .waitFor();
});
