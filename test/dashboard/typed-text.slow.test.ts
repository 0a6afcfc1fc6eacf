import t from 'tap';
import { keysOf, makeKey, signedIn } from '../helper/dashboard/dashboard.ts';
import { startOwnGateway } from '../helper/start/gateway-in-process.ts';

const world = await startOwnGateway(t);
const owner = await world.account({ key: { name: 'First' } });

const LISTS = [
  ['Allowed IP addresses', '10.0.0.0/33', /“10\.0\.0\.0\/33” is not an IPv4 or IPv6 address/],
  ['Allowed browser origins', 'https://app.example.com/path', /is not an origin/],
  ['Blocked countries', 'Atlantis', /“Atlantis” is not the name or code of a country/],
] as const;

for (const [label, text, words] of LISTS) {
  t.test(`a new key is not created unrestricted with ${text} left under ${label}`, async (t) => {
    const { page } = await signedIn(t, world, owner.key, { at: ['keys/new', 'Create key'] });
    await page.getByLabel('Name', { exact: true }).fill('Meant to be limited');
    const field = page.getByLabel(label, { exact: true });
    await field.fill(text);
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByText(words).waitFor();
    await page.locator('input:focus[aria-invalid="true"]').waitFor();
    t.equal(await field.inputValue(), text, 'it stays, to be mended');
    await page.getByLabel('Name', { exact: true }).press('Enter');
    await page.locator('input:focus[aria-invalid="true"]').waitFor();
    t.equal(await page.getByRole('dialog').count(), 0);
    t.notOk((await keysOf(world, owner.key)).some(({ name }) => name === 'Meant to be limited'));
  });

  t.test(`a key is not saved without ${text} under ${label}`, async (t) => {
    const { id } = await makeKey(world, owner.key, { name: `Edited for ${text}` });
    const { page } = await signedIn(t, world, owner.key, { at: [`keys/${id}`, `Edited for ${text}`] });
    await page.getByLabel('Note').fill('Changed as well');
    await page.getByLabel(label, { exact: true }).fill(text);
    await page.getByRole('button', { name: 'Save changes' }).click();
    await page.getByText(words).waitFor();
    await page.getByText('Not saved.').waitFor();
    const kept = (await keysOf(world, owner.key)).find((key) => key.id === id);
    t.equal(kept?.description, '', 'nothing is saved in part');
  });
}

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

t.test('of several that are pasted the right ones are taken, and the wrong one stays', async (t) => {
  const { page } = await signedIn(t, world, owner.key, { at: ['keys/new', 'Create key'] });
  await page.getByLabel('Name', { exact: true }).fill('Pasted');
  const field = page.getByLabel('Allowed IP addresses', { exact: true });
  await field.fill('10.0.0.1 10.0.0.256\t10.0.0.3');
  await page.getByRole('button', { name: 'Create key' }).click();
  await page.getByText('“10.0.0.256” is not an IPv4').waitFor();
  t.equal(await field.inputValue(), '10.0.0.256');
  await field.fill('10.0.0.2');
  await page.getByRole('button', { name: 'Create key' }).click();
  await page.getByRole('dialog').getByLabel('Key value').waitFor();
  const made = (await keysOf(world, owner.key)).find(({ name }) => name === 'Pasted');
  t.same(made?.allowed_ips, ['10.0.0.1', '10.0.0.3', '10.0.0.2']);
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
