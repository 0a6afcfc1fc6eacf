import t from 'tap';
import { keysOf, makeKey, signedIn } from '../helper/dashboard/dashboard.ts';
import { startOwnGateway } from '../helper/start/gateway-in-process.ts';

const world = await startOwnGateway(t);
const owner = await world.account({ key: { name: 'First' } });

t.test('a new key is not created unrestricted with invalid text left in a list', async (t) => {
  const { page } = await signedIn(t, world, owner.key, { at: ['keys/new', 'Create key'] });
  await page.getByLabel('Name', { exact: true }).fill('Meant to be limited');
  const field = page.getByLabel('Blocked countries', { exact: true });
  await field.fill('Atlantis');
  await page.getByRole('button', { name: 'Create key' }).click();
  await page.getByText('“Atlantis” is not the name or code of a country').waitFor();
  await page.locator('input:focus[aria-invalid="true"]').waitFor();
  t.equal(await field.inputValue(), 'Atlantis', 'it stays, to be mended');
  await page.getByLabel('Name', { exact: true }).press('Enter');
  await page.locator('input:focus[aria-invalid="true"]').waitFor();
  t.equal(await page.getByRole('dialog').count(), 0);
  t.notOk((await keysOf(world, owner.key)).some(({ name }) => name === 'Meant to be limited'));
});

t.test('a key is not saved without the invalid text left in a list', async (t) => {
  const { id } = await makeKey(world, owner.key, { name: 'Edited' });
  const { page } = await signedIn(t, world, owner.key, { at: [`keys/${id}`, 'Edited'] });
  await page.getByLabel('Note').fill('Changed as well');
  await page.getByLabel('Allowed browser origins', { exact: true }).fill('https://app.example.com/path');
  await page.getByRole('button', { name: 'Save changes' }).click();
  await page.getByText('is not an origin').waitFor();
  await page.getByText('Not saved.').waitFor();
  const kept = (await keysOf(world, owner.key)).find((key) => key.id === id);
  t.equal(kept?.description, '', 'nothing is saved in part');
});

t.test('valid text is added, also by Enter in another field', async (t) => {
  const { page } = await signedIn(t, world, owner.key, { at: ['keys/new', 'Create key'] });
  await page.getByLabel('Name', { exact: true }).fill('By Enter');
  await page.getByLabel('Blocked countries', { exact: true }).fill('Germany');
  await page.getByLabel('Allowed IP addresses', { exact: true }).fill('10.0.0.7/8, 2001:db8::1');
  await page.getByLabel('Name', { exact: true }).press('Enter');
  await page.getByRole('dialog').getByLabel('Key value').waitFor();
  const made = (await keysOf(world, owner.key)).find(({ name }) => name === 'By Enter');
  t.same(made?.allowed_ips, ['10.0.0.0/8', '2001:db8::1']);
  t.same(made?.blocked_countries, ['DE']);
});

t.test('an expiry of which a part is typed does not count as never', async (t) => {
  const { page } = await signedIn(t, world, owner.key, { at: ['keys/new', 'Create key'] });
  await page.getByLabel('Name', { exact: true }).fill('Half a date');
  await page.getByLabel('Expires').pressSequentially('03');
  await page.getByRole('button', { name: 'Create key' }).click();
  await page.getByText('The date or time is incomplete.').waitFor();
  t.notOk((await keysOf(world, owner.key)).some(({ name }) => name === 'Half a date'));
});

t.test('a call is not explained for now where a part of another moment is typed', async (t) => {
  const { page } = await signedIn(t, world, owner.key, { at: ['explain', 'Explain a call'] });
  await page.getByLabel('Time').pressSequentially('03');
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  await page.getByRole('button', { name: 'Explain' }).click();
  await page.locator('input[name=at]:focus').waitFor();
  t.notOk(asked.some((address) => address.includes('/explain/')));
});

t.test('name, note, limit and webhook are checked once they are left', async (t) => {
  const { page } = await signedIn(t, world, owner.key, { at: ['keys/new', 'Create key'] });
  await page.getByLabel('Limit the spending of this key').check();
  for (const [label, text, words] of [
    ['Name', ' ', 'The name must be one line of 1 to 100 characters.'],
    ['Note', 'x'.repeat(1_001), 'The note can have at most 1000 characters.'],
    ['Limit in credits', '-1', 'The limit must be'],
    ['Webhook URL', 'example.com', 'The webhook URL must be an absolute http or https URL'],
  ] as const) {
    await page.getByLabel(label, { exact: true }).fill(text);
    t.equal(await page.getByText(words).count(), 0, `${label}: not while it is typed first`);
    await page.getByLabel(label, { exact: true }).press('Tab');
    await page.getByText(words).waitFor();
    t.equal(await page.getByLabel(label, { exact: true }).getAttribute('aria-invalid'), 'true', label);
  }
  await page.getByLabel('Name', { exact: true }).fill('Right');
  await page.getByText('The name must be').waitFor({ state: 'detached' });
  const shown = await page.locator('.key-form').textContent();
  t.notMatch(shown, /"" for|webhook_url|null for/, 'in words of the form');
});
