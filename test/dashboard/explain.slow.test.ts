import t from 'tap';
import { apiOf } from '../helper/clients/api.ts';
import { type openDashboard, signedIn } from '../helper/dashboard/dashboard.ts';
import { startOwnGateway } from '../helper/start/gateway-in-process.ts';

const world = await startOwnGateway(t);
const { key } = await world.account();
const { body: limited } = await apiOf(world, key).post<{ id: number }>('/api/keys/', {
  name: 'Limited',
  active_hours: '08:00-10:00',
  allowed_ips: ['203.0.113.0/24'],
});

async function form(t: Parameters<typeof openDashboard>[0], view = {}) {
  const { page } = await signedIn(t, world, key, { ...view, at: [`keys/${limited.id}`, 'Limited'] });
  await page.getByRole('button', { name: 'Explain' }).click();
  const panel = page.getByRole('dialog', { name: 'Explain a call' });
  await panel.getByLabel('Model').fill('flat');
  // 09:00 UTC in the winter of Berlin.
  await panel.getByLabel('Time').fill('2031-01-15T10:00');
  return { panel, explain: () => panel.getByRole('button', { name: 'Explain' }).click() };
}

t.test('a call that would pass is said to pass, check by check', async (t) => {
  const { panel, explain } = await form(t);
  await panel.getByLabel('Caller IP address').fill('203.0.113.9');
  await panel.getByLabel('Endpoint').selectOption('/v1/chat/completions');
  await explain();
  await panel.getByRole('heading', { name: 'The call would be accepted' }).waitFor();
  await panel.getByText('17 passed').click();
  const checks = await panel.locator('.check-name').allTextContents();
  t.equal(checks.length, 17);
  t.ok(checks.every((words) => words.endsWith('passed')));
});

t.test('the check that refuses is the first and marked, on a phone too', async (t) => {
  const { panel, explain } = await form(t, { width: 390, height: 844 });
  await panel.getByLabel('Time').fill('2031-01-15T12:00');
  await panel.getByLabel('Caller IP address').fill('198.51.100.1');
  await explain();
  await panel.getByRole('heading', { name: 'The call would be refused: outside_active_hours' }).waitFor();
  const checks = await panel.locator('.check').allTextContents();
  t.match(checks[0], /Active hours failedThis check refuses the call/);
  t.match(checks[1], /IP address failedChecked from/, 'a later one that fails too');
  t.equal(checks.filter((words) => words.includes('This check refuses the call')).length, 1);
});

t.test('a question that cannot be checked is refused at its field', async (t) => {
  const { panel, explain } = await form(t);
  await panel.getByLabel('Caller IP address').fill('300.1.1.1');
  await explain();
  await panel.getByText('ip must be an IPv4 or IPv6 address.').waitFor();
  t.equal(await panel.getByLabel('Caller IP address').getAttribute('aria-invalid'), 'true');
});

t.test('L5: checks that depend on an unknown model are skipped and not failed', async (t) => {
  const { panel, explain } = await form(t);
  await panel.getByLabel('Model').fill('nope');
  await panel.getByLabel('Caller IP address').fill('203.0.113.9');
  await explain();
  await panel.getByRole('heading', { name: 'The call would be refused: model_not_found' }).waitFor();
  await panel.getByText('9 passed, 7 not checked').click();
  const checks = await panel.locator('.check').allTextContents();
  t.equal(checks.filter((words) => words.includes('failed')).length, 1, 'the model itself');
  t.equal(
    checks.filter((words) => /^–.* not checkedNot checked: it depends on the model/.test(words)).length,
    7,
  );
});

t.test('L5: details come from fields, and another address is not called yours', async (t) => {
  const { panel, explain } = await form(t);
  await panel.getByLabel('Caller IP address').fill('198.51.100.1');
  await explain();
  await panel.getByText('Checked from 198.51.100.1.').waitFor();
  await panel.getByText(/^\d+ passed/).click();
  // 10:00 in the winter of Berlin, where the browser is.
  await panel.getByText('Checked at 15 Jan 2031, 10:00:00.').first().waitFor();
  const words = (await panel.locator('.checks').allTextContents()).join();
  t.notMatch(words, /\d{4}-\d\d-\d\dT|allowed_|blocked_|expires_at/);
  await panel.getByLabel('Caller IP address').fill('');
  await explain();
  await panel.getByText('Checked from your address 127.0.0.1.').waitFor();
});
