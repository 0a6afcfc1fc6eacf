import t from 'tap';
import { apiOf } from '../helper/clients/api.ts';
import { makeKey, signedIn } from '../helper/dashboard/dashboard.ts';
import { startOwnGateway } from '../helper/start/gateway-in-process.ts';

const world = await startOwnGateway(t);
const { key } = await world.account();

async function newKeyForm(t: Parameters<typeof signedIn>[0]) {
  const { page } = await signedIn(t, world, key, { at: ['keys/new', 'Create key'] });
  return page;
}

t.test('an address is checked while it is typed', async (t) => {
  const page = await newKeyForm(t);
  const field = page.getByLabel('Allowed IP addresses', { exact: true });
  await field.pressSequentially('203.0.113.');
  await page.getByText('“203.0.113.” is not an IPv4 or IPv6 address or CIDR range.').waitFor();
  await field.pressSequentially('7');
  await page.getByText('✓ 203.0.113.7').waitFor();
  await field.press('Enter');
  await page.getByRole('button', { name: 'Remove 203.0.113.7' }).waitFor();
  t.equal(await field.inputValue(), '');
});

t.test('an origin is checked while you type, and a wrong one is not added', async (t) => {
  const page = await newKeyForm(t);
  const field = page.getByLabel('Allowed browser origins', { exact: true });
  await field.fill('https://example.com/path');
  await field.press('Enter');
  await page.getByText('“https://example.com/path” is not an origin.').waitFor();
  t.equal(await field.getAttribute('aria-invalid'), 'true');
  t.equal(await field.inputValue(), 'https://example.com/path', 'it stays, to be mended');
});

t.test('errors that the form finds appear at their fields, and the first gets the focus', async (t) => {
  const page = await newKeyForm(t);
  await page.getByLabel('Limit the spending of this key').check();
  await page.getByLabel('Limit in credits').fill('1.2345678');
  await page.getByLabel('Webhook URL').fill('ftp://example.com');
  await page.getByRole('button', { name: 'Create key' }).click();
  await page.getByText('The name must be one line of 1 to 100 characters.').waitFor();
  await page.getByText('The limit must be a number with at most six decimals.').waitFor();
  await page.getByText('The webhook URL must be an absolute http or https URL').waitFor();
  await page.locator('input[name=name]:focus').waitFor();
  const { body } = await apiOf(world, key).get<{ keys: unknown[] }>('/api/keys/');
  t.equal(body.keys.length, 1, 'nothing was created');
});

t.test('errors of the gateway appear at their fields', async (t) => {
  const page = await newKeyForm(t);
  await page.getByLabel('Name', { exact: true }).fill('Too many');
  const many = Array.from({ length: 1_001 }, (_, index) => `10.0.${index >> 8}.${index & 255}`);
  await page.getByLabel('Allowed IP addresses', { exact: true }).fill(many.join(' '));
  await page.getByLabel('Allowed IP addresses', { exact: true }).press('Enter');
  await page.getByRole('button', { name: 'Create key' }).click();
  await page.getByText('allowed_ips may have at most 1000 items; it has 1001.').waitFor();
  t.equal(
    await page.getByLabel('Allowed IP addresses', { exact: true }).getAttribute('aria-invalid'),
    'true',
  );
});

t.test('a model that there is not is warned of in the form and in the list', async (t) => {
  const { id } = await makeKey(world, key, { name: 'Misspelt', allowed_models: ['flatt'] });
  const { page, open } = await signedIn(t, world, key, { at: ['keys', 'Keys'] });
  await page
    .getByRole('row', { name: /Misspelt/ })
    .getByText('“flatt” is not in the catalog')
    .waitFor();
  await open(`keys/${id}`, 'Misspelt');
  await page.getByText('The catalog does not have “flatt”').waitFor();
  await page.getByText('the key may be unable to call any model').waitFor();
  await page.getByLabel('flat text', { exact: true }).check();
  await page.getByText('the key may be unable to call any model').waitFor({ state: 'detached' });
  await page.getByLabel(/^flatt/).click();
  await page.getByText('The catalog does not have').waitFor({ state: 'detached' });
  t.pass('and no longer, once it is mended');
});
