import t from 'tap';
import { apiOf } from '../helper/clients/api.ts';
import { keysOf, makeKey, signedIn } from '../helper/dashboard/dashboard.ts';
import { accessibilityFaults } from '../helper/dashboard/dashboard-tour.ts';
import { startOwnGateway } from '../helper/start/gateway-in-process.ts';

const world = await startOwnGateway(t);
const owner = await world.account({ key: { name: 'First' } });
const api = apiOf(world, owner.key);

async function settingsOf(id: number) {
  return (await keysOf(world, owner.key)).find((key) => key.id === id);
}

/** A form with an unsaved address and note, while another tab saved another address and name. */
async function staleForm(t: Parameters<typeof signedIn>[0]) {
  const { id } = await makeKey(world, owner.key, { name: 'Shared' });
  const { page } = await signedIn(t, world, owner.key, { at: [`keys/${id}`, 'Shared'] });
  await page.getByLabel('Allowed IP addresses', { exact: true }).fill('10.2.0.0/16');
  await page.getByLabel('Note').fill('Mine');
  await api.patch(`/api/keys/${id}/`, { allowed_ips: ['10.1.0.0/16'], name: 'Renamed' });
  await page.getByRole('button', { name: 'Save changes' }).click();
  const conflict = page.getByRole('dialog', { name: 'This key was changed' });
  await conflict.waitFor();
  t.match(await settingsOf(id), { allowed_ips: ['10.1.0.0/16'], description: '' }, 'nothing is overwritten');
  return { id, page, conflict };
}

/** Sizes of phones, and a low window of a desktop. */
const SMALL = [
  [375, 740],
  [375, 667],
  [320, 640],
  [1_280, 500],
] as const;

t.test('a stale form shows the differences, field by field', async (t) => {
  const { page, conflict, id } = await staleForm(t);
  const rows = await conflict.getByRole('row').allTextContents();
  t.same(rows.slice(1), [
    'Namenot changed by youRenamed',
    'NoteMinenone',
    'Can managenot changed by youno',
    'Allowed IP addresses10.2.0.0/1610.1.0.0/16',
  ]);
  t.same(await accessibilityFaults(page), []);
  for (const [width, height] of SMALL) {
    await page.setViewportSize({ width, height });
    const table = await conflict.locator(width < 640 ? 'table' : '.table-frame').boundingBox();
    const words = await conflict.getByText('Fields that you did not change keep').boundingBox();
    const isBelow = Number(words?.y) >= Number(table?.y) + Number(table?.height);
    t.ok(isBelow, `${width} × ${height}: nothing lies over the table`);
    for (const button of await conflict.getByRole('button').all()) {
      await button.click({ trial: true });
      const { y = -1, height: high = 0 } = (await button.boundingBox()) ?? {};
      t.ok(y >= 0 && y + high <= height, `${width} × ${height}: the button is reached`);
    }
  }
  await conflict.getByRole('button', { name: 'Back to the form' }).click();
  t.equal(await page.getByLabel('Note').inputValue(), 'Mine', 'what is typed is there still');
  t.match(await settingsOf(id), { description: '' });
});

t.test('theirs is kept if you choose it', async (t) => {
  const { page, conflict, id } = await staleForm(t);
  await conflict.getByRole('button', { name: 'Discard mine' }).click();
  await page.getByText('No changes.').waitFor();
  await page.getByRole('button', { name: 'Remove 10.1.0.0/16' }).waitFor();
  t.equal(await page.getByLabel('Name', { exact: true }).inputValue(), 'Renamed');
  t.match(await settingsOf(id), { allowed_ips: ['10.1.0.0/16'], description: '' });
});

t.test('mine is saved if you choose it, and fields that I left alone stay theirs', async (t) => {
  const { page, conflict, id } = await staleForm(t);
  await conflict.getByRole('button', { name: 'Save mine' }).click();
  await page.getByText('Key “Renamed” saved.').waitFor();
  t.match(await settingsOf(id), { allowed_ips: ['10.2.0.0/16'], description: 'Mine', name: 'Renamed' });
  t.equal(await page.getByRole('dialog').count(), 0);
});

t.test('a third change, made while it was asked about, is asked about as well', async (t) => {
  const { page, conflict, id } = await staleForm(t);
  await api.patch(`/api/keys/${id}/`, { allowed_ips: ['10.3.0.0/16'] });
  await conflict.getByRole('button', { name: 'Save mine' }).click();
  await conflict.getByRole('cell', { name: '10.3.0.0/16' }).waitFor();
  t.match(await settingsOf(id), { allowed_ips: ['10.3.0.0/16'] });
  await conflict.getByRole('button', { name: 'Save mine' }).click();
  await page.getByText('Key “Renamed” saved.').waitFor();
  t.match(await settingsOf(id), { allowed_ips: ['10.2.0.0/16'] });
});

t.test('switching a key off beside its form takes no edits away, and is no conflict', async (t) => {
  const { id } = await makeKey(world, owner.key, { name: 'Switched' });
  const { page } = await signedIn(t, world, owner.key, { at: [`keys/${id}`, 'Switched'] });
  await page.getByLabel('Note').fill('Before');
  await page.getByRole('button', { name: 'Deactivate' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Deactivate' }).click();
  await page.getByText('Key “Switched” deactivated.').waitFor();
  await page.getByRole('button', { name: 'Save changes' }).click();
  await page.getByText('Key “Switched” saved.').waitFor();
  await api.patch(`/api/keys/${id}/`, { is_active: true });
  await page.getByLabel('Note').fill('After');
  await page.getByRole('button', { name: 'Save changes' }).click();
  await page.getByText('No changes.').waitFor();
  t.match(await settingsOf(id), { description: 'After', is_active: true });
});

t.test('a key that was changed meanwhile is not switched off before that is seen', async (t) => {
  const { id, prefix } = await makeKey(world, owner.key, { name: 'Stale' });
  const { page } = await signedIn(t, world, owner.key, { at: [`keys/${id}`, 'Stale'] });
  await api.patch(`/api/keys/${id}/`, { name: 'In production', rpm_limit: 60 });
  await page.getByRole('button', { name: 'Deactivate' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Deactivate' }).click();
  const conflict = page.getByRole('dialog', { name: 'This key was changed' });
  await conflict.getByText('You have not deactivated it yet.').waitFor();
  await page.locator('[role=alert]:focus').waitFor();
  const rows = await conflict.getByRole('row').allTextContents();
  t.same(rows.slice(1), ['NameStaleIn production', 'Can manageyesno', 'Requests per minutenone60']);
  t.match(await settingsOf(id), { is_active: true, prefix });
  await conflict.getByRole('button', { name: 'Deactivate anyway' }).click();
  await page.getByText('Key “In production” deactivated.').waitFor();
  t.match(await settingsOf(id), { is_active: false, name: 'In production' });

  // Somebody else has already switched it and changed nothing else, so there is nothing to ask.
  await api.patch(`/api/keys/${id}/`, { is_active: true });
  await page.getByRole('button', { name: 'Reactivate' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Reactivate' }).click();
  await page.getByText('Key “In production” reactivated.').waitFor();
});
