import t from 'tap';
import { dayThatLasts, until } from '../helper/check/until.ts';
import { apiOf } from '../helper/clients/api.ts';
import { reads, signedIn } from '../helper/dashboard/dashboard.ts';
import { ADMIN_TOKEN, startOwnGateway } from '../helper/start/gateway-in-process.ts';

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

t.test('an owner sees why a call was refused, and explains it', async (t) => {
  const { page, faults } = await signedIn(t, world, key, { at: ['requests', 'Requests'] });
  const rows = page.getByRole('region', { name: 'Requests', exact: true }).locator('tbody tr');
  await until('two rows', async () => (await rows.count()) === 2);
  // The names of keys come with a separate request.
  await rows.first().getByText('Berlin app').waitFor();
  await reads(t, rows.first(), /Berlin app–403 ip_not_allowed00\.00/);
  await reads(t, rows.last(), /flat200/);
  await page.getByText(/^Latency of the last 1 call: p50 [\d.,]+ m?s, p95 .* First byte: p50 /).waitFor();
  await page.getByRole('combobox', { name: 'Result' }).selectOption('refused');
  await until('one row', async () => (await rows.count()) === 1);
  const line = page.getByRole('button', { name: new RegExp(`Request ${id}$`) });
  await line.click();
  const dialog = page.getByRole('dialog', { name: 'Request' });
  await reads(t, dialog, /Your IP address 203\.0\.113\.9 is not in the allowed_ips/);
  t.match(page.url(), new RegExp(`request=${id}`));
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  t.equal(
    String(await page.evaluate('document.activeElement?.textContent')).endsWith(`Request ${id}`),
    true,
    'the focus is back',
  );
  t.notMatch(page.url(), /request=/);
  await page.getByText('View as table').click();
  const bars = page.getByRole('region', { name: 'Requests by result' });
  await until('ok and refused', async () =>
    /11$/.test((await bars.locator('tbody tr').first().textContent()) ?? ''),
  );
  await page.getByText('24 hours').click();
  await page.waitForURL(/range=24h/);
  await page.getByLabel('Request ID').fill(id);
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: 'Request' }).getByText('ip_not_allowed').first().waitFor();
  t.same(faults, []);
});

t.test('a live list shows new calls as they end, while its tab is seen', async (t) => {
  const { page, faults } = await signedIn(t, world, key, { at: ['requests?code=', 'Requests'] });
  const rows = page.getByRole('region', { name: 'Requests', exact: true }).locator('tbody tr');
  await rows.first().waitFor();
  const before = await rows.count();
  const live = page.getByRole('button', { name: 'Live' });
  await live.click();
  await page.waitForURL(/live=on/);
  t.equal(await live.getAttribute('aria-pressed'), 'true');
  await page.evaluate("Object.defineProperty(document, 'hidden', { value: true, configurable: true })");
  await (await world.chat(key)).text();
  await world.settled();
  await page.evaluate("delete document.hidden; document.dispatchEvent(new Event('visibilitychange'))");
  await until('the new call, at once', async () => (await rows.count()) === before + 1);
  await (await world.chat(key)).text();
  await until('the next one', async () => (await rows.count()) === before + 2);
  t.same(faults, []);
});

t.test('a request is explained with its address, model and time filled in', async (t) => {
  const foreign = await world.chat(app.key, {}, { 'x-forwarded-for': '198.51.100.7' });
  await foreign.text();
  const { page } = await signedIn(t, world, key, { at: ['requests', 'Requests'] });
  const rows = page.getByRole('region', { name: 'Requests', exact: true }).locator('tbody tr');
  await until('the call', async () => (await rows.count()) === 5);
  // A click anywhere in the row counts, even where a cell has a tooltip.
  await rows.first().getByText('Berlin app').click();
  await page.getByRole('dialog').getByRole('button', { name: 'Copy id', exact: true }).waitFor();
  await page.keyboard.press('Escape');
  const opener = rows.first().getByRole('button');
  await until('its row has the focus', () =>
    opener.evaluate((button: { matches(css: string): boolean }) => button.matches(':focus')),
  );
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').getByRole('link', { name: 'Explain' }).click();
  await page.getByRole('heading', { level: 1, name: 'Explain a call' }).waitFor();
  t.equal(await page.getByRole('combobox', { name: 'Model' }).inputValue(), 'flat');
  t.match(await page.getByRole('combobox', { name: 'Key' }).inputValue(), /^Berlin app/);
  t.equal(await page.getByRole('combobox', { name: 'Endpoint' }).inputValue(), '/v1/chat/completions');
});

t.test('the operator sees the requests of all accounts by their e-mail addresses', async (t) => {
  const { page, open } = await signedIn(t, world, ADMIN_TOKEN, {
    width: 1_440,
    at: ['requests', 'Requests'],
  });
  const rows = page.getByRole('region', { name: 'Requests', exact: true }).locator('tbody tr');
  await rows
    .first()
    .getByText(/^requests@example\.com/)
    .waitFor();
  await rows.filter({ hasText: 'Berlin app' }).first().waitFor();
  for (const row of await rows.all())
    t.ok(Number((await row.boundingBox())?.height) <= 48, 'a call is one line');
  const hidden = await page
    .getByRole('region', { name: 'Requests', exact: true })
    .evaluate((frame: { scrollWidth: number; clientWidth: number }) => frame.scrollWidth - frame.clientWidth);
  t.equal(hidden, 0, 'every column is seen');
  const account = page.getByLabel('Account', { exact: true });
  await account.fill('nobody');
  await account.press('Enter');
  await page.getByText('No account matches.').waitFor();
  t.equal(await account.inputValue(), 'nobody', 'the text stays');
  await account.fill('Requests@');
  await account.press('Enter');
  await page.waitForURL(new RegExp(`account_id=${accountId}(&|$)`));
  await until('its address', async () => (await account.inputValue()) === 'requests@example.com');
  await rows.first().waitFor();
  await page.getByLabel('Request ID').fill(id);
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: 'Request' }).getByText('ip_not_allowed').first().waitFor();
  await page.getByRole('dialog').getByRole('link', { name: 'Explain' }).click();
  await page.getByRole('button', { name: 'Explain' }).waitFor();
  t.match(await page.getByRole('combobox', { name: 'Key' }).inputValue(), /^Berlin app/);
  await page.getByRole('button', { name: 'Explain' }).click();
  await page.getByRole('heading', { name: /^The call would be/ }).waitFor();
  await open(`accounts/${accountId}/requests`, 'requests@example.com');
  await page.getByRole('button', { name: new RegExp(`Request ${id}$`) }).waitFor();
});

t.test('latency is shown by model', async (t) => {
  const owner = await world.account({ credits: 100 });
  for (const model of ['flat', 'tokens', 'tokens']) await (await world.chat(owner.key, { model })).text();
  await world.settled();
  const { page, faults } = await signedIn(t, world, owner.key, { at: ['requests', 'Requests'] });
  await page.getByRole('button', { name: 'By model' }).click();
  const rows = page.getByRole('region', { name: 'Latency by model' }).locator('tbody tr');
  t.equal(await rows.count(), 2);
  t.match(await rows.filter({ hasText: 'tokens' }).textContent(), /^tokens2(?:[\d.]+ m?s){4}$/);
  t.match(await rows.filter({ hasText: 'flat' }).textContent(), /^flat1(?:[\d.]+ m?s){4}$/);
  t.same(faults, []);
});
