import t from 'tap';
import { keysOf, makeKey, signedIn } from '../helper/dashboard/dashboard.ts';
import { startOwnGateway } from '../helper/start/gateway-in-process.ts';

const world = await startOwnGateway(t);
const owner = await world.account({ key: { name: 'First' } });

const COUNTRIES = {
  UK: 'GB',
  'Great Britain': 'GB',
  England: 'GB',
  USA: 'US',
  'U.S.A.': 'US',
  'United States of America': 'US',
  Turkey: 'TR',
  türkiye: 'TR',
  'Czech Republic': 'CZ',
  'Ivory Coast': 'CI',
  'Côte d’Ivoire': 'CI',
  "Cote d'Ivoire": 'CI',
  Holland: 'NL',
  'The Netherlands': 'NL',
  'South Korea': 'KR',
  Burma: 'MM',
  DEU: 'DE',
  fra: 'FR',
  at: 'AT',
};

const AMOUNTS = {
  '1,5': 'The limit must be written with a decimal point and no thousands separator: 1.5.',
  '1,000': 'no thousands separator: 1000 or 1.',
  '1,234,567.5': 'no thousands separator: 1234567.5.',
  $5: 'The limit must be a number without currency signs, letters or spaces.',
  '5 EUR': 'The limit must be a number without currency signs',
  much: 'The limit must be a number, such as 12.50.',
  '': 'The limit must be a number, such as 12.50.',
  '-1': 'The limit must be 0 or more.',
  '1.2345678': 'The limit must be a number with at most six decimals.',
  '99000000000': 'The limit must be at most 8,500,000,000.',
};

t.test('countries are taken by their usual names and codes', async (t) => {
  const { page } = await signedIn(t, world, owner.key, { at: ['keys/new', 'Create key'] });
  await page.getByLabel('Name', { exact: true }).fill('Blocking');
  const field = page.getByLabel('Blocked countries', { exact: true });
  for (const [name, code] of Object.entries(COUNTRIES)) {
    await field.fill(name);
    await page.locator('.typing-right', { hasText: `(${code})` }).waitFor();
    await field.press('Enter');
  }
  await page.getByRole('button', { name: 'Create key' }).click();
  await page.getByLabel('Key value').waitFor();
  const made = (await keysOf(world, owner.key)).find(({ name }) => name === 'Blocking');
  t.same(made?.blocked_countries, [...new Set(Object.values(COUNTRIES))]);
});

t.test('an amount in another notation is refused with a correct example', async (t) => {
  const { page } = await signedIn(t, world, owner.key, { at: ['keys/new', 'Create key'] });
  await page.getByLabel('Limit the spending of this key').check();
  const field = page.getByLabel('Limit in credits');
  for (const [typed, words] of Object.entries(AMOUNTS)) {
    await field.fill(typed);
    await field.press('Tab');
    await page.locator('#field-spending_limit-error').getByText(words).waitFor();
  }
  t.equal(await field.getAttribute('aria-invalid'), 'true');
});

t.test('a model that there is not is warned of in the form and in the list', async (t) => {
  const { id } = await makeKey(world, owner.key, { name: 'Misspelt', allowed_models: ['flatt'] });
  const { page, open } = await signedIn(t, world, owner.key, { at: ['keys', 'Keys'] });
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
